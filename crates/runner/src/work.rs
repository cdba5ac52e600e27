// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that simulate the points of a run, until its rule has enough.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use cemark_report::{Finished, RunDir};
use cemark_scenario::Plan;

use crate::marker::Watches;
use crate::simulate::{Workshop, lock};
use crate::threads::Threads;
use crate::{Cores, Failure, Results, Show, StopRule};

/// Points to simulate, their directory, and the means.
pub struct Work<'a> {
    /// The points.
    pub plan: &'a Plan,
    /// Where each point is stored.
    pub dir: &'a RunDir,
    /// Where markers of the user's report their faults.
    pub watches: &'a Watches,
    /// How it uses the cores.
    pub cores: Cores,
    /// Even if there seems to be too little memory.
    pub anyway: bool,
    /// Ends the work once it is true.
    pub stop: &'a Arc<AtomicBool>,
}

/// Simulates the points that the rule asks for, until it has enough, asks for no more, or the flag
/// ends the work. Each point is in the directory and in `results` as soon as it is finished.
///
/// # Errors
/// Mistakes of the plan's author, and failures of the machine. Finished points stay on disk.
pub fn simulate(
    work: &Work<'_>,
    rule: &mut dyn StopRule,
    results: &mut Results,
    show: &dyn Show,
) -> Result<(), Failure> {
    let todo = rule.todo();
    // Results of earlier sessions take memory as well.
    let held = results.iter().enumerate().filter(|(_, r)| r.is_some());
    let mut wanted: Vec<usize> = held.map(|(i, _)| i).chain(todo.iter().copied()).collect();
    wanted.sort_unstable();
    let threads = Threads::new(work.plan, &wanted, &todo, work.cores, work.anyway)?;
    if let Some(note) = &threads.note {
        show.notes(note);
    }
    let points = threads.points;
    show.starts(work.plan, &todo, points);
    rule.begins(work.plan, results, show);
    let stop = Arc::clone(work.stop);
    let shop = Workshop::new(work.plan, work.dir, work.watches, threads, stop);
    let shared = Shared {
        run: Mutex::new(Run {
            plan: work.plan,
            rule,
            results,
            show,
            working: 0,
        }),
        changed: Condvar::new(),
    };
    if !shared.lock().rule.is_done() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(points).build();
        let pool =
            pool.map_err(|e| Failure::Machine(miette::miette!("cannot start the threads: {e}")))?;
        pool.broadcast(|_| shared.work(&shop));
    }
    show.ends();
    let run = shared.lock();
    let finished = run.results.iter().flatten().count();
    let kept = format!(
        "{} in {}",
        run.rule.kept(finished),
        work.dir.path().display()
    );
    shop.failure(&kept).map_or(Ok(()), Err)
}

/// Stores the result of a point, and tells the rule.
pub(super) fn record(
    plan: &Plan,
    show: &dyn Show,
    rule: &mut dyn StopRule,
    results: &mut Results,
    point: usize,
    done: Finished,
) {
    show.finished(point, done.summary.packet_hops);
    results[point] = Some(done);
    rule.finished(plan, results, point, show);
}

/// Ends the work of all threads where one panics: none may wait for a point that never ends.
struct EndByPanic<'s, 'a> {
    shared: &'s Shared<'a>,
    shop: &'s Workshop<'a>,
}

impl Drop for EndByPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A thread that is about to wait holds the lock.
            let _run = self.shared.lock();
            self.shop.halt();
            self.shared.changed.notify_all();
        }
    }
}

/// State that the threads share.
struct Shared<'a> {
    run: Mutex<Run<'a>>,
    /// A point has ended, so there may be other points to take.
    changed: Condvar,
}

struct Run<'a> {
    plan: &'a Plan,
    rule: &'a mut dyn StopRule,
    results: &'a mut Results,
    show: &'a dyn Show,
    /// Points that are being simulated.
    working: usize,
}

impl<'a> Shared<'a> {
    fn lock(&self) -> MutexGuard<'_, Run<'a>> {
        lock(&self.run)
    }

    /// Takes points and simulates them.
    fn work(&self, shop: &Workshop<'a>) {
        let _end = EndByPanic { shared: self, shop };
        while let Some(point) = self.take(shop) {
            let step = |done, hops| {
                let run = self.lock();
                run.show.at(point, done, hops);
                run.rule.wants(point)
            };
            let done = shop.point(point, &step);
            let run = &mut *self.lock();
            run.working -= 1;
            if let Some(done) = done {
                let (rule, results) = (&mut *run.rule, &mut *run.results);
                record(run.plan, run.show, rule, results, point, done);
            }
            self.changed.notify_all();
        }
    }

    /// The next point; waits where there may be one when another thread has finished. `None` at
    /// the end.
    fn take(&self, shop: &Workshop) -> Option<usize> {
        let mut run = self.lock();
        loop {
            if shop.stopped() || run.rule.is_done() {
                return None;
            }
            if let Some(point) = run.rule.next() {
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
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}
