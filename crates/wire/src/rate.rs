// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link rates.

use crate::{Nanos, Picos};

/// A rate in bits per second. Never zero where a link is built from it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Rate(pub u64);

impl Rate {
    /// Whole gigabits per second.
    pub const fn gbps(n: u64) -> Self {
        Rate(n * 1_000_000_000)
    }

    /// Whole megabits per second.
    pub const fn mbps(n: u64) -> Self {
        Rate(n * 1_000_000)
    }

    /// Picoseconds one byte takes, rounded to the nearest (exact for every Ethernet rate: 800 at 10
    /// Gb/s, 20 at 400).
    pub const fn picos_per_byte(self) -> Picos {
        Picos((8_000_000_000_000 + self.0 / 2) / self.0)
    }

    /// Bytes sent in `span`, rounded down: the length threshold that a sojourn threshold stands
    /// for.
    pub const fn bytes_in(self, span: Nanos) -> u64 {
        (self.0 as u128 * span.0 as u128 / 8_000_000_000) as u64
    }

    /// Time that `bytes` take, rounded down to nanoseconds.
    pub const fn nanos_for(self, bytes: u64) -> Nanos {
        Nanos((bytes as u128 * 8_000_000_000 / self.0 as u128) as u64)
    }
}
