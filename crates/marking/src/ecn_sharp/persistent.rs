// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second condition of Algorithm 1: while the queue is persistent, one packet is marked at
//! increasing frequency.

use cemark_wire::Nanos;

use super::{EcnSharpConfig, Signal};
use crate::config::Field as _;
use crate::{QueueSpec, Values};

/// How marks are scheduled. The methods with a body are Algorithm 1 in nanoseconds; a schedule of
/// another unit or another law replaces them.
pub trait Schedule: Copy + Send {
    /// The parameters of ECN# and of the schedule.
    type Config: for<'a> From<&'a Values>;

    /// The parameters of ECN# inside their ranges, and the schedule.
    fn from_config(config: Self::Config, queue: &QueueSpec) -> (EcnSharpConfig, Self);

    /// `pst_interval` in the unit of times, at least 1.
    fn interval(&self) -> u32;

    /// The time of a packet in the unit of the schedule.
    #[inline(always)]
    fn read(&mut self, now: Nanos) -> u64 {
        now.0
    }

    /// The value of the signal for the first condition and for the second.
    #[inline(always)]
    fn alone(&self, value: u32, signal: Signal, round: Nanos) -> (u32, u32) {
        let _ = (signal, round);
        (value, value)
    }

    /// Whether an empty queue ends the persistent state and the marking state.
    #[inline(always)]
    fn resets(&self) -> bool {
        false
    }

    /// Whether a packet far below both targets changes the schedule.
    #[inline(always)]
    fn sees_every_packet(&self) -> bool {
        false
    }

    /// Takes over from `before` what a retuned schedule keeps. Answers whether times of the state
    /// mean the same.
    fn continues(&mut self, before: &Self) -> bool {
        let _ = before;
        true
    }

    /// Whether time `a` is later than time `b`.
    #[inline(always)]
    fn later(&self, a: u64, b: u64) -> bool {
        a > b
    }

    /// A time and a gap after it.
    #[inline(always)]
    fn plus(&self, time: u64, gap: u32) -> u64 {
        time.saturating_add(gap.into())
    }

    /// Whether the mark that is scheduled for `next` is due.
    #[inline(always)]
    fn due(&self, now: u64, next: u64) -> bool {
        self.later(now, next)
    }

    /// The gap after the `count`-th mark, rounded down.
    #[inline(always)]
    fn gap(&self, count: u32) -> u32 {
        self.interval() / count
    }

    /// Sets the time of the mark after this one, which is `step` long: the gap, at least 1. With a
    /// step of zero the schedule would not move, and every packet would be marked.
    #[inline(always)]
    fn reschedule(&self, state: &mut Persistent, now: u64, step: u32) {
        let _ = now;
        state.next = self.plus(state.next, step);
    }
}

/// The schedule of Algorithm 1: nanoseconds, and exact quotients rounded down.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm1 {
    pst_interval: u32,
}

impl Schedule for Algorithm1 {
    type Config = EcnSharpConfig;

    fn from_config(config: EcnSharpConfig, _: &QueueSpec) -> (EcnSharpConfig, Self) {
        let config = config.clamped();
        let pst_interval = u32::from_stored(config.pst_interval.0);
        (config, Algorithm1 { pst_interval })
    }

    #[inline(always)]
    fn interval(&self) -> u32 {
        self.pst_interval
    }
}

/// The state of one queue. Times are in the unit of the schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Persistent {
    /// When the signal was first seen at or above pst_target; valid while `above` holds. Zero is a
    /// time like any other.
    pub first_above: u64,
    /// When the next mark is due, in the marking state.
    pub next: u64,
    /// Marks in this marking state.
    pub count: u32,
    /// Marks in a row after which the next scheduled time was already past, for a schedule that
    /// limits them.
    pub behind: u16,
    /// The last signal was at or above pst_target.
    pub above: bool,
    /// A packet has been marked, and the queue is persistent since.
    pub marking: bool,
}

impl Persistent {
    /// Whether to mark the judged packet. Called for every packet; `above` says whether its signal
    /// is at or above pst_target.
    #[inline(always)]
    pub fn judge(&mut self, above: bool, now: u64, schedule: &impl Schedule) -> bool {
        if !self.detect(above, now, schedule) {
            self.marking = false;
            return false;
        }
        if !self.marking {
            self.marking = true;
            self.count = 1;
            self.behind = 0;
            self.next = schedule.plus(now, schedule.interval());
            return true;
        }
        let due = schedule.due(now, self.next);
        if due {
            self.count = self.count.saturating_add(1);
            let step = schedule.gap(self.count).max(1);
            schedule.reschedule(self, now, step);
        }
        due
    }

    /// Whether the queue has been persistent for longer than an interval.
    #[inline]
    fn detect(&mut self, above: bool, now: u64, schedule: &impl Schedule) -> bool {
        if !above {
            self.above = false;
            return false;
        }
        if !self.above {
            self.above = true;
            self.first_above = now;
            return false;
        }
        schedule.later(now, schedule.plus(self.first_above, schedule.interval()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_saturates_and_the_schedule_still_moves() {
        let schedule = Algorithm1 {
            pst_interval: 200_000,
        };
        let mut state = Persistent {
            next: 1_000_000,
            count: u32::MAX,
            above: true,
            marking: true,
            ..Persistent::default()
        };
        assert!(state.judge(true, 1_000_001, &schedule));
        assert_eq!(state.count, u32::MAX);
        // 200,000 / 2^32 would be 0 and is taken as 1.
        assert_eq!(state.next, 1_000_001);
        assert!(!state.judge(true, 1_000_001, &schedule));
        assert!(state.judge(true, 1_000_002, &schedule));
    }
}
