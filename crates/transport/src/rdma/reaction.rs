// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reaction point: the rate of a queue pair (Algorithm 1 and Figure 7 of the DCQCN paper), in
//! integers.
//!
//! The timers of a reaction point need no events: [`ReactionPoint::catch_up`] does what they were
//! due to do before the rate is used. A change therefore takes effect from the next packet on, as
//! in a NIC whose scheduler reads the rate when it schedules a packet.
//!
//! Adapters differ from the paper ([`Dcqcn::decrease_interval`]; NVIDIA's DCQCN parameters, and
//! HPCC's simulator): a check in every interval from the first notification on cuts the rate if a
//! notification has come since the last cut, and alpha has a timer of its own.

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
    /// No timer below is due before it, alpha's excepted.
    due: Nanos,
    /// When the rate timer expires next; only while the rate is limited.
    rate_due: Nanos,
    /// When alpha's timer expires next.
    alpha_due: Nanos,
    /// When an adapter cuts the rate; only after a notification.
    cut_due: Nanos,
    /// The first notification, from which an adapter counts its intervals.
    first: Nanos,
    /// An adapter has had a notification since alpha's timer expired.
    raises: bool,
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
            due: Nanos::MAX,
            rate_due: Nanos::MAX,
            alpha_due: Nanos::MAX,
            cut_due: Nanos::MAX,
            first: Nanos(0),
            raises: false,
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

    /// The estimate of congestion, of [`ALPHA_ONE`], as of the last notification or cut: its decay
    /// is computed when the next one arrives.
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

    /// The part of `bytes` that the current rate is of the link's.
    pub(super) fn share(&self, bytes: u64) -> u64 {
        let part = u128::from(bytes) * u128::from(self.rate) / u128::from(self.line.max(1));
        part as u64
    }

    /// Does what the timers were due to do up to `now`.
    #[inline]
    pub fn catch_up(&mut self, cfg: &Dcqcn, now: Nanos) {
        if now >= self.due {
            self.timers(cfg, now);
        }
    }

    /// A notification has arrived: cut the rate, then raise alpha, then restart all counts. An
    /// adapter only notes the notification.
    pub fn on_cnp(&mut self, cfg: &Dcqcn, now: Nanos) {
        self.catch_up(cfg, now);
        self.update_alpha(cfg, now);
        if cfg.decrease_interval.0 > 0 {
            self.note(cfg, now);
        } else {
            self.cut(cfg, now);
            self.alpha += weighted(cfg.g, ALPHA_ONE - self.alpha);
            self.alpha_due = now + cfg.alpha_timer;
        }
        self.notifications += 1;
        self.due = self.rate_due.min(self.cut_due);
    }

    /// An adapter notes a notification.
    fn note(&mut self, cfg: &Dcqcn, now: Nanos) {
        let interval = cfg.decrease_interval;
        if self.notifications == 0 {
            self.first = now;
            self.alpha_due = now + cfg.alpha_timer;
        } else {
            self.raises = true;
            if self.alpha_due == Nanos::MAX {
                // Alpha was zero: its timer has run on.
                self.alpha_due = next(self.first, cfg.alpha_timer, now);
            }
        }
        if self.cut_due == Nanos::MAX {
            self.cut_due = next(self.first, interval, now);
        }
    }

    /// Cuts the rate by alpha / 2 and restarts the counts of steps.
    fn cut(&mut self, cfg: &Dcqcn, now: Nanos) {
        let risen = self.timer_steps > 0 || self.byte_steps > 0;
        if cfg.clamp_target || risen || self.notifications == 0 || !self.is_limited() {
            self.target = self.rate;
        }
        // RC (1 - alpha / 2): below 2^40 bits per second times 2^30 needs the wide product.
        let cut = (u128::from(self.rate) * u128::from(self.alpha)) >> 31;
        self.rate = (self.rate - cut as u64).max(cfg.min_rate.0.clamp(1, self.line));
        self.rate_due = now + cfg.rate_timer;
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.bytes = 0;
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
    fn timers(&mut self, cfg: &Dcqcn, now: Nanos) {
        loop {
            if self.cut_due <= self.rate_due.min(now) {
                let due = core::mem::replace(&mut self.cut_due, Nanos::MAX);
                self.update_alpha(cfg, due);
                self.cut(cfg, due);
            } else if self.rate_due <= now {
                self.rate_due += cfg.rate_timer;
                self.timer_steps += 1;
                self.increase(cfg);
            } else {
                break;
            }
        }
        self.due = self.rate_due.min(self.cut_due);
    }

    /// Alpha times (1 - g) for every alpha timer that expired, and plus g at the first one after a
    /// notification to an adapter.
    fn update_alpha(&mut self, cfg: &Dcqcn, now: Nanos) {
        while now >= self.alpha_due {
            self.alpha_due += cfg.alpha_timer;
            if core::mem::take(&mut self.raises) {
                self.alpha += weighted(cfg.g, ALPHA_ONE - self.alpha);
                continue;
            }
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
            let hyper = match cfg.timer_hyper {
                true => most > f + 1,
                false => least > f,
            };
            let step = if hyper { cfg.rate_hai } else { cfg.rate_ai };
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

/// The first multiple of `interval` after `from` that is after `now`.
fn next(from: Nanos, interval: Nanos, now: Nanos) -> Nanos {
    let passed = (now.0 - from.0) / interval.0.max(1);
    Nanos(from.0 + (passed + 1) * interval.0.max(1))
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

    fn adapter() -> Dcqcn {
        Dcqcn {
            decrease_interval: us(4),
            alpha_timer: us(1),
            rate_timer: us(300),
            byte_counter: 0,
            fast_recovery: 1,
            clamp_target: false,
            timer_hyper: true,
            ..Dcqcn::default()
        }
    }

    /// HPCC's rule by hand: the first notification at 100 us sets alpha to 1, the check at 104 us
    /// cuts. Alpha has decayed four times by then; the check does so after alpha's timer.
    #[test]
    fn an_adapter_cuts_at_its_next_check() {
        let cfg = adapter();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(100));
        rp.catch_up(&cfg, Nanos(103_999));
        assert_eq!(rp.rate(), LINE);
        rp.catch_up(&cfg, us(104));
        // (255/256)^4 of 2^30 is 255^4 / 4, rounded at each step.
        let mut alpha = ALPHA_ONE;
        for _ in 0..4 {
            alpha -= alpha >> 8;
        }
        let cut = (u128::from(LINE.0) * u128::from(alpha)) >> 31;
        assert_eq!(
            (rp.rate().0, rp.target()),
            (LINE.0 - cut as u64, LINE),
            "alpha {alpha}"
        );
        // Nothing at 108 us: no notification came.
        let rate = rp.rate();
        rp.catch_up(&cfg, us(399));
        assert_eq!(rp.rate(), rate);
        // 300 us after the cut the timer halves the distance.
        rp.catch_up(&cfg, us(404));
        assert_eq!(rp.rate().0, (rate.0 + LINE.0).div_ceil(2));
    }

    /// Notifications of every microsecond cut once in 4 us, and alpha rises in each.
    #[test]
    fn an_adapter_cuts_once_in_an_interval_and_raises_alpha_once_in_its_own() {
        let cfg = adapter();
        let mut rp = fresh(&cfg);
        let mut cuts = 0;
        for ns in (0..40_000).step_by(250) {
            let before = rp.rate();
            rp.catch_up(&cfg, Nanos(ns));
            cuts += u32::from(rp.rate() < before);
            rp.on_cnp(&cfg, Nanos(ns));
        }
        assert_eq!((cuts, rp.notifications()), (9, 160));
        // Without a pause alpha never falls.
        assert_eq!(rp.alpha(), ALPHA_ONE);
        // Cuts without an increase between them keep the target.
        assert_eq!(rp.target(), LINE);
    }

    /// The second notification comes a second later: alpha is zero, its timer and the checks have
    /// kept their phase, and the first expiry after the notification raises alpha to g.
    #[test]
    fn an_adapter_keeps_the_phase_of_its_timers() {
        let cfg = adapter();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, Nanos(500));
        rp.on_cnp(&cfg, us(1_000_002));
        assert_eq!(rp.alpha(), 0);
        // Checks are at 0.5 us + 4 k us: the next one at 1,000,004.5 us, after three expiries of
        // alpha's timer.
        let line = rp.rate();
        rp.catch_up(&cfg, Nanos(1_000_004_499));
        assert_eq!(rp.rate(), line);
        rp.catch_up(&cfg, Nanos(1_000_004_500));
        let g = ALPHA_ONE >> 8;
        let mut alpha = g;
        for _ in 0..2 {
            alpha -= alpha >> 8;
        }
        assert_eq!(rp.alpha(), alpha);
        assert!(rp.rate() < line);
    }

    #[test]
    fn hyper_increase_by_the_timer_alone_is_the_second_step_after_recovery() {
        let cfg = adapter();
        let mut rp = fresh(&cfg);
        rp.on_cnp(&cfg, us(0));
        rp.on_cnp(&cfg, us(4));
        rp.catch_up(&cfg, us(8));
        let mut steps = [0; 4];
        for (i, step) in steps.iter_mut().enumerate() {
            let before = rp.target();
            rp.target -= 10_000_000_000 * u64::from(i == 0);
            let before = if i == 0 { Rate(rp.target) } else { before };
            rp.catch_up(&cfg, us(8 + 300 * (i as u64 + 1)));
            *step = rp.target().0 - before.0;
        }
        assert_eq!(steps, [0, 40_000_000, 200_000_000, 200_000_000]);
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
