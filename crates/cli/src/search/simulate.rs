// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulates what a search asks for.

use std::path::Path;

use cemark_report::RunDir;
use cemark_runner::clock::Stopwatch;
use cemark_runner::marker::Watches;
use cemark_runner::{Cores, Results, Work};
use cemark_scenario::Plan;
use cemark_search::{Aim, Candidate, Found, Halving};

use crate::exit::{Failure, Stderr};
use crate::interrupt::stop_on_ctrl_c;
use crate::program::provenance;
use crate::run::Screen;

/// How a search is simulated.
pub(crate) struct Means<'a> {
    /// Directory of the points.
    pub out: &'a Path,
    /// Without the points of earlier sessions.
    pub fresh: bool,
    pub cores: Cores,
    /// Seconds after which no further point is begun.
    pub budget: f64,
    pub quiet: bool,
    /// Where markers of the user's report their faults.
    pub watches: &'a Watches,
}

/// Searches. Points are in the directory, from which the same search continues.
pub(crate) fn simulate(
    plan: &Plan,
    aim: &Aim,
    candidates: &[Candidate],
    base: usize,
    means: &Means<'_>,
) -> Result<Found, Failure> {
    let who = provenance();
    let dir = RunDir::open(means.out, plan, &who, means.fresh, &Stderr)?;
    let mut results: Results = vec![None; plan.points.len()];
    let watch = Stopwatch::start();
    let is_over = || watch.seconds() >= means.budget;
    let disk = (plan, &dir);
    let mut rule = Halving::new(aim, candidates, base, &is_over, disk, &Stderr, &mut results);
    let stop = stop_on_ctrl_c();
    let work = Work {
        plan,
        dir: &dir,
        watches: means.watches,
        cores: means.cores,
        anyway: false,
        stop: &stop,
    };
    cemark_runner::simulate(&work, &mut rule, &mut results, &Screen::new(means.quiet))?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Failure::Interrupted(format!(
            "interrupted: finished points are kept in {}; the same command continues from there",
            dir.path().display()
        )));
    }
    Ok(rule.end())
}
