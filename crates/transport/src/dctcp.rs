// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP (RFC 8257): cuts in proportion to the smoothed share of marked bytes.

use cemark_wire::Nanos;

use crate::{Acked, Config, Controller, Cut, Lost, Window};

/// Alpha of 1, in its fixed-point unit.
pub const ALPHA_ONE: u32 = 1 << 20;

/// The sender's side of DCTCP.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    window: Window,
    /// Bytes acknowledged in this window of data, and how many of them with an echo. A window has
    /// fewer than 2^32.
    acked: u32,
    marked: u32,
    alpha: u32,
    g_shift: u8,
}

impl Dctcp {
    /// A fresh law at the initial window; g = 2^-`g_shift`, `alpha_init` in parts per 1024.
    pub fn new(cfg: &Config, g_shift: u32, alpha_init: u32) -> Dctcp {
        Dctcp {
            window: Window::new(cfg),
            acked: 0,
            marked: 0,
            alpha: alpha_init.min(1024) << 10,
            g_shift: g_shift.min(20) as u8,
        }
    }

    /// The smoothed share of marked bytes, of [`ALPHA_ONE`].
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    /// alpha = (1-g) alpha + g F at the end of a window of data.
    fn close_window(&mut self) {
        let share = (u64::from(self.marked) << 20) / u64::from(self.acked.max(1));
        // What is too small to decay any further goes at once, or a quiet path would never get back
        // to 0 (as in Linux).
        let decay = match self.alpha >> self.g_shift {
            0 => self.alpha,
            decay => decay,
        };
        self.alpha = (self.alpha - decay + (share as u32 >> self.g_shift)).min(ALPHA_ONE);
        self.acked = 0;
        self.marked = 0;
    }
}

impl Controller for Dctcp {
    #[inline]
    fn on_ack(&mut self, cfg: &Config, ack: &Acked) {
        let bytes = ack.bytes.min(u64::from(u32::MAX)) as u32;
        self.acked = self.acked.saturating_add(bytes);
        if ack.echo {
            self.marked = self.marked.saturating_add(bytes);
        } else if !ack.recovering {
            self.window.grow(u64::from(cfg.mss), ack);
        }
        if ack.round_ended {
            self.close_window();
        }
    }

    fn on_loss(&mut self, cfg: &Config, loss: &Lost) {
        // A cut for marks may have been tiny, so only an earlier loss excuses from halving (RFC
        // 8257 section 3.5).
        self.window.lose(
            u64::from(cfg.mss),
            loss.in_flight,
            loss.timeout,
            loss.already != Cut::Loss,
        );
    }

    fn on_echo(&mut self, cfg: &Config, _now: Nanos, _in_flight: u64) {
        let cwnd = self.window.bytes();
        // cwnd alpha / 2; widened, since cwnd may have 32 bits and alpha has 21.
        let cut = (u128::from(cwnd) * u128::from(self.alpha)) >> 21;
        self.window.cut_to(u64::from(cfg.mss), cwnd - cut as u64);
    }

    fn restart(&mut self, _cfg: &Config, bytes: u64) {
        self.window.restart(bytes);
    }

    fn slow_start(&self) -> bool {
        self.window.slow_start()
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            mss: 1000,
            init_window: 10,
            ..Config::default()
        }
    }

    fn acked(bytes: u64, echo: bool, round_ended: bool) -> Acked {
        Acked {
            now: Nanos::ZERO,
            bytes,
            una: 0,
            nxt: 0,
            in_flight: 0,
            echo,
            was_full: false,
            recovering: false,
            after_timeout: false,
            round_ended,
            rtt: None,
        }
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let cfg = config();
        let mut law = Dctcp::new(&cfg, 4, 0);
        let mut window = |marked: u64, clean: u64| {
            law.on_ack(&cfg, &acked(marked, true, false));
            law.on_ack(&cfg, &acked(clean, false, true));
            law.alpha()
        };
        // By hand, of 2^20: 1/16 of all; 15/16 of that and 1/32; 15/16 of that; 15/16 of that and
        // 1/64.
        assert_eq!(window(10_000, 0), 65_536);
        assert_eq!(window(5_000, 5_000), 61_440 + 32_768);
        assert_eq!(window(0, 10_000), 88_320);
        assert_eq!(window(2_500, 7_500), 82_800 + 16_384);
    }

    #[test]
    fn the_cut_is_half_of_alpha_and_sets_the_threshold() {
        let cfg = config();
        let mut law = Dctcp::new(&cfg, 4, 1024);
        law.on_echo(&cfg, Nanos::ZERO, 0);
        assert_eq!(law.window(), 5_000, "alpha 1 halves");
        assert_eq!(law.window.ssthresh(), 5_000);
        law.alpha = ALPHA_ONE / 4;
        law.on_echo(&cfg, Nanos::ZERO, 0);
        assert_eq!(law.window(), 4_375, "alpha 1/4 takes an eighth");
        law.alpha = 0;
        law.on_echo(&cfg, Nanos::ZERO, 0);
        assert_eq!(law.window(), 4_375);
        law.alpha = ALPHA_ONE;
        for _ in 0..9 {
            law.on_echo(&cfg, Nanos::ZERO, 0);
        }
        assert_eq!(law.window(), 2_000, "never below two segments");
    }

    #[test]
    fn a_loss_halves_even_after_a_cut_for_marks() {
        let cfg = config();
        let lost = |already| Lost {
            now: Nanos::ZERO,
            in_flight: 10_000,
            timeout: false,
            already,
        };
        for (already, window) in [(Cut::None, 5_000), (Cut::Echo, 5_000), (Cut::Loss, 10_000)] {
            let mut law = Dctcp::new(&cfg, 4, 0);
            law.on_loss(&cfg, &lost(already));
            assert_eq!(law.window(), window, "{already:?}");
        }
    }

    #[test]
    fn without_marks_alpha_reaches_zero() {
        let cfg = config();
        let mut law = Dctcp::new(&cfg, 4, 1024);
        for _ in 0..300 {
            law.on_ack(&cfg, &acked(1_000, false, true));
        }
        assert_eq!(law.alpha(), 0);
    }
}
