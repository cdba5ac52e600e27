// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random numbers of a trace: the same for a seed, on every machine.

use cemark_wire::hash::{SplitMix64, mix};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Source(SplitMix64);

impl Source {
    pub(super) fn new(seed: u64) -> Self {
        Source(SplitMix64::new(mix(seed ^ 0x5eed_5eed_5eed_5eed)))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in 0..n. `n` is at least 1.
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    #[inline]
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number from `low` to `high`. Every magnitude of its distance from `low` is equally likely.
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

    /// Draws a value of a list.
    #[inline]
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
