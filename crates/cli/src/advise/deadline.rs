// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a run that may take so long and no longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Sets the flag of a run after a time, unless the value goes before.
pub(super) struct Deadline {
    passed: Arc<AtomicBool>,
    /// The thread ends when the other end of the channel goes.
    _alive: Sender<()>,
}

impl Deadline {
    pub fn after(seconds: f64, stop: &Arc<AtomicBool>) -> Deadline {
        let passed = Arc::new(AtomicBool::new(false));
        let (alive, gone) = channel();
        let (flag, stop) = (Arc::clone(&passed), Arc::clone(stop));
        std::thread::spawn(move || {
            let time = Duration::from_secs_f64(seconds);
            if gone.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
            }
        });
        Deadline {
            passed,
            _alive: alive,
        }
    }

    /// Whether the time is over.
    pub fn has_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }
}
