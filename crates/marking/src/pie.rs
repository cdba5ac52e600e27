// SPDX-License-Identifier: MIT OR Apache-2.0
//! PIE: a probability that follows the queueing delay, updated at fixed intervals, in integers.
//!
//! Follows RFC 8033: section 4 with the work-conserving safeguards and the burst allowance, ECN of
//! 5.1, the cap of 5.5. It leaves out the departure-rate estimate (5.2; a port knows its rate),
//! turning itself off (5.3) and de-randomisation (5.4; each packet brings its random hash).

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{Field, SECOND, choice, config};
use crate::{At, Hook, Marker, QueueSpec, SchemeSpec, Values, Verdict, Why, fixed};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "pie",
    title: "PIE",
    aliases: &["rfc8033"],
    paper: "Pan et al., PIE: A Lightweight Control Scheme to Address the Bufferbloat Problem, \
            HPSR 2013; RFC 8033",
    doc: "Marks with a probability that rises while the queueing delay is above its target or \
          growing, and drops packets once that probability is high.",
    params: PieConfig::PARAMS,
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Pie`].
    pub struct PieConfig {
        /// Delay at which the queue is to settle, QDELAY_REF (RFC 8033: 15 ms; here a thousandth,
        /// as RTTs are).
        target: Nanos = time(15_000, 0..=SECOND),
        /// Time between two updates, T_UPDATE (RFC 8033: 15 ms; here a thousandth).
        t_update: Nanos = time(15_000, 1..=SECOND),
        /// Gain of the deviation from the target in sixteenths per second (RFC 8033: 1/8, that is
        /// 2; here a thousandfold).
        alpha: u16 = count(2_000, 0..=u16::MAX as u64),
        /// Gain of the change of the delay in sixteenths per second (RFC 8033: 5/4, that is 20;
        /// here a thousandfold).
        beta: u16 = count(20_000, 0..=u16::MAX as u64),
        /// How long a burst after a quiet time is not marked, MAX_BURST (RFC 8033: 150 ms; here a
        /// thousandth).
        max_burst: Nanos = time(150_000, 0..=SECOND),
        /// Probability from which on packets are dropped, ECN-capable or not (5.1: 10 %). 1: always
        /// mark.
        mark_ecnth: Fraction = fraction(6_554),
        /// How steps shrink while the probability is small: RFC 8033's seven ranges (4.2), or the
        /// paper's three.
        tuning: Tuning = choice(Tuning::Rfc),
        /// Whether a step is at most 2 % once the probability is 10 % (5.5).
        cap: bool = flag(true),
        /// The delay is the length over the link's rate (Little's law), or the sojourn time of the
        /// last packet that left.
        delay: DelayFrom = choice(DelayFrom::Length),
        /// While at most two packets of this size are in the queue, none is marked (4.1).
        mean_pkt: u32 = packet(1_500, 0..=u16::MAX as u64),
    }
}

choice! {
    /// How steps shrink while the probability is small.
    pub enum Tuning {
        /// In the seven ranges of RFC 8033, section 4.2.
        Rfc = "rfc",
        /// In the three ranges of the HPSR paper.
        Paper = "paper",
    }
}

choice! {
    /// Where the queueing delay comes from.
    pub enum DelayFrom {
        /// The length over the link's rate.
        Length = "length",
        /// The sojourn time of the last packet that left; zero while the queue is empty.
        Sojourn = "sojourn",
    }
}

/// Bits of a probability: it counts parts of 2^48.
const BITS: u32 = 48;

/// Certainty.
const CERTAIN: i64 = 1 << BITS;

/// Delays and their differences are limited to 2^28 ns (0.27 s), so that products of gains and
/// delays fit 63 bits.
const LONGEST: i64 = 1 << 28;

/// A probability of `n` millionths, rounded up: an integer is below it exactly if it is below the
/// real number.
const fn millionths(n: i64) -> i64 {
    ((CERTAIN as i128 * n as i128 + 999_999) / 1_000_000) as i64
}

/// PIE at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Pie {
    /// Probability in parts of 2^48.
    p: i64,
    /// When the next update is due, while `awake`.
    next: Nanos,
    /// The delay at the last update, in nanoseconds.
    before: u32,
    /// The sojourn time of the packet that left last.
    wait: u32,
    target: u32,
    t_update: u32,
    mark_ecnth: u32,
    picos_per_byte: u32,
    alpha: u16,
    beta: u16,
    mean_pkt: u16,
    /// The burst allowance in updates: in full, and what is left of it.
    bursts: u16,
    burst: u16,
    tuning: Tuning,
    cap: bool,
    delay: DelayFrom,
    /// Whether updates are scheduled; not while delay and probability are zero. `Option` around
    /// `next` would not fit into the 56 bytes of a scheme.
    awake: bool,
}

impl Pie {
    /// A marker with these parameters.
    pub fn from_config(config: PieConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        let t_update = Field::from_stored(config.t_update.0);
        let bursts = u32::from_stored(config.max_burst.0).div_ceil(t_update);
        let bursts = Field::from_stored(bursts.into());
        Pie {
            p: 0,
            next: Nanos::ZERO,
            before: 0,
            wait: 0,
            target: Field::from_stored(config.target.0),
            t_update,
            mark_ecnth: config.mark_ecnth.0,
            picos_per_byte: Field::from_stored(queue.rate.picos_per_byte().0),
            alpha: config.alpha,
            beta: config.beta,
            mean_pkt: Field::from_stored(config.mean_pkt.into()),
            bursts,
            burst: bursts,
            tuning: config.tuning,
            cap: config.cap,
            delay: config.delay,
            awake: false,
        }
    }

    /// The queueing delay now, in nanoseconds, at most [`LONGEST`].
    fn delay(&self, at: &At) -> i64 {
        let nanos = if self.delay == DelayFrom::Length {
            u64::from(at.queue_bytes) * u64::from(self.picos_per_byte) / 1_000
        } else if at.queue_bytes == 0 {
            0
        } else {
            u64::from(self.wait)
        };
        nanos.min(LONGEST as u64) as i64
    }

    /// By how many bits a step shrinks at the present probability.
    fn shrink(&self) -> u32 {
        let below = |n| self.p < millionths(n);
        if self.tuning == Tuning::Paper {
            return match () {
                () if below(10_000) => 3,
                () if below(100_000) => 1,
                () => 0,
            };
        }
        match () {
            () if below(1) => 11,
            () if below(10) => 9,
            () if below(100) => 7,
            () if below(1_000) => 5,
            () if below(10_000) => 3,
            () if below(100_000) => 1,
            () => 0,
        }
    }

    /// The probability after one more update.
    fn update(&self, delay: i64) -> i64 {
        // A gain of g sixteenths per second is g x 2^44 / 10^9 parts of 2^48 a nanosecond.
        let gain = |sixteenths: u16| ((i64::from(sixteenths)) << (BITS - 4)) / 1_000_000_000;
        let off = (delay - i64::from(self.target)).clamp(-LONGEST, LONGEST);
        let change = delay - i64::from(self.before);
        let mut step = (gain(self.alpha) * off + gain(self.beta) * change) >> self.shrink();
        // Rounded down: the largest step that is at most 2 %.
        let most = millionths(20_000) - 1;
        if self.cap && self.p >= millionths(100_000) && step > most {
            step = most;
        }
        // Clamped before the product, since 98 times a large negative step would overflow.
        let mut p = (self.p + step).max(0);
        if delay == 0 && self.before == 0 {
            p = p * 98 / 100;
        }
        p.min(CERTAIN)
    }
}

impl Marker for Pie {
    #[inline]
    fn hook(&self) -> Hook {
        match self.delay {
            DelayFrom::Length => Hook::Enqueue,
            DelayFrom::Sojourn => Hook::Both,
        }
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        if !self.awake {
            self.awake = true;
            self.next = at.now.saturating_add(Nanos(u64::from(self.t_update)));
        }
        let calm =
            2 * u64::from(self.before) < u64::from(self.target) && self.p < millionths(200_000);
        let short = u64::from(at.queue_bytes) <= 2 * u64::from(self.mean_pkt);
        if self.burst > 0
            || calm
            || short
            || !fixed::chance(at.packet_hash, 0, (self.p >> 32) as u32)
        {
            return Verdict::Pass;
        }
        if self.p < i64::from(self.mark_ecnth) << 32 || self.mark_ecnth == fixed::ONE {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Drop(Why::Random)
        }
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.wait = u32::try_from(at.sojourn.0).unwrap_or(u32::MAX);
        at.intent.map_or(Verdict::Pass, Verdict::Mark)
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let new = Pie::from_config(params.into(), queue);
        *self = Pie {
            p: self.p,
            next: self.next,
            before: self.before,
            wait: self.wait,
            burst: self.burst.min(new.bursts),
            awake: self.awake,
            ..new
        };
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn next_wake(&self) -> Option<Nanos> {
        self.awake.then_some(self.next)
    }

    fn wake(&mut self, at: &At) {
        let delay = self.delay(at);
        self.p = self.update(delay);
        self.burst = self.burst.saturating_sub(1);
        let half = |delay: i64| 2 * delay < i64::from(self.target);
        if self.p == 0 && half(delay) && half(i64::from(self.before)) {
            self.burst = self.bursts;
        }
        // Nothing changes until the next packet.
        let idle = self.p == 0 && delay == 0 && self.before == 0 && at.queue_bytes == 0;
        self.before = delay as u32;
        self.awake = !idle;
        self.next = at.now.saturating_add(Nanos(u64::from(self.t_update)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    /// A target of 20,000 ns and updates every 30,000 ns.
    fn usual() -> PieConfig {
        PieConfig {
            target: Nanos(20_000),
            t_update: Nanos(30_000),
            ..PieConfig::default()
        }
    }

    /// PIE at 10 Gb/s (0.8 ns per byte).
    fn pie(config: PieConfig) -> Pie {
        Pie::from_config(config, &QueueSpec::fifo(Rate::gbps(10)))
    }

    #[test]
    fn a_millionth_is_rounded_up() {
        // 2^48 / 10^6 = 281,474,976.71.
        assert_eq!(millionths(1), 281_474_977);
        assert_eq!(millionths(1_000_000), CERTAIN);
        assert_eq!(millionths(0), 0);
    }

    #[test]
    fn the_ranges_of_the_tuning_begin_at_their_bounds() {
        let mut pie = pie(usual());
        for (bound, under, from) in [
            (1, 11, 9),
            (10, 9, 7),
            (100, 7, 5),
            (1_000, 5, 3),
            (10_000, 3, 1),
            (100_000, 1, 0),
        ] {
            pie.p = millionths(bound) - 1;
            assert_eq!(pie.shrink(), under, "below {bound}");
            pie.p = millionths(bound);
            assert_eq!(pie.shrink(), from, "at {bound}");
        }
        pie.tuning = Tuning::Paper;
        for (p, bits) in [(9_999, 3), (10_000, 1), (99_999, 1), (100_000, 0)] {
            pie.p = millionths(p);
            assert_eq!(pie.shrink(), bits, "{p}");
        }
    }

    /// From 10 % on a step is at most 2 %, which is not a whole number: the largest below it.
    #[test]
    fn a_large_step_is_cut_to_two_percent() {
        let mut pie = pie(PieConfig {
            cap: true,
            ..usual()
        });
        pie.p = millionths(100_000);
        assert_eq!(pie.update(LONGEST) - pie.p, CERTAIN / 50);
        pie.p -= 1;
        assert!(pie.update(LONGEST) - pie.p > CERTAIN / 50);
    }

    /// The allowance is restored when two updates in a row see less than half the target: 12,500
    /// bytes take 10,000 ns.
    #[test]
    fn half_the_target_is_not_less_than_half() {
        let at = |bytes| At::arrival(Nanos(60_000), bytes, 1_500);
        let mut pie = pie(PieConfig {
            max_burst: Nanos(90_000),
            ..usual()
        });
        for (bytes, left) in [(12_500, 0), (12_499, 3)] {
            pie.burst = 0;
            (pie.p, pie.before) = (0, 9_999);
            pie.wake(&at(bytes));
            assert_eq!(pie.burst, left, "{bytes}");
        }
        (pie.burst, pie.p, pie.before) = (0, 0, 10_000);
        pie.wake(&at(0));
        assert_eq!(pie.burst, 0);
    }

    #[test]
    fn retuning_keeps_the_sojourn_time_and_the_rest_of_the_allowance() {
        let config = PieConfig {
            delay: DelayFrom::Sojourn,
            max_burst: Nanos(90_000),
            ..usual()
        };
        let mut pie = pie(config);
        (pie.wait, pie.burst) = (7_000, 2);
        let longer = PieConfig {
            target: Nanos(15_000),
            max_burst: Nanos(300_000),
            ..config
        };
        pie.retune(&longer.into(), &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!((pie.wait, pie.burst, pie.bursts), (7_000, 2, 10));
    }
}
