// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the best of several configurations with few simulations.
//!
//! Sequential halving (Karnin, Koren, Somekh, ICML 2013) over paired replications: all candidates
//! run the same flows, the worse half goes, and the others run twice as many. [`Halving`] is a rule
//! of the runner, so that points are stored, resumed and shared as those of every run. The best
//! candidate is then compared with the baseline on held-out replications: a difference on the
//! replications that chose the candidate would be biased.

mod aim;
mod found;
mod front;
mod halving;

pub use aim::{Aim, Bound, Done, Limit, Quantity, Refused};
pub use found::{Confirmed, End, Estimate, Found, Interval, Rung};
pub use halving::{Halving, MOST, replications};

/// A configuration that may be the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Name for people: `pst_target 40us`.
    pub name: String,
    /// Indices of its points in the plan, by replication. Points with one index in two candidates'
    /// lists have the same seed.
    pub points: Vec<usize>,
}
