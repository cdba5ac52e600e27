// SPDX-License-Identifier: MIT OR Apache-2.0
//! CEDM: two thresholds and the queue's slope, marked as packets join and reconsidered as they
//! leave.
//!
//! Between the thresholds a packet that joins a rising queue carries a tentative intent, which is
//! withdrawn if the queue has turned by the time the packet leaves. The intent travels beside the
//! packet, never in its ECN field: a CE that another switch has set cannot be lost.

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueSpec, SchemeSpec, Values,
    Verdict, Why, fixed,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "k1",
        kind: Kind::Bytes,
        default: 21_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "Lower threshold, 0.17 x rate x RTT for DCTCP (14 packets at 10 Gb/s and 100 us). A time is read as rate x time.",
    },
    ParamSpec {
        name: "k2",
        kind: Kind::Bytes,
        default: 0,
        min: 0,
        max: u32::MAX as u64,
        doc: "Upper threshold. 0: the authors' rule k1 + (k1 + rate x rtt) / 4, which is k1 and one oscillation (57.5 KB).",
    },
    ParamSpec {
        name: "rtt",
        kind: Kind::Time,
        default: 100_000,
        min: 0,
        max: 1_000_000_000,
        doc: "Base round-trip time in the rule for k2 (the authors' switch: 100 us).",
    },
    ParamSpec {
        name: "parts",
        kind: Kind::Choice(&["both", "slope", "thresholds"]),
        default: 0,
        min: 0,
        max: 2,
        doc: "Ablation: the whole scheme, the slope without k2, or the two thresholds with every queue taken as rising.",
    },
    ParamSpec {
        name: "withdraw",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        doc: "Whether a tentative mark is reconsidered as the packet leaves (ablation: false is marking at enqueue only).",
    },
    ParamSpec {
        name: "mark_at_dequeue",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        doc: "Whether packets that leave k2 or more behind are marked too (the authors' switch: yes; the slides: no).",
    },
    ParamSpec {
        name: "cmp",
        kind: Kind::Choice(&["strict", "at_least"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Marked for good above k2 (slides) or from k2 on (the authors' switch).",
    },
    ParamSpec {
        name: "weight",
        kind: Kind::Fraction,
        default: 8_454,
        min: 1,
        max: fixed::ONE as u64,
        doc: "Weight of the newest slope in its average (the authors' switch: 0.129).",
    },
    ParamSpec {
        name: "min_pkt",
        kind: Kind::Bytes,
        default: 800,
        min: 0,
        max: u16::MAX as u64,
        doc: "Only larger packets measure the slope as they leave (the authors' switch: 800 B).",
    },
    ParamSpec {
        name: "signal",
        kind: Kind::Choice(&["instant", "average"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Ablation: whether lengths are the instantaneous one or a moving average of what both ends see.",
    },
    ParamSpec {
        name: "avg_weight",
        kind: Kind::Fraction,
        default: 128,
        min: 1,
        max: fixed::ONE as u64,
        doc: "Weight of the newest length in the moving average (RED's usual 1/512).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "cedm",
    title: "CEDM",
    aliases: &["slope_ecn"],
    paper: "Shan and Ren, Improving ECN Marking Scheme with Micro-burst Traffic in Data Center Networks, INFOCOM 2017",
    doc: "Marks above k2, and from k1 on while the queue rises, unless it has fallen again by the time the packet leaves.",
    params: PARAMS,
    ordered: &[Ordered::pair_or_zero(
        PARAMS,
        "k1",
        "k2",
        "k1 = \"20pkt\", k2 = \"40pkt\"",
    )],
    first_mark: |v| {
        Some(FirstMark {
            param: "k1",
            level: Level::Length(v.of(&SPEC, "k1")),
        })
    },
    ..SchemeSpec::BLANK
};

/// CEDM at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Cedm {
    params: Params,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Params {
    k1: u32,
    k2: u32,
    weight: u32,
    avg_weight: u32,
    min_pkt: u16,
    looks_at_slope: bool,
    withdraw: bool,
    mark_at_dequeue: bool,
    at_least: bool,
    averaged: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    slope: Slope,
    /// Smoothed length in 2^-12 bytes, where lengths are averaged.
    avg: u64,
}

/// The smoothed slope of a queue, measured from one departure to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slope {
    /// In 2^-24 bytes a nanosecond.
    slope: i64,
    /// When it was measured last, and the length then.
    since: Nanos,
    length: u32,
    measured: bool,
}

impl Slope {
    #[inline(always)]
    pub(crate) fn falls(&self) -> bool {
        self.slope < 0
    }

    /// Moves on to a departure that leaves `length` behind.
    #[inline(always)]
    pub(crate) fn measure(&mut self, length: u32, now: Nanos, weight: u32) {
        if self.measured {
            let newest = fixed::slope(self.length, length, now.saturating_sub(self.since).0);
            self.slope = fixed::ewma_slope(self.slope, newest, weight);
        }
        self.measured = true;
        self.since = now;
        self.length = length;
    }
}

/// The authors' rule for the upper threshold: `k1 + (k1 + rate x rtt) / 4`, rounded down.
pub(crate) fn upper(k1: u32, rtt: Nanos, queue: &QueueSpec) -> u32 {
    let rule = (5 * u64::from(k1)).saturating_add(queue.rate.bytes_in(rtt)) / 4;
    u32::try_from(rule).unwrap_or(u32::MAX)
}

impl Cedm {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let parts = params.of(&SPEC, "parts");
        let k1 = params.of_u32(&SPEC, "k1");
        let k2 = match params.of_u32(&SPEC, "k2") {
            // Without an upper threshold nothing is marked for good.
            _ if parts == 1 => u32::MAX,
            0 => upper(k1, Nanos(params.of(&SPEC, "rtt")), queue),
            k2 => k2,
        };
        let flag = |name| params.of(&SPEC, name) == 1;
        Cedm {
            params: Params {
                k1,
                k2,
                weight: params.of_u32(&SPEC, "weight").min(fixed::ONE),
                avg_weight: params.of_u32(&SPEC, "avg_weight").min(fixed::ONE),
                min_pkt: params.of(&SPEC, "min_pkt").min(u64::from(u16::MAX)) as u16,
                looks_at_slope: parts != 2,
                withdraw: flag("withdraw"),
                mark_at_dequeue: flag("mark_at_dequeue"),
                at_least: flag("cmp"),
                averaged: flag("signal"),
            },
            state: State::default(),
        }
    }

    /// The length that is compared.
    #[inline(always)]
    fn length(&mut self, at: &At) -> u32 {
        if !self.params.averaged {
            return at.queue_bytes;
        }
        self.state.avg = fixed::ewma(self.state.avg, at.queue_bytes, self.params.avg_weight);
        (self.state.avg >> fixed::AVG_BITS) as u32
    }

    #[inline(always)]
    fn falls(&self) -> bool {
        self.params.looks_at_slope && self.state.slope.falls()
    }
}

impl Marker for Cedm {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Both
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        let length = self.length(at);
        let p = &self.params;
        if length > p.k2 || (p.at_least && length == p.k2) {
            Verdict::Mark(Why::Instant)
        } else if length >= p.k1 && !self.falls() {
            Verdict::Mark(Why::Tentative)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        let length = self.length(at);
        let p = &self.params;
        if at.pkt_bytes > u32::from(p.min_pkt) {
            self.state.slope.measure(length, at.now, p.weight);
        }
        if p.mark_at_dequeue && length >= p.k2 {
            return Verdict::Mark(Why::Instant);
        }
        let turned = length < p.k1 || (length < p.k2 && self.falls());
        match at.intent {
            Some(Why::Tentative) if p.withdraw && turned => Verdict::Pass,
            Some(why) => Verdict::Mark(why),
            None => Verdict::Pass,
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.params = Cedm::new(params, queue).params;
    }
}
