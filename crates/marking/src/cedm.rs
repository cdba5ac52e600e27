// SPDX-License-Identifier: MIT OR Apache-2.0
//! CEDM: two thresholds and the slope of the queue length, judged as packets join the queue and
//! again as they leave it.
//!
//! Between the thresholds a packet that joins a growing queue gets a tentative intent to mark,
//! which is withdrawn if the queue has begun to shrink by the time the packet leaves. The intent
//! travels beside the packet, never in its ECN field: a CE that another switch has set cannot be
//! lost.

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{Compare, Field, SECOND, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict,
    Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "cedm",
    title: "CEDM",
    aliases: &["slope_ecn"],
    paper: "Shan and Ren, Improving ECN Marking Scheme with Micro-burst Traffic in Data Center \
            Networks, INFOCOM 2017",
    doc: "Marks above k2, and from k1 on while the queue grows, unless it shrinks again before \
          the packet leaves.",
    params: CedmConfig::PARAMS,
    ordered: &[Ordered::pair_or_zero(
        CedmConfig::PARAMS,
        "k1",
        "k2",
        "k1 = \"20pkt\", k2 = \"40pkt\"",
    )],
    first_mark: |values| {
        let config = CedmConfig::from(values);
        let param = const { CedmConfig::param("k1") };
        Some(FirstMark::length(param, config.k1))
    },
    rules: &[
        Rule::new(CedmConfig::PARAMS, "k1", RuleTime::MeanRtt).part(170),
        Rule::new(CedmConfig::PARAMS, "rtt", RuleTime::MeanRtt),
    ],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Cedm`].
    pub struct CedmConfig {
        /// Lower threshold, 0.17 x rate x RTT for DCTCP (14 packets at 10 Gb/s and 100 us). A time
        /// is read as rate x time.
        k1: u32 = bytes(21_000),
        /// Upper threshold. 0: the authors' rule k1 + (k1 + rate x rtt) / 4, which is k1 and one
        /// oscillation (57.5 KB).
        k2: u32 = bytes(0),
        /// Base round-trip time in the rule for k2 (the authors' switch: 100 us).
        rtt: Nanos = time(100_000, 0..=SECOND),
        /// Ablation: the whole scheme, the slope without k2, or the two thresholds with every queue
        /// taken as growing.
        parts: Parts = choice(Parts::Both),
        /// Whether a tentative mark is reconsidered as the packet leaves (ablation: false marks at
        /// enqueue only).
        withdraw: bool = flag(true),
        /// Whether a packet that leaves k2 or more behind is marked too (the authors' switch: yes;
        /// the slides: no).
        mark_at_dequeue: bool = flag(false),
        /// Marked without reconsideration above k2 (slides) or from k2 on (the authors' switch).
        cmp: Compare = choice(Compare::Strict),
        /// Weight of the newest slope in its average (the authors' switch: 0.129).
        weight: Fraction = weight(8_454, 1..=fixed::ONE as u64),
        /// Only larger packets measure the slope as they leave (the authors' switch: 800 B).
        min_pkt: u32 = packet(800, 0..=u16::MAX as u64),
        /// Whether a departure that leaves as many bytes behind as the last one measures a slope of
        /// zero (the authors' switch: yes) or nothing (their ns-2: no).
        flat: bool = flag(true),
        /// Ablation: whether lengths are the instantaneous one or a moving average over arrivals
        /// and departures.
        signal: Length = choice(Length::Instant),
        /// Weight of the newest length in the moving average (RED's usual 1/512).
        avg_weight: Fraction = weight(128, 1..=fixed::ONE as u64),
    }
}

choice! {
    /// Which parts of the scheme are used.
    pub enum Parts {
        /// The whole scheme.
        Both = "both",
        /// The slope without the upper threshold.
        Slope = "slope",
        /// The thresholds, with every queue taken as growing.
        Thresholds = "thresholds",
    }
}

choice! {
    /// Which length is compared.
    pub enum Length {
        /// The instantaneous one.
        Instant = "instant",
        /// A moving average.
        Average = "average",
    }
}

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
    flat: bool,
    looks_at_slope: bool,
    withdraw: bool,
    mark_at_dequeue: bool,
    cmp: Compare,
    averaged: bool,
}

impl Params {
    fn new(config: CedmConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        let k2 = match config.k2 {
            // Without an upper threshold every mark is tentative.
            _ if config.parts == Parts::Slope => u32::MAX,
            0 => upper(config.k1, config.rtt, queue),
            k2 => k2,
        };
        Params {
            k1: config.k1,
            k2,
            weight: config.weight.0,
            avg_weight: config.avg_weight.0,
            min_pkt: Field::from_stored(config.min_pkt.into()),
            flat: config.flat,
            looks_at_slope: config.parts != Parts::Thresholds,
            withdraw: config.withdraw,
            mark_at_dequeue: config.mark_at_dequeue,
            cmp: config.cmp,
            averaged: config.signal == Length::Average,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    slope: Slope,
    /// Smoothed length in 2^-12 bytes, if lengths are averaged.
    avg: u64,
}

/// The smoothed slope of a queue, measured from one departure to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slope {
    /// In 2^-24 bytes per nanosecond.
    slope: i64,
    /// Time and length of the last measurement.
    since: Nanos,
    length: u32,
    measured: bool,
}

impl Slope {
    #[inline(always)]
    pub(crate) fn falls(&self) -> bool {
        self.slope < 0
    }

    /// Takes in a departure that leaves `length` bytes behind.
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

    /// Takes in a departure as [`measure`](Self::measure) does, but an unchanged length measures
    /// nothing. If that length is zero, the time is taken from now on, so that the first rise from
    /// an empty queue is not spread over the time before it.
    #[inline(always)]
    fn measure_change(&mut self, length: u32, now: Nanos, weight: u32) {
        if !self.measured || self.length != length {
            self.measure(length, now, weight);
        } else if length == 0 {
            self.since = now;
        }
    }
}

/// The authors' rule for the upper threshold: `k1 + (k1 + rate x rtt) / 4`, rounded down.
pub(crate) fn upper(k1: u32, rtt: Nanos, queue: &QueueSpec) -> u32 {
    let rule = (5 * u64::from(k1)).saturating_add(queue.rate.bytes_in(rtt)) / 4;
    u32::try_from(rule).unwrap_or(u32::MAX)
}

impl Cedm {
    /// A marker with these parameters.
    pub fn from_config(config: CedmConfig, queue: &QueueSpec) -> Self {
        Cedm {
            params: Params::new(config, queue),
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
        if p.cmp.beyond(length, p.k2) {
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
            if p.flat {
                self.state.slope.measure(length, at.now, p.weight);
            } else {
                self.state.slope.measure_change(length, at.now, p.weight);
            }
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
        self.params = Params::new(params.into(), queue);
    }
}
