// SPDX-License-Identifier: MIT OR Apache-2.0
//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): paces at what the path delivers
//! and keeps two round trips in flight.
//!
//! Its model of the path is two filters: the largest delivery rate of ten rounds, and the smallest
//! round trip of ten seconds.

use cemark_wire::{Ecn, Nanos, Rate};

use super::{
    Acked, Build, CeCounted, Control, Controller, ControllerSpec, Delivered, FromControl, Lost,
    PathSpec, boxed, on_the_wire, per_second,
};
use cemark_param::config;

/// The declaration.
pub static SPEC: ControllerSpec = ControllerSpec {
    params: BbrConfig::PARAMS,
    paced: true,
    wants_delivered: true,
    slows_for_loss: false,
    ..ControllerSpec::new(
        "bbr",
        "BBR",
        "Paces at the measured bandwidth and keeps two round trips in flight; a loss does not \
         lower its rate.",
        Build::Stream(boxed::<Bbr>),
    )
};

impl Control {
    /// BBR, version 1.
    pub const BBR: Control = Control::of(&SPEC);
}

config! {
    /// Parameters of BBR.
    pub struct BbrConfig {
        /// Largest pacing rate of a connection, headers included; 8Tbps: in effect none (ns-3's
        /// MaxPacingRate: 4Gbps).
        cap as "bbr-cap": Rate = rate(UNCAPPED),
    }
}

impl FromControl for Bbr {
    fn from_control(path: &PathSpec, control: &Control) -> Bbr {
        Bbr {
            cap: BbrConfig::from(control.values()).cap,
            ..Bbr::new(path)
        }
    }
}

/// A cap above every rate of a link.
const UNCAPPED: u64 = 8_000_000_000_000;

/// A gain of 1.
const ONE: u64 = 1 << 16;
/// 2 / ln 2: the smallest gain that doubles the rate every round trip.
const HIGH: u64 = 189_097;
/// Its inverse: drains in one round trip what start-up queued.
const DRAIN: u64 = ONE * ONE / HIGH;
/// Gains of a cycle of eight round trips: a higher rate in the first, a lower rate in the second,
/// the measured rate in the others.
const CYCLE: [u64; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// Rounds for which a delivery rate is remembered.
const BW_ROUNDS: usize = 10;
/// How long the smallest round trip is trusted.
const RTPROP_SPAN: Nanos = Nanos::from_millis(10_000);
/// How long the path is kept empty to measure the round trip again.
const PROBE_SPAN: Nanos = Nanos::from_millis(200);
/// Segments in flight during that time, and the smallest window.
const FEW: u64 = 4;

/// The state of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Doubling the rate until it no longer grows by a quarter in three rounds.
    Startup,
    /// Emptying the queue that start-up left.
    Drain,
    /// Cycling through eight phases, of which this is the number.
    ProbeBw(u8),
    /// Four segments in flight for 200 ms.
    ProbeRtt,
}

/// The sender's side of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    mss: u64,
    header: u64,
    /// Largest pacing rate, headers included.
    cap: Rate,
    mode: Mode,
    cwnd: u64,
    /// Window to return to after a recovery or a probe of the round trip.
    prior: u64,
    /// Bits per second of payload.
    pace: u64,
    /// A round trip has been measured.
    timed: bool,
    /// The largest rate of each of the last rounds, in bits per second of payload; `bw` is the
    /// largest of them.
    rates: [u64; BW_ROUNDS],
    bw: u64,
    /// Smallest round trip in nanoseconds, 0 before the first, and when it was measured.
    rtprop: u64,
    rtprop_at: Nanos,
    /// `bw` x `rtprop` in bytes.
    bdp: u64,
    round: u64,
    /// The round ends with a segment that was sent after this much had been delivered.
    round_end: u64,
    full_bw: u64,
    full_rounds: u8,
    filled: bool,
    cycle_at: Nanos,
    probe_end: Option<Nanos>,
    probe_round: bool,
    in_recovery: bool,
    conserve: bool,
}

impl Bbr {
    /// A new controller in start-up: the initial window over a millisecond.
    pub fn new(path: &PathSpec) -> Bbr {
        let cwnd = path.init_bytes();
        Bbr {
            mss: u64::from(path.mss),
            header: u64::from(path.header),
            cap: Rate(UNCAPPED),
            mode: Mode::Startup,
            cwnd,
            prior: 0,
            pace: times(HIGH, cwnd * 8_000),
            timed: false,
            rates: [0; BW_ROUNDS],
            bw: 0,
            rtprop: 0,
            rtprop_at: Nanos::ZERO,
            bdp: 0,
            round: 0,
            round_end: 0,
            full_bw: 0,
            full_rounds: 0,
            filled: false,
            cycle_at: Nanos::ZERO,
            probe_end: None,
            probe_round: false,
            in_recovery: false,
            conserve: false,
        }
    }

    /// Its state.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Estimate of the bottleneck bandwidth, in bits per second of payload.
    pub fn bandwidth(&self) -> Rate {
        Rate(self.bw)
    }

    /// Estimate of the round trip without a queue, in nanoseconds; 0 before the first sample.
    pub fn rtprop(&self) -> u64 {
        self.rtprop
    }

    fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (HIGH, HIGH),
            Mode::Drain => (DRAIN, HIGH),
            Mode::ProbeBw(phase) => (CYCLE[usize::from(phase)], 2 * ONE),
            Mode::ProbeRtt => (ONE, ONE),
        }
    }

    fn update_round(&mut self, d: &Delivered) -> bool {
        let ended = d.prior >= self.round_end;
        if ended {
            self.round_end = d.total;
            self.round += 1;
            self.conserve = false;
            self.rates[(self.round % BW_ROUNDS as u64) as usize] = 0;
        }
        if let Some(Rate(rate)) = d.rate
            && (rate >= self.bw || !d.app_limited)
        {
            let slot = &mut self.rates[(self.round % BW_ROUNDS as u64) as usize];
            *slot = (*slot).max(rate);
        }
        ended
    }

    /// The largest of the remembered rates; if all were app-limited the old estimate stays.
    fn update_bw(&mut self) {
        let largest = self.rates.iter().copied().max().unwrap_or(0);
        if largest > 0 {
            self.bw = largest;
        }
    }

    fn update_bdp(&mut self) {
        self.bdp = (u128::from(self.bw) * u128::from(self.rtprop) / 8_000_000_000) as u64;
    }

    fn check_full(&mut self, d: &Delivered, round_ended: bool) {
        if self.filled || !round_ended || d.app_limited {
            return;
        }
        if self.bw >= self.full_bw + self.full_bw / 4 {
            self.full_bw = self.bw;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }

    fn check_phase(&mut self, d: &Delivered) {
        let Mode::ProbeBw(phase) = self.mode else {
            return;
        };
        let over = d.now.saturating_sub(self.cycle_at).0 > self.rtprop;
        let before = d.bytes_in_flight + d.bytes;
        let next = match CYCLE[usize::from(phase)] {
            // At the higher rate until a queue has formed, at the lower one until it is gone.
            gain if gain > ONE => over && (d.lost > 0 || before >= times(gain, self.bdp)),
            gain if gain < ONE => over || before <= self.bdp,
            _ => over,
        };
        if next {
            self.mode = Mode::ProbeBw((phase + 1) % CYCLE.len() as u8);
            self.cycle_at = d.now;
        }
    }

    fn enter_probe_bw(&mut self, d: &Delivered) {
        // Any phase but the slow one, so that flows that began together do not probe together. A
        // hash of time and bytes is random enough, and repeats when the run is repeated.
        let draw = (d.now.0 ^ d.total).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let phase = [0, 2, 3, 4, 5, 6, 7][(draw % 7) as usize];
        self.mode = Mode::ProbeBw(phase);
        self.cycle_at = d.now;
    }

    /// True while BBR keeps the path empty.
    fn update_rtprop(&mut self, d: &Delivered, round_ended: bool) -> bool {
        let expired = self.rtprop > 0 && d.now > self.rtprop_at + RTPROP_SPAN;
        if let Some(rtt) = d.rtt.map(u64::from)
            && (self.rtprop == 0 || rtt <= self.rtprop || expired)
        {
            self.rtprop = rtt;
            self.rtprop_at = d.now;
        }
        if expired && self.mode != Mode::ProbeRtt {
            self.keep_window();
            self.mode = Mode::ProbeRtt;
            self.probe_end = None;
        }
        if self.mode != Mode::ProbeRtt {
            return false;
        }
        match self.probe_end {
            None if d.bytes_in_flight <= FEW * self.mss => {
                self.probe_end = Some(d.now + PROBE_SPAN);
                self.probe_round = false;
                self.round_end = d.total;
            }
            None => {}
            Some(end) => {
                self.probe_round |= round_ended;
                if self.probe_round && d.now > end {
                    self.rtprop_at = d.now;
                    self.cwnd = self.cwnd.max(self.prior);
                    match self.filled {
                        true => self.enter_probe_bw(d),
                        false => self.mode = Mode::Startup,
                    }
                }
            }
        }
        self.mode == Mode::ProbeRtt
    }

    fn keep_window(&mut self) {
        self.prior = match self.in_recovery || self.mode == Mode::ProbeRtt {
            true => self.prior.max(self.cwnd),
            false => self.cwnd,
        };
    }

    fn set_pace(&mut self, d: &Delivered) {
        if let (false, Some(rtt)) = (self.timed, d.rtt) {
            // The first measurement replaces the guess: the initial window over the round trip.
            self.timed = true;
            let bw = per_second(self.cwnd, u64::from(rtt));
            self.pace = times(self.gains().0, bw);
        }
        let pace = times(self.gains().0, self.bw);
        if self.filled || pace > self.pace {
            self.pace = pace;
        }
    }

    fn set_cwnd(&mut self, d: &Delivered) {
        if d.lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(d.lost).max(self.mss);
        }
        if d.in_recovery && !self.in_recovery {
            // The first round of a recovery sends as much as is delivered (packet conservation).
            self.conserve = true;
            self.round_end = d.total;
            self.cwnd = d.bytes_in_flight + d.bytes;
        } else if !d.in_recovery && self.in_recovery {
            self.conserve = false;
            self.cwnd = self.cwnd.max(self.prior);
        }
        self.in_recovery = d.in_recovery;
        if self.conserve {
            self.cwnd = self.cwnd.max(d.bytes_in_flight + d.bytes);
        } else {
            // Three quanta of room, so that delayed and stretched ACKs do not stall it.
            let target = times(self.gains().1, self.bdp) + 3 * self.mss;
            if self.filled {
                self.cwnd = (self.cwnd + d.bytes).min(target);
            } else if self.cwnd < target || d.total < 10 * self.mss {
                self.cwnd += d.bytes;
            }
        }
        self.cwnd = self.cwnd.max(FEW * self.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(FEW * self.mss);
        }
    }
}

/// `gain` times `n`, rounded down.
fn times(gain: u64, n: u64) -> u64 {
    match gain.checked_mul(n) {
        Some(product) => product / ONE,
        None => (u128::from(gain) * u128::from(n) / u128::from(ONE)) as u64,
    }
}

impl Controller for Bbr {
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn on_ack(&mut self, _: &Acked) {
        // `on_delivered` has all that it needs.
    }

    fn on_ce(&mut self, _: &CeCounted) {
        // Its packets are Not-ECT.
    }

    fn on_loss(&mut self, loss: &Lost) {
        self.keep_window();
        if loss.timeout {
            // One segment, and what the model says again as soon as something is acknowledged.
            // Whether the pipe is full has to be measured again.
            self.cwnd = self.mss;
            self.full_bw = 0;
            self.in_recovery = true;
            self.conserve = false;
        }
    }

    fn restart(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.min(bytes.max(self.mss));
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let pace = on_the_wire((self.mss, self.header), self.pace.max(8_000));
        Some(Rate(pace).min(self.cap))
    }

    fn wants_delivered(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, d: &Delivered) -> bool {
        let round_ended = self.update_round(d);
        self.update_bw();
        self.update_bdp();
        self.check_phase(d);
        self.check_full(d, round_ended);
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && d.bytes_in_flight <= self.bdp {
            self.enter_probe_bw(d);
        }
        let limits = self.update_rtprop(d, round_ended);
        self.update_bdp();
        self.set_pace(d);
        self.set_cwnd(d);
        limits
    }
}
