// SPDX-License-Identifier: MIT OR Apache-2.0
//! Alignment to cache lines. Memory accesses dominate the cost of a port with queues: one packet
//! touches several cache lines at each port, and data that straddles two lines costs both.

use std::ops::{Deref, DerefMut, Index, IndexMut};

use prefetch_index::prefetch_index;

/// A value aligned to a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Aligned<T>(pub T);

impl<T> Deref for Aligned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Elements of one cache line, if each has eight bytes.
const IN_LINE: usize = 8;

/// A fixed number of values of at most eight bytes, eight in a cache line: one value for each queue
/// of a port.
#[derive(Clone, Debug)]
pub struct Lines<T> {
    /// Apart, since few ports have more than eight queues.
    first: Box<Aligned<[T; IN_LINE]>>,
    others: Box<[Aligned<[T; IN_LINE]>]>,
}

impl<T: Copy + Default> FromIterator<T> for Lines<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        const { assert!(size_of::<T>() <= 8) }
        let mut first = Box::new(Aligned([T::default(); IN_LINE]));
        let mut others: Vec<Aligned<[T; IN_LINE]>> = Vec::new();
        for (i, value) in values.into_iter().enumerate() {
            if i < IN_LINE {
                first.0[i] = value;
                continue;
            }
            if i % IN_LINE == 0 {
                others.push(Aligned([T::default(); IN_LINE]));
            }
            others[i / IN_LINE - 1].0[i % IN_LINE] = value;
        }
        Lines {
            first,
            others: others.into(),
        }
    }
}

impl<T> Lines<T> {
    /// Prefetches the cache line of a value.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        if i < IN_LINE {
            prefetch_index(&self.first.0[..], 0);
        } else {
            prefetch_index(&self.others[..], i / IN_LINE - 1);
        }
    }
}

impl<T> Index<usize> for Lines<T> {
    type Output = T;

    #[inline]
    fn index(&self, i: usize) -> &T {
        if i < IN_LINE {
            &self.first.0[i]
        } else {
            &self.others[i / IN_LINE - 1].0[i % IN_LINE]
        }
    }
}

impl<T> IndexMut<usize> for Lines<T> {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut T {
        if i < IN_LINE {
            &mut self.first.0[i]
        } else {
            &mut self.others[i / IN_LINE - 1].0[i % IN_LINE]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_by_their_number() {
        let mut lines: Lines<u32> = (0..19).collect();
        lines[9] += 100;
        assert_eq!(
            (lines[0], lines[7], lines[8], lines[9], lines[18]),
            (0, 7, 8, 109, 18)
        );
    }
}
