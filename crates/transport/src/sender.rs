// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end: the path without loss. `recovery` has the rest.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem::offset_of;

use cemark_wire::{Ecn, Flags, Nanos};

use crate::ranges::Ranges;
use crate::rtt::Rtt;
use crate::{Ack, Acked, Config, Congestion, Controller, Segment};

/// The retransmission timer is off.
pub(crate) const OFF: Nanos = Nanos::MAX;

/// What a sender is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Nothing is missing.
    Open,
    /// Duplicate ACKs or SACKs came, too few to call it loss.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// Repair after a timeout.
    Loss,
    /// The SYN has not been answered.
    Opening,
}

/// Events of a sender, counted from its birth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments sent again (SYNs included).
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Fast recoveries entered.
    pub fast_recoveries: u32,
    /// Window cuts for an ECN echo.
    pub ecn_cuts: u32,
}

/// What only a sender with a loss needs. Allocated at the first one and kept.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// What SACK blocks told, above `una`.
    pub(crate) sacked: Ranges,
    /// Bytes in `sacked`.
    pub(crate) sacked_bytes: u64,
    /// Everything missing below it is lost.
    pub(crate) lost_end: u64,
    /// Everything lost below it has been sent again.
    pub(crate) rxt: u64,
    /// Recovery or repair ends when this is acknowledged.
    pub(crate) recover: u64,
    /// Duplicate ACKs below it start no fast retransmit: they may answer our own repair (RFC 6582
    /// section 3.2, step 1).
    pub(crate) guard: u64,
    /// Duplicate ACKs in a row (NewReno), or ACKs with news from SACK.
    pub(crate) dups: u32,
    /// The next retransmission does not ask the window.
    pub(crate) force: bool,
    /// Repairs in flight, in the order they left, and the next new byte at that time (with
    /// `lost_repairs`).
    pub(crate) repairs: VecDeque<Repair>,
    /// Repairs that were lost, to be sent again.
    pub(crate) again: VecDeque<(u64, u64)>,
    /// An ACK came since the last speculative retransmission (RFC 6675 NextSeg, rule 3).
    pub(crate) rescue: bool,
}

/// A segment sent again, as (first byte, end), and the next new byte when it left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repair {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) nxt: u64,
}

/// Sends one stream. `repr(C)`, so that what every segment and ACK touches stays on two cache
/// lines.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    /// First byte not acknowledged.
    pub(crate) una: u64,
    /// Next new byte.
    pub(crate) nxt: u64,
    /// Just past the last byte written.
    pub(crate) end: u64,
    /// Bytes between `una` and `nxt` that are taken to have left the network; 0 in `Open`.
    pub(crate) gone: u64,
    /// When the retransmission timer fires, or `OFF`.
    pub(crate) deadline: Nanos,
    pub(crate) rto: Nanos,
    /// `nxt` when the window was last full.
    full_at: u64,
    /// The next RTT sample is the ACK that passes this.
    pub(crate) rtt_at: u64,
    /// End of the window of data that the last cut answered for.
    pub(crate) cut_end: u64,
    pub(crate) phase: Phase,
    /// Say CWR on the next new segment.
    pub(crate) cwr: bool,
    /// The last cut was for a loss.
    pub(crate) cut_for_loss: bool,
    /// Doublings of the timeout.
    pub(crate) backoff: u8,
    /// The SYN is to be sent (again).
    pub(crate) syn_due: bool,
    pub(crate) congestion: Congestion,
    pub(crate) rtt: Rtt,
    /// When the last segment left; kept up only where idle connections restart.
    last_sent: Nanos,
    pub(crate) board: Option<Box<Board>>,
    pub(crate) stats: SenderStats,
}

const _: () = assert!(offset_of!(Sender, rtt) <= 128);

impl Sender {
    /// A sender with nothing to send. With `cfg.handshake` its first segment, once something is
    /// written, is a SYN.
    pub fn new(cfg: &Config, _now: Nanos) -> Sender {
        Sender::with(cfg, Congestion::new(cfg))
    }

    /// The same under a user's own law. The receiver's echo still follows `cfg.control`.
    pub fn with_controller(cfg: &Config, _now: Nanos, law: Box<dyn Controller>) -> Sender {
        Sender::with(cfg, Congestion::custom(law))
    }

    fn with(cfg: &Config, congestion: Congestion) -> Sender {
        Sender {
            una: 0,
            nxt: 0,
            end: 0,
            gone: 0,
            deadline: OFF,
            rto: cfg.rto_init,
            full_at: 0,
            rtt_at: 0,
            cut_end: 0,
            phase: if cfg.handshake {
                Phase::Opening
            } else {
                Phase::Open
            },
            cwr: false,
            cut_for_loss: false,
            backoff: 0,
            syn_due: cfg.handshake,
            congestion,
            rtt: Rtt::default(),
            last_sent: Nanos::ZERO,
            board: None,
            stats: SenderStats::default(),
        }
    }

    /// Appends a message of `bytes` bytes and returns the offset just past its last. `u64::MAX`
    /// makes the stream endless.
    ///
    /// Messages written before the earlier ones have left share segments, as in TCP; none waits for
    /// the next.
    #[inline]
    pub fn write(&mut self, _cfg: &Config, _now: Nanos, bytes: u64) -> u64 {
        self.end = self.end.saturating_add(bytes);
        self.end
    }

    /// Whether `poll_transmit` would give a segment now.
    #[inline]
    pub fn can_send(&self, cfg: &Config) -> bool {
        if self.congestion.gated() {
            return false;
        }
        match self.phase {
            Phase::Open | Phase::Disorder => self.new_len(cfg).is_some(),
            _ => self.can_send_repairing(cfg),
        }
    }

    /// Whether waiting for a longer train would gain nothing (Linux, `tcp_tso_should_defer`): a
    /// whole one fits the windows, or everything that is written, or a third of the window; nothing
    /// is outstanding, or a loss is repaired.
    pub fn fills_train(&self, cfg: &Config, tso: u32) -> bool {
        let outstanding = self.nxt - self.una;
        if outstanding == 0 || self.phase > Phase::Disorder {
            return true;
        }
        let window = self.congestion.window().min(cfg.receive_window);
        let limit = (window + self.gone).min(cfg.receive_window);
        let train = match &self.congestion {
            Congestion::Paced(paced) => u64::from(tso).min(paced.train(cfg)),
            _ => u64::from(tso),
        };
        let enough = train.min(self.end - self.nxt).min(window / 3);
        // The last segment of a train need not fill it.
        limit.saturating_sub(outstanding) + u64::from(cfg.mss) > enough
    }

    /// The next segment, if the windows allow one.
    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        if self.congestion.gated() {
            return None;
        }
        if self.phase > Phase::Disorder {
            return self.poll_repairing(cfg, now);
        }
        let len = self.new_len(cfg)?;
        Some(self.send_new(cfg, now, len))
    }

    /// Takes an acknowledgement and its SACK blocks, `[start, end)` each.
    #[inline]
    pub fn on_ack(&mut self, cfg: &Config, now: Nanos, ack: &Ack, sacks: &[(u64, u64)]) {
        if self.phase != Phase::Open
            || !sacks.is_empty()
            || ack.cum <= self.una
            || ack.cum > self.nxt
        {
            return self.on_ack_repairing(cfg, now, ack, sacks);
        }
        let bytes = ack.cum - self.una;
        self.advance(cfg, now, ack, bytes);
        if let Congestion::Paced(paced) = &mut self.congestion {
            paced.finish(cfg, now, self.nxt - self.una, 0, false);
        }
    }

    /// The sender's one deadline (retransmission timeout, or the wake-up of a user's law).
    ///
    /// It may move later at any call, and earlier within `poll_transmit`, `on_ack` and
    /// `on_timeout`: compare after those.
    #[inline]
    pub fn timeout(&self) -> Option<Nanos> {
        let rto = (self.deadline != OFF).then_some(self.deadline);
        match (rto, self.congestion.next_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The deadline has come. Does nothing when called early.
    pub fn on_timeout(&mut self, cfg: &Config, now: Nanos) {
        if let Congestion::Paced(paced) = &mut self.congestion {
            paced.wake(cfg, now);
        }
        if self.deadline != OFF && now >= self.deadline {
            self.on_rto(cfg, now);
        }
    }

    /// Whether everything written is acknowledged.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.una == self.end
    }

    /// Bytes acknowledged, in order.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.una
    }

    /// Bytes taken to be in the network (RFC 6675's pipe).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una - self.gone
    }

    /// Congestion window in bytes.
    #[inline]
    pub fn window(&self) -> u64 {
        self.congestion.window()
    }

    /// Events so far.
    #[inline]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The law and its state.
    pub fn congestion(&self) -> &Congestion {
        &self.congestion
    }

    /// Length of the next new segment, if there is one and both windows have room for all of it.
    #[inline]
    pub(crate) fn new_len(&self, cfg: &Config) -> Option<u64> {
        let len = (self.end - self.nxt).min(u64::from(cfg.mss));
        if len == 0 {
            return None;
        }
        let outstanding = self.nxt - self.una;
        let limit = (self.congestion.window().saturating_add(self.gone)).min(cfg.receive_window);
        // With nothing outstanding one segment leaves whatever the windows say, or a tiny window
        // would end the stream.
        (outstanding + len <= limit || outstanding == 0).then_some(len)
    }

    /// Sends `len` new bytes.
    #[inline]
    pub(crate) fn send_new(&mut self, cfg: &Config, now: Nanos, len: u64) -> Segment {
        if !cfg.keep_window {
            self.restart_if_idle(cfg, now);
        }
        let seq = self.nxt;
        self.nxt += len;
        let mut flags = Flags::EMPTY;
        if self.cwr {
            self.cwr = false;
            flags = Flags::CWR;
        }
        if self.nxt - self.una - self.gone + u64::from(cfg.mss) > self.congestion.window() {
            self.full_at = self.nxt;
        }
        self.emit(cfg, now, seq, len, flags, self.congestion.ecn())
    }

    #[inline]
    pub(crate) fn emit(
        &mut self,
        cfg: &Config,
        now: Nanos,
        seq: u64,
        len: u64,
        mut flags: Flags,
        ecn: Ecn,
    ) -> Segment {
        if seq + len == self.end {
            flags = flags.with(Flags::PUSH);
        }
        if self.deadline == OFF {
            self.deadline = now + self.rto;
        }
        if let Congestion::Paced(paced) = &mut self.congestion {
            let before = (self.nxt - self.una - self.gone).saturating_sub(len);
            paced.sent(cfg, now, (seq, len), before, self.nxt == self.end);
        }
        Segment {
            seq,
            len: len as u16,
            flags,
            ecn,
            ts: now.0 as u32,
        }
    }

    /// RFC 5681 section 4.1: after an idle timeout the old window says nothing about the path.
    fn restart_if_idle(&mut self, cfg: &Config, now: Nanos) {
        if self.nxt == self.una && self.nxt > 0 && now.saturating_sub(self.last_sent) > self.rto {
            self.congestion
                .restart(cfg, u64::from(cfg.init_window) * u64::from(cfg.mss));
        }
        self.last_sent = now;
    }

    /// What every acknowledgement of new data does: RTT, timer, law, echo. `bytes` are newly told;
    /// `phase` is the one it arrived in.
    #[inline]
    pub(crate) fn advance(&mut self, cfg: &Config, now: Nanos, ack: &Ack, bytes: u64) {
        let in_flight = self.nxt - self.una;
        let was_full = self.una < self.full_at;
        self.una = self.una.max(ack.cum);
        let mut rtt = None;
        if ack.cum > self.rtt_at {
            // One sample a window keeps the RFC's averaging constants meaningful (RFC 7323 appendix
            // G) and the common ACK cheap.
            rtt = Some(self.rtt.sample(now, ack.ts_echo));
            self.rto = self.rtt.rto(cfg);
            self.backoff = 0;
            self.rtt_at = self.nxt;
        }
        self.deadline = if self.una == self.nxt {
            OFF
        } else {
            now + self.rto
        };
        let echo = ack.flags.has(Flags::ECE);
        self.congestion.on_ack(
            cfg,
            &Acked {
                now,
                bytes,
                una: self.una,
                nxt: self.nxt,
                in_flight,
                echo,
                was_full,
                recovering: self.phase == Phase::Recovery,
                after_timeout: self.phase == Phase::Loss,
                round_ended: rtt.is_some(),
                rtt,
            },
        );
        if echo {
            self.on_echo(cfg, now, ack.cum);
        }
    }

    /// Cuts for an echo, unless this window of data has been answered for.
    #[inline]
    pub(crate) fn on_echo(&mut self, cfg: &Config, now: Nanos, cum: u64) {
        if cum <= self.cut_end
            || self.phase > Phase::Disorder
            || self.congestion.ecn() == Ecn::NotEct
        {
            return;
        }
        self.congestion.on_echo(cfg, now, self.nxt - self.una);
        self.cut_end = self.nxt;
        self.cut_for_loss = false;
        self.cwr = true;
        self.stats.ecn_cuts += 1;
    }
}
