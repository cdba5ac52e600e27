// SPDX-License-Identifier: MIT OR Apache-2.0
//! The window before a loss that may turn out to be none.

use cemark_wire::Nanos;

/// Timestamps count milliseconds, so an original that left in the millisecond of the first
/// retransmission is not told from it.
const TIMESTAMP: u64 = 1_000_000;

/// The window before the last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undo {
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    /// The first byte that was not acknowledged when the loss was found.
    pub(super) from: u64,
    /// When the first retransmission left.
    first: Option<Nanos>,
    /// Retransmissions of which no DSACK block has reported a second arrival.
    pub(super) open: u32,
}

impl Undo {
    /// The window and the threshold that a loss behind byte `from` cuts. Linux keeps three quarters
    /// of the window as threshold at least (`tcp_current_ssthresh`).
    pub(super) fn new(cwnd: u64, ssthresh: u64, from: u64) -> Undo {
        Undo {
            cwnd,
            ssthresh: ssthresh.max(cwnd / 4 * 3),
            from,
            first: None,
            open: 0,
        }
    }

    /// A segment leaves again.
    pub(super) fn retransmitted(&mut self, now: Nanos) {
        self.first.get_or_insert(now);
        self.open += 1;
    }

    /// Whether an acknowledgement of new data with this timestamp is one of originals: it echoes a
    /// time before the first retransmission, or nothing was retransmitted.
    pub(super) fn is_late(&self, now: Nanos, ts_echo: u32) -> bool {
        let age = (now.0 as u32).wrapping_sub(ts_echo);
        let echoed = now.0.saturating_sub(u64::from(age));
        self.first
            .is_none_or(|first| echoed / TIMESTAMP < first.0 / TIMESTAMP)
    }

    /// Whether every retransmission arrived beside its original.
    pub(super) fn is_twice(&self) -> bool {
        self.first.is_some() && self.open == 0
    }
}
