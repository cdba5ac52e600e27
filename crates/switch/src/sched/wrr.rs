// SPDX-License-Identifier: MIT OR Apache-2.0
//! Weighted round robin with a quantum of bits.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::visits::Visits;
use super::{Heads, Pick, Rounds, Scheduler};

/// The active queues are visited in rounds; a visit sends at most a quantum of bits, and unused
/// credit is discarded. With packets of mixed lengths shares are therefore not exact, which DWRR
/// corrects.
pub struct Wrr(Visits<false>);

impl Wrr {
    /// Quanta in bytes (above zero) in order of class. A visit sends at least one packet, however
    /// small the quantum.
    pub fn new(quanta: &[u32]) -> Self {
        Wrr(Visits::new(quanta))
    }
}

impl Scheduler for Wrr {
    #[inline]
    fn arrived(&mut self, queue: QueueId, _bytes: u32, _now: Nanos) {
        self.0.arrived(queue);
    }

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        self.0.pick(heads)
    }

    fn is_traceless(&self) -> bool {
        true
    }

    fn refunded(&mut self, queue: QueueId, _bytes: u32, heads: &Heads<'_>) -> bool {
        self.0.refunded(queue, heads)
    }

    fn rounds(&self) -> Rounds {
        self.0.rounds()
    }
}
