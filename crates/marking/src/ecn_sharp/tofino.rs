// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN# in the arithmetic of a Tofino (section 4), as the program in P4 computes: a 32-bit clock
//! emulated from a 64-bit one (Algorithm 2) and a quotient from a table of 8-bit entries (Algorithm
//! 3), both with the errors of their listings corrected.
//!
//! The switch compares 32-bit numbers only, so times are ticks of 1,024 ns that wrap after 4,398 s,
//! and one is later than another when their difference, taken as signed, is positive. It does not
//! divide, so the gap between marks is looked up: right within 14.2 % and half a tick, and never
//! short by more than 1.5 % and half a tick.

use cemark_wire::Nanos;

/// A tick is 2^10 ns, 1.024 us.
pub const TICK_BITS: u32 = 10;

/// Bits of the clock that come from the timestamp; the ten above them are counted.
const LOW_BITS: u32 = 32 - TICK_BITS;
const LOW: u32 = (1 << LOW_BITS) - 1;

/// Largest entry of the table times its smallest index: the paper's `8 * 127`.
const FULL_SCALE: u32 = 8 * 127;

/// A time of the emulated clock: ticks modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks(pub u32);

impl Ticks {
    /// Whether `self` is later, by serial numbers: true for the 2^31 - 1 ticks (2,199 s) that
    /// follow `other`, across any wrap.
    #[inline]
    pub const fn after(self, other: Ticks) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// A span in nanoseconds as a number of ticks: the nearest, and at least one. 200 us are 195
    /// ticks.
    pub const fn span(nanos: u32) -> u32 {
        let ticks = ((nanos as u64 + (1 << (TICK_BITS - 1))) >> TICK_BITS) as u32;
        if ticks == 0 { 1 } else { ticks }
    }
}

/// The two registers of Algorithm 2 in one word: 22 bits of the last timestamp, above them 10 bits
/// that count its wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock(pub u32);

impl Clock {
    /// The time of a packet. Wraps are seen by packets: of a silence beyond 4.295 s all but one are
    /// lost, and the clock runs late.
    #[inline]
    pub const fn read(&mut self, now: Nanos) -> Ticks {
        let low = (now.0 as u32) >> TICK_BITS;
        self.advance(low, low < self.low())
    }

    /// The lower bits of the last timestamp.
    #[inline]
    pub(crate) const fn low(self) -> u32 {
        self.0 & LOW
    }

    /// Takes the lower bits of a timestamp, and counts a wrap.
    #[inline]
    pub(crate) const fn advance(&mut self, low: u32, wrapped: bool) -> Ticks {
        let high = (self.0 >> LOW_BITS).wrapping_add(wrapped as u32);
        self.0 = (high << LOW_BITS) | low;
        Ticks(self.0)
    }
}

/// Result of the math unit: `entry * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The entry of the table, 34 to 127 where the table is scaled.
    pub entry: u32,
    /// Its power of two.
    pub exponent: i32,
}

impl Product {
    /// The nearest whole number, half upwards; 2^32 - 1 for anything larger.
    pub fn rounded(self) -> u32 {
        let entry = u64::from(self.entry);
        let whole = match self.exponent {
            // Any entry but zero is too large, as it is a bit lower down.
            32.. => entry << 32,
            0.. => entry << self.exponent,
            -32.. => {
                let down = self.exponent.unsigned_abs();
                (entry + (1 << (down - 1))) >> down
            }
            _ => 0,
        };
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}

/// Algorithm 3 corrected: `interval / count` from the table of [`inverse`]. `interval` and `count`
/// are at least 1.
///
/// The index is the top four bits of `count`, so that the quotient is too large by up to 1/8 where
/// bits were cut off; an entry is off by up to 1/67 of itself.
pub fn divide(interval: u32, count: u32) -> Product {
    let log = count.ilog2() as i32;
    Product {
        entry: inverse(interval, top_bits(count)),
        exponent: scale(interval) + 3 - log,
    }
}

/// The entry of Algorithm 3's table at 8 to 15: `interval / (index * 2^scale)`, to the nearest,
/// half upwards. 34 to 127.
pub fn inverse(interval: u32, index: u32) -> u32 {
    let scale = scale(interval);
    let over = u64::from(interval) << (-scale).max(0);
    let under = u64::from(index) << scale.max(0);
    ((2 * over + under) / (2 * under)) as u32
}

/// The power of two that brings the entries into eight bits: the least with
/// `interval <= 8 * 127 * 2^scale`. Negative below 509.
pub fn scale(interval: u32) -> i32 {
    // One of the two is zero.
    let up = interval
        .div_ceil(FULL_SCALE)
        .next_power_of_two()
        .trailing_zeros();
    let down = (FULL_SCALE / interval).max(1).ilog2();
    up as i32 - down as i32
}

/// The top four bits of a number, 8 to 15: zeros follow where it has fewer.
pub(crate) fn top_bits(count: u32) -> u32 {
    (u64::from(count) << 3 >> count.ilog2()) as u32
}
