// SPDX-License-Identifier: MIT OR Apache-2.0
//! PI: a probability that a proportional-integral controller sets at fixed times, so that the queue
//! settles at a reference.

use cemark_wire::Nanos;

use crate::{
    At, Hook, Kind, Marker, ParamSpec, QueueSpec, SchemeSpec, Values, Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "pi",
    title: "PI",
    aliases: &["pi_aqm"],
    paper: "Hollot, Misra, Towsley and Gong, On Designing Improved Controllers for AQM Routers Supporting TCP Flows, INFOCOM 2001",
    doc: "Marks with a probability that moves at fixed times by how far the queue is, and was, from its reference.",
    params: &[
        ParamSpec {
            name: "qref",
            kind: Kind::Bytes,
            default: 30_000,
            min: 0,
            max: u32::MAX as u64,
            doc: "Length at which the queue is to settle (our choice: 20 packets; the paper: 200). A time is read as rate x time.",
        },
        ParamSpec {
            name: "interval",
            kind: Kind::Time,
            default: 20_000,
            min: 1,
            max: 1_000_000_000,
            doc: "Time between two samples of the length (the paper: 1/160 s at an RTT of 246 ms; here a fifth of 100 us).",
        },
        ParamSpec {
            name: "a",
            kind: Kind::Count,
            default: 336_521,
            min: 0,
            max: MAX_GAIN,
            doc: "Gain of the newest deviation, in parts of 2^40 a byte (the paper's rule at 10 Gb/s, 8 flows, 100 us).",
        },
        ParamSpec {
            name: "b",
            kind: Kind::Count,
            default: 323_842,
            min: 0,
            max: MAX_GAIN,
            doc: "Gain of the deviation before, taken off, in parts of 2^40 a byte; smaller than a.",
        },
    ],
    ..SchemeSpec::BLANK
};

/// Largest gain: 2^-12 a byte. Two products with a length then fit 63 bits.
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
    /// When the length is sampled next; `None` while all is quiet.
    next: Option<Nanos>,
    /// The length at the last sample.
    before: u32,
}

impl Pi {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, _: &QueueSpec) -> Self {
        Pi {
            qref: params.of_u32(&SPEC, "qref"),
            interval: params.of_u32(&SPEC, "interval").max(1),
            a: params.of(&SPEC, "a").min(MAX_GAIN) as u32,
            b: params.of(&SPEC, "b").min(MAX_GAIN) as u32,
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

    fn retune(&mut self, params: &Values, spec: &QueueSpec) {
        *self = Pi {
            state: self.state,
            ..Pi::new(params, spec)
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
        // Nothing would move until the next packet: no length, no probability.
        let rests = s.p == 0 && at.queue_bytes == 0 && s.before == 0;
        s.before = at.queue_bytes;
        s.next = (!rests).then(|| at.now.saturating_add(Nanos(u64::from(self.interval))));
    }
}
