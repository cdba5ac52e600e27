// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's other path: reordering, loss, timeouts and the handshake.
//!
//! One picture serves NewReno and SACK, fast recovery and timeout: everything missing below
//! `lost_end` is lost, everything lost below `rxt` has been sent again, and `gone` is what no
//! longer counts against the window.

use cemark_wire::{Ecn, Flags, Nanos};

use crate::ranges::Ranges;
use crate::sender::{Board, OFF, Phase, Repair, Sender};
use crate::{Ack, Config, Congestion, Cut, Lost, Segment};

impl Sender {
    #[cold]
    pub(crate) fn can_send_repairing(&self, cfg: &Config) -> bool {
        match self.phase {
            Phase::Opening => self.syn_due && self.end > 0,
            _ => {
                self.next_again(cfg).is_some()
                    || self.next_repair(cfg).is_some()
                    || self.new_len(cfg).is_some()
                    || self.next_rescue(cfg).is_some()
            }
        }
    }

    #[cold]
    pub(crate) fn poll_repairing(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        if self.phase == Phase::Opening {
            return self.poll_syn(now);
        }
        if let Some((seq, len)) = self.next_again(cfg) {
            let board = self.board.get_or_insert_default();
            board.again.pop_front();
            if seq == self.una {
                self.deadline = now + self.rto;
            }
            return Some(self.resend(cfg, now, seq, len));
        }
        if let Some((seq, len)) = self.next_repair(cfg) {
            let board = self.board.get_or_insert_default();
            board.force = false;
            if seq == self.una {
                // The timer watches the first hole, and its answer comes a round trip from here
                // (RFC 6675 section 6).
                self.deadline = now + self.rto;
            }
            return Some(self.resend(cfg, now, seq, len));
        }
        if let Some(len) = self.new_len(cfg) {
            return Some(self.send_new(cfg, now, len));
        }
        let (seq, len) = self.next_rescue(cfg)?;
        self.board.get_or_insert_default().rescue = false;
        Some(self.resend(cfg, now, seq, len))
    }

    fn poll_syn(&mut self, now: Nanos) -> Option<Segment> {
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
        Some(Segment {
            seq: 0,
            len: 0,
            flags,
            ecn: Ecn::NotEct,
            ts: now.0 as u32,
        })
    }

    /// The first repair that was lost, if the window has room for it.
    fn next_again(&self, cfg: &Config) -> Option<(u64, u64)> {
        let &(seq, end) = self.board.as_ref()?.again.front()?;
        let seq = seq.max(self.una);
        let len = (end - seq).min(u64::from(cfg.mss));
        (self.in_flight() + len <= self.window()).then_some((seq, len))
    }

    /// Finds repairs that segments sent later have overtaken: three of them beyond what had been
    /// sent then.
    fn find_lost_repairs(&mut self, cfg: &Config) {
        let una = self.una;
        let board = self.board.get_or_insert_default();
        let margin = u64::from(cfg.dup_acks) * u64::from(cfg.mss);
        let arrived = |sacked: &Ranges, seq: u64, end: u64| {
            end <= una || sacked.holding(seq).is_some_and(|r| r.1 >= end)
        };
        while let Some(&Repair { seq, end, nxt }) = board.repairs.front() {
            if !arrived(&board.sacked, seq, end) {
                if board.sacked.top() < nxt + margin {
                    break;
                }
                board.again.push_back((seq.max(una), end));
            }
            board.repairs.pop_front();
        }
        let sacked = &board.sacked;
        board.again.retain(|&(seq, end)| !arrived(sacked, seq, end));
    }

    /// The first lost segment not sent again, if the window has room for it (RFC 6675 NextSeg, rule
    /// 1).
    fn next_repair(&self, cfg: &Config) -> Option<(u64, u64)> {
        let board = self.board.as_ref()?;
        let (start, end) = board.sacked.hole(board.rxt.max(self.una), board.lost_end)?;
        let len = (end - start).min(u64::from(cfg.mss));
        let in_flight = self.in_flight();
        (board.force || in_flight == 0 || in_flight + len <= self.window()).then_some((start, len))
    }

    /// With nothing new to send, the first hole that is only suspected (NextSeg, rule 3), one an
    /// ACK.
    fn next_rescue(&self, cfg: &Config) -> Option<(u64, u64)> {
        let board = self
            .board
            .as_ref()
            .filter(|b| b.rescue && self.phase == Phase::Recovery)?;
        let (start, end) = board
            .sacked
            .hole(board.rxt.max(self.una), board.sacked.top())?;
        let len = (end - start).min(u64::from(cfg.mss));
        (self.in_flight() + len <= self.window()).then_some((start, len))
    }

    fn resend(&mut self, cfg: &Config, now: Nanos, seq: u64, len: u64) -> Segment {
        self.stats.retransmits += 1;
        let board = self.board.get_or_insert_default();
        // What is sent a third time lies below.
        board.rxt = board.rxt.max(seq + len);
        if cfg.lost_repairs {
            board.repairs.push_back(Repair {
                seq,
                end: seq + len,
                nxt: self.nxt,
            });
        }
        self.count_gone(cfg);
        // RFC 3168 section 6.1.5 wants retransmissions Not-ECT against attacks by spoofed marks;
        // inside a data centre they are sent ECT, as DCTCP does (RFC 8257 section 3.1), or a full
        // queue that marks would drop the repair.
        self.emit(cfg, now, seq, len, Flags::RETX, self.congestion.ecn())
    }

    #[cold]
    pub(crate) fn on_ack_repairing(
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
        // Late SYN-ACKs, ACKs overtaken by later ones, and ACKs of what was never sent say nothing.
        if ack.flags.has(Flags::SYN) || ack.cum < self.una || ack.cum > self.nxt {
            return;
        }
        let cum_bytes = ack.cum - self.una;
        if cum_bytes == 0 && self.nxt == self.una {
            return;
        }
        let board = self.board.get_or_insert_default();
        let known = board.sacked.trim(ack.cum);
        let mut told = 0;
        if cfg.sack {
            for &(start, end) in sacks {
                let (start, end) = (start.max(ack.cum), end.min(self.nxt));
                if let Congestion::Paced(paced) = &mut self.congestion {
                    let mut from = start;
                    while let Some((a, b)) = board.sacked.hole(from, end) {
                        paced.told(now, a, b);
                        from = b;
                    }
                }
                told += board.sacked.insert(start, end);
            }
        }
        board.sacked_bytes = board.sacked_bytes - known + told;
        board.rescue = true;
        let lost_end = board.lost_end;
        if cum_bytes > 0 {
            self.advance_repairing(cfg, now, ack, cum_bytes - known + told);
        } else {
            self.on_duplicate(cfg, now, ack, told);
        }
        if let Congestion::Paced(paced) = &mut self.congestion
            && let Some(board) = &self.board
        {
            let lost = board.sacked.missing(lost_end.max(self.una), board.lost_end);
            let in_flight = self.nxt - self.una - self.gone;
            let repairing = self.phase >= Phase::Recovery;
            paced.finish(cfg, now, in_flight, lost, repairing);
        }
    }

    fn on_opened(&mut self, cfg: &Config, now: Nanos, ack: &Ack) {
        self.rtt.sample(now, ack.ts_echo);
        self.rto = self.rtt.rto(cfg);
        self.backoff = 0;
        self.syn_due = false;
        self.deadline = OFF;
        self.phase = Phase::Open;
    }

    /// The cumulative number moved while something was, or had been, missing.
    fn advance_repairing(&mut self, cfg: &Config, now: Nanos, ack: &Ack, bytes: u64) {
        let acked = ack.cum - self.una;
        if self.backoff > 0 {
            // The answer to a repair is a sample as good as any (timestamps), and ends the backoff
            // (RFC 6298 section 5.7).
            self.rtt_at = self.una;
        }
        self.advance(cfg, now, ack, bytes);
        let una = self.una;
        let board = self.board.get_or_insert_default();
        board.dups = 0;
        board.rxt = board.rxt.max(una);
        match self.phase {
            Phase::Recovery if una < board.recover && !cfg.sack => {
                // RFC 6582 section 3.2 step 3, partial acknowledgement: the next segment is missing
                // too. Of what it acknowledges one segment was the repair, the rest had been
                // counted out by duplicate ACKs.
                board.rxt = una;
                board.lost_end = (una + u64::from(cfg.mss)).min(board.recover);
                board.force = true;
                self.gone = self.gone.saturating_sub(acked);
                if acked >= u64::from(cfg.mss) {
                    self.gone += u64::from(cfg.mss);
                }
                self.gone = self.gone.min(self.nxt - una);
                return;
            }
            Phase::Recovery | Phase::Loss if una >= board.recover => {
                // After a timeout duplicate ACKs may answer segments sent twice, so the guard is
                // one byte stricter.
                board.guard = board.recover + u64::from(self.phase == Phase::Loss);
                self.phase = Phase::Disorder;
            }
            _ => {}
        }
        if self.phase == Phase::Disorder {
            // `rxt` stays: a hole above `recover` that has been repaired along the way is not
            // repaired again by the next recovery.
            board.lost_end = una;
            board.force = false;
        }
        self.judge(cfg, now);
    }

    /// An acknowledgement that moved nothing; `told` bytes are new from SACK blocks.
    fn on_duplicate(&mut self, cfg: &Config, now: Nanos, ack: &Ack, told: u64) {
        if ack.flags.has(Flags::ECE) {
            self.on_echo(cfg, now, ack.cum);
        }
        let board = self.board.get_or_insert_default();
        if cfg.sack {
            // Without news it answers a segment that came twice.
            if told > 0 {
                board.dups += 1;
                self.judge(cfg, now);
            }
            return;
        }
        board.dups += 1;
        match self.phase {
            Phase::Open | Phase::Disorder => {
                self.phase = Phase::Disorder;
                let dups = board.dups;
                if dups >= cfg.dup_acks && self.una >= board.guard {
                    self.enter_recovery(cfg, now);
                }
                // Limited transmit (RFC 3042): each of the first duplicates makes room for one
                // segment.
                self.count_dups(cfg, dups.min(cfg.dup_acks));
            }
            Phase::Recovery => {
                self.gone = (self.gone + u64::from(cfg.mss)).min(self.nxt - self.una)
            }
            Phase::Loss | Phase::Opening => {}
        }
    }

    fn count_dups(&mut self, cfg: &Config, dups: u32) {
        self.gone = (u64::from(dups) * u64::from(cfg.mss)).min(self.nxt - self.una);
    }

    /// Draws the line below which what is missing is lost, and acts on it.
    fn judge(&mut self, cfg: &Config, now: Nanos) {
        if cfg.lost_repairs && cfg.sack {
            self.find_lost_repairs(cfg);
        }
        let board = self.board.get_or_insert_default();
        if cfg.sack && self.phase != Phase::Loss {
            let enough = u64::from(cfg.dup_acks.saturating_sub(1)) * u64::from(cfg.mss);
            let line = board
                .sacked
                .lost_below(enough, cfg.dup_acks.max(1) as usize);
            board.lost_end = board.lost_end.max(line).max(self.una);
            if self.phase != Phase::Recovery
                && board.dups >= cfg.dup_acks
                && board.lost_end == self.una
            {
                // Small segments: few bytes, but as many ACKs as say loss. Only the first hole is
                // meant.
                let first = board.sacked.first().map_or(self.una, |r| r.0);
                board.lost_end = first.min(self.una + u64::from(cfg.mss));
            }
            if self.phase != Phase::Recovery && board.lost_end > self.una {
                self.enter_recovery(cfg, now);
            }
        }
        if self.phase <= Phase::Disorder {
            let quiet = self.board.as_ref().is_none_or(|b| b.sacked.is_empty());
            self.phase = if quiet { Phase::Open } else { Phase::Disorder };
            if quiet && let Some(board) = &mut self.board {
                board.repairs.clear();
                board.again.clear();
            }
        }
        self.count_gone(cfg);
    }

    /// Bytes that left the network: told by SACK, or lost and not sent again.
    fn count_gone(&mut self, cfg: &Config) {
        if !cfg.sack && self.phase == Phase::Recovery {
            return; // counted by duplicate ACKs
        }
        let Some(board) = &self.board else { return };
        let from = board.rxt.max(self.una);
        let again: u64 = board
            .again
            .iter()
            .map(|&(seq, end)| end - seq.max(self.una))
            .sum();
        let gone = board.sacked_bytes + board.sacked.missing_from(from, board.lost_end) + again;
        // A repair that is lost again may be counted as a hole as well.
        self.gone = gone.min(self.nxt - self.una);
    }

    fn already(&self) -> Cut {
        match (self.una < self.cut_end, self.cut_for_loss) {
            (false, _) => Cut::None,
            (true, false) => Cut::Echo,
            (true, true) => Cut::Loss,
        }
    }

    fn enter_recovery(&mut self, cfg: &Config, now: Nanos) {
        let loss = Lost {
            now,
            in_flight: self.nxt - self.una,
            timeout: false,
            already: self.already(),
        };
        self.congestion.on_loss(cfg, &loss);
        self.phase = Phase::Recovery;
        self.stats.fast_recoveries += 1;
        self.note_cut();
        let board = self.board.get_or_insert_default();
        board.recover = self.nxt;
        board.force = true;
        if !cfg.sack {
            board.rxt = self.una;
            board.lost_end = (self.una + u64::from(cfg.mss)).min(self.nxt);
        }
    }

    fn note_cut(&mut self) {
        self.cut_end = self.nxt;
        self.cut_for_loss = true;
        self.cwr = self.congestion.ecn() != Ecn::NotEct;
    }

    /// The retransmission timer fired (RFC 6298 section 5): everything not told by SACK is lost,
    /// and repaired in slow start.
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
            self.congestion.restart(cfg, u64::from(cfg.mss));
            return;
        }
        // A second timeout for the same data cuts no deeper (RFC 5681 section 3.1).
        let already = if again { Cut::Loss } else { self.already() };
        let loss = Lost {
            now,
            in_flight: self.nxt - self.una,
            timeout: true,
            already,
        };
        self.congestion.on_loss(cfg, &loss);
        self.note_cut();
        self.phase = Phase::Loss;
        self.deadline = now + self.rto;
        let board: &mut Board = self.board.get_or_insert_default();
        board.recover = self.nxt;
        board.lost_end = self.nxt;
        board.rxt = self.una;
        board.repairs.clear();
        board.again.clear();
        board.dups = 0;
        board.force = true;
        self.count_gone(cfg);
    }
}
