// SPDX-License-Identifier: MIT OR Apache-2.0
//! WRED as switches have it: a probability that rises with the queue length, each packet judged on
//! its own.

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueSpec, SchemeSpec, Values,
    Verdict, Why, fixed,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "min",
        kind: Kind::Bytes,
        default: 150_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "Length up to which no packet is marked (Cumulus Linux: 150 KB). A time is read as rate x time.",
    },
    ParamSpec {
        name: "max",
        kind: Kind::Bytes,
        default: 1_500_000,
        min: 0,
        max: u32::MAX as u64,
        doc: "Length at which drop_probability is reached; above it every packet is marked (Cumulus Linux: 1500 KB).",
    },
    ParamSpec {
        name: "drop_probability",
        kind: Kind::Fraction,
        default: 65_536,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Probability of a mark at max (SAI, Cumulus Linux: 100 %; SONiC's AZURE_LOSSLESS: 5 %).",
    },
    ParamSpec {
        name: "weight",
        kind: Kind::Count,
        default: 0,
        min: 0,
        max: 15,
        doc: "n: the newest length counts 2^-n in the average. 0: the length itself (SAI's default, and DCTCP's advice).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "wred",
    title: "WRED",
    aliases: &["random_detect"],
    paper: "Weighted random early detection of shipping switches (SAI, SONiC, NX-OS, EOS, Dell, HPE)",
    doc: "Marks each packet on its own with a probability that rises from min to max of the queue length, and every packet above max.",
    params: PARAMS,
    ordered: &[Ordered::pair(
        PARAMS,
        "min",
        "max",
        "min = \"150KB\", max = \"1500KB\"",
    )],
    first_mark: |v| {
        Some(FirstMark {
            param: "min",
            level: Level::Length(v.of(&SPEC, "min")),
        })
    },
    ..SchemeSpec::BLANK
};

/// WRED at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Wred {
    min: u32,
    max: u32,
    /// At max, in parts of 2^16.
    probability: u32,
    /// Of the newest length, in parts of 2^16: all of them where lengths are not averaged.
    newest: u32,
    /// Smoothed length in 2^-12 bytes; zero where lengths are not averaged.
    avg: u64,
}

impl Wred {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, _: &QueueSpec) -> Self {
        Wred {
            min: params.of_u32(&SPEC, "min"),
            max: params.of_u32(&SPEC, "max"),
            probability: params.of_u32(&SPEC, "drop_probability").min(fixed::ONE),
            newest: fixed::ONE >> params.of(&SPEC, "weight").min(15),
            avg: 0,
        }
    }

    /// Whether the length itself is compared.
    #[inline(always)]
    fn instantaneous(&self) -> bool {
        self.newest == fixed::ONE
    }
}

impl Marker for Wred {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }

    fn draws(&self) -> bool {
        self.min < self.max
    }

    fn quiet_below(&self, _mtu: u32) -> u32 {
        // The judged packet is not counted, and the length `min` passes too. An average moves with
        // every packet.
        if self.instantaneous() {
            self.min.min(self.max).saturating_add(1)
        } else {
            0
        }
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        let (length, over) = if self.instantaneous() {
            (at.queue_bytes, Why::Instant)
        } else {
            self.avg = fixed::ewma(self.avg, at.queue_bytes, self.newest);
            ((self.avg >> fixed::AVG_BITS) as u32, Why::Average)
        };
        if length > self.max {
            return Verdict::Mark(over);
        }
        let drawn = length > self.min && {
            let share = fixed::ramp(length, self.min, self.max, self.probability);
            fixed::chance(at.packet_hash, 0, share)
        };
        if drawn {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let avg = self.avg;
        *self = Wred::new(params, queue);
        if !self.instantaneous() {
            self.avg = avg;
        }
    }
}
