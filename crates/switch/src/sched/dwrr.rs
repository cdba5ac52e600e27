// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deficit weighted round robin.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::visits::Visits;
use super::{Heads, Pick, Rounds, Scheduler};

/// Shreedhar and Varghese's DRR with a quantum of bytes for each queue: the active queues are
/// visited in rounds; a visit adds the quantum to the queue's deficit and sends heads while they
/// fit. Unused credit is carried over, and lost when the queue empties.
pub struct Dwrr(Visits<true>);

impl Dwrr {
    /// Quanta in bytes (above zero) in order of class. If a quantum is below one packet, a visit
    /// takes several quanta at once until its head fits.
    pub fn new(quanta: &[u32]) -> Self {
        Dwrr(Visits::new(quanta))
    }
}

impl Scheduler for Dwrr {
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
