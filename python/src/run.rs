// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark.run`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use cemark_report::RunDir;
use cemark_runner::marker::{self, Consent};
use cemark_runner::{Cores, Failure, Order, provenance};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors;
use crate::own::{InPythonClass, of_name};
use crate::patience::patiently;
use crate::ran::Ran;
use crate::scenario::Source;
use crate::watching::{Progress, Watching};

/// A marker in Python: name, what makes one for a queue, hook, whether it wants to know when its
/// queue is empty.
type InPython = (String, Py<PyAny>, String, bool);

/// Simulates a scenario. `tick` is called about ten times a second in the calling thread with
/// (finished points, expected points, share of the work, packet-hops, notes).
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of the package's own")]
pub(crate) fn run(
    py: Python<'_>,
    source: &Source,
    out: Option<PathBuf>,
    jobs: Option<NonZeroUsize>,
    threads: Option<NonZeroUsize>,
    anyway: bool,
    fresh: bool,
    command: Vec<String>,
    tick: Option<Py<PyAny>>,
    markers: Vec<InPython>,
    allow_native: bool,
) -> PyResult<Ran> {
    let mut plan = source.plan(py)?;
    let raised = Arc::new(Mutex::new(None));
    let classes: Vec<InPythonClass> = markers
        .into_iter()
        .map(|(name, factory, hook, watches_empty)| {
            InPythonClass::new(name, factory, &hook, watches_empty, &raised)
        })
        .collect();
    let consent = Consent {
        native: allow_native,
        others: &|marker| of_name(&classes, &marker.name),
    };
    let watches = marker::load(&mut plan, &consent).map_err(|e| errors::of_failure(py, e))?;
    let stop = Arc::new(AtomicBool::new(false));
    let order = Order {
        out: out.unwrap_or_else(|| RunDir::default_path(&plan)),
        watches,
        part: None,
        cores: Cores { jobs, threads },
        anyway,
        fresh,
        who: provenance(command),
        stop: Arc::clone(&stop),
        plan,
    };
    let ran = watched(py, order, &stop, tick.as_ref()).map_err(|failed| {
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        match raised {
            Some(raised) => errors::of_marker(py, &failed, raised),
            None => failed,
        }
    })?;
    py.detach(|| Ran::new(ran))
        .map_err(|e| errors::of_failure(py, e))
}

/// Runs in threads without Python's lock, while this thread looks at signals and tells Python how
/// far it is. Ctrl-C and an exception in `tick` stop the points; finished ones are on disk.
fn watched(
    py: Python<'_>,
    order: Order,
    stop: &Arc<AtomicBool>,
    tick: Option<&Py<PyAny>>,
) -> PyResult<cemark_runner::Ran> {
    let watching = Watching::new(Arc::clone(stop));
    let work = || cemark_runner::run(order, &watching, &watching);
    let (result, raised) = patiently(py, stop, work, || told(py, tick, watching.progress()))?;
    match (result, raised) {
        (result, Some(e)) => {
            // Python's own exception of Ctrl-C says nothing.
            match result {
                Err(Failure::Interrupted(text)) if e.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    Err(errors::of_interrupt(py, &text))
                }
                _ => Err(e),
            }
        }
        (Ok(ran), None) => {
            told(py, tick, watching.progress())?;
            Ok(ran)
        }
        (Err(failure), None) => Err(errors::of_failure(py, failure)),
    }
}

/// Tells Python how far a run is.
pub(crate) fn told(py: Python<'_>, tick: Option<&Py<PyAny>>, p: Progress) -> PyResult<()> {
    if let Some(tick) = tick {
        tick.call1(py, (p.finished, p.points, p.done, p.hops, p.notes))?;
    }
    Ok(())
}
