// SPDX-License-Identifier: MIT OR Apache-2.0
//! The looks of a run with a stated precision: when there is one, what it finds, and which points
//! are left at the end. Who simulates the points, and where, is not said here.

use std::path::Path;

use cemark_report::comparison::precision::Standing;
use cemark_report::rundir::share;
use cemark_report::{Comparisons, Finished, Group};
use cemark_scenario::{Plan, Precision, visible};

use crate::schedule::Schedule;
use crate::{Failure, Show};

/// What a run with a stated precision leaves.
pub(super) struct Looked {
    /// The plan with the points up to the last look of each block.
    pub(super) plan: Plan,
    /// Those points.
    pub(super) finished: Vec<Finished>,
    /// How many of them were there before.
    pub(super) resumed: usize,
    /// Why it did not go on, if it was interrupted.
    pub(super) interrupted: Option<Failure>,
}

/// The state of such a run.
pub(super) struct Looks {
    pub(super) schedule: Schedule,
    finished: Vec<Option<Finished>>,
    /// Points that were there at the beginning.
    kept: Vec<bool>,
    /// The last look of each block.
    groups: Vec<Option<Group>>,
}

impl Looks {
    /// Of a plan with the results that are there, an entry for each point. Looks wherever that is
    /// possible already; `threads` simulate.
    pub(super) fn begin(
        plan: &Plan,
        precision: &Precision,
        finished: Vec<Option<Finished>>,
        threads: usize,
        show: &dyn Show,
    ) -> Self {
        let kept: Vec<bool> = finished.iter().map(Option::is_some).collect();
        let first = plan.simulated_as();
        let missing = (0..kept.len()).filter(|i| first[*i] == *i && !kept[*i]);
        let missing: Vec<usize> = missing.collect();
        show.starts(plan, &missing, threads);
        let mut looks = Looks {
            schedule: Schedule::new(plan, precision, kept.clone()),
            groups: vec![None; plan.blocks().len()],
            finished,
            kept,
        };
        show.expects(&looks.schedule.expected());
        looks.look(plan, show);
        looks
    }

    /// Whether a point has its result.
    pub(super) fn has(&self, point: usize) -> bool {
        self.finished[point].is_some()
    }

    /// A point is finished and stored.
    pub(super) fn finished(&mut self, plan: &Plan, point: usize, done: Finished, show: &dyn Show) {
        self.schedule.finished(point);
        show.finished(point, done.summary.packet_hops);
        self.finished[point] = Some(done);
        self.look(plan, show);
    }

    /// Looks wherever all points of a look are finished.
    fn look(&mut self, plan: &Plan, show: &dyn Show) {
        while let Some((block, points)) = self.schedule.to_look() {
            let part = plan.only(&points);
            let of = |i: &usize| self.finished[self.schedule.simulated_as(*i)].as_ref();
            let finished: Vec<&Finished> = points.iter().filter_map(of).collect();
            let group = Comparisons::of(&part, &finished).groups.swap_remove(0);
            let standing = group.standing.clone();
            let standing = standing.expect("the plan states a precision");
            let note = line(&group, &standing);
            self.schedule.looked(block, standing);
            self.groups[block] = Some(group);
            show.expects(&self.schedule.expected());
            show.looks(plan, &self.groups, block, &note);
        }
    }

    /// The points up to the last looks, in the order of the plan. `failure` answers why not every
    /// point is finished, given a text that says what is on disk.
    pub(super) fn end(
        mut self,
        plan: &Plan,
        dir: &Path,
        failure: impl FnOnce(&str) -> Option<Failure>,
    ) -> Result<Looked, Failure> {
        let done = self.finished.iter().flatten().count();
        let on_disk = format!("{done} finished points are kept in {}", dir.display());
        if let Some(failure) = failure(&on_disk) {
            return Err(failure);
        }
        let interrupted = (!self.schedule.is_done()).then(|| {
            Failure::Interrupted(format!(
                "interrupted before the precision was reached: {on_disk}; the same command \
                 continues from there"
            ))
        });
        let points = self.schedule.looked_at();
        if let Some(failure) = interrupted.as_ref().filter(|_| points.is_empty()) {
            let Failure::Interrupted(text) = failure else {
                unreachable!("it is made above");
            };
            return Err(Failure::Interrupted(text.clone()));
        }
        let plan = plan.only(&points);
        let resumed = plan
            .simulated_as()
            .into_iter()
            .enumerate()
            .filter(|(i, first)| i == first && self.kept[self.schedule.simulated_as(points[*i])]);
        Ok(Looked {
            resumed: resumed.count(),
            finished: self.results(&plan, &points),
            plan,
            interrupted,
        })
    }

    /// The result of each point of a plan, by the indices of its points in the whole plan.
    fn results(&mut self, plan: &Plan, points: &[usize]) -> Vec<Finished> {
        let mut results: Vec<Option<Finished>> = vec![None; points.len()];
        for (i, first) in plan.simulated_as().into_iter().enumerate() {
            let simulated = self.schedule.simulated_as(points[i]);
            if first != i {
                continue;
            }
            // Another block, which has stopped earlier, may have simulated it as its own.
            results[i] = match simulated == points[i] {
                true => self.finished[simulated].take(),
                false => self.finished[simulated]
                    .take()
                    .map(|f| Finished::new(&plan.points[i], f.outcome, f.summary.cpu_seconds)),
            };
        }
        share(plan, &mut results);
        results.into_iter().flatten().collect()
    }
}

/// What is said after a look: `load 0.9: 6 replications: short mean ±1.7 points (asked ±5)`.
fn line(group: &Group, standing: &Standing) -> String {
    match group.title() {
        title if title.is_empty() => standing.brief(),
        title => format!("{}: {}", visible(&title), standing.brief()),
    }
}
