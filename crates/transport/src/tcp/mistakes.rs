// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undo of a window cut after a loss that was none: the original arrived late, which the timestamp
//! of the acknowledgement shows (the Eifel algorithm, RFC 3522), or every retransmission arrived
//! twice, which DSACK blocks report (RFC 3708). Linux: `tcp_init_undo`, `tcp_packet_delayed`,
//! `tcp_try_undo_partial`, `tcp_try_undo_recovery`, `tcp_try_undo_dsack` and `tcp_try_undo_loss` in
//! `tcp_input.c`.

use cemark_wire::Nanos;

use super::sender::{Phase, Sender};
use super::tlp::Tlp;
use super::undo::Undo;
use crate::cc::{Congestion, Cut};
use crate::{Ack, Config};

/// Meaning of an acknowledgement of new data for the last cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The loss may be one.
    Loss,
    /// Originals arrive while retransmissions are in flight: the sender retransmits nothing more
    /// until those arrive.
    Waits,
    /// The loss was none, and the cut is taken back.
    None,
}

impl Sender {
    /// Stores the window before the controller answers a loss. A cut for CE in the same window of
    /// data was no mistake and stays.
    pub(super) fn remember_window(&mut self, cfg: &Config) {
        if !(cfg.stack.undo && cfg.sack) {
            return;
        }
        let ssthresh = self.congestion.controller().ssthresh();
        let window = match self.already() {
            Cut::None => self.cwnd(),
            _ => 0,
        };
        let probes = match &self.congestion {
            Congestion::Paced(paced) => paced.tlp.as_ref().is_some_and(Tlp::repeats),
            _ => false,
        };
        let una = self.una;
        let scoreboard = self.scoreboard.get_or_insert_default();
        let out = scoreboard.retransmissions_out(una) + u32::from(probes);
        scoreboard.undo = ssthresh.map(|ssthresh| Undo::new(window, ssthresh, una, out));
    }

    /// A segment leaves again.
    pub(super) fn note_retransmission(&mut self, now: Nanos) {
        if let Some(undo) = self.scoreboard.as_mut().and_then(|b| b.undo.as_mut()) {
            undo.retransmitted(now);
        }
    }

    /// CE is echoed: the window stays as small as it is.
    pub(super) fn keep_cut(&mut self) {
        if let Some(undo) = self.scoreboard.as_mut().and_then(|b| b.undo.as_mut()) {
            undo.keep();
        }
    }

    /// Takes the report of a segment that arrived twice: the first block of `sacks`, if it lies
    /// below the cumulative number or within the second block (RFC 2883 section 4). Undoes the last
    /// cut if every retransmission arrived twice. True: that ends a recovery, so losses have to be
    /// looked for again.
    pub(super) fn take_duplicate(&mut self, cfg: &Config, ack: &Ack, sacks: &[(u64, u64)]) -> bool {
        let Some(&(start, end)) = sacks.first().filter(|_| cfg.stack.undo) else {
            return false;
        };
        let within = |other: &&(u64, u64)| other.0 <= start && end <= other.1;
        if end > ack.cum && sacks.get(1).filter(within).is_none() {
            return false;
        }
        if let Some(rack) = self.congestion.rack() {
            rack.saw_duplicate(ack.cum, self.nxt);
        }
        let Some(undo) = self.scoreboard.as_mut().and_then(|b| b.undo.as_mut()) else {
            return false;
        };
        undo.arrived_twice(end, (end - start).div_ceil(u64::from(cfg.mss)) as u32);
        if !undo.is_twice() || self.phase == Phase::Loss {
            return false;
        }
        self.undo_cut();
        let recovers = self.phase == Phase::Recovery;
        if recovers {
            self.phase = Phase::Disorder;
        }
        recovers
    }

    /// After an acknowledgement of new data in a recovery or behind a timeout.
    pub(super) fn judge_cut(&mut self, now: Nanos, ack: &Ack) -> Finding {
        let una = self.una;
        let Some(scoreboard) = &mut self.scoreboard else {
            return Finding::Loss;
        };
        let Some(undo) = &scoreboard.undo else {
            return Finding::Loss;
        };
        let late = undo.is_late(now, ack.ts_echo);
        match self.phase {
            Phase::Recovery if late && una < scoreboard.recover => {
                if let Some(rack) = self.congestion.rack() {
                    rack.saw_reordering();
                }
                if scoreboard.retransmissions_out(una) > 0 {
                    return Finding::Waits;
                }
            }
            Phase::Recovery | Phase::Loss if late || undo.is_twice() => {}
            _ => return Finding::Loss,
        }
        scoreboard.lost_end = una;
        scoreboard.again.clear();
        scoreboard.force = false;
        self.phase = Phase::Disorder;
        self.undo_cut();
        Finding::None
    }

    fn undo_cut(&mut self) {
        let Some(scoreboard) = &mut self.scoreboard else {
            return;
        };
        let Some(undo) = scoreboard.undo.take().filter(Undo::has_cut) else {
            return;
        };
        scoreboard.undone += 1;
        self.congestion.undo(undo.cwnd, undo.ssthresh);
        // The next loss cuts, and the next echo.
        self.cut_end = self.una;
        self.cwr = false;
    }
}
