// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second condition of Algorithm 1, written once for every arithmetic: while the queue is
//! persistent, one packet is marked at increasing frequency.

use cemark_wire::Nanos;

use super::{Base, Law, Params};
use crate::config::Compare;
use crate::fixed;

/// How an arithmetic keeps times: how it adds a gap, compares two times and divides the interval.
pub(super) trait Time: Copy + Default {
    /// Whether `self` is later than `other`.
    fn after(self, other: Self, p: &Params) -> bool;
    /// A gap later, in the unit of the interval.
    fn plus(self, gap: u32) -> Self;
    /// The gap after the `count`-th mark; the caller replaces zero by one.
    fn gap(count: u32, p: &Params) -> u32;
}

/// Saturating 64-bit nanoseconds, and exact quotients rounded down.
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
        match p.law {
            Law::Harmonic => p.pst_interval / count,
            Law::Sqrt => fixed::over_sqrt(p.pst_interval, count),
        }
    }
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persistent<T> {
    /// When the signal was first seen at or above pst_target; valid while `above` holds. Zero is a
    /// time like any other.
    pub first_above: T,
    /// When the next mark is due, in the marking state.
    pub next: T,
    /// Marks in this marking state.
    pub count: u32,
    /// Marks in a row after which the next scheduled time was already past.
    pub behind: u16,
    pub above: bool,
    pub marking: bool,
}

impl<T: Time> Persistent<T> {
    /// Whether to mark the judged packet. Called for every packet.
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
        let due = match p.cmp {
            Compare::Strict => now.after(self.next, p),
            Compare::AtLeast => !self.next.after(now, p),
        };
        if due {
            self.count = self.count.saturating_add(1);
            self.reschedule(now, p);
        }
        due
    }

    /// Ends the persistent state and the marking state.
    pub fn forget(&mut self) {
        self.above = false;
        self.marking = false;
    }

    /// Whether the queue has been persistent for longer than an interval.
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
        // With a step of zero the schedule would not move, and every packet would be marked.
        let step = T::gap(self.count, p).max(1);
        let base = match p.base {
            Base::Previous => self.next,
            Base::Now => now,
        };
        self.next = base.plus(step);
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
