// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second condition of Algorithm 1, written once for every arithmetic: a queue that stands is
//! marked once in a while.

use cemark_wire::Nanos;

use super::Params;
use crate::fixed;

/// How an implementation keeps its times: what it adds, what it takes for later, how it divides.
pub(super) trait Time: Copy + Default {
    /// Whether `self` is later than `other`.
    fn after(self, other: Self, p: &Params) -> bool;
    /// A gap later, in the unit of the interval.
    fn plus(self, gap: u32) -> Self;
    /// The gap after the `count`-th mark, before it is kept from being zero.
    fn gap(count: u32, p: &Params) -> u32;
}

/// 64-bit nanoseconds that end at their largest, and exact quotients rounded down.
impl Time for Nanos {
    #[inline]
    fn after(self, other: Self, _: &Params) -> bool {
        self > other
    }

    #[inline]
    fn plus(self, gap: u32) -> Self {
        self.saturating_add(Nanos(u64::from(gap)))
    }

    #[inline]
    fn gap(count: u32, p: &Params) -> u32 {
        if p.sqrt {
            fixed::over_sqrt(p.pst_interval, count)
        } else {
            p.pst_interval / count
        }
    }
}

/// What one queue remembers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persistent<T> {
    /// When the signal was first seen at pst_target or above, while `above` holds. Zero is a time
    /// like any other.
    pub first_above: T,
    /// When the next mark is due, in the marking state.
    pub next: T,
    /// Marks in this marking state.
    pub count: u32,
    /// Marks in a row that left the schedule behind the clock.
    pub behind: u16,
    pub above: bool,
    pub marking: bool,
}

impl<T: Time> Persistent<T> {
    /// Whether the packet that is judged now is to be marked. Asked for every packet.
    #[inline(always)]
    pub fn judge(&mut self, signal: u32, now: T, p: &Params) -> bool {
        if !self.detect(signal, now, p) {
            self.marking = false;
            return false;
        }
        if !self.marking {
            self.marking = true;
            self.count = 1;
            self.behind = 0;
            self.next = now.plus(p.pst_interval);
            return true;
        }
        let due = if p.at_least {
            !self.next.after(now, p)
        } else {
            now.after(self.next, p)
        };
        if due {
            self.count = self.count.saturating_add(1);
            self.reschedule(now, p);
        }
        due
    }

    /// An empty queue forgets that it stood.
    pub fn forget(&mut self) {
        self.above = false;
        self.marking = false;
    }

    /// Whether the queue has stood for longer than an interval.
    #[inline]
    fn detect(&mut self, signal: u32, now: T, p: &Params) -> bool {
        if signal < p.pst_target {
            self.above = false;
            return false;
        }
        if !self.above {
            self.above = true;
            self.first_above = now;
            return false;
        }
        now.after(self.first_above.plus(p.pst_interval), p)
    }

    /// Sets the time of the mark after this one.
    fn reschedule(&mut self, now: T, p: &Params) {
        // A step of zero would mark every packet for ever without the schedule moving.
        let step = T::gap(self.count, p).max(1);
        self.next = if p.from_now { now } else { self.next }.plus(step);
        if p.max_catchup == 0 || !now.after(self.next, p) {
            self.behind = 0;
        } else if self.behind < p.max_catchup {
            self.behind += 1;
        } else {
            self.behind = 0;
            self.next = now.plus(step);
        }
    }
}
