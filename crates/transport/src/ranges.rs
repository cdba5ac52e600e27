// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disjoint byte ranges in ascending order: what has arrived, or was reported, beyond a hole.

use alloc::vec::Vec;

/// Sorted, disjoint, non-touching half-open ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// End of the highest range, 0 when there is none.
    pub(crate) fn top(&self) -> u64 {
        self.0.last().map_or(0, |r| r.1)
    }

    /// Adds `[start, end)` and says how many of its bytes were not held before.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // Segments behind a hole mostly extend the highest range, so the search starts there.
        let first = match self.0.last() {
            Some(last) if last.1 < start => self.0.len(),
            Some(last) if last.0 <= start => self.0.len() - 1,
            _ => self.0.partition_point(|r| r.1 < start),
        };
        let (mut lo, mut hi, mut held, mut past) = (start, end, 0, first);
        while let Some(r) = self.0.get(past).filter(|r| r.0 <= end) {
            lo = lo.min(r.0);
            hi = hi.max(r.1);
            held += r.1 - r.0;
            past += 1;
        }
        if past == first {
            self.0.insert(first, (lo, hi));
        } else {
            self.0[first] = (lo, hi);
            self.0.drain(first + 1..past);
        }
        hi - lo - held
    }

    /// Forgets everything below `floor` and says how many held bytes that was.
    pub(crate) fn trim(&mut self, floor: u64) -> u64 {
        let whole = self.0.partition_point(|r| r.1 <= floor);
        let mut gone = self.0.drain(..whole).map(|r| r.1 - r.0).sum();
        if let Some(r) = self.0.first_mut().filter(|r| r.0 < floor) {
            gone += floor - r.0;
            r.0 = floor;
        }
        gone
    }

    /// The range that holds `at`.
    pub(crate) fn holding(&self, at: u64) -> Option<(u64, u64)> {
        let i = self.0.partition_point(|r| r.1 <= at);
        self.0.get(i).copied().filter(|r| r.0 <= at)
    }

    /// The first hole at or after `from` that begins before `to`, cut at `to`.
    pub(crate) fn hole(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let mut at = from;
        let mut i = self.0.partition_point(|r| r.1 <= at);
        if let Some(r) = self.0.get(i).filter(|r| r.0 <= at) {
            at = r.1;
            i += 1;
        }
        (at < to).then(|| (at, self.0.get(i).map_or(to, |r| r.0.min(to))))
    }

    /// Bytes of `[from, to)` that are not held.
    pub(crate) fn missing(&self, from: u64, to: u64) -> u64 {
        if from >= to {
            return 0;
        }
        let mut bytes = to - from;
        for r in &self.0[self.0.partition_point(|r| r.1 <= from)..] {
            if r.0 >= to {
                break;
            }
            bytes -= r.1.min(to) - r.0.max(from);
        }
        bytes
    }

    /// The highest offset with more than `bytes` held bytes, or at least `count` ranges, above it: all that is missing below it
    /// is lost (RFC 6675, IsLost). 0 when there is none.
    pub(crate) fn lost_below(&self, bytes: u64, count: usize) -> u64 {
        let mut held = 0;
        for (i, r) in self.0.iter().rev().enumerate() {
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
        assert_eq!(r.as_slice(), [(5, 8), (10, 40), (50, 60)]);
        assert_eq!(r.insert(12, 35), 0);
        assert_eq!(r.insert(0, 100), 100 - 3 - 30 - 10);
        assert_eq!(r.as_slice(), [(0, 100)]);
    }

    #[test]
    fn trimming_cuts_a_range_in_two() {
        let mut r = Ranges::default();
        r.insert(10, 20);
        r.insert(30, 40);
        assert_eq!(r.trim(5), 0);
        assert_eq!(r.trim(33), 13);
        assert_eq!(r.as_slice(), [(33, 40)]);
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
