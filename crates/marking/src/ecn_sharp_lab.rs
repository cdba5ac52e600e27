// SPDX-License-Identifier: MIT OR Apache-2.0
//! The laboratory of ECN#: [`ecn_sharp`] with the variants of public code, with limits and scalings
//! of ours, and in a Tofino's arithmetic, right and as printed. For research: no data plane has it.

pub mod arithmetic;

use cemark_wire::Nanos;

use crate::config::{Compare, Field as _, choice, config};
use crate::ecn_sharp::tofino::{Clock, Ticks, divide};
use crate::ecn_sharp::{self, EcnSharpConfig, EcnSharpWith, Persistent, Schedule, Signal};
use crate::{ParamSpec, QueueSpec, SchemeSpec, Values, fixed};
use arithmetic::{divide_as_printed, over_root, read_as_printed};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "ecn_sharp_lab",
    title: "ECN# lab",
    aliases: &["ecnsharp_lab"],
    doc: "ECN# for research: with the variants of the authors' ns-3 code, limits and scalings of \
          ours, and a Tofino's arithmetic, right and as printed.",
    params: EcnSharpLabConfig::PARAMS,
    reads_round: |values| EcnSharpLabConfig::from(values).variant.by_round,
    research_of: Some("ecn_sharp"),
    // The parameters of ECN# come first, in their places.
    ..ecn_sharp::SPEC
};

/// Parameters of [`EcnSharpLab`]: those of ECN#, and behind them the variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnSharpLabConfig {
    /// The parameters of ECN#.
    pub published: EcnSharpConfig,
    /// Differences from the published form.
    pub variant: Variant,
}

config! {
    /// Differences from the published ECN#.
    pub struct Variant {
        /// Gap after the n-th mark: pst_interval / n (Algorithm 1) or / sqrt(n) (the authors' ns-3
        /// code).
        law: Law = choice(Law::Harmonic),
        /// The gap begins at the previous scheduled time (Algorithm 1) or at the mark itself (the
        /// authors' ns-3 code).
        base: Base = choice(Base::Previous),
        /// A mark is due after its scheduled time (Algorithm 1) or from that time on (the authors'
        /// ns-3 code).
        cmp: Compare = choice(Compare::Strict),
        /// Whether an empty queue ends the persistent state and the marking state, as in CoDel
        /// (paper: no).
        reset_on_empty: bool = flag(false),
        /// Largest number of marks in a row whose next scheduled time is already past; the next
        /// mark restarts the schedule from now. 0: no limit (paper).
        max_catchup: u16 = count(0, 0..=u16::MAX as u64),
        /// Scale by the queue's share of the round, as MQ-ECN: ins_target, and with the length
        /// signal pst_target too (not published).
        by_round: bool = flag(false),
        /// Nanoseconds and exact quotients, or the Tofino's ticks and table (section 4), with
        /// Algorithms 2 and 3 corrected, or one of them as printed.
        arithmetic: Arithmetic = choice(Arithmetic::Exact),
    }
}

choice! {
    /// The gap after the n-th mark of a marking state.
    pub enum Law {
        /// pst_interval / n, as in Algorithm 1.
        Harmonic = "harmonic",
        /// pst_interval / sqrt(n), as in CoDel and in the authors' ns-3 code.
        Sqrt = "sqrt",
    }
}

choice! {
    /// From when on the gap to the next mark counts.
    pub enum Base {
        /// From the scheduled time of this mark.
        Previous = "previous",
        /// From the mark itself.
        Now = "now",
    }
}

choice! {
    /// How times are kept and intervals divided. Sojourn times and lengths are compared as they
    /// come, in all of them.
    pub enum Arithmetic {
        /// 64-bit nanoseconds and exact quotients.
        Exact = "exact",
        /// As the Tofino computes, with the errors of the paper's listings corrected.
        Tofino = "tofino",
        /// The Tofino's with the clock of Algorithm 2 as printed, which is wrong.
        PrintedClock = "printed_clock",
        /// The Tofino's with the division of Algorithm 3 as printed, which is wrong.
        PrintedDivision = "printed_division",
    }
}

/// Number of parameters of ECN#.
const PUBLISHED: usize = EcnSharpConfig::PARAMS.len();

impl EcnSharpLabConfig {
    /// The declarations of the parameters.
    pub const PARAMS: &'static [ParamSpec] = &{
        let mut all = [EcnSharpConfig::PARAMS[0]; PUBLISHED + Variant::PARAMS.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = if i < PUBLISHED {
                EcnSharpConfig::PARAMS[i]
            } else {
                Variant::PARAMS[i - PUBLISHED]
            };
            i += 1;
        }
        all
    };
}

impl From<&Values> for EcnSharpLabConfig {
    fn from(values: &Values) -> Self {
        let mut variant = *values;
        variant.0.rotate_left(PUBLISHED);
        EcnSharpLabConfig {
            published: values.into(),
            variant: Variant::from(&variant),
        }
    }
}

impl From<EcnSharpLabConfig> for Values {
    fn from(config: EcnSharpLabConfig) -> Self {
        let mut values = Values::from(config.variant);
        values.0.rotate_right(PUBLISHED);
        values.0[..PUBLISHED].copy_from_slice(&Values::from(config.published).0[..PUBLISHED]);
        values
    }
}

/// The laboratory's ECN# at one queue.
pub type EcnSharpLab = EcnSharpWith<Varied>;

/// A schedule with every variant.
#[derive(Clone, Copy, Debug)]
pub struct Varied {
    /// In nanoseconds or ticks, depending on the arithmetic.
    pst_interval: u32,
    /// Time of the queue's quantum on the link in nanoseconds if thresholds scale with the round,
    /// else zero.
    quantum_time: u32,
    /// The Tofino's clock.
    clock: Clock,
    max_catchup: u16,
    law: Law,
    base: Base,
    cmp: Compare,
    arithmetic: Arithmetic,
    reset_on_empty: bool,
}

impl Varied {
    fn in_ticks(&self) -> bool {
        self.arithmetic != Arithmetic::Exact
    }
}

impl Schedule for Varied {
    type Config = EcnSharpLabConfig;

    fn from_config(config: EcnSharpLabConfig, queue: &QueueSpec) -> (EcnSharpConfig, Self) {
        let (published, variant) = (config.published.clamped(), config.variant.clamped());
        let interval = u32::from_stored(published.pst_interval.0);
        let quantum_time = queue.rate.nanos_for(u64::from(queue.quantum)).0;
        let schedule = Varied {
            pst_interval: match variant.arithmetic {
                Arithmetic::Exact => interval,
                _ => Ticks::span(interval),
            },
            quantum_time: if variant.by_round && !queue.strict {
                u32::from_stored(quantum_time)
            } else {
                0
            },
            clock: Clock::default(),
            max_catchup: variant.max_catchup,
            law: variant.law,
            base: variant.base,
            cmp: variant.cmp,
            arithmetic: variant.arithmetic,
            reset_on_empty: variant.reset_on_empty,
        };
        (published, schedule)
    }

    fn interval(&self) -> u32 {
        self.pst_interval
    }

    fn read(&mut self, now: Nanos) -> u64 {
        match self.arithmetic {
            Arithmetic::Exact => now.0,
            Arithmetic::PrintedClock => read_as_printed(&mut self.clock, now).0.into(),
            Arithmetic::Tofino | Arithmetic::PrintedDivision => self.clock.read(now).0.into(),
        }
    }

    /// The signal as it would be if the queue had the link to itself: times round / quantum time,
    /// at least 1.
    ///
    /// Rounded up for the first condition and down for the second, so that each compares exactly as
    /// with its threshold divided by that factor.
    fn alone(&self, value: u32, signal: Signal, round: Nanos) -> (u32, u32) {
        let time = u64::from(self.quantum_time);
        if time == 0 || round.0 <= time {
            return (value, value);
        }
        let product = u64::from(value) * u64::from(u32::from_stored(round.0));
        let down = match signal {
            Signal::Length => u32::from_stored(product / time),
            Signal::Sojourn => value,
        };
        (u32::from_stored(product.div_ceil(time)), down)
    }

    fn resets(&self) -> bool {
        self.reset_on_empty
    }

    /// A Tofino's clock has to see every packet, or it misses a wrap.
    fn sees_every_packet(&self) -> bool {
        self.quantum_time > 0 || self.in_ticks()
    }

    /// Times of one clock mean nothing to the other.
    fn continues(&mut self, before: &Self) -> bool {
        let same_clock = self.in_ticks() == before.in_ticks();
        if same_clock {
            self.clock = before.clock;
        }
        same_clock
    }

    fn later(&self, a: u64, b: u64) -> bool {
        match self.arithmetic {
            Arithmetic::Exact | Arithmetic::PrintedClock => a > b,
            Arithmetic::Tofino | Arithmetic::PrintedDivision => {
                Ticks(a as u32).after(Ticks(b as u32))
            }
        }
    }

    fn plus(&self, time: u64, gap: u32) -> u64 {
        if self.in_ticks() {
            (time as u32).wrapping_add(gap).into()
        } else {
            time.saturating_add(gap.into())
        }
    }

    fn due(&self, now: u64, next: u64) -> bool {
        match self.cmp {
            Compare::Strict => self.later(now, next),
            Compare::AtLeast => !self.later(next, now),
        }
    }

    fn gap(&self, count: u32) -> u32 {
        let interval = self.pst_interval;
        match (self.law, self.arithmetic) {
            (Law::Harmonic, Arithmetic::Exact) => interval / count,
            (Law::Sqrt, Arithmetic::Exact) => fixed::over_sqrt(interval, count),
            (Law::Sqrt, _) => over_root(interval, count).rounded(),
            (Law::Harmonic, Arithmetic::PrintedDivision) => {
                divide_as_printed(interval, count).rounded()
            }
            (Law::Harmonic, _) => divide(interval, count).rounded(),
        }
    }

    fn reschedule(&self, state: &mut Persistent, now: u64, step: u32) {
        let base = match self.base {
            Base::Previous => state.next,
            Base::Now => now,
        };
        state.next = self.plus(base, step);
        if self.max_catchup == 0 || !self.later(now, state.next) {
            state.behind = 0;
        } else if state.behind < self.max_catchup {
            state.behind += 1;
        } else {
            state.behind = 0;
            state.next = self.plus(now, step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_saturates_and_the_schedule_of_the_root_law_moves() {
        let variant = Variant {
            law: Law::Sqrt,
            ..Variant::default()
        };
        let config = EcnSharpLabConfig {
            variant,
            ..EcnSharpLabConfig::default()
        };
        let queue = QueueSpec::fifo(cemark_wire::Rate::gbps(10));
        let (_, schedule) = Varied::from_config(config, &queue);
        let mut state = Persistent {
            next: 1_000_000,
            count: u32::MAX,
            above: true,
            marking: true,
            ..Persistent::default()
        };
        assert!(state.judge(true, 1_000_001, &schedule));
        assert_eq!(state.count, u32::MAX);
        // 200,000 / sqrt(2^32) = 3.05.
        assert_eq!(state.next, 1_000_003);
        assert!(!state.judge(true, 1_000_003, &schedule));
        assert!(state.judge(true, 1_000_004, &schedule));
    }
}
