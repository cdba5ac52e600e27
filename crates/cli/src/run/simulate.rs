// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulates points in parallel and stores each as it finishes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cemark_conformance::Fault;
use cemark_report::{Finished, RunDir, pauses};
use cemark_scenario::{Plan, Point};
use cemark_sim::Progress as Step;
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::clock::cpu_seconds;
use crate::exit::Failure;
use crate::marker::{self, Watches};
use crate::progress::Progress;

/// What is simulated, and how.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// Most points at the same time.
    pub(super) jobs: Option<NonZeroUsize>,
    /// Without progress.
    pub(super) quiet: bool,
    /// The points that the run needs.
    pub(super) wanted: &'a [usize],
}

/// Simulates the missing points. A worker stores its point on disk before it takes the next one.
pub(super) fn simulate(
    plan: &Plan,
    dir: &RunDir,
    how: How<'_>,
    watches: &Watches,
    finished: &mut [Option<Finished>],
) -> Result<(), Failure> {
    let missing = how.wanted.iter().copied();
    let mut todo: Vec<usize> = missing.filter(|i| finished[*i].is_none()).collect();
    if todo.is_empty() {
        return Ok(());
    }
    // The longest point first, so that the cores finish at about the same time.
    todo.sort_by(|a, b| plan.points[*b].cost.total_cmp(&plan.points[*a].cost));
    let stop = stop_on_ctrl_c();
    let threads = threads(how.jobs, todo.len());
    let points: Vec<&Point> = todo.iter().map(|i| &plan.points[*i]).collect();
    let mut progress = Progress::new(&points, threads, how.quiet);
    let results = Mutex::new(Vec::new());
    let failure = Mutex::new(None);
    let deadlock = Mutex::new(None);
    let broken = Mutex::new(None);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Machine(miette::miette!("cannot start the threads: {e}")))?;
    pool.install(|| {
        todo.iter()
            .copied()
            .enumerate()
            .par_bridge()
            .for_each(|(place, i)| {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let point = &plan.points[i];
                progress.begins(place);
                let mut step = |s: Step| {
                    progress.at(place, s.done, s.hops);
                    !stop.load(Ordering::Relaxed) && watches.fault(i).is_none()
                };
                let (outcome, seconds) =
                    cpu_seconds(|| cemark_sim::run_with_progress(&point.config, &mut step));
                if let Some(fault) = watches.fault(i) {
                    stop.store(true, Ordering::Relaxed);
                    lock(&broken).get_or_insert((fault, point));
                    return;
                }
                let Some(outcome) = outcome else { return };
                if let Some(ring) = pauses::deadlock(point, &outcome) {
                    stop.store(true, Ordering::Relaxed);
                    lock(&deadlock).get_or_insert(ring);
                    return;
                }
                let done = Finished::new(point, outcome, seconds);
                match dir.store(point, &done) {
                    Ok(()) => {
                        progress.finished(place, done.summary.packet_hops);
                        lock(&results).push((i, done));
                    }
                    Err(e) => {
                        stop.store(true, Ordering::Relaxed);
                        lock(&failure).get_or_insert(e);
                    }
                }
            });
    });
    progress.clear();
    for (i, done) in lock(&results).drain(..) {
        finished[i] = Some(done);
    }
    if let Some(e) = lock(&failure).take() {
        return Err(e.into());
    }
    if let Some(ring) = lock(&deadlock).take() {
        let help = pauses::DEADLOCK_HELP;
        return Err(Failure::Machine(miette::miette!(help = help, "{ring}")));
    }
    let fault = lock(&broken).take();
    complete(finished, how.wanted.len(), dir, fault)
}

/// Succeeds if all points that are to be simulated are finished; otherwise says why not, and what
/// is kept.
fn complete(
    finished: &[Option<Finished>],
    wanted: usize,
    dir: &RunDir,
    fault: Option<(&Fault, &Point)>,
) -> Result<(), Failure> {
    let done = finished.iter().flatten().count();
    if done == wanted {
        return Ok(());
    }
    let kept = format!(
        "{done} of {wanted} points are finished and kept in {}",
        dir.path().display()
    );
    Err(match fault {
        Some((fault, point)) => marker::failure(fault, point, &kept),
        None => Failure::Interrupted(format!(
            "interrupted: {kept}; the same command continues from there"
        )),
    })
}

/// Threads for this number of points. More than one per core would only wait for each other.
pub(crate) fn threads(jobs: Option<NonZeroUsize>, points: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let wanted = jobs.map_or(cores, NonZeroUsize::get);
    wanted.min(cores).min(points).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The first Ctrl-C stops the points at their next progress report, the second one exits at once.
pub(crate) fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, presses) = (Arc::clone(&stop), AtomicU32::new(0));
    let handler = move || {
        flag.store(true, Ordering::Relaxed);
        if presses.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the process at once. Finished points are on disk anyway.
    let _ = ctrlc::set_handler(handler);
    stop
}
