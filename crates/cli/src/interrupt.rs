// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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
