// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only place of the command and of this crate that reads a clock. Results never depend on it;
//! costs and progress do.

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
    let outcome = shards::run_around(config, threads, threads, report, &around);
    (
        outcome,
        spent.into_inner().unwrap_or_else(PoisonError::into_inner),
    )
}

/// CPU seconds of this thread so far.
pub fn thread_cpu_seconds() -> f64 {
    cpu_time::ThreadTime::now().as_duration().as_secs_f64()
}
