// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCN: marks packets whose sojourn time exceeds one threshold.

use cemark_wire::Nanos;

use crate::config::{SECOND, config};
use crate::{
    At, FirstMark, Hook, Marker, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict, Why,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "tcn",
    title: "TCN",
    aliases: &["latency_ecn", "sojourn"],
    paper: "Bai et al., Enabling ECN over Generic Packet Scheduling, CoNEXT 2016",
    doc: "Marks a packet at dequeue if its sojourn time exceeds one threshold.",
    params: TcnConfig::PARAMS,
    first_mark: |values| {
        let config = TcnConfig::from(values);
        let param = const { TcnConfig::param("threshold") };
        Some(FirstMark::wait(param, config.threshold))
    },
    rules: &[Rule::of_wait(
        TcnConfig::PARAMS,
        "threshold",
        RuleTime::TailRtt,
    )],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Tcn`].
    pub struct TcnConfig {
        /// Longest sojourn time that is not marked (ECN# 5.4.3: 150 us).
        threshold: Nanos = time(150_000, 0..=SECOND),
    }
}

/// TCN at one queue. It has no state.
#[derive(Clone, Copy, Debug)]
pub struct Tcn {
    threshold: Nanos,
}

impl Tcn {
    /// A marker with these parameters.
    pub fn from_config(config: TcnConfig, _: &QueueSpec) -> Self {
        Tcn {
            threshold: config.clamped().threshold,
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

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        *self = Tcn::from_config(params.into(), queue);
    }
}
