// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic ECN: thresholds that follow the queue's limit under a dynamic buffer threshold, as
//! shipping switches have them.
//!
//! A queue's share of a shared buffer shrinks as other queues fill it. A threshold below that
//! moving limit marks before the queue drops packets; a static threshold may be above the limit.
//! Both may be configured, and either of them marks. A second, larger offset adds hysteresis:
//! marking that has begun ends at a lower threshold.

use crate::Fraction;
use crate::config::{Compare, OneHook, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueSpec, SchemeSpec, Values, Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "dynamic",
    title: "D-ECN",
    aliases: &["dynamic_ecn", "relative_ecn"],
    paper: "Dynamic and relative ECN thresholds of shipping switches (Junos dynamic ECN, Cumulus \
            Linux relative mode, OcNOS D-ECN)",
    doc: "Marks above a threshold that follows the queue's dynamic buffer limit: an offset below \
          it, or a percentage of it.",
    params: DynamicConfig::PARAMS,
    ordered: &[
        Ordered::pair(
            DynamicConfig::PARAMS,
            "min_percent",
            "max_percent",
            "min_percent = \"20%\", max_percent = \"80%\"",
        ),
        Ordered::pair_or_zero(
            DynamicConfig::PARAMS,
            "offset",
            "off_offset",
            "offset = \"100pkt\", off_offset = \"120pkt\"",
        ),
    ],
    first_mark: |values| DynamicConfig::from(values).first_mark(),
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Dynamic`].
    pub struct DynamicConfig {
        /// The threshold is the limit less an offset, or a ramp between two percentages of the
        /// limit.
        mode: Mode = choice(Mode::Offset),
        /// How far below the limit marking begins (our choice: 100 packets, a burst that fits
        /// before the first drop).
        offset: u32 = bytes(150_000),
        /// Smallest dynamic threshold, however small the limit (our choice: DCTCP's 65 packets at
        /// 10 Gb/s).
        floor: u32 = bytes(97_500),
        /// Lower end of the ramp as a fraction of the limit (Cumulus Linux's example: 20 %).
        min_percent: Fraction = fraction(13_107),
        /// Upper end of the ramp as a fraction of the limit; above it every packet is marked
        /// (Cumulus Linux's example: 80 %).
        max_percent: Fraction = fraction(52_429),
        /// Probability at the upper end of the ramp (Cumulus Linux: 100 %).
        pmax: Fraction = fraction(65_536),
        /// A static threshold beside the dynamic one; either marks. The default is none. A time is
        /// read as rate x time.
        k: u32 = bytes(u32::MAX),
        /// Whether the length includes the judged packet.
        count_self: bool = flag(true),
        /// Mark above a threshold (strict) or from it on (at_least).
        cmp: Compare = choice(Compare::Strict),
        /// Judge packets as they join the queue or as they leave it.
        hook: OneHook = choice(OneHook::Enqueue),
        /// How far below the limit marking by the offset ends once it has begun (OcNOS's off
        /// offset). 0: where it begins.
        off_offset: u32 = bytes(0),
    }
}

choice! {
    /// How the threshold follows the limit.
    pub enum Mode {
        /// A step, an offset below the limit.
        Offset = "offset",
        /// A ramp between two percentages of the limit.
        Percent = "percent",
    }
}

impl DynamicConfig {
    /// The limit is at most the buffer. So is a threshold that follows the limit, unless its floor
    /// is higher.
    fn first_mark(&self) -> Option<FirstMark> {
        if self.mode == Mode::Percent {
            return None;
        }
        Some(if self.k < self.floor {
            FirstMark::length(const { DynamicConfig::param("k") }, self.k)
        } else {
            FirstMark::length(const { DynamicConfig::param("floor") }, self.floor)
        })
    }
}

/// Dynamic ECN at one queue. Only a marker with two offsets has a state.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    k: u32,
    offset: u32,
    /// At least `offset`; zero if marking ends where it begins.
    off_offset: u32,
    floor: u32,
    min_percent: u32,
    max_percent: u32,
    pmax: u32,
    mode: Mode,
    count_self: bool,
    cmp: Compare,
    hook: OneHook,
    /// Whether the offset marked the last packet. Never set without `off_offset`.
    marking: bool,
}

impl Dynamic {
    /// A marker with these parameters.
    pub fn from_config(config: DynamicConfig, _: &QueueSpec) -> Self {
        let config = config.clamped();
        let off_offset = match config.mode {
            Mode::Offset if config.off_offset > 0 => config.off_offset.max(config.offset),
            _ => 0,
        };
        Dynamic {
            k: config.k,
            offset: config.offset,
            off_offset,
            floor: config.floor,
            min_percent: config.min_percent.0,
            max_percent: config.max_percent.0,
            pmax: config.pmax.0,
            mode: config.mode,
            count_self: config.count_self,
            cmp: config.cmp,
            hook: config.hook,
            marking: false,
        }
    }

    /// Whether the length is beyond the static threshold.
    #[inline(always)]
    fn beyond_static(&self, length: u32) -> bool {
        self.k < u32::MAX && self.cmp.beyond(length, self.k)
    }

    /// Whether the length is beyond the threshold that is an offset below the limit.
    #[inline(always)]
    fn beyond_offset(&self, length: u32, limit: u32, offset: u32) -> bool {
        let threshold = limit.saturating_sub(offset).max(self.floor);
        self.cmp.beyond(length, threshold)
    }

    /// The verdict between two offsets. Not inlined, so that markers without hysteresis do not pay
    /// for it.
    #[inline(never)]
    fn judge_by_two_offsets(&mut self, length: u32, limit: u32) -> Verdict {
        let offset = if self.marking {
            self.off_offset
        } else {
            self.offset
        };
        self.marking = self.beyond_offset(length, limit, offset);
        if self.marking || self.beyond_static(length) {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let own = if self.count_self { at.pkt_bytes } else { 0 };
        let length = at.queue_bytes.saturating_add(own);
        if self.off_offset > 0 {
            return self.judge_by_two_offsets(length, at.limit_bytes);
        }
        if self.beyond_static(length) {
            return Verdict::Mark(Why::Instant);
        }
        if self.mode == Mode::Offset {
            return if self.beyond_offset(length, at.limit_bytes, self.offset) {
                Verdict::Mark(Why::Instant)
            } else {
                Verdict::Pass
            };
        }
        let part = |percent: u32| ((u64::from(at.limit_bytes) * u64::from(percent)) >> 16) as u32;
        let head = part(self.max_percent);
        if self.cmp.beyond(length, head) {
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
        self.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.hook == OneHook::Dequeue
    }

    fn draws(&self) -> bool {
        self.mode == Mode::Percent
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let marking = self.marking;
        *self = Dynamic::from_config(params.into(), queue);
        self.marking = marking && self.off_offset > 0;
    }
}
