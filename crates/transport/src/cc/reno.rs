// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reno without ECN: only a loss reduces the window (RFC 5681).

use cemark_wire::Ecn;

use super::{
    Acked, Build, CeCounted, Control, Controller, ControllerSpec, FromControl, Lost, PathSpec,
    Window, boxed,
};

/// The declaration.
pub static SPEC: ControllerSpec = ControllerSpec::new(
    "reno",
    "NewReno",
    "Halves the window once per window of data with a loss; sends Not-ECT packets.",
    Build::Stream(boxed::<Reno>),
);

impl Control {
    /// NewReno without ECN.
    pub const RENO: Control = Control::of(&SPEC);
}

/// Not-ECT packets; halves once per window of data with a loss.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    window: Window,
    mss: u16,
    whole: bool,
}

impl Reno {
    /// A new controller at the initial window.
    pub fn new(path: &PathSpec) -> Reno {
        Reno {
            window: Window::new(path),
            mss: path.mss,
            whole: path.stack.whole_segments,
        }
    }
}

impl FromControl for Reno {
    fn from_control(path: &PathSpec, _: &Control) -> Reno {
        Reno::new(path)
    }
}

impl Controller for Reno {
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked) {
        if !ack.in_recovery {
            self.window.grow(u64::from(self.mss), ack);
        }
    }

    fn on_ce(&mut self, _: &CeCounted) {
        // Its packets are Not-ECT, so no report of CE is an answer to them.
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
