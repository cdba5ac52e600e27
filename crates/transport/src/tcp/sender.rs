// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending end as long as nothing is lost; [`super::recovery`] handles losses.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem::offset_of;

use cemark_wire::{Ecn, Flags, Nanos, Rate};

use super::rtt::Rtt;
use super::undo::Undo;
use crate::cc::{Acked, CeCounted, Congestion, Controller, Pacing};
use crate::ranges::Ranges;
use crate::{Ack, Config, Segment};

/// The retransmission timer is off.
pub(crate) const OFF: Nanos = Nanos::MAX;

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Nothing is missing.
    Open,
    /// Duplicate ACKs or SACKs arrived, too few to call it a loss.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// Retransmission after a timeout.
    Loss,
    /// The SYN has not been acknowledged.
    Opening,
    /// A tail loss probe has to leave.
    Probing,
    /// The acknowledgement of the SYN-ACK has to leave.
    Answering,
}

/// Events of a sender since its construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Retransmitted segments, SYNs included.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Fast recoveries entered.
    pub fast_recoveries: u32,
    /// Window cuts for an ECN echo.
    pub ecn_cuts: u32,
}

/// State that only a sender with a loss needs (RFC 6675). The sender allocates it at the first loss
/// and keeps it.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// Bytes that SACK blocks reported, above `una`.
    pub(crate) sacked: Ranges,
    /// Bytes in `sacked`.
    pub(crate) sacked_bytes: u64,
    /// Everything missing below it is lost.
    pub(crate) lost_end: u64,
    /// Everything lost below it has been retransmitted.
    pub(crate) rxt: u64,
    /// The recovery ends when this is acknowledged.
    pub(crate) recover: u64,
    /// Duplicate ACKs below it start no fast retransmit: our own retransmissions may have caused
    /// them (RFC 6582 section 3.2, step 1).
    pub(crate) guard: u64,
    /// Duplicate ACKs in a row (NewReno), or ACKs that SACKed new data.
    pub(crate) dups: u32,
    /// A partial ACK of this recovery has arrived (NewReno).
    pub(crate) partial: bool,
    /// The next retransmission leaves even if the window is full.
    pub(crate) force: bool,
    /// Retransmissions in flight, in the order they left (only with
    /// `Config::lost_retransmissions` or `Stack::rack`).
    pub(crate) retransmitted: VecDeque<Retransmission>,
    /// Retransmissions that were lost and have to be repeated: `[start, end)`.
    pub(crate) again: VecDeque<(u64, u64)>,
    /// The window before the last loss, while its cut may turn out to be a mistake.
    pub(crate) undo: Option<Undo>,
    /// Cuts that were taken back.
    pub(crate) undone: u32,
    /// An ACK arrived since the last speculative retransmission (RFC 6675 NextSeg, rule 3).
    pub(crate) rescue: bool,
}

impl Scoreboard {
    /// Retransmissions that have not arrived, as far as is known; everything below `una` has.
    pub(crate) fn retransmissions_out(&self, una: u64) -> u32 {
        let arrived = |r: &&Retransmission| {
            r.end <= una
                || self
                    .sacked
                    .holding(r.seq)
                    .is_some_and(|held| held.1 >= r.end)
        };
        self.retransmitted.iter().filter(|r| !arrived(r)).count() as u32
    }
}

/// A retransmitted segment `[seq, end)`, the next new byte when it left, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) nxt: u64,
    pub(crate) at: Nanos,
}

/// Sends one stream. `repr(C)`: the fields that every segment and ACK accesses are on two cache
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
    /// Bytes between `una` and `nxt` that have left the network, as far as is known; 0 in `Open`.
    pub(crate) gone: u64,
    /// When the retransmission timer fires, or `OFF`.
    pub(crate) deadline: Nanos,
    pub(crate) rto: Nanos,
    /// `nxt` when the window was last full.
    full_at: u64,
    /// The next RTT sample is the ACK that passes this.
    pub(crate) rtt_at: u64,
    /// End of the window of data for which the window was last reduced.
    pub(crate) cut_end: u64,
    pub(crate) phase: Phase,
    /// Set CWR on the next new segment.
    pub(crate) cwr: bool,
    /// The last reduction was for a loss.
    pub(crate) cut_for_loss: bool,
    /// Doublings of the timeout.
    pub(crate) backoff: u8,
    /// The SYN has to be sent (again).
    pub(crate) syn_due: bool,
    pub(crate) congestion: Congestion,
    pub(crate) rtt: Rtt,
    /// When the last segment left; updated only if idle connections restart.
    last_sent: Nanos,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    pub(crate) stats: SenderStats,
}

const _: () = assert!(offset_of!(Sender, rtt) <= 128);

// The state of a proxy that DCIB's figure 10 counts is made of these bytes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Sender>() == 168);

/// Whether the segment has the last byte of one of the pieces in which the stream was written.
#[inline]
fn ends_a_piece(size: u32, seq: u64, len: u64) -> bool {
    let size = u64::from(size);
    size > 0 && seq / size != (seq + len) / size
}

impl Sender {
    /// A sender with nothing to send. With `cfg.handshake` its first segment, once something is
    /// written, is a SYN.
    pub fn new(cfg: &Config) -> Sender {
        let congestion = Congestion::new(&cfg.path(), &cfg.control, pacing(cfg));
        Sender::with(cfg, congestion)
    }

    /// A sender with a controller of your own. The receiver still echoes as `cfg.control` needs it.
    pub fn with_controller(cfg: &Config, controller: Box<dyn Controller>) -> Sender {
        let congestion = Congestion::custom(&cfg.path(), controller, pacing(cfg));
        Sender::with(cfg, congestion)
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
            scoreboard: None,
            stats: SenderStats::default(),
        }
    }

    /// Appends a message of `bytes` bytes and returns the offset just past its last. `u64::MAX`
    /// makes the stream endless.
    ///
    /// Messages that are written before the earlier ones have left share segments, as in TCP; no
    /// message waits for the next.
    #[inline]
    pub fn write(&mut self, bytes: u64) -> u64 {
        self.end = self.end.saturating_add(bytes);
        self.end
    }

    /// Whether `poll_transmit` would give a segment now.
    #[inline]
    pub fn can_send(&self, cfg: &Config) -> bool {
        if self.congestion.is_gated() {
            return false;
        }
        match self.phase {
            Phase::Open | Phase::Disorder => self.new_len(cfg).is_some(),
            _ => self.can_send_in_recovery(cfg),
        }
    }

    /// Whether waiting for a longer train would gain nothing (Linux, `tcp_tso_should_defer`): the
    /// windows have room for a whole train, for everything that is written, or for a third of the
    /// window; or nothing is outstanding; or the sender is recovering from a loss. With
    /// [`Stack::tso_defer`](crate::Stack::tso_defer) the clock decides as well.
    pub fn fills_train(&self, cfg: &Config, tso: u32, now: impl FnOnce() -> Nanos) -> bool {
        let outstanding = self.nxt - self.una;
        if outstanding == 0 || self.phase > Phase::Disorder {
            return true;
        }
        let window = self.congestion.cwnd().min(cfg.receive_window);
        let limit = (window + self.gone).min(cfg.receive_window);
        let mut train = u64::from(tso);
        if let Congestion::Paced(paced) = &self.congestion {
            train = train.min(paced.largest_train());
            if cfg.stack.tso_defer
                && let Some(rack) = &paced.rack
            {
                let srtt = self.rtt.smoothed();
                if rack.hurries(now(), srtt) {
                    return true;
                }
                // Twice the window in the first half of slow start (`tcp_update_pacing_rate`).
                let ssthresh = paced.controller.ssthresh().unwrap_or(0);
                let tenths = if window < ssthresh / 2 { 20 } else { 12 };
                train = train.min(rack.train(cfg, tenths, window, srtt));
            }
        }
        let enough = train.min(self.end - self.nxt).min(window / 3);
        // The last segment of a train need not fill it.
        limit.saturating_sub(outstanding) + u64::from(cfg.mss) > enough
    }

    /// Counts what is in flight as a full window, so that its acknowledgements let the window grow:
    /// for a host that sends less than the windows allow ([`Config::max_burst`]).
    pub fn fill_window(&mut self) {
        self.full_at = self.nxt;
    }

    /// The next segment, if the windows allow one.
    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        if self.congestion.is_gated() {
            return None;
        }
        if self.phase > Phase::Disorder {
            return self.poll_in_recovery(cfg, now);
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
            return self.on_ack_in_recovery(cfg, now, ack, sacks);
        }
        let bytes = ack.cum - self.una;
        self.advance(cfg, now, ack, bytes);
        if matches!(self.congestion, Congestion::Paced(_)) {
            self.finish_ack(cfg, now, ack, (bytes, true), (0, false));
        }
    }

    /// When the sender wants `on_timeout`: its retransmission timeout, or the wake-up of its
    /// controller or its pacing gate.
    ///
    /// Any call may move it later; only `poll_transmit`, `on_ack` and `on_timeout` may move it
    /// earlier, so ask again after those.
    #[inline]
    pub fn timeout(&self) -> Option<Nanos> {
        let rto = (self.deadline != OFF).then_some(self.deadline);
        match (rto, self.congestion.next_wake()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The time of `timeout` has come. Does nothing when called early.
    pub fn on_timeout(&mut self, cfg: &Config, now: Nanos) {
        if let Congestion::Paced(paced) = &mut self.congestion {
            paced.wake(now);
            self.wake_stack(cfg, now);
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

    /// Bytes that have left at least once.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.nxt
    }

    /// Bytes in flight, as far as the sender knows (RFC 6675's pipe).
    #[inline]
    pub fn bytes_in_flight(&self) -> u64 {
        self.nxt - self.una - self.gone
    }

    /// Congestion window in bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.congestion.cwnd()
    }

    /// Rate at which segments leave, headers included; `None`: acknowledgements clock them out.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.congestion.pacing_rate()
    }

    /// Events so far.
    #[inline]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Window cuts that were taken back so far, with [`Stack::undo`](crate::Stack::undo).
    pub fn undone_cuts(&self) -> u32 {
        self.scoreboard.as_ref().map_or(0, |board| board.undone)
    }

    /// The congestion controller.
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
        let limit = (self.congestion.cwnd().saturating_add(self.gone)).min(cfg.receive_window);
        // With nothing outstanding one segment leaves even if it exceeds the windows: otherwise a
        // tiny window would stop the stream forever.
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
        if self.nxt - self.una - self.gone + u64::from(cfg.mss) > self.congestion.cwnd() {
            self.full_at = self.nxt;
        }
        if match cfg.stack.write_size {
            0 => self.ends_a_write(cfg, seq),
            size => ends_a_piece(size, seq, len),
        } {
            flags = flags.with(Flags::PUSH);
        }
        self.emit(now, seq, len, flags)
    }

    /// Whether the new segment that begins at `seq` fills the send buffer.
    #[inline]
    fn ends_a_write(&mut self, cfg: &Config, seq: u64) -> bool {
        let Congestion::Paced(paced) = &mut self.congestion else {
            return false;
        };
        let Some(writes) = &mut paced.writes else {
            return false;
        };
        let window = paced.controller.cwnd().min(cfg.receive_window);
        if seq == self.una {
            writes.begin(seq, window);
        }
        writes.ends_at(self.nxt)
    }

    #[inline]
    pub(crate) fn emit(&mut self, now: Nanos, seq: u64, len: u64, mut flags: Flags) -> Segment {
        if seq + len == self.end {
            flags = flags.with(Flags::PUSH);
        }
        if self.deadline == OFF {
            self.deadline = now + self.rto;
        }
        if matches!(self.congestion, Congestion::Paced(_)) {
            self.note_sent(now, seq, len, flags);
        }
        Segment {
            seq,
            len: len as u16,
            flags,
            ecn: self.congestion.ecn(),
            ts: now.0 as u32,
        }
    }

    /// RFC 5681 section 4.1: after an idle timeout the old window no longer describes the path.
    fn restart_if_idle(&mut self, cfg: &Config, now: Nanos) {
        if self.nxt == self.una && self.nxt > 0 && now.saturating_sub(self.last_sent) > self.rto {
            self.congestion
                .restart(u64::from(cfg.init_window) * u64::from(cfg.mss));
        }
        self.last_sent = now;
    }

    /// Processes an acknowledgement of new data: RTT, timer, controller, ECN echo. `bytes` are
    /// newly acknowledged, by the cumulative number or by SACK.
    #[inline]
    pub(crate) fn advance(&mut self, cfg: &Config, now: Nanos, ack: &Ack, bytes: u64) {
        let bytes_in_flight = self.nxt - self.una;
        let cwnd_limited = self.una < self.full_at;
        self.una = self.una.max(ack.cum);
        let mut rtt = None;
        if ack.cum > self.rtt_at {
            // One sample per window keeps the RFC's averaging constants meaningful (RFC 7323
            // appendix G) and the common ACK cheap.
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
        let acked = Acked {
            now,
            bytes,
            packets: packets(cfg, bytes),
            ce_bytes: if echo { bytes } else { 0 },
            ce_packets: u64::from(echo),
            bytes_in_flight,
            cwnd_limited,
            in_recovery: self.phase == Phase::Recovery,
            after_timeout: self.phase == Phase::Loss,
            round_ended: rtt.is_some(),
            rtt,
            delay: (now.0 as u32).wrapping_sub(ack.ts_echo),
        };
        self.congestion.on_ack(acked, self.una);
        if echo {
            self.on_echo(now, ack.cum);
        }
    }

    /// Reports an ECN echo to the controller, unless the window was reduced for this window of data
    /// already.
    #[inline]
    pub(crate) fn on_echo(&mut self, now: Nanos, cum: u64) {
        if cum <= self.cut_end
            || self.phase > Phase::Disorder
            || self.congestion.ecn() == Ecn::NotEct
        {
            return;
        }
        let ce = CeCounted {
            now,
            packets: 1,
            bytes_in_flight: self.nxt - self.una,
        };
        self.congestion.on_ce(&ce, self.nxt);
        if let Some(scoreboard) = &mut self.scoreboard {
            scoreboard.undo = None;
        }
        self.cut_end = self.nxt;
        self.cut_for_loss = false;
        self.cwr = true;
        self.stats.ecn_cuts += 1;
    }
}

fn pacing(cfg: &Config) -> Pacing {
    Pacing {
        window: cfg.pacing,
        train: cfg.pace_train,
        rto_min: cfg.rto_min,
    }
}

/// `bytes` in full segments. Most acknowledgements cover one, which costs no division.
#[inline]
pub(crate) fn packets(cfg: &Config, bytes: u64) -> u64 {
    let mss = u64::from(cfg.mss);
    if bytes <= mss {
        u64::from(bytes > 0)
    } else {
        bytes.div_ceil(mss)
    }
}
