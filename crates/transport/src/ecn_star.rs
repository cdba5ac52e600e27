// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN*: TCP that takes an echo for a loss and halves, once per window of data (RFC 3168; MQ-ECN's
//! name for it).

use cemark_wire::Nanos;

use crate::{Acked, Config, Controller, Cut, Lost, Window};

/// ECT(0) segments; halves once per window of data with an echo or a loss.
#[derive(Clone, Copy, Debug)]
pub struct EcnStar {
    window: Window,
}

impl EcnStar {
    /// A fresh law at the initial window.
    pub fn new(cfg: &Config) -> EcnStar {
        EcnStar {
            window: Window::new(cfg),
        }
    }
}

impl Controller for EcnStar {
    #[inline]
    fn on_ack(&mut self, cfg: &Config, ack: &Acked) {
        // A receiver repeats its echo for a round trip: the window stands still until the cut is
        // confirmed.
        if !ack.recovering && !ack.echo {
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

    fn on_echo(&mut self, cfg: &Config, _now: Nanos, _in_flight: u64) {
        self.window
            .cut_to(u64::from(cfg.mss), self.window.bytes() / 2);
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
