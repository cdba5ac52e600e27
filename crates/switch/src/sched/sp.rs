// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strict priority.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::{Heads, Pick, Scheduler};

/// The first queue, in order of class, that holds packets and may send. There is no state: each
/// packet is a visit of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrictPriority;

/// The first queue whose bit is set.
#[inline]
pub(super) fn first(ready: u64) -> Option<Pick> {
    (ready != 0).then(|| Pick {
        queue: QueueId(ready.trailing_zeros() as u8),
        visit_ends: true,
    })
}

impl Scheduler for StrictPriority {
    #[inline]
    fn arrived(&mut self, _queue: QueueId, _bytes: u32, _now: Nanos) {}

    #[inline]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        first(heads.backlogged & !heads.paused)
    }

    fn is_traceless(&self) -> bool {
        true
    }

    fn refunded(&mut self, _queue: QueueId, _bytes: u32, _heads: &Heads<'_>) -> bool {
        true
    }
}
