// SPDX-License-Identifier: MIT OR Apache-2.0
//! CoDel as a marker: where the original drops a packet, this marks it and passes it on, at most
//! one per call.
//!
//! Follows Linux (`codel_impl.h`, RFC 8289) with one difference: the control law uses the exact
//! integer square root instead of one Newton step per mark, so that every implementation agrees.

use cemark_wire::Nanos;

use crate::config::{Field, SECOND, config};
use crate::{
    At, FirstMark, Hook, Marker, QueueId, QueueSpec, Rule, RuleTime, SchemeSpec, Values, Verdict,
    Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "codel",
    title: "CoDel",
    aliases: &["codel_ecn"],
    paper: "Nichols and Jacobson, Controlling Queue Delay, ACM Queue 2012; RFC 8289",
    doc: "Marks at an increasing rate once the sojourn time has stayed at or above the target for \
          an interval.",
    params: CodelConfig::PARAMS,
    first_mark: |values| {
        let config = CodelConfig::from(values);
        let param = const { CodelConfig::param("target") };
        Some(FirstMark::wait(param, config.target))
    },
    rules: &[
        Rule::of_wait(CodelConfig::PARAMS, "target", RuleTime::MeanRtt),
        Rule::new(CodelConfig::PARAMS, "interval", RuleTime::LargestRtt),
    ],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Codel`].
    pub struct CodelConfig {
        /// Acceptable standing sojourn time (ECN# 5.2: 85 us; RFC 8289: 5 ms on the Internet).
        target: Nanos = time(85_000, 0..=SECOND),
        /// How long the sojourn time must stay at or above the target: a worst-case RTT (ECN# 5.2:
        /// 200 us; RFC 8289: 100 ms).
        interval: Nanos = time(200_000, 1..=SECOND),
        /// Never mark if this many bytes or fewer remain behind the packet: one MTU (Linux). 0
        /// turns this off.
        min_bytes: u32 = packet(1_500),
    }
}

/// A new marking state continues at the rate of the last one if it begins within this many
/// intervals of the last scheduled mark.
const MEMORY: u64 = 16;

/// CoDel at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Codel {
    target: u32,
    interval: u32,
    min_bytes: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Packets may be marked after this time; `None` while the sojourn time is below the target.
    first_above: Option<Nanos>,
    /// When the next mark is due, in the marking state.
    next: Nanos,
    /// Marks in this marking state, plus those continued from the last one.
    count: u32,
    /// `count` at the start of this marking state.
    last_count: u32,
    marking: bool,
}

impl Codel {
    /// A marker with these parameters.
    pub fn from_config(config: CodelConfig, _: &QueueSpec) -> Self {
        let config = config.clamped();
        Codel {
            target: Field::from_stored(config.target.0),
            interval: Field::from_stored(config.interval.0),
            min_bytes: config.min_bytes,
            state: State::default(),
        }
    }

    /// Whether the sojourn time has been at or above the target for longer than an interval.
    #[inline]
    fn detect(&mut self, at: &At) -> bool {
        let guarded = self.min_bytes > 0 && at.queue_bytes <= self.min_bytes;
        if at.sojourn.0 < u64::from(self.target) || guarded {
            self.state.first_above = None;
            return false;
        }
        match self.state.first_above {
            None => {
                self.state.first_above =
                    Some(at.now.saturating_add(Nanos(u64::from(self.interval))));
                false
            }
            Some(deadline) => at.now > deadline,
        }
    }

    fn step(&self) -> Nanos {
        Nanos(u64::from(
            fixed::over_sqrt(self.interval, self.state.count).max(1),
        ))
    }
}

impl Marker for Codel {
    #[inline]
    fn hook(&self) -> Hook {
        Hook::Dequeue
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.min_bytes > 0
    }

    fn draws(&self) -> bool {
        false
    }

    fn watches_empty(&self) -> bool {
        true
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        let above = self.detect(at);
        if !above {
            self.state.marking = false;
            return Verdict::Pass;
        }
        if !self.state.marking {
            let grown = self.state.count - self.state.last_count;
            let recent =
                at.now.saturating_sub(self.state.next).0 < MEMORY * u64::from(self.interval);
            self.state.count = if grown > 1 && recent { grown } else { 1 };
            self.state.last_count = self.state.count;
            self.state.marking = true;
            self.state.next = at.now.saturating_add(self.step());
            return Verdict::Mark(Why::Persistent);
        }
        if at.now < self.state.next {
            return Verdict::Pass;
        }
        self.state.count = self.state.count.saturating_add(1);
        self.state.next = self.state.next.saturating_add(self.step());
        Verdict::Mark(Why::Persistent)
    }

    #[inline]
    fn emptied(&mut self, _: QueueId, _: Nanos) {
        self.state.first_above = None;
        self.state.marking = false;
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        *self = Codel {
            state: self.state,
            ..Codel::from_config(params.into(), queue)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    #[test]
    fn the_count_saturates_and_the_schedule_still_moves() {
        let mut marker =
            Codel::from_config(CodelConfig::default(), &QueueSpec::fifo(Rate::gbps(10)));
        marker.state = State {
            first_above: Some(Nanos(0)),
            next: Nanos(1_000_000),
            count: u32::MAX,
            last_count: 1,
            marking: true,
        };
        let at = |now| At::departure(Nanos(now), Nanos(100_000), 125_000, 1_500);
        assert_eq!(
            marker.dequeue(&at(1_000_000)),
            Verdict::Mark(Why::Persistent)
        );
        assert_eq!(marker.state.count, u32::MAX);
        // 200,000 / sqrt(2^32 - 1) = 3.05.
        assert_eq!(marker.dequeue(&at(1_000_002)), Verdict::Pass);
        assert_eq!(
            marker.dequeue(&at(1_000_003)),
            Verdict::Mark(Why::Persistent)
        );
    }
}
