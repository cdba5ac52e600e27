// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers of a trace: the same for a seed, on every machine.

use cemark_marking::fixed;

/// A stream of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Source(u64);

impl Source {
    pub(super) fn new(seed: u64) -> Self {
        Source(fixed::mix(seed ^ 0x5eed_5eed_5eed_5eed))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        fixed::mix(self.0)
    }

    /// Below `n`, which is at least 1.
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        // The high half of the product: no division.
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    #[inline]
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// From `low` to `high`, all magnitudes alike.
    pub(super) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let span = high - low;
        if span == 0 {
            return low;
        }
        let bits = self.below(u64::from(64 - span.leading_zeros()) + 1);
        let top = if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        low + (self.next() & top).min(span)
    }

    /// One of these.
    #[inline]
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
