// SPDX-License-Identifier: MIT OR Apache-2.0
//! When ECN#'s persistent marks fall (ECN# sections 3.3 and 3.4).

/// How the interval between persistent marks shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// By the count of marks, as Algorithm 1 prints it.
    Harmonic,
    /// By the square root of the count, as CoDel does.
    Sqrt,
}

/// Time from the first persistent mark to mark number `marks`: `pst_interval` times the sum of
/// `1 / i` or of `1 / sqrt(i)`.
pub fn mark_time(pst_interval: f64, marks: f64, spacing: Spacing) -> f64 {
    let part = |i: f64| match spacing {
        Spacing::Harmonic => 1.0 / i,
        Spacing::Sqrt => 1.0 / i.sqrt(),
    };
    let sum: f64 = (1..marks.round() as u32).map(|i| part(f64::from(i))).sum();
    pst_interval * sum
}
