// SPDX-License-Identifier: MIT OR Apache-2.0
//! CoDel as a marker: where the original drops, the packet at hand is marked and passed on, one a
//! call.
//!
//! Follows Linux (`codel_impl.h`, RFC 8289) with one difference: the control law is the exact
//! integer square root, not one Newton step a mark, so that every implementation agrees.

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, ParamSpec, QueueId, QueueSpec, SchemeSpec, Values,
    Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "codel",
    title: "CoDel",
    aliases: &["codel_ecn"],
    paper: "Nichols and Jacobson, Controlling Queue Delay, ACM Queue 2012; RFC 8289",
    doc: "Marks at a rising rate while every wait of an interval has been at least the target.",
    params: &[
        ParamSpec {
            name: "target",
            kind: Kind::Time,
            default: 85_000,
            min: 0,
            max: 1_000_000_000,
            doc: "Wait that is tolerated for ever (ECN# 5.2: 85 us; RFC 8289: 5 ms on the Internet).",
        },
        ParamSpec {
            name: "interval",
            kind: Kind::Time,
            default: 200_000,
            min: 1,
            max: 1_000_000_000,
            doc: "How long the wait must stay at the target or above: a worst-case RTT (ECN# 5.2: 200 us; RFC 8289: 100 ms).",
        },
        ParamSpec {
            name: "min_bytes",
            kind: Kind::Bytes,
            default: 1_500,
            min: 0,
            max: u32::MAX as u64,
            doc: "Never act with this much or less left behind the packet: one MTU (Linux). 0 switches the guard off.",
        },
    ],
    first_mark: |v| {
        Some(FirstMark {
            param: "target",
            level: Level::Wait(Nanos(v.of(&SPEC, "target"))),
        })
    },
    ..SchemeSpec::BLANK
};

/// A new marking state continues the last one's rate when it begins within this many intervals of
/// the last one's end.
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
    /// The wait may be acted upon after this time; `None` while below the target.
    first_above: Option<Nanos>,
    /// When the next mark is due, in the marking state.
    next: Nanos,
    /// Marks in this marking state, continued from the last one where the memory holds.
    count: u32,
    /// `count` as this marking state began.
    last_count: u32,
    marking: bool,
}

impl Codel {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, _: &QueueSpec) -> Self {
        Codel {
            target: params.of_u32(&SPEC, "target"),
            interval: params.of_u32(&SPEC, "interval").max(1),
            min_bytes: params.of_u32(&SPEC, "min_bytes"),
            state: State::default(),
        }
    }

    /// Whether the wait has been at the target or above for longer than an interval.
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

    fn retune(&mut self, params: &Values, spec: &QueueSpec) {
        *self = Codel {
            state: self.state,
            ..Codel::new(params, spec)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    #[test]
    fn the_count_stands_at_its_largest_and_the_schedule_still_moves() {
        let mut marker = Codel::new(&Values::defaults(&SPEC), &QueueSpec::fifo(Rate::gbps(10)));
        marker.state = State {
            first_above: Some(Nanos(0)),
            next: Nanos(1_000_000),
            count: u32::MAX,
            last_count: 1,
            marking: true,
        };
        let at = |now| At::fifo(Nanos(now), Nanos(100_000), 125_000, 1_500);
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
