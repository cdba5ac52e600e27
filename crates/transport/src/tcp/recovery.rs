// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender under reordering, loss, timeouts, and during the handshake.
//!
//! NewReno and SACK, fast recovery and timeouts share three values: everything missing below
//! `lost_end` is lost, everything lost below `rxt` has been retransmitted, and `gone` bytes no
//! longer count against the window.

use cemark_wire::{Ecn, Flags, Nanos};

use super::mistakes::Finding;
use super::sender::{OFF, Phase, Retransmission, Scoreboard, Sender, packets};
use crate::cc::{Congestion, Cut, Lost};
use crate::ranges::Ranges;
use crate::{Ack, Config, Segment};

impl Sender {
    #[cold]
    pub(crate) fn can_send_in_recovery(&self, cfg: &Config) -> bool {
        match self.phase {
            Phase::Opening => self.syn_due && self.end > 0,
            Phase::Probing | Phase::Answering => true,
            _ => {
                self.next_again(cfg).is_some()
                    || self.next_hole(cfg).is_some()
                    || self.new_len(cfg).is_some()
                    || self.next_rescue(cfg).is_some()
            }
        }
    }

    #[cold]
    pub(crate) fn poll_in_recovery(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        if self.phase == Phase::Opening {
            return self.poll_syn(cfg, now);
        }
        if self.phase == Phase::Probing {
            return Some(self.probe(cfg, now));
        }
        if self.phase == Phase::Answering {
            self.phase = Phase::Open;
            return Some(self.without_data(cfg, now, Flags::EMPTY));
        }
        if let Some((seq, len)) = self.next_again(cfg) {
            let scoreboard = self.scoreboard.get_or_insert_default();
            scoreboard.again.pop_front();
            if seq == self.una {
                self.deadline = now + self.rto;
            }
            return Some(self.resend(cfg, now, seq, len));
        }
        if let Some((seq, len)) = self.next_hole(cfg) {
            let scoreboard = self.scoreboard.get_or_insert_default();
            scoreboard.force = false;
            if seq == self.una && (cfg.sack || cfg.slow_but_steady || self.phase == Phase::Loss) {
                // The timer covers the first hole, whose acknowledgement takes a round trip from
                // now (RFC 6675 section 6). NewReno's runs on from the first partial ACK, so that
                // a recovery with many holes ends in a timeout (RFC 6582 section 4).
                self.deadline = now + self.rto;
            }
            return Some(self.resend(cfg, now, seq, len));
        }
        if let Some(len) = self.new_len(cfg) {
            return Some(self.send_new(cfg, now, len));
        }
        let (seq, len) = self.next_rescue(cfg)?;
        self.scoreboard.get_or_insert_default().rescue = false;
        Some(self.resend(cfg, now, seq, len))
    }

    fn poll_syn(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        if !self.syn_due || self.end == 0 {
            return None;
        }
        self.syn_due = false;
        self.deadline = now + self.rto;
        let mut flags = Flags::SYN;
        if self.backoff > 0 {
            flags = flags.with(Flags::RETX);
            self.stats.retransmits += 1;
        }
        Some(self.without_data(cfg, now, flags))
    }

    /// A segment of the handshake.
    fn without_data(&self, cfg: &Config, now: Nanos, flags: Flags) -> Segment {
        Segment {
            seq: 0,
            len: 0,
            flags,
            ecn: match cfg.stack.ect_control {
                true => self.congestion.ecn(),
                false => Ecn::NotEct,
            },
            ts: now.0 as u32,
        }
    }

    /// The first retransmission that was lost, if the window has room to repeat it.
    fn next_again(&self, cfg: &Config) -> Option<(u64, u64)> {
        let &(seq, end) = self.scoreboard.as_ref()?.again.front()?;
        let seq = seq.max(self.una);
        let len = (end - seq).min(u64::from(cfg.mss));
        (self.bytes_in_flight() + len <= self.cwnd()).then_some((seq, len))
    }

    /// Detects lost retransmissions: one is lost if SACK reports data `dup_acks` segments beyond
    /// everything that had been sent when it left.
    fn find_lost_retransmissions(&mut self, cfg: &Config) {
        let una = self.una;
        let scoreboard = self.scoreboard.get_or_insert_default();
        let margin = u64::from(cfg.dup_acks) * u64::from(cfg.mss);
        let arrived = |sacked: &Ranges, seq: u64, end: u64| {
            end <= una || sacked.holding(seq).is_some_and(|r| r.1 >= end)
        };
        while let Some(&Retransmission { seq, end, nxt, .. }) = scoreboard.retransmitted.front() {
            if !arrived(&scoreboard.sacked, seq, end) {
                if scoreboard.sacked.top() < nxt + margin {
                    break;
                }
                scoreboard.again.push_back((seq.max(una), end));
            }
            scoreboard.retransmitted.pop_front();
        }
        let sacked = &scoreboard.sacked;
        scoreboard
            .again
            .retain(|&(seq, end)| !arrived(sacked, seq, end));
    }

    /// The first lost segment that has not been retransmitted, if the window has room for it (RFC
    /// 6675 NextSeg, rule 1).
    fn next_hole(&self, cfg: &Config) -> Option<(u64, u64)> {
        let scoreboard = self.scoreboard.as_ref()?;
        let (start, end) = scoreboard
            .sacked
            .hole(scoreboard.rxt.max(self.una), scoreboard.lost_end)?;
        let len = (end - start).min(u64::from(cfg.mss));
        let in_flight = self.bytes_in_flight();
        (scoreboard.force || in_flight == 0 || in_flight + len <= self.cwnd())
            .then_some((start, len))
    }

    /// With nothing new to send, the first hole that is only suspected to be lost (NextSeg, rule
    /// 3), one per ACK.
    fn next_rescue(&self, cfg: &Config) -> Option<(u64, u64)> {
        let scoreboard = self
            .scoreboard
            .as_ref()
            .filter(|b| b.rescue && self.phase == Phase::Recovery)?;
        let (start, end) = scoreboard
            .sacked
            .hole(scoreboard.rxt.max(self.una), scoreboard.sacked.top())?;
        let len = (end - start).min(u64::from(cfg.mss));
        (self.bytes_in_flight() + len <= self.cwnd()).then_some((start, len))
    }

    fn resend(&mut self, cfg: &Config, now: Nanos, seq: u64, len: u64) -> Segment {
        self.stats.retransmits += 1;
        self.note_retransmission(now);
        let scoreboard = self.scoreboard.get_or_insert_default();
        // A segment that is sent for the third time is below it.
        scoreboard.rxt = scoreboard.rxt.max(seq + len);
        if cfg.lost_retransmissions || (cfg.stack.rack || cfg.stack.undo) && cfg.sack {
            scoreboard.retransmitted.push_back(Retransmission {
                seq,
                end: seq + len,
                nxt: self.nxt,
                at: now,
            });
        }
        self.count_gone(cfg);
        // RFC 3168 section 6.1.5 wants retransmissions to be Not-ECT, against attacks with spoofed
        // marks. Here they are ECT like all data, as DCTCP does (RFC 8257 section 3.1): a switch
        // that drops Not-ECT packets above its threshold would drop the retransmission.
        self.emit(now, seq, len, Flags::RETX)
    }

    #[cold]
    pub(crate) fn on_ack_in_recovery(
        &mut self,
        cfg: &Config,
        now: Nanos,
        ack: &Ack,
        sacks: &[(u64, u64)],
    ) {
        if self.phase == Phase::Opening {
            if ack.flags.has(Flags::SYN) {
                self.on_opened(cfg, now, ack);
            }
            return;
        }
        // Late SYN-ACKs, ACKs overtaken by later ones, and ACKs of what was never sent are ignored.
        if ack.flags.has(Flags::SYN) || ack.cum < self.una || ack.cum > self.nxt {
            return;
        }
        if self.phase == Phase::Probing {
            // The answer has come before the probe could leave.
            self.end_probing();
        }
        let cum_bytes = ack.cum - self.una;
        if ack.flags.has(Flags::ECE) {
            self.keep_cut();
        }
        let reopened = self.take_duplicate(cfg, ack, sacks);
        if cum_bytes == 0 && self.nxt == self.una {
            return;
        }
        self.watch_order(ack);
        let scoreboard = self.scoreboard.get_or_insert_default();
        let known = scoreboard.sacked.trim(ack.cum);
        let mut newly_sacked = 0;
        if cfg.sack {
            for &(start, end) in sacks.iter().filter(|block| block.1 > ack.cum) {
                let (start, end) = (start.max(ack.cum), end.min(self.nxt));
                if let Congestion::Paced(paced) = &mut self.congestion {
                    let mut from = start;
                    while let Some((a, b)) = scoreboard.sacked.hole(from, end) {
                        paced.newly_sacked(now, a, b);
                        from = b;
                    }
                }
                newly_sacked += scoreboard.sacked.insert(start, end);
            }
        }
        scoreboard.sacked_bytes = scoreboard.sacked_bytes - known + newly_sacked;
        scoreboard.rescue = true;
        let lost_end = scoreboard.lost_end;
        if cum_bytes > 0 {
            self.advance_in_recovery(cfg, now, ack, cum_bytes - known + newly_sacked);
        } else {
            self.on_duplicate(cfg, now, ack, newly_sacked);
            if reopened {
                self.detect_losses(cfg, now);
            }
        }
        if matches!(self.congestion, Congestion::Paced(_))
            && let Some(scoreboard) = &self.scoreboard
        {
            let lost = scoreboard
                .sacked
                .missing(lost_end.max(self.una), scoreboard.lost_end);
            let in_recovery = self.phase >= Phase::Recovery;
            let delivered = cum_bytes.saturating_sub(known) + newly_sacked;
            let progress = (delivered, cum_bytes > 0);
            self.finish_ack(cfg, now, ack, progress, (lost, in_recovery));
        }
    }

    fn on_opened(&mut self, cfg: &Config, now: Nanos, ack: &Ack) {
        self.rtt.sample(now, ack.ts_echo);
        self.rto = self.rtt.rto(cfg);
        self.backoff = 0;
        self.syn_due = false;
        self.deadline = OFF;
        self.phase = match cfg.stack.third_packet {
            true => Phase::Answering,
            false => Phase::Open,
        };
    }

    /// The cumulative number advanced while something is, or was, missing.
    fn advance_in_recovery(&mut self, cfg: &Config, now: Nanos, ack: &Ack, bytes: u64) {
        let acked = ack.cum - self.una;
        if self.backoff > 0 {
            // With timestamps the acknowledgement of a retransmission is a valid sample. It ends
            // the backoff (RFC 6298 section 5.7).
            self.rtt_at = self.una;
        }
        let deadline = self.deadline;
        self.advance(cfg, now, ack, bytes);
        let una = self.una;
        let scoreboard = self.scoreboard.get_or_insert_default();
        scoreboard.dups = 0;
        scoreboard.rxt = scoreboard.rxt.max(una);
        match self.judge_cut(now, ack) {
            Finding::Loss => {}
            Finding::Waits => return self.count_gone(cfg),
            Finding::None => return self.detect_losses(cfg, now),
        }
        let scoreboard = self.scoreboard.get_or_insert_default();
        match self.phase {
            Phase::Recovery if una < scoreboard.recover && !cfg.sack => {
                // RFC 6582 section 3.2 step 3, partial acknowledgement: the next segment is missing
                // too. One of the acknowledged segments was the retransmission; duplicate ACKs had
                // already counted the others as gone. The timer restarts once in a recovery, so
                // that one that would take many round trips ends in a timeout.
                if scoreboard.partial && !cfg.slow_but_steady {
                    self.deadline = deadline;
                }
                scoreboard.partial = true;
                scoreboard.rxt = una;
                scoreboard.lost_end = (una + u64::from(cfg.mss)).min(scoreboard.recover);
                scoreboard.force = true;
                self.gone = self.gone.saturating_sub(acked);
                if acked >= u64::from(cfg.mss) {
                    self.gone += u64::from(cfg.mss);
                }
                self.gone = self.gone.min(self.nxt - una);
                return;
            }
            Phase::Recovery | Phase::Loss if una >= scoreboard.recover => {
                // After a timeout segments that were sent twice may cause duplicate ACKs, so the
                // guard is one byte stricter.
                scoreboard.guard = scoreboard.recover + u64::from(self.phase == Phase::Loss);
                self.phase = Phase::Disorder;
            }
            _ => {}
        }
        if self.phase == Phase::Disorder {
            // `rxt` is kept: the next recovery must not retransmit a hole above `recover` that was
            // retransmitted in this one.
            scoreboard.lost_end = una;
            scoreboard.force = false;
        }
        self.detect_losses(cfg, now);
    }

    /// An acknowledgement that did not advance the cumulative number.
    fn on_duplicate(&mut self, cfg: &Config, now: Nanos, ack: &Ack, newly_sacked: u64) {
        if ack.flags.has(Flags::ECE) {
            self.on_echo(now, ack.cum);
        }
        let scoreboard = self.scoreboard.get_or_insert_default();
        if cfg.sack {
            // If nothing is newly SACKed a segment arrived twice, which is no sign of loss.
            if newly_sacked > 0 {
                scoreboard.dups += 1;
                self.detect_losses(cfg, now);
            }
            return;
        }
        scoreboard.dups += 1;
        match self.phase {
            Phase::Open | Phase::Disorder => {
                self.phase = Phase::Disorder;
                let dups = scoreboard.dups;
                if dups >= cfg.dup_acks && self.una >= scoreboard.guard {
                    self.enter_recovery(cfg, now);
                }
                // Limited transmit (RFC 3042): each of the first duplicates allows one segment.
                self.count_dups(cfg, dups.min(cfg.dup_acks));
            }
            Phase::Recovery => {
                self.gone = (self.gone + u64::from(cfg.mss)).min(self.nxt - self.una)
            }
            Phase::Loss | Phase::Opening | Phase::Probing | Phase::Answering => {}
        }
    }

    fn count_dups(&mut self, cfg: &Config, dups: u32) {
        self.gone = (u64::from(dups) * u64::from(cfg.mss)).min(self.nxt - self.una);
    }

    /// Finds what is lost by now, and enters recovery if something is.
    pub(super) fn detect_losses(&mut self, cfg: &Config, now: Nanos) {
        let by_time = cfg.stack.rack && cfg.sack;
        if by_time {
            self.find_lost_by_time(cfg, now);
        } else if cfg.lost_retransmissions && cfg.sack {
            self.find_lost_retransmissions(cfg);
        }
        let scoreboard = self.scoreboard.get_or_insert_default();
        if by_time {
            if self.phase <= Phase::Disorder && scoreboard.lost_end > self.una {
                self.enter_recovery(cfg, now);
            }
        } else if cfg.sack && self.phase != Phase::Loss {
            let enough = u64::from(cfg.dup_acks.saturating_sub(1)) * u64::from(cfg.mss);
            let line = scoreboard
                .sacked
                .lost_below(enough, cfg.dup_acks.max(1) as usize);
            scoreboard.lost_end = scoreboard.lost_end.max(line).max(self.una);
            if self.phase != Phase::Recovery
                && scoreboard.dups >= cfg.dup_acks
                && scoreboard.lost_end == self.una
            {
                // With small segments the count of ACKs shows the loss before the count of bytes
                // does. Only the first hole is declared lost.
                let first = scoreboard.sacked.first().map_or(self.una, |r| r.0);
                scoreboard.lost_end = first.min(self.una + u64::from(cfg.mss));
            }
            if self.phase != Phase::Recovery && scoreboard.lost_end > self.una {
                self.enter_recovery(cfg, now);
            }
        }
        if self.phase <= Phase::Disorder {
            let quiet = self.scoreboard.as_ref().is_none_or(|b| b.sacked.is_empty());
            self.phase = if quiet { Phase::Open } else { Phase::Disorder };
            if quiet && let Some(scoreboard) = &mut self.scoreboard {
                scoreboard.retransmitted.clear();
                scoreboard.again.clear();
            }
        }
        self.count_gone(cfg);
    }

    /// Counts the bytes that left the network: SACKed, or lost and not retransmitted.
    pub(super) fn count_gone(&mut self, cfg: &Config) {
        if !cfg.sack && self.phase == Phase::Recovery {
            return; // Duplicate ACKs count them.
        }
        let Some(scoreboard) = &self.scoreboard else {
            return;
        };
        let from = scoreboard.rxt.max(self.una);
        let again: u64 = scoreboard
            .again
            .iter()
            .map(|&(seq, end)| end - seq.max(self.una))
            .sum();
        let gone = scoreboard.sacked_bytes
            + scoreboard.sacked.missing_from(from, scoreboard.lost_end)
            + again;
        // A retransmission that was lost may be counted as a hole as well.
        self.gone = gone.min(self.nxt - self.una);
    }

    pub(super) fn already(&self) -> Cut {
        match (self.una < self.cut_end, self.cut_for_loss) {
            (false, _) => Cut::None,
            (true, false) => Cut::Ce,
            (true, true) => Cut::Loss,
        }
    }

    fn enter_recovery(&mut self, cfg: &Config, now: Nanos) {
        let bytes = self.newly_lost(cfg);
        self.remember_window(cfg);
        let loss = Lost {
            now,
            bytes,
            packets: packets(cfg, bytes),
            bytes_in_flight: self.nxt - self.una,
            timeout: false,
            already: self.already(),
        };
        self.congestion.on_loss(&loss, self.nxt);
        if let Some(rack) = self.congestion.rack() {
            rack.recovers();
        }
        self.phase = Phase::Recovery;
        self.stats.fast_recoveries += 1;
        self.note_cut();
        let scoreboard = self.scoreboard.get_or_insert_default();
        scoreboard.recover = self.nxt;
        scoreboard.force = true;
        scoreboard.partial = false;
        if !cfg.sack {
            scoreboard.rxt = self.una;
            scoreboard.lost_end = (self.una + u64::from(cfg.mss)).min(self.nxt);
        }
    }

    /// Bytes that entering recovery declares lost: all holes below `lost_end`, or with NewReno the
    /// first segment.
    fn newly_lost(&self, cfg: &Config) -> u64 {
        match &self.scoreboard {
            Some(scoreboard) if cfg.sack => {
                let from = scoreboard.rxt.max(self.una);
                scoreboard.sacked.missing(from, scoreboard.lost_end)
            }
            _ => u64::from(cfg.mss).min(self.nxt - self.una),
        }
    }

    pub(super) fn note_cut(&mut self) {
        self.cut_end = self.nxt;
        self.cut_for_loss = true;
        self.cwr = self.congestion.ecn() != Ecn::NotEct;
    }

    /// The retransmission timer fired (RFC 6298 section 5): everything that is not SACKed is lost,
    /// and retransmitted in slow start.
    #[cold]
    pub(crate) fn on_rto(&mut self, cfg: &Config, now: Nanos) {
        self.stats.timeouts += 1;
        let again = self.backoff > 0;
        self.backoff = self.backoff.saturating_add(1);
        self.rto = Nanos((self.rto.0 * 2).min(cfg.rto_max.0.max(1)));
        if self.phase == Phase::Opening {
            self.syn_due = true;
            self.deadline = OFF;
            // RFC 5681 section 3.1: a lost SYN leaves an initial window of one segment.
            self.congestion.restart(u64::from(cfg.mss));
            return;
        }
        // A second timeout for the same data does not lower the threshold again (RFC 5681 section
        // 3.1).
        let already = if again { Cut::Loss } else { self.already() };
        if self.phase <= Phase::Disorder && !again {
            self.remember_window(cfg);
        }
        let outstanding = self.nxt - self.una;
        let bytes = outstanding - self.scoreboard.as_ref().map_or(0, |s| s.sacked_bytes);
        let loss = Lost {
            now,
            bytes,
            packets: packets(cfg, bytes),
            bytes_in_flight: outstanding,
            timeout: true,
            already,
        };
        self.congestion.on_loss(&loss, self.nxt);
        self.note_cut();
        self.phase = Phase::Loss;
        self.deadline = now + self.rto;
        let scoreboard: &mut Scoreboard = self.scoreboard.get_or_insert_default();
        scoreboard.recover = self.nxt;
        scoreboard.lost_end = self.nxt;
        scoreboard.rxt = self.una;
        scoreboard.retransmitted.clear();
        scoreboard.again.clear();
        scoreboard.dups = 0;
        scoreboard.force = true;
        self.count_gone(cfg);
    }
}
