// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random variates by a fixed recipe: the same bits on every machine.
//!
//! The generator is xoshiro256++ (Blackman and Vigna) seeded through SplitMix64. `f64::ln` and its
//! kin come from the platform's mathematical library and differ in the last bit, so [`ln`] and
//! [`exp`] are written here with `+ - * /` alone, which IEEE 754 fixes to the last bit (as it does
//! the square root). Each purpose has its own stream, named by a word and a number, so that a draw
//! more in one never shifts another: that is what gives every scheme the same flows.

use cemark_wire::{Picos, hash};

/// The natural logarithm of two.
const LN_2: f64 = core::f64::consts::LN_2;
/// The leading 32 bits of [`LN_2`]: a product with a small integer is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// Remainder of [`LN_2`] beyond [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// A bijective mixer of 64 bits: neighbouring inputs give unrelated outputs, and zero is none of
/// the fixed points of [`hash::mix`].
#[inline]
pub const fn mix(x: u64) -> u64 {
    hash::mix(x.wrapping_add(hash::GOLDEN))
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream([u64; 4]);

impl Stream {
    /// The stream that `seed`, a purpose and a number (the workload's) select. Equal arguments give
    /// equal streams, different ones unrelated streams.
    pub fn new(seed: u64, purpose: &str, number: u64) -> Self {
        let mut h = mix(seed);
        for &byte in purpose.as_bytes() {
            h = mix(h ^ u64::from(byte));
        }
        // The length keeps ("a", ..) and ("ab", ..) apart whatever the number is.
        h = mix(h ^ (purpose.len() as u64) << 32);
        h = mix(h ^ number);
        let mut state = [0; 4];
        for slot in &mut state {
            h = h.wrapping_add(hash::GOLDEN);
            *slot = mix(h);
        }
        // The one state that xoshiro cannot leave.
        if state == [0; 4] {
            state[0] = 1;
        }
        Stream(state)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform in 0..n, without bias; zero where `n` is zero or one.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        // Lemire's method: the high half of a product, redrawn in the rare case that would favour
        // small numbers.
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in lo..=hi (in either order).
    pub fn between(&mut self, lo: u64, hi: u64) -> u64 {
        let (lo, hi) = (lo.min(hi), lo.max(hi));
        match (hi - lo).checked_add(1) {
            Some(n) => lo + self.below(n),
            None => self.bits(),
        }
    }

    /// Uniform in whole nanoseconds up to `most`, ends included.
    pub fn jitter(&mut self, most: Picos) -> Picos {
        Picos::from_nanos(self.between(0, most.0 / 1000))
    }

    /// Exponential with mean one.
    pub fn exponential(&mut self) -> f64 {
        -ln(1.0 - self.uniform())
    }

    /// Normal with mean zero and deviation one (Marsaglia's polar method; the second of each pair
    /// is dropped, so that the stream carries no hidden state).
    pub fn normal(&mut self) -> f64 {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * (-2.0 * ln(s) / s).sqrt();
            }
        }
    }

    /// Puts `items` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// An index, each with a chance proportional to its weight; zero where all weights are zero.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().map(|&w| u64::from(w)).sum());
        for (i, &w) in weights.iter().enumerate() {
            if left < u64::from(w) {
                return i;
            }
            left -= u64::from(w);
        }
        0
    }
}

/// The natural logarithm of a positive normal number, within 1e-15 of the true value relative to
/// max(1, |ln x|); `-inf` at zero and below.
pub fn ln(x: f64) -> f64 {
    if x <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
    let bits = x.to_bits();
    let mut e = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if m > core::f64::consts::SQRT_2 {
        m *= 0.5;
        e += 1;
    }
    // ln m = 2 artanh(s), s = (m-1)/(m+1), |s| < 0.172: thirteen terms leave less than 1e-20.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    let mut k = 25;
    while k >= 3 {
        sum = (sum + 1.0 / f64::from(k)) * square;
        k -= 2;
    }
    let e = e as f64;
    e * LN_2_HIGH + (e * LN_2_LOW + 2.0 * s * (1.0 + sum))
}

/// e to the `x`, within 1e-14 relative; zero below -700, and the value at 700 above it.
pub fn exp(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    let x = x.min(700.0);
    // x = k ln 2 + r with |r| <= 0.35: eighteen terms of the series leave less than 1e-24.
    let k = (x / LN_2 + 0.5).floor();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0;
    let mut n = 18;
    while n >= 1 {
        sum = 1.0 + sum * r / f64::from(n);
        n -= 1;
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_agrees_with_the_platform() {
        let mut s = Stream::new(7, "ln", 0);
        for _ in 0..200_000 {
            let x = s.uniform() + 1e-18;
            for y in [x, x * 1e6, x * 1e-6, 1.0 + x * 1e-9] {
                assert!(
                    (ln(y) - y.ln()).abs() <= 1e-15 * y.ln().abs().max(1.0),
                    "{y}: {} {}",
                    ln(y),
                    y.ln()
                );
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn exponential_function_agrees_with_the_platform() {
        let mut s = Stream::new(7, "exp", 0);
        for _ in 0..200_000 {
            let x = 100.0 * s.uniform() - 50.0;
            assert!(
                (exp(x) / x.exp() - 1.0).abs() < 1e-14,
                "{x}: {} {}",
                exp(x),
                x.exp()
            );
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), 0.0);
        assert!(exp(1e9).is_finite());
    }

    /// Bits, not closeness (computed apart, by a Python edition of the recipe): another platform,
    /// or another edition of this file, that draws differently fails here.
    #[test]
    fn the_recipe_is_fixed() {
        let mut s = Stream::new(1, "arrivals", 0);
        assert_eq!([s.bits(), s.bits()], FIRST_BITS);
        let mut s = Stream::new(1, "arrivals", 0);
        assert_eq!(s.exponential().to_bits(), FIRST_EXPONENTIAL);
        assert_eq!(s.normal().to_bits(), FIRST_NORMAL);
        assert_eq!(exp(-3.7).to_bits(), EXP_OF_MINUS_3_7);
    }
    const FIRST_BITS: [u64; 2] = [0x9db1_df12_de75_779f, 0x3085_b0d1_84ae_5bc4];
    const FIRST_EXPONENTIAL: u64 = 0x3fee_a091_7bd2_327d;
    const FIRST_NORMAL: u64 = 0x4001_3e90_15fc_fbef;
    const EXP_OF_MINUS_3_7: u64 = 0x3f99_511f_c687_1044;

    #[test]
    fn streams_differ_by_each_argument() {
        let first = |seed, purpose, number| Stream::new(seed, purpose, number).bits();
        let all = [
            first(1, "a", 0),
            first(2, "a", 0),
            first(1, "b", 0),
            first(1, "a", 1),
            first(1, "aa", 0),
            first(0, "", 0),
        ];
        let mut sorted = all.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), all.len());
    }

    #[test]
    fn moments() {
        let mut s = Stream::new(3, "moments", 0);
        let n = 1_000_000;
        let (mut u, mut e, mut g, mut g2) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            u += s.uniform();
            e += s.exponential();
            let x = s.normal();
            g += x;
            g2 += x * x;
        }
        let n = f64::from(n);
        assert!((u / n - 0.5).abs() < 0.001, "{}", u / n);
        assert!((e / n - 1.0).abs() < 0.004, "{}", e / n);
        assert!((g / n).abs() < 0.004, "{}", g / n);
        assert!((g2 / n - 1.0).abs() < 0.006, "{}", g2 / n);
    }

    #[test]
    fn whole_numbers_are_fair() {
        let mut s = Stream::new(3, "below", 0);
        let mut counts = [0u32; 7];
        for _ in 0..700_000 {
            counts[s.below(7) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&c| c.abs_diff(100_000) < 1_500),
            "{counts:?}"
        );
        assert_eq!(s.below(0), 0);
        assert_eq!(s.between(5, 5), 5);
        s.between(0, u64::MAX);
        let mut picked = [0u32; 3];
        for _ in 0..400_000 {
            picked[s.weighted(&[2, 0, 2])] += 1;
        }
        assert_eq!(picked[1], 0);
        assert!(picked[0].abs_diff(200_000) < 2_000);
        assert_eq!(s.weighted(&[0, 0]), 0);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut s = Stream::new(3, "shuffle", 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut items = [0, 1, 2];
            s.shuffle(&mut items);
            *counts.entry(items).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|&c| c.abs_diff(10_000) < 500),
            "{counts:?}"
        );
    }
}
