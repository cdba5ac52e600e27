// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN#: marks on instantaneous and on persistent congestion (Algorithm 1), by sojourn times or
//! queue lengths, with a step or a ramp (section 3.5). [`ecn_sharp_lab`](crate::ecn_sharp_lab)
//! varies the rest.

mod persistent;
pub mod tofino;

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{Field as _, OneHook, SECOND, Shape, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueId, QueueSpec, Rule, RuleTime, SchemeSpec, Values,
    Verdict, Why, fixed,
};
pub use persistent::{Algorithm1, Persistent, Schedule};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "ecn_sharp",
    title: "ECN#",
    aliases: &["ecnsharp"],
    paper: "Zhang et al., Enabling ECN for Datacenter Networks with RTT Variations, CoNEXT 2019",
    doc: "Marks a packet whose sojourn time exceeds ins_target, and one packet at increasing \
          frequency while it has stayed at or above pst_target for pst_interval.",
    params: EcnSharpConfig::PARAMS,
    ordered: &[Ordered::pair(
        EcnSharpConfig::PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5us\", kmax = \"200us\"",
    )],
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
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`EcnSharp`].
    pub struct EcnSharpConfig {
        /// Longest sojourn time that is not marked (3.2; testbed 5.2: 200 us).
        ins_target: Nanos = time(200_000, 0..=SECOND),
        /// Sojourn time from which on the queue counts as persistent (3.2; testbed 5.2: 85 us).
        pst_target: Nanos = time(85_000, 0..=SECOND),
        /// Time until the first mark, about a worst-case RTT (3.2; testbed 5.2: 200 us).
        pst_interval: Nanos = time(200_000, 1..=SECOND),
        /// Sojourn times, or lengths against rate x target (3.5).
        signal: Signal = choice(Signal::Sojourn),
        /// Judge departures, or arrivals by the length that they find (3.5).
        hook: OneHook = choice(OneHook::Dequeue),
        /// A step at ins_target, or RED's ramp (3.5, for DCQCN).
        instant: Shape = choice(Shape::Step),
        /// Lower end of the ramp, as a time.
        kmin: Nanos = time(5_000, 0..=SECOND),
        /// Upper end; above it every packet is marked.
        kmax: Nanos = time(200_000, 0..=SECOND),
        /// Probability there (DCQCN: 1 %; 3.5: 1).
        pmax: Fraction = fraction(655),
    }
}

choice! {
    /// Measure of congestion that is compared with the targets.
    pub enum Signal {
        /// The sojourn time of the packet.
        Sojourn = "sojourn",
        /// The queue length, with the targets times the rate.
        Length = "length",
    }
}

/// ECN# at one queue.
pub type EcnSharp = EcnSharpWith<Algorithm1>;

/// ECN# with a schedule of persistent marks. Thresholds are in the unit of the signal: nanoseconds
/// or bytes.
#[derive(Clone, Copy, Debug)]
pub struct EcnSharpWith<S> {
    /// The step, or the upper end of the ramp: above either every packet is marked.
    ins_target: u32,
    pst_target: u32,
    kmin: u32,
    pmax: u32,
    signal: Signal,
    hook: OneHook,
    instant: Shape,
    schedule: S,
    state: Persistent,
}

impl<S: Schedule> EcnSharpWith<S> {
    /// A marker with these parameters.
    pub fn from_config(config: S::Config, queue: &QueueSpec) -> Self {
        let (config, schedule) = S::from_config(config, queue);
        // Lengths have 32 bits in `At`: a threshold that does not fit is never reached.
        let level = |time: Nanos| match config.signal {
            Signal::Sojourn => u32::from_stored(time.0),
            Signal::Length => u32::from_stored(queue.rate.bytes_in(time)),
        };
        EcnSharpWith {
            ins_target: level(match config.instant {
                Shape::Step => config.ins_target,
                Shape::Ramp => config.kmax,
            }),
            pst_target: level(config.pst_target),
            kmin: level(config.kmin),
            pmax: config.pmax.0,
            signal: config.signal,
            hook: config.hook,
            instant: config.instant,
            schedule,
            state: Persistent::default(),
        }
    }

    /// The sojourn time in nanoseconds, or a length in bytes: what an arriving packet finds, or
    /// what a departing one leaves behind plus itself.
    #[inline]
    fn signal(&self, at: &At) -> u32 {
        match self.signal {
            Signal::Sojourn => u32::from_stored(at.sojourn.0),
            // The backlog at a departure includes the packet. What a packet finds as it joins, and
            // will wait for, does not.
            Signal::Length => at.queue_bytes.saturating_add(match self.hook {
                OneHook::Enqueue => 0,
                OneHook::Dequeue => at.pkt_bytes,
            }),
        }
    }

    /// The first condition: instantaneous congestion.
    #[inline]
    fn instantaneous(&self, signal: u32, packet_hash: u64) -> Option<Why> {
        if signal > self.ins_target {
            return Some(Why::Instant);
        }
        if self.instant == Shape::Ramp && signal > self.kmin {
            let probability = fixed::ramp(signal, self.kmin, self.ins_target, self.pmax);
            return fixed::chance(packet_hash, 0, probability).then_some(Why::Random);
        }
        None
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let (signal, standing) = self.schedule.alone(self.signal(at), self.signal, at.round);
        let now = self.schedule.read(at.now);
        // Judged for every packet, so that the state is updated when both conditions hold.
        let persistent = self
            .state
            .judge(standing >= self.pst_target, now, &self.schedule);
        match self.instantaneous(signal, at.packet_hash) {
            Some(why) => Verdict::Mark(why),
            None if persistent => Verdict::Mark(Why::Persistent),
            None => Verdict::Pass,
        }
    }
}

impl<S: Schedule> Marker for EcnSharpWith<S> {
    #[inline]
    fn hook(&self) -> Hook {
        self.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.signal == Signal::Length && self.hook == OneHook::Dequeue
    }

    fn watches_empty(&self) -> bool {
        self.schedule.resets()
    }

    #[inline]
    fn quiet_sojourn(&self) -> Nanos {
        let by_sojourn = self.signal == Signal::Sojourn && self.hook == OneHook::Dequeue;
        let busy = self.state.above || self.state.marking;
        if !by_sojourn || busy || self.schedule.sees_every_packet() {
            return Nanos::ZERO;
        }
        let instantaneous = match self.instant {
            Shape::Step => self.ins_target,
            Shape::Ramp => self.kmin,
        };
        Nanos(u64::from(self.pst_target.min(instantaneous)))
    }

    fn draws(&self) -> bool {
        self.instant == Shape::Ramp
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
        if self.schedule.resets() {
            self.state.above = false;
            self.state.marking = false;
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let mut new = Self::from_config(params.into(), queue);
        if new.schedule.continues(&self.schedule) {
            new.state = self.state;
        }
        *self = new;
    }
}
