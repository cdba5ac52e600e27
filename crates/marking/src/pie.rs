// SPDX-License-Identifier: MIT OR Apache-2.0
//! PIE: a probability that follows the queueing delay at fixed times, in integers.
//!
//! Follows RFC 8033: section 4 with the work-conserving safeguards and the burst allowance, ECN of
//! 5.1, the cap of 5.5. Its departure-rate estimate (5.2), on/off switch (5.3) and de-randomisation
//! (5.4) are not here: a port knows its rate, and draws are the packet's luck.

use cemark_wire::Nanos;

use crate::{
    At, Hook, Kind, Marker, ParamSpec, QueueSpec, SchemeSpec, Values, Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "pie",
    title: "PIE",
    aliases: &["rfc8033"],
    paper: "Pan et al., PIE: A Lightweight Control Scheme to Address the Bufferbloat Problem, HPSR 2013; RFC 8033",
    doc: "Marks with a probability that rises while the queueing delay is above its target or growing, and drops where that is high.",
    params: &[
        ParamSpec {
            name: "target",
            kind: Kind::Time,
            default: 15_000,
            min: 0,
            max: 1_000_000_000,
            doc: "Delay at which the queue is to settle, QDELAY_REF (RFC 8033: 15 ms; here a thousandth, as RTTs are).",
        },
        ParamSpec {
            name: "t_update",
            kind: Kind::Time,
            default: 15_000,
            min: 1,
            max: 1_000_000_000,
            doc: "Time between two updates, T_UPDATE (RFC 8033: 15 ms; here a thousandth).",
        },
        ParamSpec {
            name: "alpha",
            kind: Kind::Count,
            default: 2_000,
            min: 0,
            max: u16::MAX as u64,
            doc: "Gain of the deviation from the target in sixteenths per second (RFC 8033: 1/8, that is 2; here a thousandfold).",
        },
        ParamSpec {
            name: "beta",
            kind: Kind::Count,
            default: 20_000,
            min: 0,
            max: u16::MAX as u64,
            doc: "Gain of the change of the delay in sixteenths per second (RFC 8033: 5/4, that is 20; here a thousandfold).",
        },
        ParamSpec {
            name: "max_burst",
            kind: Kind::Time,
            default: 150_000,
            min: 0,
            max: 1_000_000_000,
            doc: "How long a burst after a quiet time is left alone, MAX_BURST (RFC 8033: 150 ms; here a thousandth).",
        },
        ParamSpec {
            name: "mark_ecnth",
            kind: Kind::Fraction,
            default: 6_554,
            min: 0,
            max: fixed::ONE as u64,
            doc: "Probability from which on packets are dropped, ECN-capable or not (5.1: 10 %). 1: always mark.",
        },
        ParamSpec {
            name: "tuning",
            kind: Kind::Choice(&["rfc", "paper"]),
            default: 0,
            min: 0,
            max: 1,
            doc: "How steps shrink while the probability is small: RFC 8033's seven ranges (4.2), or the paper's three.",
        },
        ParamSpec {
            name: "cap",
            kind: Kind::Flag,
            default: 1,
            min: 0,
            max: 1,
            doc: "Whether a step is at most 2 % once the probability is 10 % (5.5).",
        },
        ParamSpec {
            name: "delay",
            kind: Kind::Choice(&["length", "sojourn"]),
            default: 0,
            min: 0,
            max: 1,
            doc: "Delay is the length over the link's rate (Little's law), or the wait of the last packet that left.",
        },
        ParamSpec {
            name: "mean_pkt",
            kind: Kind::Bytes,
            default: 1_500,
            min: 0,
            max: u16::MAX as u64,
            doc: "Two packets of this size or less in the queue are never marked (4.1).",
        },
    ],
    ..SchemeSpec::BLANK
};

/// Bits of a probability: it counts parts of 2^48.
const BITS: u32 = 48;

/// Certainty.
const CERTAIN: i64 = 1 << BITS;

/// Delays and their differences beyond 2^28 ns (0.27 s) count as that: products of gains and delays
/// then fit 63 bits.
const LONGEST: i64 = 1 << 28;

/// A probability of `n` millionths, rounded up: an integer is below it exactly when it is below the
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
    /// The wait of the packet that left last.
    wait: u32,
    target: u32,
    t_update: u32,
    mark_ecnth: u32,
    picos_per_byte: u32,
    alpha: u16,
    beta: u16,
    mean_pkt: u16,
    /// Updates that a burst is left alone for: of the allowance, and left of it.
    bursts: u16,
    burst: u16,
    paper: bool,
    cap: bool,
    by_wait: bool,
    /// Whether updates go on; not while all is quiet. An option of `next` would not fit beside the
    /// rest.
    awake: bool,
}

impl Pie {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let flag = |name| params.of(&SPEC, name) == 1;
        let short = |name| params.of(&SPEC, name).min(u64::from(u16::MAX)) as u16;
        let t_update = params.of_u32(&SPEC, "t_update").max(1);
        let bursts = params.of_u32(&SPEC, "max_burst").div_ceil(t_update);
        let bursts = bursts.min(u32::from(u16::MAX)) as u16;
        Pie {
            p: 0,
            next: Nanos::ZERO,
            before: 0,
            wait: 0,
            target: params.of_u32(&SPEC, "target"),
            t_update,
            mark_ecnth: params.of_u32(&SPEC, "mark_ecnth").min(fixed::ONE),
            picos_per_byte: u32::try_from(queue.rate.picos_per_byte().0).unwrap_or(u32::MAX),
            alpha: short("alpha"),
            beta: short("beta"),
            mean_pkt: short("mean_pkt"),
            bursts,
            burst: bursts,
            paper: flag("tuning"),
            cap: flag("cap"),
            by_wait: flag("delay"),
            awake: false,
        }
    }

    /// The queueing delay now, in nanoseconds, at most [`LONGEST`].
    fn delay(&self, at: &At) -> i64 {
        let nanos = if !self.by_wait {
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
        if self.paper {
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
        // Rounded down, not up: the largest step that is no more than 2 %.
        let most = millionths(20_000) - 1;
        if self.cap && self.p >= millionths(100_000) && step > most {
            step = most;
        }
        // Not below zero before the product: a step of large gains times 98 would not fit.
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
        if self.by_wait {
            Hook::Both
        } else {
            Hook::Enqueue
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
        let new = Pie::new(params, queue);
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
        // Nothing would move until the next packet.
        let rests = self.p == 0 && delay == 0 && self.before == 0 && at.queue_bytes == 0;
        self.before = delay as u32;
        self.awake = !rests;
        self.next = at.now.saturating_add(Nanos(u64::from(self.t_update)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    /// PIE at 10 Gb/s (0.8 ns a byte) with a target of 20,000 ns and updates every 30,000 ns.
    fn pie(change: &[(&str, u64)]) -> Pie {
        let values = [("target", 20_000), ("t_update", 30_000)]
            .iter()
            .chain(change)
            .fold(Values::defaults(&SPEC), |v, (name, n)| {
                v.with(&SPEC, name, *n)
            });
        Pie::new(&values, &QueueSpec::fifo(Rate::gbps(10)))
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
        let mut pie = pie(&[]);
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
        pie.paper = true;
        for (p, bits) in [(9_999, 3), (10_000, 1), (99_999, 1), (100_000, 0)] {
            pie.p = millionths(p);
            assert_eq!(pie.shrink(), bits, "{p}");
        }
    }

    /// A step at a tenth or more is at most 2 %, which is no integer: the largest that is not above
    /// it.
    #[test]
    fn a_large_step_is_cut_to_two_percent() {
        let mut pie = pie(&[("cap", 1)]);
        pie.p = millionths(100_000);
        assert_eq!(pie.update(LONGEST) - pie.p, CERTAIN / 50);
        pie.p -= 1;
        assert!(pie.update(LONGEST) - pie.p > CERTAIN / 50);
    }

    /// The allowance comes back when two updates in a row saw less than half the target: 12,500
    /// bytes wait 10,000 ns.
    #[test]
    fn half_the_target_is_not_less_than_half() {
        let at = |bytes| At::fifo(Nanos(60_000), Nanos(0), bytes, 1_500);
        let mut pie = pie(&[("max_burst", 90_000)]);
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
    fn retuning_keeps_the_wait_and_what_is_left_of_the_allowance() {
        let mut pie = pie(&[("delay", 1), ("max_burst", 90_000)]);
        (pie.wait, pie.burst) = (7_000, 2);
        let values = Values::defaults(&SPEC)
            .with(&SPEC, "delay", 1)
            .with(&SPEC, "t_update", 30_000)
            .with(&SPEC, "max_burst", 300_000);
        pie.retune(&values, &QueueSpec::fifo(Rate::gbps(10)));
        assert_eq!((pie.wait, pie.burst, pie.bursts), (7_000, 2, 10));
    }
}
