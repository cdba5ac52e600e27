// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCN: a step on the time a packet has waited.

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, ParamSpec, QueueSpec, SchemeSpec, Values, Verdict,
    Why,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "tcn",
    title: "TCN",
    aliases: &["latency_ecn", "sojourn"],
    paper: "Bai et al., Enabling ECN over Generic Packet Scheduling, CoNEXT 2016",
    doc: "Marks a packet that has waited longer than one threshold, as it leaves.",
    params: &[ParamSpec {
        name: "threshold",
        kind: Kind::Time,
        default: 150_000,
        min: 0,
        max: 1_000_000_000,
        doc: "Longest wait that passes unmarked (ECN# 5.4, Fig 20: 150 us).",
    }],
    first_mark: |v| {
        Some(FirstMark {
            param: "threshold",
            level: Level::Wait(Nanos(v.of(&SPEC, "threshold"))),
        })
    },
    ..SchemeSpec::BLANK
};

/// TCN at one queue. Stateless.
#[derive(Clone, Copy, Debug)]
pub struct Tcn {
    threshold: Nanos,
}

impl Tcn {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, _: &QueueSpec) -> Self {
        Tcn {
            threshold: Nanos(params.of(&SPEC, "threshold")),
        }
    }
}

impl Marker for Tcn {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Dequeue
    }

    #[inline]
    fn quiet_sojourn(&self) -> Nanos {
        self.threshold
    }

    fn draws(&self) -> bool {
        false
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        if at.sojourn > self.threshold {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, params: &Values, spec: &QueueSpec) {
        *self = Tcn::new(params, spec);
    }
}
