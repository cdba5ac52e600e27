// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN#: marks on instantaneous and on persistent congestion (Algorithm 1), with the variants found
//! in papers and public code.

mod persistent;
pub mod tofino;

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{Compare, Field, OneHook, SECOND, Shape, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueId, QueueSpec, Rule, RuleTime, SchemeSpec, Values,
    Verdict, Why, fixed,
};
use persistent::Persistent;
use tofino::{Clock, Ticks};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "ecn_sharp",
    title: "ECN#",
    aliases: &["ecnsharp"],
    paper: "Zhang et al., Enabling ECN for Datacenter Networks with RTT Variations, CoNEXT 2019",
    doc: "Marks a packet whose sojourn time exceeds ins_target, and one packet at increasing \
          frequency while the sojourn time has stayed at or above pst_target for pst_interval.",
    params: EcnSharpConfig::PARAMS,
    ordered: &[Ordered::pair(
        EcnSharpConfig::PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5us\", kmax = \"200us\"",
    )],
    reads_round: |values| EcnSharpConfig::from(values).by_round,
    first_mark: |values| {
        let config = EcnSharpConfig::from(values);
        Some(if config.pst_target <= config.ins_target {
            FirstMark::wait(
                const { EcnSharpConfig::param("pst_target") },
                config.pst_target,
            )
        } else {
            FirstMark::wait(
                const { EcnSharpConfig::param("ins_target") },
                config.ins_target,
            )
        })
    },
    rules: &[
        Rule::of_wait(EcnSharpConfig::PARAMS, "ins_target", RuleTime::TailRtt)
            .where_read(|values| EcnSharpConfig::from(values).instant == Shape::Step),
        Rule::of_wait(EcnSharpConfig::PARAMS, "pst_target", RuleTime::MeanRtt),
        Rule::new(EcnSharpConfig::PARAMS, "pst_interval", RuleTime::LargestRtt),
    ],
};

config! {
    /// Parameters of [`EcnSharp`].
    pub struct EcnSharpConfig {
        /// Longest sojourn time that the instantaneous condition does not mark (3.2; testbed 5.2:
        /// 200 us).
        ins_target: Nanos = time(200_000, 0..=SECOND),
        /// Sojourn time from which on the queue counts as persistent (3.2; testbed 5.2: 85 us).
        pst_target: Nanos = time(85_000, 0..=SECOND),
        /// How long the queue must be persistent before the first mark, about a worst-case RTT
        /// (3.2; testbed 5.2: 200 us).
        pst_interval: Nanos = time(200_000, 1..=SECOND),
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
        /// What is compared: the sojourn time, or the length that a packet sees against rate x
        /// target (3.5).
        signal: Signal = choice(Signal::Sojourn),
        /// The instantaneous condition: a step at ins_target, or RED's ramp from kmin to kmax (3.5,
        /// for DCQCN).
        instant: Shape = choice(Shape::Step),
        /// Lower end of the ramp, as a time (times the rate if the signal is length).
        kmin: Nanos = time(5_000, 0..=SECOND),
        /// Upper end of the ramp, as a time; above it every packet is marked.
        kmax: Nanos = time(200_000, 0..=SECOND),
        /// Probability at the upper end of the ramp (DCQCN: 1 %; the text of 3.5: 1).
        pmax: Fraction = fraction(655),
        /// Scale by the queue's share of the round, as MQ-ECN: ins_target, and with the length
        /// signal pst_target too (not published).
        by_round: bool = flag(false),
        /// Nanoseconds and exact quotients, or the Tofino's ticks and table (section 4), with
        /// Algorithms 2 and 3 corrected, or one of them as printed.
        arithmetic: Arithmetic = choice(Arithmetic::Exact),
        /// Judge packets as they leave the queue (the paper), or by the length that they find as
        /// they join it (3.5: a switch without timestamps).
        hook: OneHook = choice(OneHook::Dequeue),
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
    /// What is compared with the targets.
    pub enum Signal {
        /// The sojourn time of the packet.
        Sojourn = "sojourn",
        /// The queue length, with the targets times the rate.
        Length = "length",
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
        /// The same with the clock of Algorithm 2 as printed. It is wrong.
        PrintedClock = "printed_clock",
        /// The same with the division of Algorithm 3 as printed. It is wrong.
        PrintedDivision = "printed_division",
    }
}

/// ECN# at one queue.
#[derive(Clone, Copy, Debug)]
pub struct EcnSharp {
    params: Params,
    state: State,
}

/// The parameters in the form in which packets are judged. Thresholds are in the unit of the
/// signal: nanoseconds or bytes.
#[derive(Clone, Copy, Debug)]
struct Params {
    ins_target: u32,
    pst_target: u32,
    /// In nanoseconds or ticks, depending on the arithmetic.
    pst_interval: u32,
    kmin: u32,
    pmax: u32,
    /// Time of the queue's quantum on the link in nanoseconds if thresholds scale with the round,
    /// else zero.
    quantum_time: u32,
    max_catchup: u16,
    arithmetic: Arithmetic,
    law: Law,
    base: Base,
    cmp: Compare,
    reset_on_empty: bool,
    signal: Signal,
    hook: OneHook,
    instant: Shape,
}

impl Params {
    fn new(config: EcnSharpConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        // Lengths have 32 bits in `At`: a threshold that does not fit is never reached.
        let level = |time: Nanos| match config.signal {
            Signal::Sojourn => u32::from_stored(time.0),
            Signal::Length => u32::from_stored(queue.rate.bytes_in(time)),
        };
        let interval = Field::from_stored(config.pst_interval.0);
        let quantum_time = queue.rate.nanos_for(u64::from(queue.quantum)).0;
        Params {
            // Above the upper end of the ramp every packet is marked, as above the step.
            ins_target: level(match config.instant {
                Shape::Step => config.ins_target,
                Shape::Ramp => config.kmax,
            }),
            pst_target: level(config.pst_target),
            pst_interval: match config.arithmetic {
                Arithmetic::Exact => interval,
                _ => Ticks::span(interval),
            },
            kmin: level(config.kmin),
            pmax: config.pmax.0,
            quantum_time: if config.by_round && !queue.strict {
                Field::from_stored(quantum_time)
            } else {
                0
            },
            max_catchup: config.max_catchup,
            arithmetic: config.arithmetic,
            law: config.law,
            base: config.base,
            cmp: config.cmp,
            reset_on_empty: config.reset_on_empty,
            signal: config.signal,
            hook: config.hook,
            instant: config.instant,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Exact(Persistent<Nanos>),
    Tofino(Clock, Persistent<Ticks>),
}

impl State {
    fn new(arithmetic: Arithmetic) -> Self {
        match arithmetic {
            Arithmetic::Exact => State::Exact(Persistent::default()),
            _ => State::Tofino(Clock::default(), Persistent::default()),
        }
    }

    fn forget_persistence(&mut self) {
        match self {
            State::Exact(persistent) => persistent.forget(),
            State::Tofino(_, persistent) => persistent.forget(),
        }
    }
}

impl EcnSharp {
    /// A marker with these parameters.
    pub fn from_config(config: EcnSharpConfig, queue: &QueueSpec) -> Self {
        let params = Params::new(config, queue);
        EcnSharp {
            params,
            state: State::new(params.arithmetic),
        }
    }

    /// The sojourn time in nanoseconds, or a length in bytes: what an arriving packet finds, or
    /// what a departing one leaves behind plus itself.
    #[inline]
    fn signal(&self, at: &At) -> u32 {
        match self.params.signal {
            Signal::Sojourn => u32::from_stored(at.sojourn.0),
            // The backlog at a departure includes the packet. What a packet finds as it joins, and
            // will wait for, does not.
            Signal::Length => at.queue_bytes.saturating_add(match self.params.hook {
                OneHook::Enqueue => 0,
                OneHook::Dequeue => at.pkt_bytes,
            }),
        }
    }

    /// The signal as it would be if the queue had the link to itself, for either condition: times
    /// round / quantum time, at least 1.
    ///
    /// Rounded up for the first condition and down for the second, so that each compares exactly as
    /// with its threshold divided by that factor.
    #[inline]
    fn alone(&self, signal: u32, round: Nanos) -> (u32, u32) {
        let time = self.params.quantum_time;
        if time == 0 || round.0 <= u64::from(time) {
            return (signal, signal);
        }
        let round = u32::try_from(round.0).unwrap_or(u32::MAX);
        let product = u64::from(signal) * u64::from(round);
        let fit = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let up = fit(product.div_ceil(u64::from(time)));
        let down = match self.params.signal {
            Signal::Length => fit(product / u64::from(time)),
            Signal::Sojourn => signal,
        };
        (up, down)
    }

    /// The first condition: instantaneous congestion.
    #[inline]
    fn instantaneous(&self, signal: u32, packet_hash: u64) -> Option<Why> {
        let p = &self.params;
        if signal > p.ins_target {
            return Some(Why::Instant);
        }
        if p.instant == Shape::Ramp && signal > p.kmin {
            let probability = fixed::ramp(signal, p.kmin, p.ins_target, p.pmax);
            return fixed::chance(packet_hash, 0, probability).then_some(Why::Random);
        }
        None
    }

    /// The second condition: one packet of a persistent queue at increasing frequency.
    #[inline(always)]
    fn persistent(&mut self, signal: u32, now: Nanos) -> bool {
        let p = &self.params;
        match &mut self.state {
            State::Exact(persistent) => persistent.judge(signal, now, p),
            State::Tofino(clock, persistent) => {
                let now = if p.arithmetic == Arithmetic::PrintedClock {
                    clock.read_as_printed(now)
                } else {
                    clock.read(now)
                };
                persistent.judge(signal, now, p)
            }
        }
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let (signal, standing) = self.alone(self.signal(at), at.round);
        // Judged for every packet, so that the state is updated when both conditions hold.
        let persistent = self.persistent(standing, at.now);
        match self.instantaneous(signal, at.packet_hash) {
            Some(why) => Verdict::Mark(why),
            None if persistent => Verdict::Mark(Why::Persistent),
            None => Verdict::Pass,
        }
    }
}

impl Marker for EcnSharp {
    #[inline]
    fn hook(&self) -> Hook {
        self.params.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.params.signal == Signal::Length && self.params.hook == OneHook::Dequeue
    }

    fn watches_empty(&self) -> bool {
        self.params.reset_on_empty
    }

    #[inline]
    fn quiet_sojourn(&self) -> Nanos {
        let p = &self.params;
        // A Tofino's clock has to see every packet, or it misses a wrap.
        let State::Exact(persistent) = &self.state else {
            return Nanos::ZERO;
        };
        let by_sojourn = p.signal == Signal::Sojourn && p.hook == OneHook::Dequeue;
        if !by_sojourn || p.quantum_time > 0 || persistent.above || persistent.marking {
            return Nanos::ZERO;
        }
        let instantaneous = match p.instant {
            Shape::Step => p.ins_target,
            Shape::Ramp => p.kmin,
        };
        Nanos(u64::from(p.pst_target.min(instantaneous)))
    }

    fn draws(&self) -> bool {
        self.params.instant == Shape::Ramp
    }

    // Not inlined: departures are the common case, and their code is faster if it is the only copy.
    #[inline(never)]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn emptied(&mut self, _: QueueId, _: Nanos) {
        if self.params.reset_on_empty {
            self.state.forget_persistence();
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let new = EcnSharp::from_config(params.into(), queue);
        // Times of one clock mean nothing to the other.
        let same_clock = matches!(
            (&self.state, &new.state),
            (State::Exact(_), State::Exact(_)) | (State::Tofino(..), State::Tofino(..))
        );
        if !same_clock {
            self.state = new.state;
        }
        self.params = new.params;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    #[test]
    fn the_count_saturates_and_the_schedule_still_moves() {
        for law in [Law::Harmonic, Law::Sqrt] {
            let config = EcnSharpConfig {
                law,
                ..EcnSharpConfig::default()
            };
            let mut marker = EcnSharp::from_config(config, &QueueSpec::fifo(Rate::gbps(10)));
            marker.state = State::Exact(Persistent {
                first_above: Nanos(0),
                next: Nanos(1_000_000),
                count: u32::MAX,
                behind: 0,
                above: true,
                marking: true,
            });
            let at = |now| At::departure(Nanos(now), Nanos(100_000), 125_000, 1_500);
            let (last, step) = match law {
                Law::Harmonic => (1_000_001, 1),
                Law::Sqrt => (1_000_003, 3),
            };
            assert_eq!(
                marker.dequeue(&at(1_000_001)),
                Verdict::Mark(Why::Persistent)
            );
            let State::Exact(state) = marker.state else {
                panic!("the default is exact")
            };
            assert_eq!(state.count, u32::MAX);
            // 200,000 / 2^32 would be 0 and is taken as 1; 200,000 / sqrt(2^32) = 3.05.
            assert_eq!(state.next, Nanos(1_000_000 + step));
            assert_eq!(marker.dequeue(&at(last)), Verdict::Pass);
            assert_eq!(
                marker.dequeue(&at(last + 1)),
                Verdict::Mark(Why::Persistent)
            );
        }
    }
}
