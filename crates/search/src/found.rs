// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a search.

use cemark_report::stats::Comparison;

/// Estimates of a candidate from the replications that choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Replications.
    pub replications: u32,
    /// The goal's mean, in the unit of its metric.
    pub value: Option<f64>,
    /// The goal's difference from the baseline in percent.
    pub percent: Option<f64>,
    /// The difference of each bound's quantity from the baseline in percent.
    pub bounds: Vec<Option<f64>>,
    /// The mean of each bound's quantity.
    pub bound_values: Vec<Option<f64>>,
    /// By how much the worst bound is exceeded; zero or less where all hold.
    pub excess: f64,
    /// Whether no other candidate is as good in goal and bounds, and better in one.
    pub is_on_front: bool,
}

impl Estimate {
    /// Whether every bound holds.
    pub fn holds(&self) -> bool {
        self.excess <= 0.0
    }
}

/// Candidates that went on after a number of replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// Replications of each candidate.
    pub replications: u32,
    /// Candidates that were compared.
    pub tried: usize,
    /// Candidates that went on.
    pub kept: usize,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean over replications.
    pub mean: f64,
    /// Lower and upper end.
    pub ends: Option<(f64, f64)>,
}

/// The best candidate against the baseline, on held-out replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// Replications.
    pub replications: u32,
    /// The goal's difference.
    pub goal: Option<Comparison>,
    /// The difference of each bound's quantity.
    pub bounds: Vec<Option<Comparison>>,
    /// The value of each bound's quantity.
    pub bound_values: Vec<Option<Interval>>,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Goal and bounds of the best candidate are decided or known as narrowly as asked.
    Known,
    /// There are no more replications.
    NoMore,
    /// The time is over; the search needs this many CPU seconds more, by what points took.
    Spent {
        /// CPU seconds.
        lacks: f64,
    },
}

/// Findings of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Estimates by candidate, the baseline's among them.
    pub estimates: Vec<Estimate>,
    /// The rounds.
    pub rungs: Vec<Rung>,
    /// The best candidate but the baseline; `None` where not even the first round was finished.
    pub best: Option<usize>,
    /// The best candidate's difference; `None` where no such replication has finished.
    pub confirmed: Option<Confirmed>,
    /// Why the search has ended.
    pub end: End,
    /// CPU seconds of all points, of earlier sessions too.
    pub cpu_seconds: f64,
    /// Points simulated.
    pub points: usize,
}
