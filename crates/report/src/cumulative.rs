// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cumulative distributions: the share of flows or of samples of queues up to each value, all
//! replications of a scheme together.

use cemark_sim::Outcome;

use crate::comparison::Group;
use crate::{Finished, stats};

/// Most points of a distribution: more cannot be told apart.
const POINTS: usize = 100;

/// A quantity with many values in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Completion times in microseconds.
    CompletionTime,
    /// Completion times over those of an empty network.
    Slowdown,
    /// Sampled lengths of the traced queues in bytes.
    QueueLength,
}

impl Quantity {
    /// All three, in the order of reports.
    pub const EACH: [Quantity; 3] = [
        Quantity::CompletionTime,
        Quantity::Slowdown,
        Quantity::QueueLength,
    ];

    /// Name of the quantity in files and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::CompletionTime => "fct",
            Quantity::Slowdown => "slowdown",
            Quantity::QueueLength => "queue-cdf",
        }
    }

    /// Label of its axis.
    pub fn label(self) -> &'static str {
        match self {
            Quantity::CompletionTime => "completion time",
            Quantity::Slowdown => "slowdown",
            Quantity::QueueLength => "queue length",
        }
    }

    /// The things that have a value each.
    pub fn subject(self) -> &'static str {
        match self {
            Quantity::CompletionTime | Quantity::Slowdown => "flows",
            Quantity::QueueLength => "samples",
        }
    }

    /// Whether values are above zero and differ by orders of magnitude.
    pub fn is_wide(self) -> bool {
        self != Quantity::QueueLength
    }

    fn values(self, outcome: &Outcome) -> Vec<f64> {
        let flows = outcome.flows.iter();
        match self {
            Quantity::CompletionTime => stats::fct_us(&outcome.flows, stats::SizeClass::All),
            Quantity::Slowdown => flows.filter_map(stats::slowdown).collect(),
            Quantity::QueueLength => {
                let samples = outcome.traces.iter().flat_map(|t| &t.samples);
                samples.map(|s| f64::from(s.bytes)).collect()
            }
        }
    }
}

/// Distribution of a quantity under a scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Cumulative {
    /// Label of the scheme.
    pub scheme: String,
    /// Values in rising order, the least and the largest among them.
    pub values: Vec<f64>,
    /// Share of all values up to each.
    pub shares: Vec<f64>,
}

/// Distributions of the schemes that have values, in the order of the group.
pub fn of_group(finished: &[Finished], group: &Group, quantity: Quantity) -> Vec<Cumulative> {
    let of_row = |row: &crate::Row| {
        let outcomes = row.points.iter().map(|i| &finished[*i].outcome);
        let values = outcomes.flat_map(|outcome| quantity.values(outcome));
        of_values(&row.scheme, values.collect())
    };
    group.rows.iter().filter_map(of_row).collect()
}

fn of_values(scheme: &str, mut values: Vec<f64>) -> Option<Cumulative> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let places = (0..POINTS).map(|i| (i * last + (POINTS - 1) / 2) / (POINTS - 1));
    // Of equal values the last one has the share of all up to it.
    let up_to = |value: f64| values.partition_point(|other| *other <= value);
    let mut counts: Vec<usize> = places.map(|place| up_to(values[place])).collect();
    counts.dedup();
    Some(Cumulative {
        scheme: scheme.to_owned(),
        values: counts.iter().map(|n| values[n - 1]).collect(),
        shares: counts
            .iter()
            .map(|n| *n as f64 / values.len() as f64)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_goes_from_the_least_to_the_largest_value() {
        let few = of_values("a", vec![3.0, 1.0, 2.0, 4.0]).expect("values");
        assert_eq!(few.values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(few.shares, [0.25, 0.5, 0.75, 1.0]);
        let many = of_values("a", (0..5000).rev().map(f64::from).collect()).expect("values");
        assert_eq!(many.values.len(), POINTS);
        assert_eq!((many.values[0], many.values[POINTS - 1]), (0.0, 4999.0));
        for (value, share) in many.values.iter().zip(&many.shares) {
            assert_eq!(*share, (value + 1.0) / 5000.0);
        }
        let equal = of_values("a", vec![0.0, 5.0, 0.0, 0.0]).expect("values");
        assert_eq!(
            (equal.values, equal.shares),
            (vec![0.0, 5.0], vec![0.75, 1.0])
        );
        assert_eq!(of_values("a", Vec::new()), None);
    }
}
