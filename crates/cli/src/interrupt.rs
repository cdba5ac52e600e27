// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to stop a run: Ctrl-C, and a pipe on standard error whose reader has ended.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// The flag of this process's run, once it has one.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Stops the run of this process, if it has one, as the first Ctrl-C does.
pub(crate) fn stop() {
    if let Some(flag) = STOP.get() {
        flag.store(true, Ordering::Relaxed);
    }
}

/// The first Ctrl-C stops the points at their next progress report, the second one exits at once.
pub(crate) fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
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
