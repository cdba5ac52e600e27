// SPDX-License-Identifier: MIT OR Apache-2.0
//! DCTCP (RFC 8257): reduces the window in proportion to the smoothed share of marked bytes.

use super::{
    Acked, Build, CeCounted, Control, Controller, ControllerSpec, Cut, FromControl, Lost, PathSpec,
    Window, boxed, window::floor,
};
use cemark_param::config;

/// Alpha of 1, in its fixed-point unit.
pub const ALPHA_ONE: u32 = 1 << 20;

/// The declaration.
pub static SPEC: ControllerSpec = ControllerSpec {
    params: DctcpConfig::PARAMS,
    ecn: true,
    exact_echo: true,
    ..ControllerSpec::new(
        "dctcp",
        "DCTCP",
        "Reduces the window once per window of data by half of the smoothed share of marked bytes.",
        Build::Stream(boxed::<Dctcp>),
    )
};

impl Control {
    /// DCTCP with g = 1/16 and alpha starting at 1.
    pub const DCTCP: Control = Control::of(&SPEC);
}

config! {
    /// Parameters of DCTCP.
    pub struct DctcpConfig {
        /// Weight of a window's share of marked bytes in alpha (RFC 8257 section 3.3: 1/16).
        g_shift as "g": u32 = power(4),
        /// Alpha before the first window of data (1: Linux and ns-3; 0: ns-2).
        alpha_init as "alpha-init": u32 = parts(1_024, 0..=1_024),
    }
}

impl DctcpConfig {
    /// DCTCP with these parameters.
    pub fn control(self) -> Control {
        Control::DCTCP.with(self)
    }
}

impl FromControl for Dctcp {
    fn from_control(path: &PathSpec, control: &Control) -> Dctcp {
        Dctcp::new(path, DctcpConfig::from(control.values()))
    }
}

/// The sender's side of DCTCP.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    window: Window,
    /// Bytes acknowledged in this window of data, and how many of them were marked. A window has
    /// fewer than 2^32.
    acked: u32,
    marked: u32,
    alpha: u32,
    mss: u16,
    g_shift: u8,
    /// The window is cut by whole segments, and alpha counted in parts of 1024: one byte for both.
    habits: u8,
}

const WHOLE: u8 = 1;
const COARSE: u8 = 2;

impl Dctcp {
    /// A new controller at the initial window.
    pub fn new(path: &PathSpec, config: DctcpConfig) -> Dctcp {
        Dctcp {
            window: Window::new(path),
            acked: 0,
            marked: 0,
            alpha: config.alpha_init.min(1024) << 10,
            mss: path.mss,
            g_shift: config.g_shift.min(20) as u8,
            habits: u8::from(path.stack.whole_segments) * WHOLE
                + u8::from(path.stack.coarse_alpha) * COARSE,
        }
    }

    fn has(&self, habit: u8) -> bool {
        self.habits & habit != 0
    }

    /// The smoothed share of marked bytes, of [`ALPHA_ONE`].
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    /// alpha = (1-g) alpha + g F at the end of a window of data. Out of line, since `on_ack` is
    /// inlined into the sender.
    #[inline(never)]
    fn close_window(&mut self) {
        let share = (u64::from(self.marked) << 20) / u64::from(self.acked.max(1));
        if self.has(COARSE) {
            return self.close_coarsely();
        }
        // When g alpha rounds to zero alpha itself becomes zero, as in Linux; otherwise a path
        // without marks would never bring it back to 0.
        let decay = match self.alpha >> self.g_shift {
            0 => self.alpha,
            decay => decay,
        };
        self.alpha = (self.alpha - decay + (share as u32 >> self.g_shift)).min(ALPHA_ONE);
        self.acked = 0;
        self.marked = 0;
    }
}

impl Dctcp {
    /// Ends a window of data as `close_window` does, in parts of 1024, with g = 2^-10 at least.
    fn close_coarsely(&mut self) {
        let shift = u32::from(self.g_shift.min(10));
        let alpha = self.alpha >> 10;
        let decay = match alpha >> shift {
            0 => alpha,
            decay => decay,
        };
        let marked = (u64::from(self.marked) << (10 - shift)) / u64::from(self.acked.max(1));
        self.alpha = (alpha - decay + marked as u32).min(1024) << 10;
        self.acked = 0;
        self.marked = 0;
    }
}

impl Controller for Dctcp {
    #[inline(always)]
    fn on_ack(&mut self, ack: &Acked) {
        let count = |bytes: u64| bytes.min(u64::from(u32::MAX)) as u32;
        self.acked = self.acked.saturating_add(count(ack.bytes));
        if ack.ce_packets > 0 {
            self.marked = self.marked.saturating_add(count(ack.ce_bytes));
        } else if !ack.in_recovery {
            self.window.grow(u64::from(self.mss), ack);
        }
        if ack.round_ended {
            self.close_window();
        }
    }

    fn on_ce(&mut self, _: &CeCounted) {
        let cwnd = self.window.bytes();
        // cwnd alpha / 2, widened: cwnd may have more than 43 bits and alpha has 21.
        let cut = (u128::from(cwnd) * u128::from(self.alpha)) >> 21;
        let mss = u64::from(self.mss);
        let cut = floor(mss, cut as u64, self.has(WHOLE));
        self.window.cut_to(mss, cwnd - cut);
    }

    fn on_loss(&mut self, loss: &Lost) {
        // A cut for marks may have been tiny, so only an earlier loss in the same window of data
        // excuses from halving (RFC 8257 section 3.5).
        let mss = u64::from(self.mss);
        let half = loss.bytes_in_flight.min(self.window.bytes()) / 2;
        let half = floor(mss, half, self.has(WHOLE));
        self.window
            .lose_to(mss, half, loss.timeout, loss.already != Cut::Loss);
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

    fn marked_share(&self) -> Option<u32> {
        Some(self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stack;

    fn dctcp(alpha_init: u32) -> Dctcp {
        let path = PathSpec {
            mss: 1000,
            init_window: 10,
            ..PathSpec::default()
        };
        let config = DctcpConfig {
            g_shift: 4,
            alpha_init,
        };
        Dctcp::new(&path, config)
    }

    fn in_stack(stack: Stack) -> Dctcp {
        let path = PathSpec {
            mss: 1000,
            stack,
            ..PathSpec::default()
        };
        Dctcp::new(&path, DctcpConfig::default())
    }

    fn acked(bytes: u64, marked: bool, round_ended: bool) -> Acked {
        Acked {
            bytes,
            packets: bytes / 1000,
            ce_bytes: if marked { bytes } else { 0 },
            ce_packets: if marked { bytes / 1000 } else { 0 },
            round_ended,
            ..Acked::default()
        }
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let mut c = dctcp(0);
        let mut window = |marked: u64, clean: u64| {
            c.on_ack(&acked(marked, true, false));
            c.on_ack(&acked(clean, false, true));
            c.alpha()
        };
        // By hand, of 2^20: 1/16 of all; 15/16 of that and 1/32; 15/16 of that; 15/16 of that and
        // 1/64.
        assert_eq!(window(10_000, 0), 65_536);
        assert_eq!(window(5_000, 5_000), 61_440 + 32_768);
        assert_eq!(window(0, 10_000), 88_320);
        assert_eq!(window(2_500, 7_500), 82_800 + 16_384);
    }

    /// An acknowledgement of many packets, as in QUIC: only the marked packets count as marked.
    #[test]
    fn a_partly_marked_acknowledgement_counts_its_marked_bytes() {
        let mut c = dctcp(0);
        c.on_ack(&Acked {
            bytes: 10_000,
            packets: 10,
            ce_bytes: 5_000,
            ce_packets: 5,
            round_ended: true,
            ..Acked::default()
        });
        assert_eq!(c.alpha(), 32_768, "1/16 of a half");
    }

    #[test]
    fn the_cut_is_half_of_alpha_and_sets_the_threshold() {
        let mut c = dctcp(1024);
        let ce = CeCounted::default();
        c.on_ce(&ce);
        assert_eq!(c.cwnd(), 5_000, "alpha 1 halves");
        assert_eq!(c.window.ssthresh(), 5_000);
        c.alpha = ALPHA_ONE / 4;
        c.on_ce(&ce);
        assert_eq!(c.cwnd(), 4_375, "alpha 1/4 takes an eighth");
        c.alpha = 0;
        c.on_ce(&ce);
        assert_eq!(c.cwnd(), 4_375);
        c.alpha = ALPHA_ONE;
        for _ in 0..9 {
            c.on_ce(&ce);
        }
        assert_eq!(c.cwnd(), 2_000, "never below two segments");
    }

    #[test]
    fn a_loss_halves_even_after_a_cut_for_marks() {
        for (already, window) in [(Cut::None, 5_000), (Cut::Ce, 5_000), (Cut::Loss, 10_000)] {
            let mut c = dctcp(0);
            c.on_loss(&Lost {
                bytes_in_flight: 10_000,
                already,
                ..Lost::default()
            });
            assert_eq!(c.cwnd(), window, "{already:?}");
        }
    }

    /// Linux computes windows in segments: a cut of less than one is none.
    #[test]
    fn whole_segments_round_the_cut_down() {
        let stack = Stack {
            whole_segments: true,
            ..Stack::NONE
        };
        let mut c = in_stack(stack);
        c.alpha = ALPHA_ONE / 4;
        c.on_ce(&CeCounted::default());
        assert_eq!(
            c.cwnd(),
            9_000,
            "an eighth of ten segments is one and a quarter"
        );
        c.alpha = ALPHA_ONE / 5;
        c.on_ce(&CeCounted::default());
        assert_eq!(c.cwnd(), 9_000, "a tenth of nine is none");
        let loss = Lost {
            bytes_in_flight: 9_000,
            ..Lost::default()
        };
        c.on_loss(&loss);
        assert_eq!(c.cwnd(), 4_000);
    }

    #[test]
    fn in_parts_of_1024_a_small_alpha_is_gone_after_one_window() {
        let stack = Stack {
            coarse_alpha: true,
            ..Stack::NONE
        };
        let mut c = in_stack(stack);
        c.alpha = 100 << 10;
        // By hand: 100 - 6 + 64 * 3 / 10; 113 - 7; and so on down to 15, then 0.
        c.on_ack(&acked(3_000, true, false));
        c.on_ack(&acked(7_000, false, true));
        assert_eq!(c.alpha(), 113 << 10);
        c.on_ack(&acked(1_000, false, true));
        assert_eq!(c.alpha(), 106 << 10);
        c.alpha = 15 << 10;
        c.on_ack(&acked(1_000, false, true));
        assert_eq!(c.alpha(), 0);
    }

    #[test]
    fn without_marks_alpha_reaches_zero() {
        let mut c = dctcp(1024);
        for _ in 0..300 {
            c.on_ack(&acked(1_000, false, true));
        }
        assert_eq!(c.alpha(), 0);
    }
}
