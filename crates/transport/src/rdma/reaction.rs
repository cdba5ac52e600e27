// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reaction point: the rate of a queue pair (Algorithm 1 and Figure 7 of the DCQCN paper), in
//! integers.
//!
//! Its two timers need no events: [`ReactionPoint::catch_up`] does what they were due to do before
//! the rate is used. An increase therefore takes effect from the next packet on, as in a NIC whose
//! scheduler reads the rate when it schedules a packet.

use cemark_wire::{Nanos, Rate};

use super::Dcqcn;

/// Alpha of 1, in its fixed-point unit.
pub const ALPHA_ONE: u32 = 1 << 30;

/// State of one queue pair.
#[derive(Clone, Copy, Debug)]
pub struct ReactionPoint {
    /// Current rate (RC) in bits per second.
    rate: u64,
    /// Target rate (RT).
    target: u64,
    line: u64,
    alpha: u32,
    /// Increases by the timer and by the byte counter since the last notification.
    timer_steps: u32,
    byte_steps: u32,
    /// Bytes sent since the byte counter last expired.
    bytes: u64,
    /// When the rate timer expires next; only while the rate is limited.
    rate_due: Nanos,
    /// When alpha decays next.
    alpha_due: Nanos,
    notifications: u32,
}

impl ReactionPoint {
    /// A flow starts at the rate of its link.
    pub fn new(cfg: &Dcqcn, line: Rate) -> ReactionPoint {
        ReactionPoint {
            rate: line.0,
            target: line.0,
            line: line.0,
            alpha: cfg.alpha_init.min(ALPHA_ONE),
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
            rate_due: Nanos::MAX,
            alpha_due: Nanos::MAX,
            notifications: 0,
        }
    }

    /// Current rate.
    pub fn rate(&self) -> Rate {
        Rate(self.rate)
    }

    /// Target rate.
    pub fn target(&self) -> Rate {
        Rate(self.target)
    }

    /// The estimate of congestion, of [`ALPHA_ONE`], as of the last notification: its decay is
    /// computed when the next one arrives.
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    /// Notifications so far.
    pub fn notifications(&self) -> u32 {
        self.notifications
    }

    /// Whether the rate is below that of the link.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.rate < self.line
    }

    /// Does what the timers were due to do up to `now`.
    #[inline]
    pub fn catch_up(&mut self, cfg: &Dcqcn, now: Nanos) {
        if now >= self.rate_due {
            self.rate_timer(cfg, now);
        }
    }

    /// A notification has arrived: cut the rate, then raise alpha, then restart all counts.
    pub fn on_cnp(&mut self, cfg: &Dcqcn, now: Nanos) {
        self.catch_up(cfg, now);
        self.decay(cfg, now);
        let risen = self.timer_steps > 0 || self.byte_steps > 0;
        if cfg.clamp_target || risen || self.notifications == 0 || !self.is_limited() {
            self.target = self.rate;
        }
        // RC (1 - alpha / 2): below 2^40 bits per second times 2^30 needs the wide product.
        let cut = (u128::from(self.rate) * u128::from(self.alpha)) >> 31;
        self.rate = (self.rate - cut as u64).max(cfg.min_rate.0.clamp(1, self.line));
        self.alpha += weighted(cfg.g, ALPHA_ONE - self.alpha);
        self.alpha_due = now + cfg.alpha_timer;
        self.rate_due = now + cfg.rate_timer;
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.bytes = 0;
        self.notifications += 1;
    }

    /// `bytes` have been sent.
    #[inline]
    pub fn on_sent(&mut self, cfg: &Dcqcn, bytes: u64) {
        if !self.is_limited() || cfg.byte_counter == 0 {
            return;
        }
        self.bytes += bytes;
        while self.bytes >= cfg.byte_counter {
            self.bytes -= cfg.byte_counter;
            self.byte_steps += 1;
            self.increase(cfg);
        }
    }

    #[cold]
    fn rate_timer(&mut self, cfg: &Dcqcn, now: Nanos) {
        while now >= self.rate_due {
            self.rate_due += cfg.rate_timer;
            self.timer_steps += 1;
            self.increase(cfg);
        }
    }

    /// Alpha times (1 - g) for every alpha timer that expired.
    fn decay(&mut self, cfg: &Dcqcn, now: Nanos) {
        while now >= self.alpha_due {
            self.alpha_due += cfg.alpha_timer;
            // When g alpha rounds to zero alpha itself becomes zero.
            self.alpha -= match weighted(cfg.g, self.alpha) {
                0 => self.alpha,
                part => part,
            };
            if self.alpha == 0 {
                self.alpha_due = Nanos::MAX;
            }
        }
    }

    /// Takes a step of the rate. The two counts of steps decide which rule applies.
    fn increase(&mut self, cfg: &Dcqcn) {
        let f = cfg.fast_recovery;
        let (most, least) = match self.timer_steps > self.byte_steps {
            true => (self.timer_steps, self.byte_steps),
            false => (self.byte_steps, self.timer_steps),
        };
        // The paper tests before it counts the step: F steps are fast recovery.
        if most > f {
            let step = if least > f { cfg.rate_hai } else { cfg.rate_ai };
            self.target = (self.target + step.0).min(self.line);
        }
        // Rounded up, so that the rate reaches its target.
        self.rate = (self.target + self.rate).div_ceil(2);
        if self.rate >= self.line {
            // No limit until the next notification.
            self.rate = self.line;
            self.rate_due = Nanos::MAX;
        }
    }
}

/// `g` times `x`, both of [`ALPHA_ONE`].
fn weighted(g: u32, x: u32) -> u32 {
    let product = u64::from(g.min(ALPHA_ONE)) * u64::from(x);
    (product / u64::from(ALPHA_ONE)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Rate = Rate::gbps(40);

    fn fresh(cfg: &Dcqcn) -> ReactionPoint {
        ReactionPoint::new(cfg, LINE)
    }

    fn us(n: u64) -> Nanos {
        Nanos::from_micros(n)
    }

    #[test]
    fn starts_at_line_rate_and_the_first_notification_halves() {
        let cfg = Dcqcn::default();
        let mut rp = fresh(&cfg);
        assert_eq!((rp.rate(), rp.is_limited()), (LINE, false));
        rp.on_cnp(&cfg, us(100));
        assert_eq!(rp.rate(), Rate::gbps(20), "alpha is 1");
        assert_eq!(rp.target(), LINE);
        assert_eq!(rp.alpha(), ALPHA_ONE, "and stays there");
    }

    /// ConnectX adapters have g = 5/1024, which is no power of two.
    #[test]
    fn alpha_rises_by_any_weight() {
        let cfg = Dcqcn {
            g: ALPHA_ONE / 1024 * 5,
            alpha_init: 0,
            ..Dcqcn::default()
        };
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        assert_eq!(rp.alpha(), 5 << 20);
        // 2^30 (1 - (1019/1024)^2).
        rp.on_cnp(&cfg, us(1));
        assert_eq!(rp.alpha(), (1024 * 1024 - 1019 * 1019) << 10);
    }

    #[test]
    fn alpha_decays_by_its_timer_and_rises_with_notifications() {
        let cfg = Dcqcn::default();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        // Two expiries by 110 us: 2^30 (255/256)^2 = 2^14 x 255^2, exact. Then the cut, then + (1 -
        // alpha) / 256.
        rp.on_cnp(&cfg, us(110));
        let decayed = 65_025 << 14;
        assert_eq!(rp.alpha(), decayed + ((ALPHA_ONE - decayed) >> 8));
        // RC rose twice on the way: 20 -> 30 -> 35 Gb/s, the target stayed at 40.
        let cut = (35_000_000_000u128 * u128::from(decayed)) >> 31;
        assert_eq!(rp.rate().0, 35_000_000_000 - cut as u64);
        assert_eq!(rp.target(), Rate::gbps(35));
    }

    #[test]
    fn alpha_decays_to_zero_without_notifications() {
        let cfg = Dcqcn::default();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        rp.on_cnp(&cfg, us(1_000_000));
        assert_eq!(rp.alpha(), ALPHA_ONE >> 8, "zero before, one g after");
        assert_eq!(rp.rate(), LINE, "and nothing was cut");
    }

    #[test]
    fn fast_recovery_halves_the_distance_f_times_then_the_target_rises() {
        let cfg = Dcqcn {
            byte_counter: 0,
            ..Dcqcn::default()
        };
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        rp.on_cnp(&cfg, us(1));
        // 40 -> 20 -> 10 Gb/s, the target is the rate before the last cut.
        assert_eq!((rp.rate(), rp.target()), (Rate::gbps(10), Rate::gbps(20)));
        let mut rate = 10_000_000_000u64;
        for step in 1..=5 {
            rp.catch_up(&cfg, Nanos(us(1).0 + step * 55_000 - 1));
            assert_eq!(rp.rate().0, rate, "not before step {step} is due");
            rp.catch_up(&cfg, Nanos(us(1).0 + step * 55_000));
            rate = (rate + 20_000_000_000).div_ceil(2);
            assert_eq!((rp.rate().0, rp.target()), (rate, Rate::gbps(20)));
        }
        // The sixth step is additive: the target rises by 40 Mb/s.
        rp.catch_up(&cfg, us(1 + 6 * 55));
        assert_eq!(rp.target(), Rate(20_040_000_000));
        assert_eq!(rp.rate().0, (rate + 20_040_000_000).div_ceil(2));
    }

    #[test]
    fn the_byte_counter_counts_on_its_own_and_both_together_reach_hyper_increase() {
        let cfg = Dcqcn {
            byte_counter: 1_000_000,
            ..Dcqcn::default()
        };
        let mut rp = fresh(&cfg);
        for _ in 0..3 {
            rp.on_cnp(&cfg, us(0));
        }
        assert_eq!((rp.rate(), rp.target()), (Rate::gbps(5), Rate::gbps(10)));
        rp.on_sent(&cfg, 999_999);
        assert_eq!(rp.rate(), Rate::gbps(5));
        rp.on_sent(&cfg, 1);
        assert_eq!(rp.rate(), Rate(7_500_000_000));
        for _ in 0..5 {
            rp.on_sent(&cfg, 1_000_000);
        }
        assert_eq!(
            rp.target(),
            Rate(10_040_000_000),
            "6 > F by bytes alone: additive"
        );
        // Five expiries of the timer: still additive, since the smaller count is not above F.
        rp.catch_up(&cfg, us(5 * 55));
        assert_eq!(rp.target(), Rate(10_240_000_000));
        rp.catch_up(&cfg, us(6 * 55));
        assert_eq!(
            rp.target(),
            Rate(10_440_000_000),
            "hyper increase: 200 Mb/s"
        );
        // A notification restarts fast recovery and resets the bytes counted so far.
        rp.on_sent(&cfg, 999_999);
        rp.on_cnp(&cfg, us(331));
        let target = rp.target();
        rp.on_sent(&cfg, 999_999);
        rp.catch_up(&cfg, us(331 + 55));
        assert_eq!(rp.target(), target);
    }

    #[test]
    fn the_limit_ends_at_line_rate() {
        let cfg = Dcqcn::default();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        rp.catch_up(&cfg, us(100_000));
        assert!(!rp.is_limited());
        assert_eq!((rp.rate(), rp.target()), (LINE, LINE));
        // Without a limit nothing is counted: the next notification starts from zero steps.
        rp.on_sent(&cfg, 1 << 40);
        assert_eq!(rp.rate(), LINE);
    }

    #[test]
    fn the_rate_has_a_floor() {
        let cfg = Dcqcn::default();
        let mut rp = fresh(&cfg);
        for _ in 0..100 {
            rp.on_cnp(&cfg, us(0));
        }
        assert_eq!(rp.rate(), cfg.min_rate);
        // A link slower than the floor is its own floor.
        let mut slow = ReactionPoint::new(&cfg, Rate::mbps(10));
        slow.on_cnp(&cfg, us(0));
        assert_eq!(slow.rate(), Rate::mbps(10));
    }

    #[test]
    fn an_unclamped_target_stays_until_the_rate_has_risen() {
        let cfg = Dcqcn {
            clamp_target: false,
            ..Dcqcn::default()
        };
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        rp.on_cnp(&cfg, us(1));
        assert_eq!((rp.rate(), rp.target()), (Rate::gbps(10), LINE));
        rp.catch_up(&cfg, us(56));
        assert_eq!(rp.rate(), Rate::gbps(25));
        rp.on_cnp(&cfg, us(57));
        assert_eq!(rp.target(), Rate::gbps(25));
    }
}
