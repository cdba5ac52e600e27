// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reno's law without ECN: only a loss cuts the window (RFC 5681).

use cemark_wire::{Ecn, Nanos};

use crate::{Acked, Config, Controller, Cut, Lost, Window};

/// Not-ECT segments; halves once per window of data with a loss.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    window: Window,
}

impl Reno {
    /// A fresh law at the initial window.
    pub fn new(cfg: &Config) -> Reno {
        Reno {
            window: Window::new(cfg),
        }
    }
}

impl Controller for Reno {
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    #[inline]
    fn on_ack(&mut self, cfg: &Config, ack: &Acked) {
        if !ack.recovering {
            self.window.grow(u64::from(cfg.mss), ack);
        }
    }

    fn on_loss(&mut self, cfg: &Config, loss: &Lost) {
        self.window.lose(
            u64::from(cfg.mss),
            loss.in_flight,
            loss.timeout,
            loss.already == Cut::None,
        );
    }

    fn on_echo(&mut self, _cfg: &Config, _now: Nanos, _in_flight: u64) {
        // Its segments are Not-ECT, so an echo answers nothing that it asked for.
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
