// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending half of a queue pair: paced by its reaction point; losses are recovered by go-back-N
//! or selective repeat.

use alloc::boxed::Box;

use cemark_wire::{Ecn, Flags, Nanos, Picos, Rate};

use super::{CNP, NAK, Rdma, ReactionPoint, Retransmit};
use crate::ranges::Ranges;
use crate::{Ack, Config, Segment};

/// The retransmission timer is off.
const OFF: Nanos = Nanos::MAX;

/// Events of a requester since its construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequesterStats {
    /// Retransmitted packets.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// State that only a selective sender with a loss needs.
#[derive(Debug, Default)]
struct Scoreboard {
    /// Bytes that the responder holds above `una`.
    held: Ranges,
    /// Everything missing below it is lost.
    lost_end: u64,
    /// Everything lost below it has been retransmitted.
    rxt: u64,
}

/// Sends one stream of messages.
#[derive(Debug)]
pub struct Requester {
    /// First byte not acknowledged.
    una: u64,
    /// Next byte to send.
    nxt: u64,
    /// Just past the highest byte ever sent.
    top: u64,
    /// Just past the last byte written.
    end: u64,
    /// Nothing leaves before this time, in picoseconds: a nanosecond is 1 % of a packet at 100
    /// Gb/s.
    gate: u64,
    /// When the retransmission timer fires, or `OFF`.
    deadline: Nanos,
    /// [`Dcqcn::window_by_rate`](super::Dcqcn::window_by_rate).
    window_by_rate: bool,
    reaction: ReactionPoint,
    stats: RequesterStats,
    scoreboard: Option<Box<Scoreboard>>,
}

impl Requester {
    /// A requester with nothing to send on a link of rate `line`.
    pub fn new(rdma: &Rdma, line: Rate) -> Requester {
        Requester {
            una: 0,
            nxt: 0,
            top: 0,
            end: 0,
            gate: 0,
            deadline: OFF,
            window_by_rate: rdma.dcqcn.window_by_rate,
            reaction: ReactionPoint::new(&rdma.dcqcn, line),
            stats: RequesterStats::default(),
            scoreboard: None,
        }
    }

    /// Appends a message of `bytes` bytes and returns the offset just past its last. `u64::MAX`
    /// makes the stream endless.
    pub fn write(&mut self, bytes: u64) -> u64 {
        self.end = self.end.saturating_add(bytes);
        self.end
    }

    /// Just past the highest byte ever sent.
    pub fn sent(&self) -> u64 {
        self.top
    }

    /// Whether `poll_transmit` would give a packet now.
    #[inline]
    pub fn can_send(&self, cfg: &Config, now: Nanos) -> bool {
        self.gate <= Picos::from(now).0 && self.has_work(cfg)
    }

    /// Nothing leaves before this time.
    #[inline]
    pub fn gate(&self) -> Nanos {
        Nanos(self.gate.div_ceil(1000))
    }

    /// The next packet, if the rate and the window allow one.
    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, rdma: &Rdma, now: Nanos) -> Option<Segment> {
        if self.gate > Picos::from(now).0 {
            return None;
        }
        let (seq, len, again) = match self.hole(cfg) {
            Some((seq, len)) => (seq, len, true),
            None => {
                let len = self.new_len(cfg)?;
                let seq = self.nxt;
                self.nxt += len;
                (seq, len, seq < self.top)
            }
        };
        self.top = self.top.max(seq + len);
        if let (true, Some(scoreboard)) = (again, &mut self.scoreboard) {
            scoreboard.rxt = scoreboard.rxt.max(seq + len);
        }
        self.stats.retransmits += u32::from(again);
        let wire = len + u64::from(cfg.header_bytes);
        self.pace(rdma, now, wire);
        if self.deadline == OFF {
            self.deadline = now + cfg.rto_min;
        }
        let mut flags = if again { Flags::RETX } else { Flags::EMPTY };
        if seq + len == self.end {
            flags = flags.with(Flags::PUSH);
        }
        Some(Segment {
            seq,
            len: len as u16,
            flags,
            ecn: Ecn::Ect0,
            ts: now.0 as u32,
        })
    }

    /// A congestion notification packet has arrived.
    #[inline]
    pub fn on_cnp(&mut self, rdma: &Rdma, now: Nanos) {
        self.reaction.on_cnp(&rdma.dcqcn, now);
    }

    /// Processes what a responder sent: an acknowledgement, a negative one with the range that
    /// arrived out of order, or (with the flag [`CNP`]) a notification.
    #[inline]
    pub fn on_ack(
        &mut self,
        cfg: &Config,
        rdma: &Rdma,
        now: Nanos,
        ack: &Ack,
        beyond: Option<(u64, u64)>,
    ) {
        if ack.flags.has(CNP) {
            return self.on_cnp(rdma, now);
        }
        if ack.cum > self.top {
            return;
        }
        if self.window_by_rate {
            self.reaction.catch_up(&rdma.dcqcn, now);
        }
        if ack.cum > self.una {
            self.una = ack.cum;
            self.nxt = self.nxt.max(self.una);
            self.deadline = match self.una == self.top {
                true => OFF,
                false => now + cfg.rto_min,
            };
            if let Some(scoreboard) = &mut self.scoreboard {
                scoreboard.held.trim(self.una);
            }
        }
        if ack.flags.has(NAK) && ack.cum == self.una {
            self.on_nak(rdma, beyond);
        }
    }

    /// When to call again: `poll_transmit`, if the rate delays a packet until then, and
    /// `on_timeout`.
    #[inline]
    pub fn timeout(&self, cfg: &Config, now: Nanos) -> Option<Nanos> {
        let rto = (self.deadline != OFF).then_some(self.deadline);
        if self.gate <= Picos::from(now).0 || !self.has_work(cfg) {
            return rto;
        }
        let gate = self.gate();
        Some(rto.map_or(gate, |rto| rto.min(gate)))
    }

    /// The retransmission timer may have fired. Does nothing when called early.
    pub fn on_timeout(&mut self, cfg: &Config, rdma: &Rdma, now: Nanos) {
        if now < self.deadline {
            return;
        }
        self.stats.timeouts += 1;
        self.deadline = now + cfg.rto_min;
        match rdma.retransmit {
            Retransmit::GoBackN => self.nxt = self.una,
            Retransmit::Selective => {
                let scoreboard = self.scoreboard.get_or_insert_default();
                scoreboard.lost_end = self.top;
                scoreboard.rxt = self.una;
            }
        }
    }

    /// Bytes acknowledged, in order.
    pub fn acked(&self) -> u64 {
        self.una
    }

    /// The reaction point.
    pub fn reaction(&self) -> &ReactionPoint {
        &self.reaction
    }

    /// Events so far.
    pub fn stats(&self) -> &RequesterStats {
        &self.stats
    }

    #[inline]
    fn has_work(&self, cfg: &Config) -> bool {
        self.hole(cfg).is_some() || self.new_len(cfg).is_some()
    }

    /// The next packet that selective repeat retransmits: (offset, bytes).
    #[inline]
    fn hole(&self, cfg: &Config) -> Option<(u64, u64)> {
        let scoreboard = self.scoreboard.as_ref()?;
        let (from, to) = scoreboard.held.hole(
            scoreboard.rxt.max(self.una),
            scoreboard.lost_end.min(self.nxt),
        )?;
        Some((from, (to - from).min(u64::from(cfg.mss))))
    }

    /// Length of the next packet from `nxt` on, if there is one and the window allows it.
    #[inline]
    fn new_len(&self, cfg: &Config) -> Option<u64> {
        let len = (self.end - self.nxt).min(u64::from(cfg.mss));
        let outstanding = self.nxt - self.una;
        let fits = match self.window_by_rate {
            // The simulator's rule: a packet may leave while fewer bytes are in flight.
            true => outstanding < self.reaction.share(cfg.receive_window).max(1),
            false => outstanding + len <= cfg.receive_window,
        };
        (len > 0 && fits).then_some(len)
    }

    /// Sets the gate after a packet of `wire` bytes. Without a limit the link itself paces.
    #[inline]
    fn pace(&mut self, rdma: &Rdma, now: Nanos, wire: u64) {
        let reaction = &mut self.reaction;
        reaction.catch_up(&rdma.dcqcn, now);
        reaction.on_sent(&rdma.dcqcn, wire);
        if !reaction.is_limited() {
            return;
        }
        let gap = wire * 8_000_000_000_000 / reaction.rate().0;
        // A packet that leaves within the nanosecond in which the gate opened keeps the rate exact.
        // One that leaves later delays those behind it.
        let now = Picos::from(now).0;
        let from = if now < self.gate + 1000 {
            self.gate
        } else {
            now
        };
        self.gate = from + gap;
    }

    #[cold]
    fn on_nak(&mut self, rdma: &Rdma, beyond: Option<(u64, u64)>) {
        match rdma.retransmit {
            Retransmit::GoBackN => self.nxt = self.una,
            Retransmit::Selective => {
                let Some((start, end)) = beyond else { return };
                let scoreboard = self.scoreboard.get_or_insert_default();
                scoreboard.held.insert(start.max(self.una), end);
                scoreboard.lost_end = scoreboard.lost_end.max(start);
            }
        }
    }
}
