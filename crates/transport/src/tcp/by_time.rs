// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loss detection of a sender with RACK and tail loss probes (RFC 8985), beyond
//! [`super::recovery`]. The state is in [`super::rack`] and [`super::tlp`].

use cemark_wire::{Flags, Nanos};

use super::paced::Paced;
use super::sender::{Phase, Retransmission, Sender, packets};
use crate::cc::{Congestion, Lost};
use crate::{Ack, Config, Segment};

impl Sender {
    fn paced(&mut self) -> Option<&mut Paced> {
        match &mut self.congestion {
            Congestion::Paced(paced) => Some(paced),
            _ => None,
        }
    }

    /// The time has come for a probe, or for segments that were only suspected to be lost.
    #[cold]
    #[inline(never)]
    pub(super) fn wake_stack(&mut self, cfg: &Config, now: Nanos) {
        let Some(paced) = self.paced() else { return };
        let suspects = paced.rack.as_mut().is_some_and(|rack| {
            let due = rack.wake().is_some_and(|at| at <= now);
            if due {
                rack.sleep();
            }
            due
        });
        let probe = paced.tlp.as_mut().and_then(|tlp| tlp.is_due(now));
        if suspects && self.nxt > self.una && self.phase <= Phase::Loss {
            self.detect_losses(cfg, now);
        }
        if let Some(first) = probe
            && self.nxt > self.una
            && self.phase <= Phase::Disorder
        {
            // Section 7.3: the timeout counts from the probe on.
            self.deadline = now + self.rto;
            let before = self.phase;
            if first && let Some(tlp) = self.paced().and_then(|p| p.tlp.as_mut()) {
                tlp.before = before;
                self.phase = Phase::Probing;
            }
        }
    }

    /// The probe: new data, whatever the congestion window says, or else the last segment again.
    pub(super) fn probe(&mut self, cfg: &Config, now: Nanos) -> Segment {
        self.end_probing();
        let new = (self.end - self.nxt).min(u64::from(cfg.mss));
        let fits = self.nxt - self.una + new <= cfg.receive_window;
        let (segment, ts) = if new > 0 && fits {
            (self.send_new(cfg, now, new), None)
        } else {
            let last = self.paced().and_then(|p| p.tlp.as_ref()).map(|t| t.last);
            let seq = last.unwrap_or(self.una).max(self.una);
            self.stats.retransmits += 1;
            let segment = self.emit(now, seq, self.nxt - seq, Flags::RETX);
            (segment, Some(segment.ts))
        };
        let nxt = self.nxt;
        if let Some(tlp) = self.paced().and_then(|p| p.tlp.as_mut()) {
            tlp.sent(nxt, ts);
        }
        segment
    }

    pub(super) fn end_probing(&mut self) {
        if let Some(tlp) = self.paced().and_then(|p| p.tlp.as_mut()) {
            self.phase = tlp.before;
        }
    }

    /// A segment of a sender with a [`Paced`] leaves.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, now: Nanos, seq: u64, len: u64, flags: Flags) {
        let before = (self.nxt - self.una - self.gone).saturating_sub(len);
        let (new, last) = (seq + len == self.nxt, self.nxt == self.end);
        let (srtt, timeout) = (self.rtt.smoothed(), self.deadline);
        let (alone, open) = (self.una == seq, self.phase <= Phase::Disorder);
        let Some(paced) = self.paced() else { return };
        paced.sent(now, (seq, len), before, last);
        if let Some(tlp) = &mut paced.tlp
            && new
            && !flags.has(Flags::RETX)
        {
            tlp.last = seq;
            if open {
                tlp.arm(now, srtt, alone, timeout);
            }
        }
    }

    /// Ends the processing of an acknowledgement, of which `progress` says what it delivered and
    /// whether the cumulative number advanced, `losses` what was found lost and whether the sender
    /// recovers.
    #[inline(never)]
    pub(super) fn finish_ack(
        &mut self,
        cfg: &Config,
        now: Nanos,
        ack: &Ack,
        progress: (u64, bool),
        losses: (u64, bool),
    ) {
        let (in_flight, una) = (self.bytes_in_flight(), self.una);
        if let Some(paced) = self.paced() {
            if let Some(writes) = &mut paced.writes {
                writes.acked_below(una, paced.controller.cwnd().min(cfg.receive_window));
            }
            paced.finish_ack(now, progress, in_flight, losses.0, losses.1);
        }
        self.probe_after(cfg, now, ack);
    }

    /// After an acknowledgement: has the probe repaired a loss, and when is the next one due?
    fn probe_after(&mut self, cfg: &Config, now: Nanos, ack: &Ack) {
        let (outstanding, timeout) = (self.nxt - self.una, self.deadline);
        let (srtt, phase) = (self.rtt.smoothed(), self.phase);
        let Some(tlp) = self.paced().and_then(|p| p.tlp.as_mut()) else {
            return;
        };
        if outstanding == 0 || phase > Phase::Disorder {
            tlp.disarm();
        } else if phase == Phase::Open {
            let alone = outstanding <= u64::from(cfg.mss);
            tlp.arm(now, srtt, alone, timeout);
        }
        if tlp.repaired(ack.cum, ack.ts_echo) && phase <= Phase::Disorder {
            self.answer_for_probe(cfg, now);
        }
    }

    /// Section 7.4: the probe hid a loss from loss recovery, so the window is reduced for it here,
    /// at once, since nothing else has to be sent again.
    fn answer_for_probe(&mut self, cfg: &Config, now: Nanos) {
        let bytes = u64::from(cfg.mss);
        let loss = Lost {
            now,
            bytes,
            packets: packets(cfg, bytes),
            bytes_in_flight: (self.nxt - self.una).max(self.congestion.cwnd()),
            timeout: false,
            already: self.already(),
        };
        let nxt = self.nxt;
        self.congestion.on_loss(&loss, nxt);
        if let Some(paced) = self.paced() {
            paced.end_reduction();
        }
        self.note_cut();
    }

    /// A hole that was never retransmitted is filled while later data has arrived: segments have
    /// overtaken each other.
    pub(super) fn watch_order(&mut self, ack: &Ack) {
        let filled = ack.cum > self.una
            && self
                .scoreboard
                .as_ref()
                .is_some_and(|b| !b.sacked.is_empty() && b.rxt <= self.una);
        if filled
            && self.phase == Phase::Disorder
            && let Some(rack) = self.paced().and_then(|p| p.rack.as_mut())
        {
            rack.saw_reordering();
        }
    }

    /// Finds what is lost by the times at which segments left: those that left once, and, in the
    /// order in which they left, retransmissions.
    pub(super) fn find_lost_by_time(&mut self, cfg: &Config, now: Nanos) {
        let enough = u64::from(cfg.dup_acks) * u64::from(cfg.mss);
        let (una, srtt) = (self.una, self.rtt.smoothed());
        let (phase, board) = (self.phase, self.scoreboard.get_or_insert_default());
        let Congestion::Paced(paced) = &mut self.congestion else {
            return;
        };
        let Some(rack) = &mut paced.rack else { return };
        let by = (
            phase >= Phase::Recovery || board.sacked_bytes >= enough,
            srtt,
        );
        while let Some(&Retransmission { seq, end, at, .. }) = board.retransmitted.front() {
            if end <= una || board.sacked.holding(seq).is_some_and(|r| r.1 >= end) {
                rack.repaired(now, at.0, end);
            } else if rack.is_lost(now, (at.0, end), by) {
                board.again.push_back((seq.max(una), end));
            } else {
                break;
            }
            board.retransmitted.pop_front();
        }
        let sacked = &board.sacked;
        board
            .again
            .retain(|&(seq, end)| end > una && sacked.holding(seq).is_none_or(|r| r.1 < end));
        if phase < Phase::Loss {
            let from = board.lost_end.max(una);
            board.lost_end = rack.lost_below(now, from, by);
        }
    }
}
