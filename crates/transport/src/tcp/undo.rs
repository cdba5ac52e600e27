// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undo of a window cut after a loss that was none: the original arrived late, which the timestamp
//! of the acknowledgement shows (the Eifel algorithm, RFC 3522), or every retransmission arrived
//! twice, which DSACK blocks report (RFC 3708). Linux: `tcp_init_undo`, `tcp_packet_delayed`,
//! `tcp_try_undo_partial`, `tcp_try_undo_recovery`, `tcp_try_undo_dsack` and `tcp_try_undo_loss` in
//! `tcp_input.c`.

use cemark_wire::Nanos;

use super::sender::{Phase, Sender};
use crate::cc::{Congestion, Cut};
use crate::{Ack, Config};

/// Timestamps count milliseconds, so an original that left in the millisecond of the first
/// retransmission is not told from it.
const TIMESTAMP: u64 = 1_000_000;

/// The window before the last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// The first byte that was not acknowledged when the loss was found.
    from: u64,
    /// When the first retransmission left.
    first: Option<Nanos>,
    /// Retransmissions of which no DSACK block has reported a second arrival.
    open: u32,
}

impl Undo {
    fn retransmitted(&mut self, now: Nanos) {
        self.first.get_or_insert(now);
        self.open += 1;
    }

    /// Whether an acknowledgement of new data with this timestamp is one of originals: it echoes a
    /// time before the first retransmission, or nothing was retransmitted.
    fn is_late(&self, now: Nanos, ts_echo: u32) -> bool {
        let age = (now.0 as u32).wrapping_sub(ts_echo);
        let echoed = now.0.saturating_sub(u64::from(age));
        self.first
            .is_none_or(|first| echoed / TIMESTAMP < first.0 / TIMESTAMP)
    }

    /// Whether every retransmission arrived beside its original.
    fn is_twice(&self) -> bool {
        self.first.is_some() && self.open == 0
    }
}

impl Sender {
    /// Before the controller answers a loss: the window that it cuts. A cut for CE in the same
    /// window of data was no mistake.
    pub(super) fn remember_window(&mut self, cfg: &Config) {
        if !(cfg.stack.undo && cfg.sack) {
            return;
        }
        let (cwnd, from) = (self.cwnd(), self.una);
        let ssthresh = self.congestion.controller().ssthresh();
        let open = self.already() == Cut::None;
        self.scoreboard.get_or_insert_default().undo =
            ssthresh.filter(|_| open).map(|ssthresh| Undo {
                cwnd,
                ssthresh: ssthresh.max(cwnd / 4 * 3),
                from,
                first: None,
                open: 0,
            });
    }

    /// A segment leaves again.
    pub(super) fn note_retransmission(&mut self, now: Nanos) {
        if let Some(undo) = self.scoreboard.as_mut().and_then(|b| b.undo.as_mut()) {
            undo.retransmitted(now);
        }
    }

    /// Takes the report of a segment that arrived twice, the first block of `sacks` if it lies
    /// below the cumulative number (RFC 2883 section 4). Undoes the last cut if every
    /// retransmission arrived twice.
    pub(super) fn take_duplicate(&mut self, cfg: &Config, ack: &Ack, sacks: &[(u64, u64)]) {
        let Some(&(start, end)) = sacks.first().filter(|b| b.1 <= ack.cum) else {
            return;
        };
        if !cfg.stack.undo {
            return;
        }
        if let Congestion::Paced(paced) = &mut self.congestion
            && let Some(rack) = &mut paced.rack
        {
            rack.saw_duplicate(ack.cum, self.nxt);
        }
        let Some(undo) = self.scoreboard.as_mut().and_then(|b| b.undo.as_mut()) else {
            return;
        };
        if end > undo.from {
            let segments = (end - start).div_ceil(u64::from(cfg.mss)) as u32;
            undo.open = undo.open.saturating_sub(segments);
        }
        if undo.is_twice() && self.phase != Phase::Loss {
            self.undo_cut();
        }
    }

    /// After an acknowledgement of new data in a recovery or behind a timeout. True: the cut was a
    /// mistake and is undone, and nothing is lost.
    pub(super) fn undone_by(&mut self, now: Nanos, ack: &Ack) -> bool {
        let una = self.una;
        let Some(scoreboard) = &mut self.scoreboard else {
            return false;
        };
        let Some(undo) = &scoreboard.undo else {
            return false;
        };
        let late = undo.is_late(now, ack.ts_echo);
        let done = una >= scoreboard.recover;
        match self.phase {
            Phase::Recovery if late && !done => {
                // What left again is waited for.
                let sacked = &scoreboard.sacked;
                let is_out = |end, seq| end > una && sacked.holding(seq).is_none_or(|r| r.1 < end);
                if scoreboard
                    .retransmitted
                    .iter()
                    .any(|r| is_out(r.end, r.seq))
                {
                    return false;
                }
            }
            Phase::Recovery | Phase::Loss if late || undo.is_twice() => {}
            _ => return false,
        }
        scoreboard.lost_end = una;
        scoreboard.again.clear();
        scoreboard.force = false;
        if let Congestion::Paced(paced) = &mut self.congestion
            && let Some(rack) = &mut paced.rack
        {
            rack.saw_reordering();
        }
        self.phase = Phase::Disorder;
        self.undo_cut();
        true
    }

    fn undo_cut(&mut self) {
        let Some(scoreboard) = &mut self.scoreboard else {
            return;
        };
        let Some(undo) = scoreboard.undo.take() else {
            return;
        };
        scoreboard.undone += 1;
        self.congestion.undo(undo.cwnd, undo.ssthresh);
        // The next loss cuts, and the next echo.
        self.cut_end = self.una;
        self.cwr = false;
    }
}
