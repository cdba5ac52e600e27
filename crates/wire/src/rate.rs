// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link rates.

use crate::{Nanos, Picos};

/// A rate in bits per second. Never zero where a link is built from it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

    /// Transmission time of one byte in picoseconds, rounded to the nearest. It is exact for every
    /// Ethernet rate: 800 at 10 Gb/s, 20 at 400 Gb/s.
    pub const fn picos_per_byte(self) -> Picos {
        Picos((8_000_000_000_000 + self.0 / 2) / self.0)
    }

    /// Bytes sent in `span`, rounded down. It converts a threshold on the sojourn time into one on
    /// the queue length.
    pub const fn bytes_in(self, span: Nanos) -> u64 {
        (self.0 as u128 * span.0 as u128 / 8_000_000_000) as u64
    }

    /// Transmission time of `bytes`, rounded down to nanoseconds.
    pub const fn nanos_for(self, bytes: u64) -> Nanos {
        Nanos((bytes as u128 * 8_000_000_000 / self.0 as u128) as u64)
    }
}
