// SPDX-License-Identifier: MIT OR Apache-2.0
//! The looks of a run with a stated precision: when there is one, what it finds, and which points
//! are left at the end. Who simulates the points, and where, is not said here.

use std::path::Path;

use cemark_report::comparison::precision::Standing;
use cemark_report::rundir::share;
use cemark_report::{Comparisons, Finished, Group};
use cemark_scenario::{Plan, Precision, visible};

use crate::schedule::Schedule;
use crate::stop::{Ended, Rule};
use crate::{Failure, Results, Show, StopRule};

/// The rule of a run with a stated precision.
pub(super) struct Looks {
    schedule: Schedule,
    /// Points that were there at the beginning.
    kept: Vec<bool>,
    /// The last look of each block.
    groups: Vec<Option<Group>>,
}

impl StopRule for Looks {
    fn todo(&self) -> Vec<usize> {
        let missing = self.kept.iter().enumerate();
        let missing = missing.filter(|(i, kept)| !**kept && self.schedule.simulated_as(*i) == *i);
        missing.map(|(i, _)| i).collect()
    }

    fn begins(&mut self, plan: &Plan, results: &mut Results, show: &dyn Show) {
        self.expect(show);
        self.look(plan, results, show);
    }

    fn next(&mut self) -> Option<usize> {
        self.schedule.next()
    }

    fn finished(&mut self, plan: &Plan, results: &mut Results, point: usize, show: &dyn Show) {
        self.schedule.finished(point);
        self.look(plan, results, show);
    }

    fn wants(&self, point: usize) -> bool {
        self.schedule.wants(point)
    }

    fn is_done(&self) -> bool {
        self.schedule.is_done()
    }
}

impl Looks {
    /// The rule of a plan with the results that are there.
    pub(super) fn new(plan: &Plan, precision: &Precision, results: &Results) -> Self {
        let kept: Vec<bool> = results.iter().map(Option::is_some).collect();
        Looks {
            schedule: Schedule::new(plan, precision, kept.clone()),
            groups: vec![None; plan.blocks().len()],
            kept,
        }
    }

    /// Names the points that will probably be needed, without those of earlier sessions.
    fn expect(&self, show: &dyn Show) {
        let mut points = self.schedule.expected();
        points.retain(|i| !self.kept[*i]);
        show.expects(&points);
    }

    /// Looks wherever all points of a look are finished.
    fn look(&mut self, plan: &Plan, results: &Results, show: &dyn Show) {
        while let Some((block, points)) = self.schedule.to_look() {
            let part = plan.only(&points);
            let of = |i: &usize| results[self.schedule.simulated_as(*i)].as_ref();
            let finished: Vec<&Finished> = points.iter().filter_map(of).collect();
            let group = Comparisons::of(&part, &finished).groups.swap_remove(0);
            let standing = group.standing.clone();
            let standing = standing.expect("the plan states a precision");
            let note = line(&group, &standing);
            self.schedule.looked(block, standing);
            self.groups[block] = Some(group);
            self.expect(show);
            show.looks(plan, &self.groups, block, &note);
        }
    }

    /// The result of each point of a plan, by the indices of its points in the whole plan.
    fn results(&self, plan: &Plan, points: &[usize], mut all: Results) -> Vec<Finished> {
        let mut results: Results = vec![None; points.len()];
        for (i, first) in plan.simulated_as().into_iter().enumerate() {
            let simulated = self.schedule.simulated_as(points[i]);
            if first != i {
                continue;
            }
            // Another block, which has stopped earlier, may have simulated it as its own.
            results[i] = match simulated == points[i] {
                true => all[simulated].take(),
                false => all[simulated]
                    .take()
                    .map(|f| Finished::new(&plan.points[i], f.outcome, f.summary.cpu_seconds)),
            };
        }
        share(plan, &mut results);
        results.into_iter().flatten().collect()
    }
}

impl Rule for Looks {
    /// The points up to the last looks, in the order of the plan.
    fn end(self: Box<Self>, plan: Plan, results: Results, dir: &Path) -> Result<Ended, Failure> {
        let mut interrupted = None;
        let points = self.schedule.looked_at();
        if !self.schedule.is_done() {
            let failure = Failure::Interrupted(format!(
                "interrupted before the precision was reached: {} in {}; the same command \
                 continues from there",
                self.kept(results.iter().flatten().count()),
                dir.display()
            ));
            if points.is_empty() {
                return Err(failure);
            }
            interrupted = Some(failure);
        }
        let plan = plan.only(&points);
        let resumed = plan
            .simulated_as()
            .into_iter()
            .enumerate()
            .filter(|(i, first)| i == first && self.kept[self.schedule.simulated_as(points[*i])]);
        Ok(Ended {
            resumed: resumed.count(),
            finished: self.results(&plan, &points, results),
            plan,
            interrupted,
        })
    }
}

/// Message after a look: `load 0.9: 6 replications: short mean ±1.7 points (asked ±5)`.
fn line(group: &Group, standing: &Standing) -> String {
    match group.title() {
        title if title.is_empty() => standing.brief(),
        title => format!("{}: {}", visible(&title), standing.brief()),
    }
}
