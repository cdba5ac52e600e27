// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN*: TCP that treats an ECN echo like a loss and halves, once per window of data (RFC 3168).
//! The name is MQ-ECN's.

use super::{
    Acked, Build, CeCounted, Control, Controller, ControllerSpec, FromControl, Lost, PathSpec,
    Window, boxed,
};
use crate::cc::window::floor;

/// The declaration.
pub static SPEC: ControllerSpec = ControllerSpec {
    ecn: true,
    ..ControllerSpec::new(
        "ecn-star",
        "ECN*",
        "Halves the window once per window of data with an ECN echo or a loss.",
        Build::Stream(boxed::<EcnStar>),
    )
};

impl Control {
    /// ECN-enabled TCP that halves once per window of data on an echo.
    pub const ECN_STAR: Control = Control::of(&SPEC);
}

/// ECT(0) packets; halves once per window of data with an echo or a loss.
#[derive(Clone, Copy, Debug)]
pub struct EcnStar {
    window: Window,
    mss: u16,
    whole: bool,
}

impl EcnStar {
    /// A new controller at the initial window.
    pub fn new(path: &PathSpec) -> EcnStar {
        EcnStar {
            window: Window::new(path),
            mss: path.mss,
            whole: path.stack.whole_segments,
        }
    }
}

impl FromControl for EcnStar {
    fn from_control(path: &PathSpec, _: &Control) -> EcnStar {
        EcnStar::new(path)
    }
}

impl Controller for EcnStar {
    #[inline]
    fn on_ack(&mut self, ack: &Acked) {
        // A receiver repeats its echo for a round trip. The window does not grow until CWR has
        // confirmed the cut.
        if !ack.in_recovery && ack.ce_packets == 0 {
            self.window.grow(u64::from(self.mss), ack);
        }
    }

    fn on_ce(&mut self, _: &CeCounted) {
        let mss = u64::from(self.mss);
        let half = floor(mss, self.window.bytes() / 2, self.whole);
        self.window.cut_to(mss, half);
    }

    fn on_loss(&mut self, loss: &Lost) {
        self.window.lose_half(u64::from(self.mss), loss, self.whole);
    }

    fn ssthresh(&self) -> Option<u64> {
        Some(self.window.ssthresh())
    }

    fn undo(&mut self, cwnd: u64, ssthresh: u64) {
        self.window.undo(cwnd, ssthresh);
    }

    fn restart(&mut self, bytes: u64) {
        self.window.restart(bytes);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}
