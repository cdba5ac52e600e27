// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with a stated precision on the cores of this machine: replications are added, look by
//! look, until the intervals are as narrow as asked.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cemark_report::Finished;
use cemark_scenario::{Plan, Precision};

use crate::looks::{Looked, Looks};
use crate::simulate::{How, Workshop, pool};
use crate::{Failure, Show};

/// Simulates what is missing. `finished` holds the points that are on disk.
pub(super) fn simulate(
    shop: &Workshop<'_>,
    precision: &Precision,
    how: How<'_>,
    finished: Vec<Option<Finished>>,
) -> Result<Looked, Failure> {
    let plan = shop.plan;
    let mut run = Run {
        looks: Looks::begin(plan, precision, finished, how.points, how.show),
        show: how.show,
        plan,
        working: 0,
    };
    if !run.looks.schedule.is_done() {
        let shared = Shared {
            run: Mutex::new(run),
            changed: Condvar::new(),
        };
        let pool = pool(how.points)?;
        pool.broadcast(|_| shared.work(shop));
        run = shared
            .run
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
    }
    run.show.ends();
    run.looks
        .end(plan, shop.dir.path(), |on_disk| shop.failure(on_disk))
}

/// What the threads share.
struct Shared<'a> {
    run: Mutex<Run<'a>>,
    /// A point has ended, so there may be other points to take.
    changed: Condvar,
}

struct Run<'a> {
    plan: &'a Plan,
    looks: Looks,
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
                run.looks.schedule.wants(point)
            };
            let done = shop.point(point, &step);
            let mut run = self.lock();
            run.working -= 1;
            if let Some(done) = done {
                let (plan, show) = (run.plan, run.show);
                run.looks.finished(plan, point, done, show);
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
            if shop.stopped() || run.looks.schedule.is_done() {
                return None;
            }
            if let Some(point) = run.looks.schedule.next() {
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
