// SPDX-License-Identifier: MIT OR Apache-2.0
//! Weighted fair queueing, self-clocked.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::{Heads, MAX_QUEUES, Pick, Rounds, Scheduler};

/// Self-clocked fair queueing (Golestani 1994).
///
/// The rule: a packet of L bytes in a queue of weight w has the finish tag `max(F, V) + L x 2^16 /
/// w`, where F is the tag of the packet before it in its queue and V, the virtual time, the tag of
/// the packet served last. The smallest tag among the heads is sent; equal tags go to the queue
/// served least recently. V never passes the tag of a waiting packet, so the tag of a head is known
/// when it becomes the head, and a queue needs one number.
pub struct Wfq {
    /// 2^32 / weight.
    inverse: Vec<u64>,
    /// Finish tag of the head, or of the last packet where the queue is empty.
    finish: Vec<u64>,
    /// Number of the pick at which a queue was served last.
    served: Vec<u64>,
    picks: u64,
    active: u64,
    now: u64,
    /// (virtual time, start tag) before the last pick, for a refund.
    before: (u64, u64),
}

impl Wfq {
    /// Weights (above zero) in order of class.
    pub fn new(weights: &[u32]) -> Self {
        assert!(weights.len() <= MAX_QUEUES && weights.iter().all(|&w| w > 0));
        Wfq {
            inverse: weights.iter().map(|&w| (1 << 32) / u64::from(w)).collect(),
            finish: vec![0; weights.len()],
            served: vec![0; weights.len()],
            picks: 0,
            active: 0,
            now: 0,
            before: (0, 0),
        }
    }

    /// `bytes x 2^16 / weight`.
    #[inline]
    fn span(&self, i: usize, bytes: u32) -> u64 {
        (u64::from(bytes) * self.inverse[i]) >> 16
    }
}

impl Scheduler for Wfq {
    #[inline]
    fn arrived(&mut self, queue: QueueId, bytes: u32, _now: Nanos) {
        let (i, bit) = (usize::from(queue.0), 1u64 << queue.0);
        if self.active & bit == 0 {
            self.active |= bit;
            self.finish[i] = self.finish[i].max(self.now) + self.span(i, bytes);
        }
    }

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        let mut ready = self.active & !heads.paused;
        let mut best: Option<(u64, u64, usize)> = None;
        while ready != 0 {
            let i = ready.trailing_zeros() as usize;
            ready &= ready - 1;
            let key = (self.finish[i], self.served[i], i);
            if best.is_none_or(|b| key < b) {
                best = Some(key);
            }
        }
        let (tag, _, i) = best?;
        let (head, next) = heads.lengths[i];
        self.before = (self.now, tag - self.span(i, head));
        self.now = tag;
        self.picks += 1;
        self.served[i] = self.picks;
        if next == 0 {
            self.active &= !(1 << i);
        } else {
            self.finish[i] = tag + self.span(i, next);
        }
        Some(Pick {
            queue: QueueId(i as u8),
            visit_ends: true,
        })
    }

    fn refunded(&mut self, queue: QueueId, _bytes: u32, heads: &Heads<'_>) -> bool {
        let i = usize::from(queue.0);
        let (now, start) = self.before;
        self.now = now;
        self.finish[i] = start + self.span(i, heads.lengths[i].0);
        true
    }

    fn rounds(&self) -> Rounds {
        Rounds::Weights(u64::MAX >> (MAX_QUEUES - self.inverse.len()))
    }
}
