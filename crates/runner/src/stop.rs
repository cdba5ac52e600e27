// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which points of a plan are simulated, in which order, and when there are enough. A rule neither
//! simulates nor stores: threads of this machine ([`crate::simulate()`]) and other processes
//! ([`crate::Handed`]) ask it.

use std::collections::VecDeque;
use std::path::Path;

use cemark_report::{Finished, share};
use cemark_scenario::Plan;

use crate::looks::Looks;
use crate::{Failure, Show};

/// The results of a plan, an entry for each point; `None` where there is none.
pub type Results = Vec<Option<Finished>>;

/// Says which points a run needs.
pub trait StopRule: Send + Sync {
    /// Points without a result, in the order in which they are simulated. The run may need only
    /// some of them.
    fn todo(&self) -> Vec<usize>;
    /// Considers the results of earlier sessions, before the first point is simulated.
    fn begins(&mut self, _plan: &Plan, _results: &mut Results, _show: &dyn Show) {}
    /// The next point to simulate. `None`: there is none until another has finished, or for good.
    fn next(&mut self) -> Option<usize>;
    /// Considers a point whose result is there and stored.
    fn finished(&mut self, plan: &Plan, results: &mut Results, point: usize, show: &dyn Show);
    /// Whether a point that is being simulated may still be needed.
    fn wants(&self, _point: usize) -> bool {
        true
    }
    /// Whether there are enough points.
    fn is_done(&self) -> bool;
    /// The number of finished points as a failure names it: `3 of 8 points are finished and kept`.
    fn kept(&self, finished: usize) -> String {
        format!("{finished} finished points are kept")
    }
}

/// A run that its rule has ended.
pub(super) struct Ended {
    /// The plan with the points that count.
    pub(super) plan: Plan,
    /// Results of these points, in its order.
    pub(super) finished: Vec<Finished>,
    /// How many of them were there before.
    pub(super) resumed: usize,
    /// Why it did not go on, if it was interrupted.
    pub(super) interrupted: Option<Failure>,
}

/// A rule of `cemark run`.
pub(super) trait Rule: StopRule {
    /// The results that count, once no further point is simulated.
    fn end(self: Box<Self>, plan: Plan, results: Results, dir: &Path) -> Result<Ended, Failure>;
}

/// The rule of a plan with the results that are there: its stated precision, or all of the points
/// in `wanted`, which is the whole plan or a part of it.
pub(super) fn rule(
    plan: &Plan,
    wanted: &[usize],
    is_whole: bool,
    results: &Results,
) -> Box<dyn Rule> {
    if let Some(precision) = &plan.precision {
        return Box::new(Looks::new(plan, precision, results));
    }
    let missing = wanted.iter().copied().filter(|i| results[*i].is_none());
    let todo = longest_first(plan, missing.collect());
    Box::new(All {
        wanted: wanted.len(),
        is_whole,
        missing: todo.len(),
        resumed: wanted.len() - todo.len(),
        todo: todo.into(),
    })
}

/// Every point that is wanted.
struct All {
    todo: VecDeque<usize>,
    wanted: usize,
    is_whole: bool,
    resumed: usize,
    /// How many have no result.
    missing: usize,
}

impl StopRule for All {
    fn todo(&self) -> Vec<usize> {
        self.todo.iter().copied().collect()
    }

    fn next(&mut self) -> Option<usize> {
        self.todo.pop_front()
    }

    fn finished(&mut self, _: &Plan, _: &mut Results, _: usize, _: &dyn Show) {
        self.missing -= 1;
    }

    fn is_done(&self) -> bool {
        self.missing == 0
    }

    fn kept(&self, finished: usize) -> String {
        format!("{finished} of {} points are finished and kept", self.wanted)
    }
}

impl Rule for All {
    fn end(
        self: Box<Self>,
        plan: Plan,
        mut results: Results,
        dir: &Path,
    ) -> Result<Ended, Failure> {
        if self.missing > 0 {
            return Err(Failure::Interrupted(format!(
                "interrupted: {} in {}; the same command continues from there",
                self.kept(self.wanted - self.missing),
                dir.display()
            )));
        }
        if self.is_whole {
            share(&plan, &mut results);
        }
        Ok(Ended {
            plan,
            finished: results.into_iter().flatten().collect(),
            resumed: self.resumed,
            interrupted: None,
        })
    }
}

/// Points with the longest first, so that the cores finish at about the same time.
pub fn longest_first(plan: &Plan, mut points: Vec<usize>) -> Vec<usize> {
    points.sort_by(|a, b| plan.points[*b].cost.total_cmp(&plan.points[*a].cost));
    points
}
