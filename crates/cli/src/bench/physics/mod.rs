// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the simulator with theory. Every row has a bound; a row outside it fails the command.

mod fabrics;
mod fairness;
mod idle;
mod law;
mod oscillation;
mod sameness;
mod steady;
mod wide;

use serde::Serialize;

/// Check with its measured value and bounds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// Short name.
    pub name: String,
    /// Measured quantity, with its unit.
    pub what: &'static str,
    /// The measured value.
    pub measured: f64,
    /// Lowest value that passes.
    pub low: f64,
    /// Highest value that passes.
    pub high: f64,
    /// The value that theory predicts, if it is one number.
    pub theory: Option<f64>,
}

impl Row {
    /// Whether it lies within its bound. Not-a-number does not.
    pub(crate) fn passes(&self) -> bool {
        self.measured >= self.low && self.measured <= self.high
    }
}

/// All checks, in order.
pub(crate) fn all() -> Vec<Row> {
    let parts: [fn() -> Vec<Row>; 8] = [
        idle::rows,
        oscillation::rows,
        oscillation::tiny_threshold,
        law::rows,
        fairness::rows,
        steady::rows,
        sameness::rows,
        wide::rows,
    ];
    parts.iter().flat_map(|part| part()).collect()
}

/// A table for people.
pub(crate) fn table(rows: &[Row]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:34} {:>14} {:>14} {:>14} {:>10}  {:4}  what",
        "check", "measured", "low", "high", "theory", ""
    );
    for r in rows {
        let theory = r.theory.map_or_else(|| "-".into(), |t| format!("{t:.2}"));
        let verdict = if r.passes() { "ok" } else { "FAIL" };
        let _ = writeln!(
            out,
            "{:34} {:>14.3} {:>14.3} {:>14.3} {theory:>10}  {verdict:4}  {}",
            r.name, r.measured, r.low, r.high, r.what
        );
    }
    out
}
