// SPDX-License-Identifier: MIT OR Apache-2.0
//! CUBIC (RFC 9438): the window is a cubic function of the time since the last cut, independent of
//! the round trip.
//!
//! Integers only, so that a window is the same on every machine: times in parts of 2^20 of a
//! second, lengths in bytes.

use cemark_param::config;
use cemark_wire::{Ecn, Nanos};

use super::{
    Acked, Build, CeCounted, Control, Controller, ControllerSpec, Cut, FromControl, Lost, PathSpec,
    Window, boxed, hystart::Hystart, window::floor,
};
use crate::Stack;

/// The declaration of CUBIC without ECN.
pub static SPEC: ControllerSpec = WITHOUT_ECN;

/// The declaration of CUBIC with ECN.
pub static SPEC_ECN: ControllerSpec = ControllerSpec {
    name: "cubic-ecn",
    title: "CUBIC with ECN",
    doc: "CUBIC that treats an ECN echo like a loss (RFC 9438 section 4.6).",
    ecn: true,
    ..WITHOUT_ECN
};

const WITHOUT_ECN: ControllerSpec = ControllerSpec {
    params: CubicConfig::PARAMS,
    ..ControllerSpec::new(
        "cubic",
        "CUBIC",
        "Grows the window by a cubic function of the time since the last loss; sends Not-ECT \
         packets.",
        Build::Stream(boxed::<Cubic>),
    )
};

impl Control {
    /// CUBIC with the constants of the RFC, without ECN.
    pub const CUBIC: Control = Control::of(&SPEC);
    /// CUBIC with the constants of the RFC and with ECN.
    pub const CUBIC_ECN: Control = Control::of(&SPEC_ECN);
}

config! {
    /// Parameters of CUBIC.
    pub struct CubicConfig {
        /// C in segments per second cubed (RFC 9438 section 5: 0.4).
        c_milli as "cubic-c": u32 = thousandths(400, 1..=10_000),
        /// Share of the window that remains after a cut (RFC 9438 section 4.6: 0.7).
        beta_milli as "cubic-beta": u32 = thousandths(700, 100..=990),
        /// Aim lower when the window shrinks from cut to cut (RFC 9438 section 4.7).
        fast_convergence as "fast-convergence": bool = flag(true),
        /// Never grow slower than Reno would (RFC 9438 section 4.3).
        reno_friendly as "reno-friendly": bool = flag(true),
        /// Leave slow start early, as ns-3.38 does: once ACKs at most 2 ms apart span the smallest
        /// RTT, or the RTT has grown by that (by 4 ms at least).
        hystart: bool = flag(false),
        /// Before the first cut and after a timeout the window grows by a segment for this many
        /// acknowledged ones at least; 0: no such floor (Linux and ns-3: 20).
        clamp as "cubic-clamp": u32 = count(0, 0..=10_000),
    }
}

impl FromControl for Cubic {
    fn from_control(path: &PathSpec, control: &Control) -> Cubic {
        Cubic {
            ecn: control.ecn_capable(),
            ..Cubic::new(path, CubicConfig::from(control.values()))
        }
    }
}

/// Longest time since a cut that enters the function, so that no product overflows (2^31 parts are
/// 2,048 s).
const LONGEST: u64 = 1 << 31;

/// A congestion avoidance stage: the time between two cuts.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began.
    start: Nanos,
    /// Time from its beginning to the plateau, in parts of 2^20 of a second.
    k: u64,
    /// Reno's window in the same time, in parts of 2^20 of a byte.
    reno: u64,
}

/// The sender's side of CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    window: Window,
    config: CubicConfig,
    /// ECT(0) packets, and an echo counts like a loss (RFC 9438 section 4.6); otherwise Not-ECT.
    ecn: bool,
    mss: u16,
    /// C in bytes per second cubed, in parts of 2^10.
    scale: u64,
    /// Growth of Reno in a round trip, for the same mean window with a cut to beta: 3 (1 - beta) /
    /// (1 + beta) segments, in parts of 2^20 of a byte.
    alpha: u64,
    epoch: Option<Epoch>,
    /// The plateau, in bytes.
    w_max: u64,
    /// Window before the last cut.
    prior: u64,
    /// The next stage begins on its plateau, since it follows a timeout (section 4.8).
    flat: bool,
    /// Remainder of the growth, in bytes squared; in bytes if the growth is held.
    credit: u64,
    /// Smoothed round trip in nanoseconds.
    srtt: u64,
    /// When the last acknowledgement came.
    seen: Nanos,
    stack: Stack,
    /// The growth that is kept while the window stays the same (`Stack::cubic_hold`).
    held: Option<Held>,
    /// A cut has shown where the plateau is, and no timeout since has made it unknown.
    cut_known: bool,
    hystart: Hystart,
}

/// Growth that was computed at some moment.
#[derive(Clone, Copy, Debug)]
struct Held {
    at: Nanos,
    cwnd: u64,
    /// Segments that have to be acknowledged for the window to grow by one.
    per: u64,
}

/// How long it is kept (Linux: HZ/32).
const HOLD: Nanos = Nanos(31_250_000);

impl Cubic {
    /// A new controller at the initial window.
    pub fn new(path: &PathSpec, config: CubicConfig) -> Cubic {
        let mss = u64::from(path.mss);
        let beta = u64::from(config.beta_milli.min(1000));
        Cubic {
            window: Window::new(path),
            config,
            ecn: false,
            mss: path.mss,
            scale: (u64::from(config.c_milli) * mss * 1024 / 1000).max(1),
            alpha: ((3 * (1000 - beta) * mss) << 20) / (1000 + beta),
            epoch: None,
            w_max: 0,
            prior: 0,
            flat: false,
            credit: 0,
            srtt: 0,
            seen: Nanos::ZERO,
            stack: path.stack,
            held: None,
            cut_known: false,
            hystart: Hystart::default(),
        }
    }

    /// The plateau that the window approaches, in bytes; 0 before the first cut.
    pub fn w_max(&self) -> u64 {
        self.w_max
    }

    fn begin(&mut self, now: Nanos) -> Epoch {
        let cwnd = self.window.bytes();
        if self.flat || self.w_max <= cwnd {
            self.flat = false;
            self.w_max = cwnd;
        }
        let rise = u128::from(self.w_max - cwnd) << 70;
        Epoch {
            start: now,
            // Figure 2: the cube root of (W_max - cwnd_epoch) / C.
            k: cube_root(rise / u128::from(self.scale)).min(LONGEST),
            reno: cwnd << 20,
        }
    }

    /// Figure 1: C (t - K)^3 + W_max, in bytes; `t` in parts of 2^20 of a second.
    fn curve(&self, k: u64, t: u64) -> u64 {
        let d = i128::from(t.min(LONGEST)) - i128::from(k);
        let rise = (d * d * d * i128::from(self.scale)) >> 70;
        (i128::from(self.w_max) + rise).max(0) as u64
    }

    /// Grows in congestion avoidance.
    fn avoid(&mut self, ack: &Acked) {
        let mss = u64::from(self.mss);
        let cwnd = self.window.bytes();
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now),
        };
        let bytes = ack.bytes.min(cwnd).min(1 << 25);
        if self.config.reno_friendly {
            // Figure 4; from the old plateau on a segment per round trip, as Reno.
            let step = match self.stack.cubic_slope || epoch.reno >> 20 < self.prior {
                true => self.alpha,
                false => mss << 20,
            };
            epoch.reno += step * bytes / cwnd;
        }
        let t = parts(ack.now.saturating_sub(epoch.start).0);
        let reno = epoch.reno >> 20;
        let least = self.least();
        if self.stack.cubic_hold {
            self.hold(ack.now, (epoch, t), bytes);
        } else if self.config.reno_friendly && least == 0 && self.curve(epoch.k, t) < reno {
            self.window.add(reno.saturating_sub(cwnd));
        } else {
            let soon = self.curve(epoch.k, t + parts(self.srtt));
            let soon = match self.config.reno_friendly && least > 0 {
                true => soon.max(reno),
                false => soon,
            };
            let target = soon.max(cwnd + least).clamp(cwnd, cwnd + cwnd / 2);
            self.credit += (target - cwnd) * bytes;
            self.window.add(self.credit / cwnd);
            self.credit %= cwnd;
        }
        self.epoch = Some(epoch);
    }

    /// Bytes by which a window of acknowledged data grows at least, while no cut has shown where
    /// the plateau is.
    fn least(&self) -> u64 {
        match self.config.clamp {
            0 => 0,
            _ if self.cut_known => 0,
            clamp => self.window.bytes() / u64::from(clamp),
        }
    }

    /// Grows by whole segments, at a rate that is computed again only if the window has changed or
    /// the old one is [`HOLD`] old: a segment for every two that are acknowledged, or for more.
    fn hold(&mut self, now: Nanos, at: (Epoch, u64), bytes: u64) {
        let mss = u64::from(self.mss);
        let cwnd = self.window.bytes();
        let fresh = |h: &Held| h.cwnd == cwnd && now.saturating_sub(h.at) <= HOLD;
        let tick = self.stack.cubic_tick.0;
        // Reno's window grows no faster than this rate within a tick.
        let holds = |h: &Held| fresh(h) || tick > 0 && h.at.0 / tick == now.0 / tick;
        let per = match self.held.filter(holds) {
            Some(held) => held.per,
            None => {
                let per = self.segments_per_step(at);
                self.held = Some(Held { at: now, cwnd, per });
                per
            }
        };
        // What was counted at a slower rate makes one segment, and no more.
        let step = per * mss;
        if self.credit >= step {
            self.credit = 0;
            self.window.add(mss);
        }
        self.credit += bytes;
        self.window.add(self.credit / step * mss);
        self.credit %= step;
    }

    /// Segments that have to be acknowledged for the window to grow by one. All in whole segments:
    /// the curve's distance from its plateau, Reno's window, and the result, rounded down.
    fn segments_per_step(&self, (epoch, t): (Epoch, u64)) -> u64 {
        let mss = u64::from(self.mss);
        let cwnd = (self.window.bytes() / mss).max(1);
        let soon = self.curve(epoch.k, t + parts(self.srtt));
        let away = floor(mss, soon.abs_diff(self.w_max), true);
        let cubic = match soon < self.w_max {
            true => self.w_max - away,
            false => self.w_max + away,
        };
        let reno = match self.config.reno_friendly {
            true => epoch.reno >> 20,
            false => 0,
        };
        let more = (cubic.max(reno) / mss).saturating_sub(cwnd);
        let per = cwnd.checked_div(more).unwrap_or(100 * cwnd);
        let most = match self.config.clamp {
            0 => u64::MAX,
            _ if self.cut_known => u64::MAX,
            clamp => u64::from(clamp),
        };
        per.min(most).max(2)
    }

    /// Remembers where the window was, and cuts it to beta of `bytes`.
    fn cut(&mut self, bytes: u64) {
        let cwnd = self.window.bytes();
        self.prior = cwnd;
        let beta = u64::from(self.config.beta_milli);
        let (mss, whole) = (u64::from(self.mss), self.stack.whole_segments);
        self.w_max = match self.config.fast_convergence && cwnd < self.w_max {
            // Section 4.7: a new flow takes a share, so aim below the old window.
            true => floor(mss, cwnd * (1000 + beta) / 2000, whole),
            false => cwnd,
        };
        let left = floor(mss, bytes * beta / 1000, whole);
        self.window.cut_to(mss, left);
        self.epoch = None;
        self.held = None;
        self.credit = 0;
        self.cut_known = true;
    }
}

impl Controller for Cubic {
    #[inline]
    fn ecn(&self) -> Ecn {
        match self.ecn {
            true => Ecn::Ect0,
            false => Ecn::NotEct,
        }
    }

    fn on_ack(&mut self, ack: &Acked) {
        if let Some(rtt) = ack.rtt {
            let rtt = u64::from(rtt);
            self.srtt = match self.srtt {
                0 => rtt,
                old => (7 * old + rtt) / 8,
            };
        }
        let gap = ack.now.saturating_sub(self.seen);
        self.seen = ack.now;
        if ack.in_recovery || (self.ecn && ack.ce_packets > 0) {
            return;
        }
        if self.window.in_slow_start() {
            let mss = u64::from(self.mss);
            self.window.grow(mss, ack);
            let cwnd = self.window.bytes();
            let ends = match (self.stack.hystart, self.config.hystart) {
                (true, _) => self.hystart.ends_in_linux(mss, cwnd, self.srtt, ack),
                (false, on) => on && self.hystart.ends(mss, cwnd, ack),
            };
            if ends {
                self.window.cut_to(mss, cwnd);
            }
        } else if ack.cwnd_limited {
            self.avoid(ack);
        } else if let Some(epoch) = &mut self.epoch {
            // Section 5.8: time in which the window was not in use does not count.
            epoch.start += gap;
        }
    }

    fn on_ce(&mut self, _: &CeCounted) {
        if self.ecn {
            self.cut(self.window.bytes());
        }
    }

    fn on_loss(&mut self, loss: &Lost) {
        if loss.already == Cut::None {
            self.cut(loss.bytes_in_flight.min(self.window.bytes()));
        }
        if loss.timeout {
            self.window.collapse(u64::from(self.mss));
            self.epoch = None;
            self.flat = true;
            self.cut_known = false;
            self.hystart.reset();
        }
    }

    fn ssthresh(&self) -> Option<u64> {
        Some(self.window.ssthresh())
    }

    fn undo(&mut self, cwnd: u64, ssthresh: u64) {
        self.window.undo(cwnd, ssthresh);
    }

    fn restart(&mut self, bytes: u64) {
        self.window.restart(bytes);
        self.epoch = None;
        self.held = None;
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}

/// Nanoseconds in parts of 2^20 of a second.
fn parts(ns: u64) -> u64 {
    (ns.min(1 << 43) << 20) / 1_000_000_000
}

/// The largest integer whose cube is at most `x`, for `x` below 2^126.
fn cube_root(x: u128) -> u64 {
    let mut root = 0u64;
    for bit in (0..42).rev() {
        let more = root | 1 << bit;
        if u128::from(more).pow(3) <= x {
            root = more;
        }
    }
    root
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
