// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only place of the command and of this crate that reads a clock. Results never depend on it;
//! costs and progress do.

use std::time::Instant;

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

/// CPU seconds of this thread so far.
pub fn thread_cpu_seconds() -> f64 {
    cpu_time::ThreadTime::now().as_duration().as_secs_f64()
}
