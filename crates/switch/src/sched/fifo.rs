// SPDX-License-Identifier: MIT OR Apache-2.0
//! First in, first out over all queues of the port.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::{Heads, Pick, Scheduler};
use crate::ring::Ring;

/// Serves packets in the order of their arrival, whichever queue they joined (queues then only
/// separate markers and counters). The other queues overtake a paused queue, whose packets keep
/// their order.
#[derive(Default)]
pub struct Fifo {
    order: Ring<u8>,
    skipped: Vec<u8>,
}

impl Fifo {
    /// A scheduler with nothing to send.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Scheduler for Fifo {
    #[inline]
    fn arrived(&mut self, queue: QueueId, _bytes: u32, _now: Nanos) {
        self.order.push(queue.0);
    }

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        let open = |q: u8| heads.paused >> q & 1 == 0;
        if let Some(i) = self.skipped.iter().position(|&q| open(q)) {
            let q = self.skipped.remove(i);
            return Some(Pick {
                queue: QueueId(q),
                visit_ends: true,
            });
        }
        while let Some(q) = self.order.pop() {
            if open(q) {
                return Some(Pick {
                    queue: QueueId(q),
                    visit_ends: true,
                });
            }
            self.skipped.push(q);
        }
        None
    }

    fn is_traceless(&self) -> bool {
        true
    }

    fn refunded(&mut self, _queue: QueueId, _bytes: u32, _heads: &Heads<'_>) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_in_order_of_arrival_and_passes_paused_queues() {
        let mut f = Fifo::new();
        for q in [1, 0, 1, 0] {
            f.arrived(QueueId(q), 1500, Nanos(0));
        }
        let lengths = [(1500, 1500), (1500, 0)].into_iter().collect();
        let got = [0, 2, 2, 0, 0].map(|paused| {
            let heads = Heads {
                lengths: &lengths,
                backlogged: 3,
                paused,
            };
            f.pick(&heads).map(|p| p.queue.0)
        });
        assert_eq!(got, [Some(1), Some(0), Some(0), Some(1), None]);
    }
}
