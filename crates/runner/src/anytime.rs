// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with a stated precision: replications are added, look by look, until the intervals are as
//! narrow as asked.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cemark_report::comparison::precision::Standing;
use cemark_report::rundir::share;
use cemark_report::{Comparisons, Finished, Group};
use cemark_scenario::{Plan, Precision, visible};

use crate::schedule::Schedule;
use crate::simulate::{How, Workshop, pool, threads};
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

/// Simulates what is missing. `finished` holds the points that are on disk.
pub(super) fn simulate(
    shop: &Workshop<'_>,
    precision: &Precision,
    how: How<'_>,
    finished: Vec<Option<Finished>>,
) -> Result<Looked, Failure> {
    let plan = shop.plan;
    let kept: Vec<bool> = finished.iter().map(Option::is_some).collect();
    let first = plan.simulated_as();
    let missing = (0..kept.len()).filter(|i| first[*i] == *i && !kept[*i]);
    let missing: Vec<usize> = missing.collect();
    how.show
        .starts(plan, &missing, threads(how.jobs, plan.points.len()));
    let mut run = Run {
        schedule: Schedule::new(plan, precision, kept.clone()),
        groups: vec![None; plan.blocks().len()],
        show: how.show,
        finished,
        plan,
        working: 0,
    };
    run.show.expects(&run.schedule.expected());
    run.look();
    if !run.schedule.is_done() {
        let shared = Shared {
            run: Mutex::new(run),
            changed: Condvar::new(),
        };
        let pool = pool(how.jobs, plan.points.len())?;
        pool.broadcast(|_| shared.work(shop));
        run = shared
            .run
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
    }
    run.show.ends();
    run.end(shop, &kept)
}

/// What the threads share.
struct Shared<'a> {
    run: Mutex<Run<'a>>,
    /// A point has ended, so there may be other points to take.
    changed: Condvar,
}

struct Run<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    finished: Vec<Option<Finished>>,
    /// The last look of each block.
    groups: Vec<Option<Group>>,
    show: &'a dyn Show,
    /// Points that are being simulated.
    working: usize,
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, Run<'a>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one thread does.
    fn work(&self, shop: &Workshop) {
        while let Some(point) = self.take(shop) {
            let step = |done, hops| {
                let run = self.lock();
                run.show.at(point, done, hops);
                run.schedule.wants(point)
            };
            let done = shop.point(point, &step);
            let mut run = self.lock();
            run.working -= 1;
            if let Some(done) = done {
                run.schedule.finished(point);
                run.show.finished(point, done.summary.packet_hops);
                run.finished[point] = Some(done);
                run.look();
            }
            drop(run);
            self.changed.notify_all();
        }
    }

    /// The next point; waits where there may be one when another thread has finished. `None` at
    /// the end.
    fn take(&self, shop: &Workshop) -> Option<usize> {
        let mut run = self.lock();
        loop {
            if shop.stopped() || run.schedule.is_done() {
                return None;
            }
            if let Some(point) = run.schedule.next() {
                run.working += 1;
                run.show.begins(point);
                return Some(point);
            }
            if run.working == 0 {
                return None;
            }
            run = self
                .changed
                .wait(run)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Run<'_> {
    /// Looks wherever all points of a look are finished.
    fn look(&mut self) {
        while let Some((block, points)) = self.schedule.to_look() {
            let plan = self.plan.only(&points);
            let of = |i: &usize| self.finished[self.schedule.simulated_as(*i)].as_ref();
            let finished: Vec<&Finished> = points.iter().filter_map(of).collect();
            let group = Comparisons::of(&plan, &finished).groups.swap_remove(0);
            let standing = group.standing.clone();
            let standing = standing.expect("the plan states a precision");
            let note = line(&group, &standing);
            self.schedule.looked(block, standing);
            self.groups[block] = Some(group);
            self.show.expects(&self.schedule.expected());
            self.show.looks(self.plan, &self.groups, block, &note);
        }
    }

    /// The points up to the last looks, in the order of the plan.
    fn end(mut self, shop: &Workshop, kept: &[bool]) -> Result<Looked, Failure> {
        let done = self.finished.iter().flatten().count();
        let dir = shop.dir.path().display();
        let on_disk = format!("{done} finished points are kept in {dir}");
        if let Some(failure) = shop.failure(&on_disk) {
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
        let plan = self.plan.only(&points);
        let resumed = plan
            .simulated_as()
            .into_iter()
            .enumerate()
            .filter(|(i, first)| i == first && kept[self.schedule.simulated_as(points[*i])]);
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
