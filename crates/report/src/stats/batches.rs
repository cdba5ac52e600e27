// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interval of a mean where there are too few seeds: from the run itself, cut into batches.
//!
//! Flows that run at the same time share queues, so the differences of neighbours are correlated
//! and a run contains less information than its number of flows suggests. A batch contains
//! neighbours in order of start. Batches are much less correlated than flows, since most of what
//! flows share is inside one batch. How long a batch has to be depends on the load and on the
//! largest flows, so runs are cut in three ways, and the widest of the three intervals is used.
//! `cargo xtask proof coverage` measures how often these intervals contain the truth.

use super::student::{ALPHA, t_two_sided};

/// Into how many batches a run is cut.
const CUTS: [usize; 3] = [5, 10, 20];

/// The fewest pairs of a run that is cut: five in each batch of the finest cut.
pub const FEWEST: usize = 100;

/// Half the 95 % interval of `percent`, the mean over runs of the percent by which the scheme's
/// mean is above the baseline's. Pairs are in order of start. `None` where a run has fewer than
/// [`FEWEST`].
pub(super) fn half(runs: &[&[(f64, f64)]], percent: f64) -> Option<f64> {
    if runs.iter().any(|pairs| pairs.len() < FEWEST) {
        return None;
    }
    CUTS.iter()
        .map(|batches| half_by(runs, percent, *batches))
        .reduce(f64::max)
}

/// Student's t over the batches of all runs. The value of a batch is what it adds to its run's
/// difference beyond `percent`.
fn half_by(runs: &[&[(f64, f64)]], percent: f64, batches: usize) -> f64 {
    let ratio = 1.0 + percent / 100.0;
    let mut squares = 0.0;
    for pairs in runs {
        let of_run: f64 = pairs.iter().map(|p| p.0).sum();
        for batch in 0..batches {
            let (from, to) = (
                batch * pairs.len() / batches,
                (batch + 1) * pairs.len() / batches,
            );
            let beyond: f64 = pairs[from..to].iter().map(|(b, s)| s - ratio * b).sum();
            squares += (100.0 * batches as f64 * beyond / of_run).powi(2);
        }
    }
    let n = (batches * runs.len()) as f64;
    t_two_sided(ALPHA, batches * runs.len() - 1) * (squares / ((n - 1.0) * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of equal parts, each with its own factor.
    fn run(factors: &[f64], flows: usize) -> Vec<(f64, f64)> {
        (0..flows)
            .map(|i| (100.0, 100.0 * factors[i * factors.len() / flows]))
            .collect()
    }

    #[test]
    fn the_batches_of_a_run_are_students_sample() {
        // Fifths at 8 to 12 % above: 10 % with a standard error of sqrt(2.5 / 5), and t of four
        // degrees is 2.7764. Finer cuts see the same five values more often and are surer.
        let fifths = run(&[1.08, 1.09, 1.10, 1.11, 1.12], 200);
        let h = half(&[&fifths], 10.0).unwrap();
        assert!((h - 2.7764 * 0.5_f64.sqrt()).abs() < 1e-9, "{h}");
        // Two such runs, one 2 % higher: ten values around 11 %, of squares 2 (10 + 5).
        let other = run(&[1.10, 1.11, 1.12, 1.13, 1.14], 200);
        let h = half(&[&fifths, &other], 11.0).unwrap();
        assert!((h - 2.2622 * (30.0 / 90.0_f64).sqrt()).abs() < 1e-9, "{h}");
    }

    #[test]
    fn what_alternates_quickly_is_seen_by_the_finest_cut() {
        // Twentieths of +1 and -1 cancel in tenths and fifths (but for the odd one out).
        let factors: Vec<f64> = (0..20)
            .map(|i| if i % 2 == 0 { 1.01 } else { 0.99 })
            .collect();
        let h = half(&[&run(&factors, 400)], 0.0).unwrap();
        assert!(
            (h - 2.0930 * (20.0 / (19.0 * 20.0_f64)).sqrt()).abs() < 1e-9,
            "{h}"
        );
    }

    #[test]
    fn a_batch_holds_five_flows_at_least() {
        assert!(half(&[&run(&[1.1], 100)], 10.0).is_some());
        assert_eq!(half(&[&run(&[1.1], 99)], 10.0), None);
        assert_eq!(
            half(&[&run(&[1.1], 500), &run(&[1.1], 99)], 10.0),
            None,
            "each run needs them"
        );
    }
}
