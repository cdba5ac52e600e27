// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer rules that every implementation follows exactly: square root, ramp, moving average, hash
//! and draw.
//!
//! A marking rule with fractions is written once, here, and Rust, C, BPF and the kernel follow it
//! bit by bit. Each rule states how far it may be from the ideal formula.

pub use cemark_param::ONE;

/// Fraction bits of a moving average: it counts 4096ths of a byte.
pub const AVG_BITS: u32 = 12;

/// The square root, rounded down: the largest `r` with `r * r <= n`.
#[inline]
pub const fn isqrt(n: u64) -> u64 {
    n.isqrt()
}

/// `interval / sqrt(count)`, rounded down: CoDel's control law, exactly.
///
/// The rule is `isqrt(interval^2 / count)`, both rounded down. That is the floor of the real value,
/// because no integer lies between a real number and its floor, nor therefore between their roots.
/// `count` is at least 1.
#[inline]
pub const fn over_sqrt(interval: u32, count: u32) -> u32 {
    let square = interval as u64 * interval as u64;
    isqrt(square / count as u64) as u32
}

/// A probability that rises in a straight line from 0 at `min` to `pmax` at `max`, rounded down to
/// parts of 2^16.
///
/// The caller ensures `min <= x <= max` and `min < max`; schemes differ in what they do outside.
#[inline]
pub const fn ramp(x: u32, min: u32, max: u32, pmax: u32) -> u32 {
    (pmax as u64 * (x - min) as u64 / (max - min) as u64) as u32
}

/// Next value of a moving average: `avg + (sample - avg) * weight`, the product rounded towards
/// minus infinity.
///
/// `avg` in 2^-[`AVG_BITS`] bytes, `sample` in bytes, `weight` in parts of 2^16, at most [`ONE`]. A
/// falling average reaches the sample exactly. A rising one stops less than `2^16 / weight` units
/// short of it (an eighth of a byte at the classic weight 1/512).
#[inline]
pub const fn ewma(avg: u64, sample: u32, weight: u32) -> u64 {
    let gap = ((sample as i64) << AVG_BITS) - avg as i64;
    (avg as i64 + ((gap * weight as i64) >> 16)) as u64
}

/// Fraction bits of a slope: it counts 2^-24 bytes per nanosecond (0.48 kb/s).
pub const SLOPE_BITS: u32 = 24;

/// Slopes are limited to 2^16 bytes per nanosecond, which no link reaches.
const STEEPEST: i64 = 1 << (16 + SLOPE_BITS);

/// How fast a length changed: bytes per nanosecond in 2^-[`SLOPE_BITS`], rounded towards minus
/// infinity.
///
/// Rounding down keeps the sign, which is all that CEDM reads: every decrease is negative, and
/// nothing else is. A time of zero counts as one nanosecond, and more than 2^32 - 1 as 2^32 - 1.
#[inline]
pub const fn slope(before: u32, after: u32, nanos: u64) -> i64 {
    let time = if nanos == 0 {
        1
    } else if nanos > u32::MAX as u64 {
        u32::MAX as u64
    } else {
        nanos
    };
    let size = (after.abs_diff(before) as u64) << SLOPE_BITS;
    let steep = if after >= before {
        (size / time) as i64
    } else {
        -(size.div_ceil(time) as i64)
    };
    if steep > STEEPEST {
        STEEPEST
    } else if steep < -STEEPEST {
        -STEEPEST
    } else {
        steep
    }
}

/// Next value of a moving average of slopes: `avg + (sample - avg) * weight`, the product rounded
/// towards minus infinity.
///
/// A steady length takes a positive average to 0 and a negative one to no more than -1: neither
/// changes its sign.
#[inline]
pub const fn ewma_slope(avg: i64, sample: i64, weight: u32) -> i64 {
    avg + (((sample - avg) * weight as i64) >> 16)
}

/// Remainder of a moving average after `steps` samples of zero: `avg * (1 - weight)^steps`.
///
/// The power is taken by squaring in parts of 2^32, every product rounded down: low by less than
/// `2 * steps` parts of 2^32 and never above the ideal. `weight` in parts of 2^16, at most [`ONE`].
pub const fn decay(avg: u64, weight: u32, steps: u64) -> u64 {
    let mut base = ((ONE - weight) as u64) << 16;
    let mut power = 1u64 << 32;
    let mut left = steps;
    while left > 0 && power > 0 {
        if left & 1 == 1 {
            power = mul32(power, base);
        }
        base = mul32(base, base);
        left >>= 1;
    }
    ((avg as u128 * power as u128) >> 32) as u64
}

/// The product of two numbers in parts of 2^32, each at most one, rounded down.
const fn mul32(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 32) as u64
}

/// Scrambles 64 bits one to one.
pub use cemark_wire::hash::mix;

/// The packet's random hash at one hop, [`crate::At::packet_hash`]: the same for every scheme
/// compared, on every machine.
///
/// `mix(seed + flow * A + seq * B + (hop + 1) * C)` modulo 2^64, with three odd constants whose
/// bits look random. One scramble for all four, because this runs once per packet and hop.
#[inline]
pub const fn hash(seed: u64, flow: u64, seq: u64, hop: u8) -> u64 {
    let spread = flow
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(seq.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add((hop as u64 + 1).wrapping_mul(0xaef1_7502_108e_f2d9));
    mix(seed.wrapping_add(spread))
}

/// The `n`-th draw of a packet, 0 to 65535: the top 16 bits of
/// `mix(packet_hash + (n + 1) * 0x9e3779b97f4a7c15)`.
///
/// A scheme that draws more than once per packet numbers its draws, so that they are independent.
#[inline]
pub const fn draw(packet_hash: u64, n: u32) -> u32 {
    (mix(packet_hash.wrapping_add((n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> 48) as u32
}

/// Whether the `n`-th draw of a packet falls under `p` (parts of 2^16): never at 0, always at
/// [`ONE`].
#[inline]
pub const fn chance(packet_hash: u64, n: u32, p: u32) -> bool {
    draw(packet_hash, n) < p
}
