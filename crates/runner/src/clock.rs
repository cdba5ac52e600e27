// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only place of the command and of this crate that reads a clock. Results never depend on it;
//! costs and progress do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cemark_sim::{Config, Outcome, Progress, shards};

/// Wall-clock time since it was started.
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the cost line says how long the run took"
    )]
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// Seconds since then.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Runs `work` and returns the CPU seconds that this thread spent on it.
pub fn cpu_seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_time::ThreadTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Simulates one point on this number of threads; its outcome, and the CPU seconds of all of them.
/// `None` where `report` has abandoned it.
pub fn simulated(
    config: &Config,
    threads: usize,
    report: &mut dyn FnMut(Progress) -> bool,
) -> (Option<Outcome>, f64) {
    let threads = u32::try_from(threads).unwrap_or(u32::MAX);
    let spent = Mutex::new(0.0);
    let around = |work: &mut dyn FnMut()| {
        let ((), seconds) = cpu_seconds(work);
        *spent.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
    };
    let together = AtomicBool::new(true);
    let mut share = Share::new();
    let mut report = |progress: Progress| {
        if threads > 1 && share.is_small() {
            together.store(false, Ordering::Relaxed);
        }
        report(progress)
    };
    let outcome = shards::run_around(config, threads, threads, &mut report, &around, &together);
    (
        outcome,
        spent.into_inner().unwrap_or_else(PoisonError::into_inner),
    )
}

/// Which share of a core this thread gets.
struct Share {
    since: Stopwatch,
    before: f64,
}

impl Share {
    /// Seconds over which it is taken.
    const SPAN: f64 = 0.25;
    /// Below this, threads that wait for each other are slower than one.
    const LEAST: f64 = 0.75;

    fn new() -> Self {
        Share {
            since: Stopwatch::start(),
            before: thread_cpu_seconds(),
        }
    }

    /// Whether other programs had much of the core in the last span.
    fn is_small(&mut self) -> bool {
        let wall = self.since.seconds();
        if wall < Share::SPAN {
            return false;
        }
        let cpu = thread_cpu_seconds() - self.before;
        *self = Share::new();
        cpu < Share::LEAST * wall
    }
}

/// CPU seconds of this thread so far.
pub fn thread_cpu_seconds() -> f64 {
    cpu_time::ThreadTime::now().as_duration().as_secs_f64()
}
