// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many of many trials must succeed for a claimed probability not to be refuted.

/// Least number of groups that must hold the truth: where each holds it with the probability
/// `share`, fewer do once in 700 times.
pub fn least(groups: usize, share: f64) -> usize {
    // The binomial distribution from below, term by term. The first term of 1000 groups is below
    // the smallest float, but its logarithm is not.
    let n = groups as f64;
    let (mut term, mut below) = (n * (1.0 - share).ln(), 0.0);
    for held in 0..groups {
        below += term.exp();
        if below > 1.0 / 700.0 {
            return held;
        }
        let k = held as f64;
        term += ((n - k) / (k + 1.0) * share / (1.0 - share)).ln();
    }
    groups
}
