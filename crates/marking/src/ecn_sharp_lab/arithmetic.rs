// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forms of a Tofino's arithmetic that no switch runs: Algorithms 2 and 3 of the paper as printed,
//! which are wrong, and a table for the square-root law.

use cemark_wire::Nanos;

use crate::ecn_sharp::tofino::{Clock, Product, TICK_BITS, Ticks, scale, top_bits};

/// Algorithm 2 as printed: two packets in one tick count as a wrap, and the clock leaps by 4.295 s.
pub const fn read_as_printed(clock: &mut Clock, now: Nanos) -> Ticks {
    let low = (now.0 as u32) >> TICK_BITS;
    clock.advance(low, low <= clock.low())
}

/// Algorithm 3 as printed: the table is not scaled, and the power of two has the scale with the
/// wrong sign. Of an interval of 1,000 it gives a 64th of the quotient.
pub fn divide_as_printed(interval: u32, count: u32) -> Product {
    let log = count.ilog2() as i32;
    Product {
        entry: interval.div_ceil(top_bits(count)),
        exponent: -(log + scale(interval) + 3),
    }
}

/// The square-root law: `interval / sqrt(count)` from the table of [`inverse_root`]. Ours; the
/// paper's switch divides.
///
/// Pairs of bits are cut off, so that the index has three or four bits (4 to 15) and the value is
/// too large by up to sqrt(5/4). Each pair halves the root.
pub fn over_root(interval: u32, count: u32) -> Product {
    let half_log = count.ilog2() / 2;
    let index = (u64::from(count) << 2 >> (2 * half_log)) as u32;
    Product {
        entry: inverse_root(interval, index),
        exponent: scale(interval) + 3 - half_log as i32,
    }
}

/// The entry of the square-root law's table at 4 to 15: `interval / (sqrt(index) * 2^(scale + 2))`,
/// to the nearest, half upwards. 33 to 127.
pub fn inverse_root(interval: u32, index: u32) -> u32 {
    let scale = scale(interval) + 2;
    // Twice the entry, squared.
    let square = if scale <= 0 {
        let interval = (interval as u64) << (1 - scale);
        interval * interval / index as u64
    } else {
        (interval as u64 * interval as u64 / index as u64) >> (2 * (scale - 1))
    };
    (square.isqrt() as u32).div_ceil(2)
}
