// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strict queues above a scheduler that shares what they leave.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::sp::first;
use super::{Heads, Pick, Rounds, Scheduler};

/// The queues of `strict` first, in order of class; the others under `inner`, which never sees the
/// strict ones.
///
/// A strict packet may be sent between two packets of one visit. The visit continues after it, and
/// the round that the port measures then includes the time that strict queues took (MQ-ECN section
/// 3.4).
pub struct StrictAbove<S> {
    strict: u64,
    inner: S,
}

impl<S: Scheduler> StrictAbove<S> {
    /// Bit i of `strict`: queue i comes before all that are not strict.
    pub fn new(strict: u64, inner: S) -> Self {
        StrictAbove { strict, inner }
    }

    fn is_strict(&self, queue: QueueId) -> bool {
        self.strict >> queue.0 & 1 == 1
    }
}

impl<S: Scheduler> Scheduler for StrictAbove<S> {
    #[inline]
    fn arrived(&mut self, queue: QueueId, bytes: u32, now: Nanos) {
        if !self.is_strict(queue) {
            self.inner.arrived(queue, bytes, now);
        }
    }

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        first(heads.backlogged & !heads.paused & self.strict).or_else(|| self.inner.pick(heads))
    }

    fn is_traceless(&self) -> bool {
        self.inner.is_traceless()
    }

    fn refunded(&mut self, queue: QueueId, bytes: u32, heads: &Heads<'_>) -> bool {
        self.is_strict(queue) || self.inner.refunded(queue, bytes, heads)
    }

    fn rounds(&self) -> Rounds {
        match self.inner.rounds() {
            Rounds::None => Rounds::None,
            Rounds::Visits(m) => Rounds::Visits(m & !self.strict),
            Rounds::Weights(m) => Rounds::Weights(m & !self.strict),
        }
    }
}
