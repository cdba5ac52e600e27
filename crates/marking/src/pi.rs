// SPDX-License-Identifier: MIT OR Apache-2.0
//! PI: a proportional-integral controller updates a marking probability at fixed intervals, so that
//! the queue settles at a reference length.

use cemark_wire::Nanos;

use crate::config::{Field, SECOND, config};
use crate::{At, Hook, Marker, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict, Why, fixed};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "pi",
    title: "PI",
    aliases: &["pi_aqm"],
    paper: "Hollot, Misra, Towsley and Gong, On Designing Improved Controllers for AQM Routers \
            Supporting TCP Flows, INFOCOM 2001",
    doc: "Marks with a probability that is updated at fixed intervals from how far the queue is, \
          and was, from its reference length.",
    params: PiConfig::PARAMS,
    rules: &[Rule::new(
        PiConfig::PARAMS,
        "qref",
        RuleTime::Fixed(Nanos(24_000)),
    )],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Pi`].
    pub struct PiConfig {
        /// Length at which the queue is to settle (our choice: 20 packets; the paper: 200). A time
        /// is read as rate x time.
        qref: u32 = bytes(30_000),
        /// Time between two samples of the length (the paper: 1/160 s at an RTT of 246 ms; here a
        /// fifth of 100 us).
        interval: Nanos = time(20_000, 1..=SECOND),
        /// Gain of the newest deviation, in parts of 2^40 per byte (the paper's rule at 10 Gb/s, 8
        /// flows, 100 us).
        a: u32 = count(336_521, 0..=MAX_GAIN),
        /// Gain of the previous deviation, which is subtracted, in parts of 2^40 per byte; smaller
        /// than a.
        b: u32 = count(323_842, 0..=MAX_GAIN),
    }
}

/// Largest gain: 2^-12 per byte. Two products with a length then fit 63 bits.
const MAX_GAIN: u64 = 1 << 28;

/// Certainty, in the parts in which the probability is kept.
const CERTAIN: i64 = 1 << 40;

/// PI at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Pi {
    qref: u32,
    interval: u32,
    a: u32,
    b: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Probability in parts of 2^40.
    p: i64,
    /// When the length is sampled next; `None` while queue and probability are zero.
    next: Option<Nanos>,
    /// The length at the last sample.
    before: u32,
}

impl Pi {
    /// A marker with these parameters.
    pub fn from_config(config: PiConfig, _: &QueueSpec) -> Self {
        let config = config.clamped();
        Pi {
            qref: config.qref,
            interval: Field::from_stored(config.interval.0),
            a: config.a,
            b: config.b,
            state: State::default(),
        }
    }
}

impl Marker for Pi {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        if self.state.next.is_none() {
            self.state.next = Some(at.now.saturating_add(Nanos(u64::from(self.interval))));
        }
        if fixed::chance(at.packet_hash, 0, (self.state.p >> 24) as u32) {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        *self = Pi {
            state: self.state,
            ..Pi::from_config(params.into(), queue)
        };
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn next_wake(&self) -> Option<Nanos> {
        self.state.next
    }

    fn wake(&mut self, at: &At) {
        let deviation = |length: u32| i64::from(length) - i64::from(self.qref);
        let s = &mut self.state;
        let step =
            i64::from(self.a) * deviation(at.queue_bytes) - i64::from(self.b) * deviation(s.before);
        s.p = (s.p + step).clamp(0, CERTAIN);
        // Nothing changes until the next packet: length and probability are zero.
        let idle = s.p == 0 && at.queue_bytes == 0 && s.before == 0;
        s.before = at.queue_bytes;
        s.next = (!idle).then(|| at.now.saturating_add(Nanos(u64::from(self.interval))));
    }
}
