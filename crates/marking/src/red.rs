// SPDX-License-Identifier: MIT OR Apache-2.0
//! RED: a probability that rises with the smoothed queue length.

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueId, QueueSpec, SchemeSpec,
    Values, Verdict, Why, fixed,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "kmin",
        kind: Kind::Bytes,
        default: 7_500,
        min: 0,
        max: u32::MAX as u64,
        doc: "Smoothed length from which on packets may be marked (Floyd's advice: 5 packets). A time is read as rate x time.",
    },
    ParamSpec {
        name: "kmax",
        kind: Kind::Bytes,
        default: 22_500,
        min: 0,
        max: u32::MAX as u64,
        doc: "Smoothed length from which on every packet is marked (Floyd's advice: 3 x kmin).",
    },
    ParamSpec {
        name: "pmax",
        kind: Kind::Fraction,
        default: 6_554,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Probability just below kmax (Floyd's advice: 10 %; DCQCN: 1 %).",
    },
    ParamSpec {
        name: "weight",
        kind: Kind::Fraction,
        default: 128,
        min: 1,
        max: fixed::ONE as u64,
        doc: "Weight of the newest length in the average (Floyd: 0.002, here 1/512). 1: the instantaneous length, as DCQCN.",
    },
    ParamSpec {
        name: "spacing",
        kind: Kind::Choice(&["uniform", "independent"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Marks evenly spread (the paper's count, section 7) or each packet on its own (switches, DCQCN).",
    },
    ParamSpec {
        name: "count_self",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        doc: "Whether the judged packet counts itself in the length (the paper: no).",
    },
    ParamSpec {
        name: "mean_pkt",
        kind: Kind::Bytes,
        default: 1_500,
        min: 1,
        max: 65_535,
        doc: "An idle queue ages as if packets of this size had been sent meanwhile (the paper's s).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "red",
    title: "RED",
    aliases: &[],
    paper: "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, ToN 1993",
    doc: "Marks with a probability that rises from kmin to kmax of the smoothed queue length, and always from kmax on.",
    params: PARAMS,
    ordered: &[Ordered::pair(
        PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5pkt\", kmax = \"15pkt\"",
    )],
    first_mark: |v| {
        Some(FirstMark {
            param: "kmin",
            level: Level::Length(v.of(&SPEC, "kmin")),
        })
    },
    ..SchemeSpec::BLANK
};

/// RED at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    params: Params,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Params {
    kmin: u32,
    kmax: u32,
    pmax: u32,
    weight: u32,
    /// Time one mean packet takes on the link, at least a nanosecond.
    packet_time: u32,
    independent: bool,
    count_self: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Smoothed length in 2^-12 bytes.
    avg: u64,
    /// Up to when an empty queue has aged; `None` while it is not empty, and before the first
    /// packet.
    idle_since: Option<Nanos>,
    /// Packets between kmin and kmax since the last mark, the judged one not counted.
    passed: u32,
}

impl Red {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let time = queue.rate.nanos_for(params.of(&SPEC, "mean_pkt")).0;
        Red {
            params: Params {
                kmin: params.of_u32(&SPEC, "kmin"),
                kmax: params.of_u32(&SPEC, "kmax"),
                pmax: params.of_u32(&SPEC, "pmax").min(fixed::ONE),
                weight: params.of_u32(&SPEC, "weight").min(fixed::ONE),
                packet_time: u32::try_from(time).unwrap_or(u32::MAX).max(1),
                independent: params.of(&SPEC, "spacing") == 1,
                count_self: params.of(&SPEC, "count_self") != 0,
            },
            state: State::default(),
        }
    }

    /// Brings the average up to the arrival of a packet.
    #[inline]
    fn smooth(&mut self, at: &At) {
        let p = &self.params;
        let own = if p.count_self { at.pkt_bytes } else { 0 };
        let length = at.queue_bytes.saturating_add(own);
        self.state.avg = match self.state.idle_since.take() {
            // As in the paper, the packet that ends an idle time ages the average and is not a
            // sample itself. Where it is dropped the idle time goes on: without that, an average
            // above kmax would shut the queue until enough packets had been lost.
            Some(since) if at.queue_bytes == 0 => {
                self.state.idle_since = Some(at.now);
                let missed = at.now.saturating_sub(since).0 / u64::from(p.packet_time);
                fixed::decay(self.state.avg, p.weight, missed)
            }
            _ => fixed::ewma(self.state.avg, length, p.weight),
        };
    }

    /// Whether a packet between kmin and kmax is marked.
    #[inline]
    fn lot(&mut self, avg: u32, packet_hash: u64) -> bool {
        let p = &self.params;
        let share = fixed::ramp(avg, p.kmin, p.kmax, p.pmax);
        let draw = fixed::draw(packet_hash, 0);
        if p.independent {
            return draw < share;
        }
        // draw < share / (1 - passed * share), without the division; from passed = 1 / share on it
        // always holds.
        let rest =
            u64::from(fixed::ONE).saturating_sub(u64::from(self.state.passed) * u64::from(share));
        let marked = u64::from(draw) * rest < u64::from(share) << 16;
        self.state.passed = if marked {
            0
        } else {
            self.state.passed.saturating_add(1)
        };
        marked
    }
}

impl Marker for Red {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }

    fn watches_empty(&self) -> bool {
        true
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.smooth(at);
        let avg = (self.state.avg >> fixed::AVG_BITS) as u32;
        if avg >= self.params.kmax {
            self.state.passed = 0;
            return Verdict::Mark(Why::Average);
        }
        if avg < self.params.kmin {
            self.state.passed = 0;
            return Verdict::Pass;
        }
        if self.lot(avg, at.packet_hash) {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn emptied(&mut self, _: QueueId, now: Nanos) {
        self.state.idle_since = Some(now);
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.params = Red::new(params, queue).params;
    }
}
