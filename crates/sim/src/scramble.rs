// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hash of four numbers: for paths, random draws, and fingerprints of results.

use cemark_marking::fixed::mix;

/// Four scrambles in a chain, so that the order of the arguments counts.
pub(crate) const fn hash(a: u64, b: u64, c: u64, d: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let h = mix(a.wrapping_add(STEP));
    let h = mix(h.wrapping_add(STEP) ^ b);
    let h = mix(h.wrapping_add(STEP) ^ c);
    mix(h.wrapping_add(STEP) ^ d)
}
