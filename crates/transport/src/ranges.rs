// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disjoint byte ranges in ascending order: what has arrived, or was reported, beyond a hole.

use alloc::collections::VecDeque;
use core::cell::Cell;

/// Sorted, disjoint, non-touching half-open ranges. A long fast path that dropped every other
/// packet has hundreds of thousands of them, and every acknowledgement removes some at the front:
/// they are in a ring buffer, so that the others need not move.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    list: VecDeque<(u64, u64)>,
    /// Bytes held in all.
    held: u64,
    /// An offset and the bytes held below it, remembered from the last [`Ranges::missing_from`].
    finger: Cell<(u64, u64)>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.list.front().copied()
    }

    /// End of the highest range, 0 when there is none.
    pub(crate) fn top(&self) -> u64 {
        self.list.back().map_or(0, |r| r.1)
    }

    /// Adds `[start, end)` and returns how many of its bytes were not held before.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if (start + 1..end).contains(&self.finger.get().0) {
            self.held_below(start);
        }
        // Segments beyond a hole mostly extend the highest range, so the search starts there.
        let first = match self.list.back() {
            Some(last) if last.1 < start => self.list.len(),
            Some(last) if last.0 <= start => self.list.len() - 1,
            _ => self.list.partition_point(|r| r.1 < start),
        };
        let (mut lo, mut hi, mut held, mut past) = (start, end, 0, first);
        while let Some(r) = self.list.get(past).filter(|r| r.0 <= end) {
            lo = lo.min(r.0);
            hi = hi.max(r.1);
            held += r.1 - r.0;
            past += 1;
        }
        if past == first {
            self.list.insert(first, (lo, hi));
        } else {
            self.list[first] = (lo, hi);
            self.list.drain(first + 1..past);
        }
        let new = hi - lo - held;
        self.held += new;
        let (at, below) = self.finger.get();
        if end <= at {
            self.finger.set((at, below + new));
        }
        new
    }

    /// Removes everything below `floor` and returns how many bytes that was.
    pub(crate) fn trim(&mut self, floor: u64) -> u64 {
        let whole = self.list.partition_point(|r| r.1 <= floor);
        let mut gone = self.list.drain(..whole).map(|r| r.1 - r.0).sum();
        if let Some(r) = self.list.front_mut().filter(|r| r.0 < floor) {
            gone += floor - r.0;
            r.0 = floor;
        }
        self.held -= gone;
        let (at, below) = self.finger.get();
        self.finger.set(match floor <= at {
            true => (at, below - gone),
            false => (floor, 0),
        });
        gone
    }

    /// The range that holds `at`.
    pub(crate) fn holding(&self, at: u64) -> Option<(u64, u64)> {
        let i = self.list.partition_point(|r| r.1 <= at);
        self.list.get(i).copied().filter(|r| r.0 <= at)
    }

    /// The first hole at or after `from` that begins before `to`, cut at `to`.
    pub(crate) fn hole(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let mut at = from;
        let mut i = self.list.partition_point(|r| r.1 <= at);
        if let Some(r) = self.list.get(i).filter(|r| r.0 <= at) {
            at = r.1;
            i += 1;
        }
        (at < to).then(|| (at, self.list.get(i).map_or(to, |r| r.0.min(to))))
    }

    /// Bytes of `[from, to)` that are not held.
    pub(crate) fn missing(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let mut bytes = to - from;
        for r in self
            .list
            .range(self.list.partition_point(|r| r.1 <= from)..)
        {
            if r.0 >= to {
                break;
            }
            bytes -= r.1.min(to) - r.0.max(from);
        }
        bytes
    }

    /// Bytes of `[from, to)` that are not held, for ranges whose beginning advances in small steps
    /// and whose end is close to the highest range: the list remembers the last beginning instead
    /// of counting from it again.
    pub(crate) fn missing_from(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let mut above = 0;
        for r in self.list.iter().rev().take_while(|r| r.1 > to) {
            above += r.1 - r.0.max(to);
        }
        to - from - (self.held - self.held_below(from) - above)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.held
    }

    /// Bytes held below an offset, which becomes the new finger.
    fn held_below(&self, to: u64) -> u64 {
        let (at, mut below) = self.finger.get();
        let (lo, hi) = (at.min(to), at.max(to));
        let first = self.list.partition_point(|r| r.1 <= lo);
        let between = self.list.range(first..).take_while(|r| r.0 < hi);
        let between: u64 = between.map(|r| r.1.min(hi) - r.0.max(lo)).sum();
        match at < to {
            true => below += between,
            false => below -= between,
        }
        self.finger.set((to, below));
        below
    }

    /// The highest offset with more than `bytes` held bytes, or at least `count` ranges, above it:
    /// all that is missing below it is lost (RFC 6675, IsLost). 0 when there is none.
    pub(crate) fn lost_below(&self, bytes: u64, count: usize) -> u64 {
        let mut held = 0;
        for (i, r) in self.list.iter().rev().enumerate() {
            held += r.1 - r.0;
            if held > bytes || i + 1 >= count {
                return r.0;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserting_merges_neighbours_and_counts_new_bytes_once() {
        let mut r = Ranges::default();
        assert_eq!(r.insert(10, 20), 10);
        assert_eq!(r.insert(30, 40), 10);
        assert_eq!(r.insert(50, 60), 10);
        assert_eq!(r.insert(5, 8), 3);
        assert_eq!(r.insert(20, 30), 10, "touching ranges become one");
        assert_eq!(r.list, [(5, 8), (10, 40), (50, 60)]);
        assert_eq!(r.insert(12, 35), 0);
        assert_eq!(r.insert(0, 100), 100 - 3 - 30 - 10);
        assert_eq!(r.list, [(0, 100)]);
    }

    #[test]
    fn trimming_cuts_a_range_in_two() {
        let mut r = Ranges::default();
        r.insert(10, 20);
        r.insert(30, 40);
        assert_eq!(r.trim(5), 0);
        assert_eq!(r.trim(33), 13);
        assert_eq!(r.list, [(33, 40)]);
        assert_eq!(r.trim(40), 7);
        assert!(r.is_empty());
    }

    #[test]
    fn holes_and_missing_bytes_agree() {
        let mut r = Ranges::default();
        r.insert(10, 20);
        r.insert(30, 40);
        assert_eq!(r.hole(0, 100), Some((0, 10)));
        assert_eq!(r.hole(10, 100), Some((20, 30)));
        assert_eq!(r.hole(35, 100), Some((40, 100)));
        assert_eq!(r.hole(35, 40), None);
        assert_eq!(r.missing(0, 100), 80);
        assert_eq!(r.missing(15, 35), 10);
        assert_eq!(r.holding(19), Some((10, 20)));
        assert_eq!(r.holding(20), None);
    }

    /// The function that remembers and the one that walks agree, whatever changes between the
    /// calls.
    #[test]
    fn missing_is_the_same_from_the_finger() {
        let mut r = Ranges::default();
        let mut random = 1_u64;
        let mut below = |n: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % n
        };
        let (mut floor, mut asked) = (0, 0_u64);
        for _ in 0..20_000 {
            let start = floor + below(1_000);
            match below(8) {
                0 => {
                    floor += below(30);
                    r.trim(floor);
                }
                1 => asked = floor,
                2 => asked += below(400),
                _ => {
                    r.insert(start, start + 1 + below(20));
                }
            }
            let (from, to) = (asked.max(floor), floor + below(1_200));
            assert_eq!(r.missing_from(from, to), r.missing(from, to), "{r:?}");
        }
    }

    #[test]
    fn lost_is_what_has_enough_above_it() {
        let mut r = Ranges::default();
        r.insert(10, 20);
        assert_eq!(r.lost_below(20, 3), 0);
        r.insert(30, 41);
        assert_eq!(r.lost_below(20, 3), 10, "21 bytes above the first hole");
        r.insert(50, 61);
        assert_eq!(r.lost_below(20, 3), 30);
        let mut tiny = Ranges::default();
        for s in [10, 20, 30] {
            tiny.insert(s, s + 1);
        }
        assert_eq!(
            tiny.lost_below(20, 3),
            10,
            "three separate ranges count like three segments"
        );
    }
}
