// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic ECN: thresholds that follow the queue's limit under a dynamic buffer threshold, as
//! shipping switches have them.
//!
//! A queue's share of a shared buffer shrinks as others fill it. A threshold below that moving
//! limit marks before the limit drops, which a static one does only by luck. Both may be
//! configured: either of them marks.

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueSpec, SchemeSpec, Values,
    Verdict, Why, fixed,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "mode",
        kind: Kind::Choice(&["offset", "percent"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "The threshold is the limit less an offset, or a ramp between two percentages of the limit.",
    },
    ParamSpec {
        name: "offset",
        kind: Kind::Bytes,
        default: 150_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "How far below the limit marking begins (our choice: 100 packets, a burst that fits before the first drop).",
    },
    ParamSpec {
        name: "floor",
        kind: Kind::Bytes,
        default: 97_500,
        min: 0,
        max: u32::MAX as u64,
        doc: "Smallest dynamic threshold, however small the limit (our choice: DCTCP's 65 packets at 10 Gb/s).",
    },
    ParamSpec {
        name: "min_percent",
        kind: Kind::Fraction,
        default: 13_107,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Foot of the ramp as a part of the limit (Cumulus Linux's example: 20 %).",
    },
    ParamSpec {
        name: "max_percent",
        kind: Kind::Fraction,
        default: 52_429,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Head of the ramp as a part of the limit; above it every packet is marked (Cumulus Linux's example: 80 %).",
    },
    ParamSpec {
        name: "pmax",
        kind: Kind::Fraction,
        default: 65_536,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Probability at the head of the ramp (Cumulus Linux: 100 %).",
    },
    ParamSpec {
        name: "k",
        kind: Kind::Bytes,
        default: u32::MAX as u64,
        min: 0,
        max: u32::MAX as u64,
        doc: "A static threshold beside the dynamic one; either marks. The default is none. A time is read as rate x time.",
    },
    ParamSpec {
        name: "count_self",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        doc: "Whether the judged packet counts itself.",
    },
    ParamSpec {
        name: "cmp",
        kind: Kind::Choice(&["strict", "at_least"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Mark above a threshold (strict) or from it on (at_least).",
    },
    ParamSpec {
        name: "hook",
        kind: Kind::Choice(&["enqueue", "dequeue"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Judge packets as they join or as they leave.",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "dynamic",
    title: "D-ECN",
    aliases: &["dynamic_ecn", "relative_ecn"],
    paper: "Dynamic and relative ECN thresholds of shipping switches (Junos dynamic ECN, Cumulus Linux relative mode)",
    doc: "Marks above a threshold that follows the queue's dynamic buffer limit: an offset below it, or a percentage of it.",
    params: PARAMS,
    ordered: &[Ordered::pair(
        PARAMS,
        "min_percent",
        "max_percent",
        "min_percent = \"20%\", max_percent = \"80%\"",
    )],
    first_mark: |v| {
        // The limit is at most the buffer, and so is a threshold that follows it, unless its floor
        // is higher.
        let followed = v.of(&SPEC, "mode") == 0;
        let lower = |a, b| {
            if v.of(&SPEC, a) < v.of(&SPEC, b) {
                a
            } else {
                b
            }
        };
        let param = lower("k", "floor");
        followed.then(|| FirstMark {
            param,
            level: Level::Length(v.of(&SPEC, param)),
        })
    },
    ..SchemeSpec::BLANK
};

/// Dynamic ECN at one queue. Stateless.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    k: u32,
    offset: u32,
    floor: u32,
    min_percent: u32,
    max_percent: u32,
    pmax: u32,
    relative: bool,
    count_self: bool,
    at_least: bool,
    at_dequeue: bool,
}

impl Dynamic {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, _: &QueueSpec) -> Self {
        let flag = |name| params.of(&SPEC, name) == 1;
        Dynamic {
            k: params.of_u32(&SPEC, "k"),
            offset: params.of_u32(&SPEC, "offset"),
            floor: params.of_u32(&SPEC, "floor"),
            min_percent: params.of_u32(&SPEC, "min_percent").min(fixed::ONE),
            max_percent: params.of_u32(&SPEC, "max_percent").min(fixed::ONE),
            pmax: params.of_u32(&SPEC, "pmax").min(fixed::ONE),
            relative: flag("mode"),
            count_self: flag("count_self"),
            at_least: flag("cmp"),
            at_dequeue: flag("hook"),
        }
    }

    /// Whether a length is beyond a threshold.
    #[inline(always)]
    fn beyond(&self, length: u32, threshold: u32) -> bool {
        length > threshold || (self.at_least && length == threshold)
    }

    #[inline(always)]
    fn judge(&self, at: &At) -> Verdict {
        let own = if self.count_self { at.pkt_bytes } else { 0 };
        let length = at.queue_bytes.saturating_add(own);
        if self.k < u32::MAX && self.beyond(length, self.k) {
            return Verdict::Mark(Why::Instant);
        }
        if !self.relative {
            let threshold = at.limit_bytes.saturating_sub(self.offset).max(self.floor);
            return if self.beyond(length, threshold) {
                Verdict::Mark(Why::Instant)
            } else {
                Verdict::Pass
            };
        }
        let part = |percent: u32| ((u64::from(at.limit_bytes) * u64::from(percent)) >> 16) as u32;
        let head = part(self.max_percent);
        if self.beyond(length, head) {
            return Verdict::Mark(Why::Instant);
        }
        let foot = part(self.min_percent);
        if length > foot
            && fixed::chance(
                at.packet_hash,
                0,
                fixed::ramp(length, foot, head, self.pmax),
            )
        {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Dynamic {
    #[inline]
    fn hook(&self) -> Hook {
        if self.at_dequeue {
            Hook::Dequeue
        } else {
            Hook::Enqueue
        }
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.at_dequeue
    }

    fn draws(&self) -> bool {
        self.relative
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    fn retune(&mut self, params: &Values, spec: &QueueSpec) {
        *self = Dynamic::new(params, spec);
    }
}
