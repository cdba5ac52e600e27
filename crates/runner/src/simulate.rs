// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulates a point, and stores it as it finishes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cemark_report::{Error, Finished, RunDir, pauses};
use cemark_scenario::{Plan, Point};
use cemark_sim::Progress as Step;

use crate::Failure;
use crate::clock::simulated;
use crate::marker::{self, Mistake, Watches};
use crate::threads::Threads;

/// Where points are simulated: stops everything once its flag says so, and at the first failure.
pub(super) struct Workshop<'a> {
    plan: &'a Plan,
    dir: &'a RunDir,
    watches: &'a Watches,
    threads: Threads,
    stop: Arc<AtomicBool>,
    trouble: Mutex<Option<Trouble<'a>>>,
}

/// First failure of a run.
enum Trouble<'a> {
    NotStored(Error),
    Deadlock(String),
    Marker(Mistake, &'a Point),
}

impl<'a> Workshop<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        dir: &'a RunDir,
        watches: &'a Watches,
        threads: Threads,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Workshop {
            plan,
            dir,
            watches,
            threads,
            stop,
            trouble: Mutex::new(None),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Simulates point `i` and stores it. `step` is told how far it is, and ends it by returning
    /// false. `None` where the point did not finish.
    pub(super) fn point(&self, i: usize, step: &dyn Fn(f64, u64) -> bool) -> Option<Finished> {
        let point = &self.plan.points[i];
        let mut goes_on =
            |s: Step| step(s.done, s.hops) && !self.stopped() && self.watches.mistake(i).is_none();
        let simulated = one(point, self.threads.of(i), &mut goes_on);
        if let Some(mistake) = self.watches.mistake(i) {
            self.fails(Trouble::Marker(mistake, point));
            return None;
        }
        let done = match simulated? {
            Ok(done) => done,
            Err(ring) => {
                self.fails(Trouble::Deadlock(ring));
                return None;
            }
        };
        match self.dir.store(point, &done) {
            Ok(()) => Some(done),
            Err(e) => {
                self.fails(Trouble::NotStored(e));
                None
            }
        }
    }

    /// Ends all points at their next step.
    pub(super) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn fails(&self, trouble: Trouble<'a>) {
        self.halt();
        lock(&self.trouble).get_or_insert(trouble);
    }

    /// Why not every point is finished, if something went wrong; `kept` says what is on disk.
    pub(super) fn failure(&self, kept: &str) -> Option<Failure> {
        Some(match lock(&self.trouble).take()? {
            Trouble::NotStored(e) => e.into(),
            Trouble::Deadlock(ring) => deadlocked(&ring),
            Trouble::Marker(mistake, point) => marker::failure(&mistake, point, kept),
        })
    }
}

/// Simulates one point on this number of threads. `goes_on` ends it by returning false; then the
/// answer is `None`. An error names the ring of ports that wait for each other.
pub(super) fn one(
    point: &Point,
    threads: usize,
    goes_on: &mut dyn FnMut(Step) -> bool,
) -> Option<Result<Finished, String>> {
    let (outcome, seconds) = simulated(&point.config, threads, goes_on);
    let outcome = outcome?;
    Some(match pauses::deadlock(point, &outcome) {
        Some(ring) => Err(ring),
        None => Ok(Finished::new(point, outcome, seconds)),
    })
}

/// The failure of a run in which ports wait for each other for ever.
pub(super) fn deadlocked(ring: &str) -> Failure {
    let help = pauses::DEADLOCK_HELP;
    Failure::Machine(miette::miette!(help = help, "{ring}"))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
