// SPDX-License-Identifier: MIT OR Apache-2.0
//! CEDM × ECN#: ECN# whose instantaneous part is CEDM's two thresholds and slope. Nobody has
//! published it.
//!
//! ECN# marks every packet of a burst above its instantaneous threshold, though the burst may be
//! gone before a sender hears of it; CEDM leaves a standing queue below its lower threshold alone.
//! Here each does what the other lacks. Their intents are kept apart: CEDM withdraws its own and no
//! other.

use cemark_wire::Nanos;

use crate::cedm::{Slope, upper};
use crate::{
    At, Hook, Kind, Marker, Ordered, ParamSpec, QueueSpec, SchemeSpec, Values, Verdict, Why,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "k1",
        kind: Kind::Bytes,
        default: 250_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "CEDM's lower threshold (our choice: ECN#'s ins_target of 200 us at 10 Gb/s). A time is read as rate x time.",
    },
    ParamSpec {
        name: "k2",
        kind: Kind::Bytes,
        default: 0,
        min: 0,
        max: u32::MAX as u64,
        doc: "CEDM's upper threshold. 0: k1 + (k1 + rate x rtt) / 4 (375 KB).",
    },
    ParamSpec {
        name: "rtt",
        kind: Kind::Time,
        default: 200_000,
        min: 0,
        max: MAX_TIME,
        doc: "Base round-trip time in the rule for k2 (our choice: the tail that ECN# is set for).",
    },
    ParamSpec {
        name: "pst_target",
        kind: Kind::Time,
        default: 85_000,
        min: 0,
        max: MAX_TIME,
        doc: "Wait from which on the queue counts as standing (ECN# 3.3; testbed 5.2: 85 us).",
    },
    ParamSpec {
        name: "pst_interval",
        kind: Kind::Time,
        default: 200_000,
        min: 1,
        max: MAX_TIME,
        doc: "How long a queue must stand before the first mark (ECN# 3.3; testbed 5.2: 200 us).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "cedm_sharp",
    title: "CEDM x ECN#",
    aliases: &["cedm_ecn_sharp"],
    paper: "Combination of CEDM (INFOCOM 2017) and ECN# (CoNEXT 2019), not published",
    doc: "Marks where CEDM does, and one packet in a while when every wait of pst_interval was at least pst_target, as ECN# does.",
    params: PARAMS,
    ordered: &[Ordered::pair_or_zero(
        PARAMS,
        "k1",
        "k2",
        "k1 = \"20pkt\", k2 = \"40pkt\"",
    )],
    ..SchemeSpec::BLANK
};

/// Longest time parameter: one second.
const MAX_TIME: u64 = 1_000_000_000;

/// CEDM's weight of the newest slope, 0.129.
const WEIGHT: u32 = 8_454;

/// CEDM measures slopes at departures of larger packets only.
const MIN_PKT: u32 = 800;

/// CEDM × ECN# at one queue.
#[derive(Clone, Copy, Debug)]
pub struct CedmSharp {
    slope: Slope,
    /// Before the marking state, since when the queue stands; in it, when the next mark is due.
    time: Nanos,
    k1: u32,
    k2: u32,
    pst_target: u32,
    pst_interval: u32,
    /// Marks in this marking state.
    count: u32,
    standing: bool,
    marking: bool,
}

impl CedmSharp {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let k1 = params.of_u32(&SPEC, "k1");
        CedmSharp {
            slope: Slope::default(),
            time: Nanos::ZERO,
            k1,
            k2: match params.of_u32(&SPEC, "k2") {
                0 => upper(k1, Nanos(params.of(&SPEC, "rtt")), queue),
                k2 => k2,
            },
            pst_target: params.of_u32(&SPEC, "pst_target"),
            pst_interval: params.of_u32(&SPEC, "pst_interval").max(1),
            count: 0,
            standing: false,
            marking: false,
        }
    }

    /// ECN#'s second condition as in its Algorithm 1 (harmonic, from the previous schedule,
    /// strict).
    #[inline]
    fn persistent(&mut self, at: &At) -> bool {
        let interval = Nanos(u64::from(self.pst_interval));
        if at.sojourn.0 < u64::from(self.pst_target) {
            self.standing = false;
            self.marking = false;
            return false;
        }
        if !self.standing {
            self.standing = true;
            self.time = at.now;
            return false;
        }
        if !self.marking {
            if at.now.saturating_sub(self.time) <= interval {
                return false;
            }
            self.marking = true;
            self.count = 1;
            self.time = at.now.saturating_add(interval);
            return true;
        }
        if at.now <= self.time {
            return false;
        }
        self.count = self.count.saturating_add(1);
        let step = (self.pst_interval / self.count).max(1);
        self.time = self.time.saturating_add(Nanos(u64::from(step)));
        true
    }
}

impl Marker for CedmSharp {
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
        if at.queue_bytes > self.k2 {
            Verdict::Mark(Why::Instant)
        } else if at.queue_bytes >= self.k1 && !self.slope.falls() {
            Verdict::Mark(Why::Tentative)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        let length = at.queue_bytes;
        if at.pkt_bytes > MIN_PKT {
            self.slope.measure(length, at.now, WEIGHT);
        }
        // Always judged, so that its state moves on under CEDM's marks.
        let persistent = self.persistent(at);
        let turned = length < self.k1 || (length < self.k2 && self.slope.falls());
        match at.intent {
            Some(Why::Tentative) if turned => {}
            Some(why) => return Verdict::Mark(why),
            None => {}
        }
        if persistent {
            Verdict::Mark(Why::Persistent)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let new = CedmSharp::new(params, queue);
        *self = CedmSharp {
            slope: self.slope,
            time: self.time,
            count: self.count,
            standing: self.standing,
            marking: self.marking,
            ..new
        };
    }
}
