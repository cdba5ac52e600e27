// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work in another thread, without Python's lock, while this thread looks at signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

/// Between two looks at signals and progress.
const LOOK: Duration = Duration::from_millis(100);

/// Result of the work, and the exception that Python raised meanwhile.
pub(crate) type Ended<T> = (T, Option<PyErr>);

/// Runs `work` in a thread, and calls `each` about ten times a second in this one. Ctrl-C and an
/// exception of `each` set `stop`, at which the work has to end soon.
pub(crate) fn patiently<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
    mut each: impl FnMut() -> PyResult<()>,
) -> PyResult<Ended<T>> {
    let mut raised = None;
    let result = std::thread::scope(|scope| {
        let (send, receive) = channel();
        scope.spawn(move || {
            // The receiver lives until it has this.
            let _ = send.send(work());
        });
        // A receiver is not shared between threads, so it goes to and fro.
        let mut receive = Some(receive);
        loop {
            let ours = receive.take()?;
            let (back, got) = py.detach(move || {
                let got = ours.recv_timeout(LOOK);
                (ours, got)
            });
            receive = Some(back);
            match got {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(e) = py.check_signals().and_then(|()| each()) {
                        stop.store(true, Ordering::Relaxed);
                        raised = Some(e);
                    }
                }
            }
        }
    });
    match result {
        Some(result) => Ok((result, raised)),
        None => Err(pyo3::exceptions::PyRuntimeError::new_err(
            "the simulation panicked; what it said is on standard error",
        )),
    }
}
