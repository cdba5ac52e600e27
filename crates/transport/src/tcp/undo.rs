// SPDX-License-Identifier: MIT OR Apache-2.0
//! The window before a loss that may turn out to be none.

use cemark_wire::Nanos;

/// Timestamps count milliseconds, so an original that left in the millisecond of the first
/// retransmission is not told from it.
const TIMESTAMP: u64 = 1_000_000;

/// The window before the last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undo {
    /// The window in bytes; 0: its cut stays.
    pub(super) cwnd: u64,
    /// The slow-start threshold in bytes.
    pub(super) ssthresh: u64,
    /// The first byte that was not acknowledged when the loss was found.
    from: u64,
    /// When the first retransmission left.
    first: Option<Nanos>,
    /// Retransmissions of which no DSACK block has reported a second arrival.
    open: u32,
}

impl Undo {
    /// The window and the threshold that a loss behind byte `from` cuts, while `out`
    /// retransmissions are out. The threshold comes back as three quarters of the window at least
    /// (Linux, `tcp_current_ssthresh`).
    pub(super) fn new(cwnd: u64, ssthresh: u64, from: u64, out: u32) -> Undo {
        let ssthresh = match cwnd {
            0 => 0,
            _ => ssthresh.max(cwnd / 4 * 3),
        };
        Undo {
            cwnd,
            ssthresh,
            from,
            first: None,
            open: out,
        }
    }

    /// A segment leaves again.
    pub(super) fn retransmitted(&mut self, now: Nanos) {
        self.first.get_or_insert(now);
        self.open += 1;
    }

    /// `segments` segments up to byte `end` have arrived twice.
    pub(super) fn arrived_twice(&mut self, end: u64, segments: u32) {
        if end > self.from {
            self.open = self.open.saturating_sub(segments);
        }
    }

    /// The cut stays, whatever the loss was.
    pub(super) fn keep(&mut self) {
        (self.cwnd, self.ssthresh) = (0, 0);
    }

    /// Whether there is a cut to take back.
    pub(super) fn has_cut(&self) -> bool {
        self.cwnd > 0
    }

    /// Whether an acknowledgement of new data with this timestamp is one of originals: it echoes a
    /// time before the first retransmission, or nothing was retransmitted. An echo of a time more
    /// than 4.2 s ago looks recent.
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
