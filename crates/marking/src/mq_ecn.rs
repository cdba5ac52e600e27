// SPDX-License-Identifier: MIT OR Apache-2.0
//! MQ-ECN: a queue's threshold is its share of the standard one, told by how long a round of the
//! scheduler takes.
//!
//! The round is a signal of the port ([`At::round`]), so the scheme itself is a threshold without
//! memory. Only a chip that averages on a clock of its own (`period`) keeps an average here.

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueSpec, Quiet, SchemeSpec,
    Values, Verdict, Why, fixed,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "k",
        kind: Kind::Bytes,
        default: 97_500,
        min: 0,
        max: u32::MAX as u64,
        doc: "Standard threshold C x RTT x lambda (4.1; 65 packets at 10 Gb/s in 6.2). A time is read as rate x time.",
    },
    ParamSpec {
        name: "shape",
        kind: Kind::Choice(&["step", "ramp"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "A step at k, or RED's ramp with Kmin, Kmax and Pmax all scaled (4.3, for DCQCN).",
    },
    ParamSpec {
        name: "kmin",
        kind: Kind::Bytes,
        default: 5_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "Foot of the ramp at the full rate (DCQCN: 5 KB at 40 Gb/s).",
    },
    ParamSpec {
        name: "kmax",
        kind: Kind::Bytes,
        default: 200_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "Head of the ramp at the full rate; above it every packet is marked (DCQCN: 200 KB at 40 Gb/s).",
    },
    ParamSpec {
        name: "pmax",
        kind: Kind::Fraction,
        default: 655,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Probability at the head of the ramp at the full rate (DCQCN: 1 %).",
    },
    ParamSpec {
        name: "count_self",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        doc: "Whether the judged packet counts itself (the authors' code: yes).",
    },
    ParamSpec {
        name: "cmp",
        kind: Kind::Choice(&["strict", "at_least"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Mark above the threshold (the authors' code) or from it on.",
    },
    ParamSpec {
        name: "hook",
        kind: Kind::Choice(&["enqueue", "dequeue"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Judge packets as they join (the paper) or as they leave.",
    },
    ParamSpec {
        name: "period",
        kind: Kind::Time,
        default: 0,
        min: 0,
        max: 1_000_000_000,
        doc: "Average the port's round once a period, as a switch chip would (4.3: about one MTU time). 0: take the port's own average.",
    },
    ParamSpec {
        name: "beta",
        kind: Kind::Fraction,
        default: 49_152,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Weight of the old average where there is a period (4.2: 0.75).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "mq_ecn",
    title: "MQ-ECN",
    aliases: &["mqecn"],
    paper: "Bai et al., Enabling ECN in Multi-Service Multi-Queue Data Centers, NSDI 2016",
    doc: "Marks above a queue's share of the standard threshold: K x min(quantum time / round time, 1).",
    params: PARAMS,
    ordered: &[Ordered::pair(
        PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5pkt\", kmax = \"15pkt\"",
    )],
    reads_round: |_| true,
    first_mark: |v| {
        let step = v.of(&SPEC, "shape") == 0;
        let param = if step { "k" } else { "kmin" };
        Some(FirstMark {
            param,
            level: Level::Length(v.of(&SPEC, param)),
        })
    },
};

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
    /// Time the quantum takes on the link in whole nanoseconds; larger than any round where the
    /// queue is not in the rounds.
    quantum_time: u32,
    period: u32,
    /// Weight of the newest sample: 1 - beta.
    weight: u32,
    ramp: bool,
    count_self: bool,
    at_least: bool,
    at_dequeue: bool,
}

/// Only used with a period of its own.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Smoothed round in 2^-12 ns.
    round: u64,
    /// When the average moves next; `None` while there is nothing to average.
    next: Option<Nanos>,
}

impl MqEcn {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let time = queue.rate.nanos_for(u64::from(queue.quantum)).0;
        let flag = |name| params.of(&SPEC, name) == 1;
        MqEcn {
            params: Params {
                k: params.of_u32(&SPEC, "k"),
                kmin: params.of_u32(&SPEC, "kmin"),
                kmax: params.of_u32(&SPEC, "kmax"),
                pmax: params.of_u32(&SPEC, "pmax").min(fixed::ONE),
                // A strict queue above the rounds has the link to itself: it keeps the standard
                // threshold (4.3).
                quantum_time: if queue.strict {
                    u32::MAX
                } else {
                    u32::try_from(time).unwrap_or(u32::MAX)
                },
                period: params.of_u32(&SPEC, "period"),
                weight: fixed::ONE - params.of_u32(&SPEC, "beta").min(fixed::ONE),
                ramp: flag("shape"),
                count_self: flag("count_self"),
                at_least: flag("cmp"),
                at_dequeue: flag("hook"),
            },
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
        if p.ramp {
            return self.lot(length, round, at.packet_hash);
        }
        // length > K and length > K x quantum time / round, the second without its division: a
        // round of zero says nothing yet.
        let (full, share) = (length, u64::from(length) * u64::from(round));
        let product = u64::from(p.k) * u64::from(p.quantum_time);
        let above = full > p.k || share > product;
        let tie = p.at_least && (full == p.k || (round > 0 && share == product));
        if above || tie {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }

    /// The ramp, its foot, head and probability scaled, each rounded down.
    fn lot(&self, length: u32, round: u32, packet_hash: u64) -> Verdict {
        let p = &self.params;
        let scaled = |full: u32| {
            if round <= p.quantum_time {
                return full;
            }
            (u64::from(full) * u64::from(p.quantum_time) / u64::from(round)) as u32
        };
        let kmax = scaled(p.kmax);
        if length > kmax || (p.at_least && length == kmax) {
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

    /// Starts the clock of its own average with the first packet after a rest.
    #[inline(always)]
    fn rouse(&mut self, now: Nanos) {
        if self.params.period > 0 && self.state.next.is_none() {
            self.state.next = Some(now.saturating_add(Nanos(u64::from(self.params.period))));
        }
    }
}

impl Marker for MqEcn {
    #[inline]
    fn hook(&self) -> Hook {
        if self.params.at_dequeue {
            Hook::Dequeue
        } else {
            Hook::Enqueue
        }
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.params.at_dequeue
    }

    fn quiet_below(&self, _mtu: u32) -> u32 {
        // However long the round, an empty queue is not above its share.
        let p = &self.params;
        u32::from(!p.count_self && !p.at_least && p.period == 0)
    }

    fn quiet_by_round(&self) -> Quiet {
        let p = &self.params;
        if p.period > 0 || (p.ramp && p.at_least) {
            return Quiet::NEVER;
        }
        let step = if p.ramp { p.kmin.min(p.kmax) } else { p.k };
        let tie = u32::from(p.at_least);
        Quiet {
            bytes: step.saturating_sub(tie),
            byte_nanos: (u64::from(step) * u64::from(p.quantum_time))
                .saturating_sub(u64::from(tie)),
        }
    }

    fn draws(&self) -> bool {
        self.params.ramp
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.rouse(at.now);
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.rouse(at.now);
        self.judge(at)
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.params = MqEcn::new(params, queue).params;
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
        // An empty port serves no rounds.
        let sample = if at.port_bytes == 0 {
            0
        } else {
            u32::try_from(at.round.0).unwrap_or(u32::MAX)
        };
        self.state.round = fixed::ewma(self.state.round, sample, self.params.weight);
        let rests = self.state.round == 0 && at.port_bytes == 0;
        let period = Nanos(u64::from(self.params.period));
        self.state.next = (!rests).then(|| at.now.saturating_add(period));
    }
}
