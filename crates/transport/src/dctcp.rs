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
    /// Bytes acknowledged in this window of data, and how many of them with an echo. A window has fewer than 2^32.
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
        // A share too small to decay any further is no share, or a quiet path would never get back to 0 (as in Linux).
        let decay = (self.alpha >> self.g_shift).max(self.alpha.min(1));
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
        // A cut for marks may have been tiny, so only an earlier loss excuses from halving (RFC 8257 section 3.5).
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

    #[inline]
    fn window(&self) -> u64 {
        self.window.bytes()
    }
}
