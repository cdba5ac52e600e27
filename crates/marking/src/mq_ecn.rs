// SPDX-License-Identifier: MIT OR Apache-2.0
//! MQ-ECN: scales the standard threshold by a queue's share of the link, which follows from how
//! long a round of the scheduler takes.
//!
//! The port measures the round ([`At::round`]), so the scheme itself is a threshold without state.
//! Only with `period`, for a chip that averages on a timer of its own, it keeps an average here.

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{Compare, Field, OneHook, SECOND, Shape, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueSpec, Quiet, Rule, RuleTime, SchemeSpec, Values,
    Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "mq_ecn",
    title: "MQ-ECN",
    aliases: &["mqecn"],
    paper: "Bai et al., Enabling ECN in Multi-Service Multi-Queue Data Centers, NSDI 2016",
    doc: "Marks above a queue's share of the standard threshold: K x min(quantum time / round \
          time, 1).",
    params: MqEcnConfig::PARAMS,
    ordered: &[Ordered::pair(
        MqEcnConfig::PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5pkt\", kmax = \"15pkt\"",
    )],
    reads_round: |_| true,
    first_mark: |values| {
        let config = MqEcnConfig::from(values);
        Some(match config.shape {
            Shape::Step => FirstMark::length(const { MqEcnConfig::param("k") }, config.k),
            Shape::Ramp => FirstMark::length(const { MqEcnConfig::param("kmin") }, config.kmin),
        })
    },
    rules: &[Rule::new(MqEcnConfig::PARAMS, "k", RuleTime::TailRtt)
        .where_read(|values| MqEcnConfig::from(values).shape == Shape::Step)],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`MqEcn`].
    pub struct MqEcnConfig {
        /// Standard threshold C x RTT x lambda (2.1; 65 packets at 10 Gb/s in 5.2). A time is read
        /// as rate x time.
        k: u32 = bytes(97_500),
        /// A step at k, or RED's ramp with Kmin, Kmax and Pmax all scaled (3.4, for DCQCN).
        shape: Shape = choice(Shape::Step),
        /// Lower end of the ramp at the full rate (DCQCN: 5 KB at 40 Gb/s).
        kmin: u32 = bytes(5_000),
        /// Upper end of the ramp at the full rate; above it every packet is marked (DCQCN: 200 KB
        /// at 40 Gb/s).
        kmax: u32 = bytes(200_000),
        /// Probability at the upper end of the ramp at the full rate (DCQCN: 1 %).
        pmax: Fraction = fraction(655),
        /// Whether the length includes the judged packet (the authors' code: yes).
        count_self: bool = flag(true),
        /// Mark above the threshold (the authors' code) or from it on.
        cmp: Compare = choice(Compare::Strict),
        /// Judge packets as they join the queue (the authors' code) or as they leave it.
        hook: OneHook = choice(OneHook::Enqueue),
        /// Average the port's round once per period, as a switch chip would (4.1: about the time of
        /// one MTU). 0: use the port's own average.
        period: Nanos = time(0, 0..=SECOND),
        /// Weight of the old average if there is a period (3.3.1; 0.75 in section 5).
        beta: Fraction = weight(49_152),
    }
}

/// MQ-ECN at one queue.
#[derive(Clone, Copy, Debug)]
pub struct MqEcn {
    params: Params,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Params {
    k: u32,
    kmin: u32,
    kmax: u32,
    pmax: u32,
    /// Time the quantum takes on the link in whole nanoseconds. A strict queue is not part of the
    /// rounds and keeps the standard threshold (3.4): its time is larger than any round.
    quantum_time: u32,
    period: u32,
    /// Weight of the newest sample: 1 - beta.
    weight: u32,
    shape: Shape,
    count_self: bool,
    cmp: Compare,
    hook: OneHook,
}

impl Params {
    fn new(config: MqEcnConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        Params {
            k: config.k,
            kmin: config.kmin,
            kmax: config.kmax,
            pmax: config.pmax.0,
            quantum_time: if queue.strict {
                u32::MAX
            } else {
                Field::from_stored(queue.rate.nanos_for(u64::from(queue.quantum)).0)
            },
            period: Field::from_stored(config.period.0),
            weight: fixed::ONE - config.beta.0,
            shape: config.shape,
            count_self: config.count_self,
            cmp: config.cmp,
            hook: config.hook,
        }
    }
}

/// Only used if `period` is not zero.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Smoothed round in 2^-12 ns.
    round: u64,
    /// When the average is updated next; `None` while there is nothing to average.
    next: Option<Nanos>,
}

impl MqEcn {
    /// A marker with these parameters.
    pub fn from_config(config: MqEcnConfig, queue: &QueueSpec) -> Self {
        MqEcn {
            params: Params::new(config, queue),
            state: State::default(),
        }
    }

    /// The round that thresholds are scaled by, in nanoseconds.
    #[inline(always)]
    fn round(&self, at: &At) -> u32 {
        let round = if self.params.period == 0 {
            at.round.0
        } else {
            self.state.round >> fixed::AVG_BITS
        };
        u32::try_from(round).unwrap_or(u32::MAX)
    }

    #[inline(always)]
    fn judge(&self, at: &At) -> Verdict {
        let p = &self.params;
        let own = if p.count_self { at.pkt_bytes } else { 0 };
        let length = at.queue_bytes.saturating_add(own);
        let round = self.round(at);
        if p.shape == Shape::Ramp {
            return self.ramp(length, round, at.packet_hash);
        }
        // length > K, or length > K x quantum time / round without the division. A round of zero
        // means that none has been measured yet.
        let (full, share) = (length, u64::from(length) * u64::from(round));
        let product = u64::from(p.k) * u64::from(p.quantum_time);
        let above = full > p.k || share > product;
        let tie = p.cmp == Compare::AtLeast && (full == p.k || (round > 0 && share == product));
        if above || tie {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }

    /// The ramp, with both thresholds and the probability scaled, each rounded down.
    fn ramp(&self, length: u32, round: u32, packet_hash: u64) -> Verdict {
        let p = &self.params;
        let scaled = |full: u32| {
            if round <= p.quantum_time {
                return full;
            }
            (u64::from(full) * u64::from(p.quantum_time) / u64::from(round)) as u32
        };
        let kmax = scaled(p.kmax);
        if p.cmp.beyond(length, kmax) {
            return Verdict::Mark(Why::Instant);
        }
        let kmin = scaled(p.kmin);
        if length <= kmin {
            return Verdict::Pass;
        }
        let share = fixed::ramp(length, kmin, kmax, scaled(p.pmax));
        if fixed::chance(packet_hash, 0, share) {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }

    /// Starts the timer of its own average with the first packet after an idle time.
    #[inline(always)]
    fn start_timer(&mut self, now: Nanos) {
        if self.params.period > 0 && self.state.next.is_none() {
            self.state.next = Some(now.saturating_add(Nanos(u64::from(self.params.period))));
        }
    }
}

impl Marker for MqEcn {
    #[inline]
    fn hook(&self) -> Hook {
        self.params.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.params.hook == OneHook::Dequeue
    }

    fn quiet_below(&self, _mtu: u32) -> u32 {
        // An empty queue never exceeds its threshold, however long the round.
        let p = &self.params;
        u32::from(!p.count_self && p.cmp == Compare::Strict && p.period == 0)
    }

    fn quiet_by_round(&self) -> Quiet {
        let p = &self.params;
        let at_least = p.cmp == Compare::AtLeast;
        if p.period > 0 || (p.shape == Shape::Ramp && at_least) {
            return Quiet::NEVER;
        }
        let step = match p.shape {
            Shape::Step => p.k,
            Shape::Ramp => p.kmin.min(p.kmax),
        };
        let tie = u32::from(at_least);
        Quiet {
            bytes: step.saturating_sub(tie),
            byte_nanos: (u64::from(step) * u64::from(p.quantum_time))
                .saturating_sub(u64::from(tie)),
        }
    }

    fn draws(&self) -> bool {
        self.params.shape == Shape::Ramp
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.start_timer(at.now);
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.start_timer(at.now);
        self.judge(at)
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.params = Params::new(params.into(), queue);
        if self.params.period == 0 {
            self.state = State::default();
        }
    }

    fn keeps_time(&self) -> bool {
        self.params.period > 0
    }

    fn next_wake(&self) -> Option<Nanos> {
        self.state.next
    }

    fn wake(&mut self, at: &At) {
        // An empty port serves no rounds: the sample is zero.
        let sample = if at.port_bytes == 0 {
            0
        } else {
            u32::try_from(at.round.0).unwrap_or(u32::MAX)
        };
        self.state.round = fixed::ewma(self.state.round, sample, self.params.weight);
        let idle = self.state.round == 0 && at.port_bytes == 0;
        let period = Nanos(u64::from(self.params.period));
        self.state.next = (!idle).then(|| at.now.saturating_add(period));
    }
}
