// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workspace's one SplitMix64 and its one FNV-1a.
//!
//! Both are fixed by their authors to the last bit, so random draws and fingerprints are the same
//! on every machine and in every crate. Integer arithmetic only.

/// The step of [`SplitMix64`]: 2^64 divided by the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles 64 bits one to one: the finaliser of SplitMix64. It maps 0 to 0, so callers that may
/// pass small numbers add [`GOLDEN`] first.
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of random numbers (Steele, Lea and Flood, OOPSLA 2014). It is small and fast, passes
/// the usual statistical tests, and is not for cryptography.
///
/// ```
/// use cemark_wire::hash::SplitMix64;
///
/// let mut random = SplitMix64::new(0);
/// assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
/// assert!(random.below(6) < 6);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream that `seed` selects.
    #[inline]
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in 0..n, or 0 where `n` is 0: the upper half of the product of `n` and the next 64
    /// bits. Its bias is at most `n` / 2^64.
    #[inline]
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }
}

/// FNV-1a with 64 bits: a fingerprint that tells results apart, not a defence against tampering.
///
/// ```
/// use cemark_wire::hash::Fnv1a;
///
/// let mut hash = Fnv1a::new();
/// hash.write(b"foobar");
/// assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// The multiplier.
    pub const PRIME: u64 = 0x0100_0000_01b3;

    /// A hash that has taken in nothing yet.
    #[inline]
    pub const fn new() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in more bytes. The hash depends on all bytes in their order, not on how they were
    /// divided among calls.
    #[inline]
    pub const fn write(&mut self, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() {
            self.0 = (self.0 ^ bytes[i] as u64).wrapping_mul(Self::PRIME);
            i += 1;
        }
    }

    /// The hash of all bytes so far.
    #[inline]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_numbers_of_its_authors() {
        let mut random = SplitMix64::new(1_234_567);
        let came = [(); 5].map(|()| random.next_u64());
        assert_eq!(
            came,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn below_reaches_every_number_and_no_other() {
        let mut random = SplitMix64::new(7);
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[random.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1_150).contains(n)), "{seen:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn fnv_gives_the_hashes_of_its_authors() {
        let hash = |parts: &[&[u8]]| {
            let mut hash = Fnv1a::default();
            for part in parts {
                hash.write(part);
            }
            hash.finish()
        };
        assert_eq!(hash(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(&[b"a"]), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(&[b"foobar"]), 0x8594_4171_f739_67e8);
        assert_eq!(hash(&[b"foo", b"", b"bar"]), hash(&[b"foobar"]));
    }
}
