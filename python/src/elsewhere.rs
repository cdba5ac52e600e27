// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run whose points are simulated by other processes (`cemark/_ray.py`): both of its ends.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cemark_report::RunDir;
use cemark_report::summary::hex;
use cemark_runner::marker::{self, Consent, Watches};
use cemark_runner::{Cores, Failure, Order, SIMULATOR, Sent, provenance};
use cemark_scenario::OwnMarker;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::patience::patiently;
use crate::ran::Ran;
use crate::run::told;
use crate::scenario::Source;
use crate::watching::Watching;

/// The digest of the scenario that a point or a manifest belongs to; `None` where the bytes are not
/// as cemark wrote them.
#[pyfunction]
pub(crate) fn scenario_of(py: Python<'_>, document: &[u8]) -> Option<String> {
    py.detach(|| cemark_report::rundir::scenario_of(document.to_vec()))
}

/// See [`Handed::spec`].
type Spec = (
    String,
    String,
    String,
    String,
    Vec<(String, Cow<'static, [u8]>)>,
);

/// The end that hands points out and stores what comes back, until it has finished.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Handed {
    inner: Mutex<Option<cemark_runner::Handed>>,
    /// Where relative paths in the scenario start.
    folder: PathBuf,
    /// Progress that Python is told; `None` where the command shows how far it is.
    watching: Option<Arc<Watching>>,
}

/// Opens the run directory of a scenario whose points are simulated elsewhere, `at_once` at a time.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of the package's own")]
pub(crate) fn hand(
    py: Python<'_>,
    source: &Source,
    out: Option<PathBuf>,
    anyway: bool,
    fresh: bool,
    command: Vec<String>,
    at_once: usize,
    allow_native: bool,
) -> PyResult<Handed> {
    let mut plan = source.plan(py)?;
    // The head of the cluster runs no code, but refuses what nodes would refuse.
    if plan.markers.iter().all(|marker| marker.form().is_some()) {
        let consent = Consent::of_files(allow_native);
        marker::load(&mut plan, &consent).map_err(|e| errors::of_failure(py, e))?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let watching = Arc::new(Watching::new(Arc::clone(&stop)));
    let order = Order {
        out: out.unwrap_or_else(|| RunDir::default_path(&plan)),
        watches: Watches::default(),
        part: None,
        cores: Cores::default(),
        anyway,
        fresh,
        who: provenance(command),
        stop: Arc::clone(&stop),
        plan,
    };
    // It may wait for another process that has the directory.
    let (shown, console) = (Arc::clone(&watching), Arc::clone(&watching));
    let begin = move || cemark_runner::Handed::begin(order, at_once, &*console, shown);
    match patiently(py, &stop, begin, || Ok(()))? {
        (_, Some(raised)) => Err(raised),
        (Err(failure), None) => Err(errors::of_failure(py, failure)),
        (Ok(handed), None) => Ok(Handed::new(handed, source.file(), Some(watching))),
    }
}

impl Handed {
    /// `file` is the scenario's, or the name of a built-in.
    pub(crate) fn new(
        handed: cemark_runner::Handed,
        file: &str,
        watching: Option<Arc<Watching>>,
    ) -> Self {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let here = std::env::current_dir().unwrap_or_default();
        Handed {
            inner: Mutex::new(Some(handed)),
            folder: here.join(folder),
            watching,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<cemark_runner::Handed>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, what: impl FnOnce(&mut cemark_runner::Handed) -> T) -> PyResult<T> {
        match self.lock().as_mut() {
            Some(handed) => Ok(what(handed)),
            None => Err(PyRuntimeError::new_err("this run has ended")),
        }
    }

    /// The run, for whoever shows it.
    pub(crate) fn taken(&self) -> Option<cemark_runner::Handed> {
        self.lock().take()
    }
}

#[pymethods]
impl Handed {
    /// Arguments of [`Bench`]: the scenario's text, its file, its digest, the build, and the own
    /// markers, each as its declaration in JSON and the bytes of its file.
    fn spec(&self, py: Python<'_>) -> PyResult<Spec> {
        self.with(|h| {
            let plan = h.plan();
            let file = self.folder.join(format!("{}.toml", plan.name));
            let marker = |marker: &OwnMarker| {
                let declared = serde_json::to_string(marker).expect("texts and numbers");
                let bytes = std::fs::read(&marker.path)
                    .map_err(|e| format!("{}: {e}", marker.path.display()))?;
                Ok((declared, Cow::Owned(bytes)))
            };
            let markers: Result<Vec<_>, String> = plan.markers.iter().map(marker).collect();
            let markers = markers.map_err(|text| errors::of_argument(py, text, ""))?;
            Ok((
                plan.source.clone(),
                file.display().to_string(),
                hex(plan.digest),
                h.build().to_owned(),
                markers,
            ))
        })?
    }

    /// Its run directory.
    #[getter]
    fn directory(&self) -> PyResult<PathBuf> {
        self.with(|h| h.dir().path().to_path_buf())
    }

    /// The largest estimated bytes that a process needs for one of the points.
    fn most_bytes(&self) -> PyResult<f64> {
        self.with(|h| {
            let needs = h.plan().points.iter().map(|p| p.alone_bytes());
            needs.fold(0.0, f64::max)
        })
    }

    /// A point to simulate, with the estimated bytes that its process needs.
    fn next(&self) -> PyResult<Option<(usize, f64)>> {
        self.with(|h| {
            let point = h.hand_out()?;
            Some((point, h.plan().points[point].alone_bytes()))
        })
    }

    /// Whether a point is still needed.
    fn wants(&self, point: usize) -> PyResult<bool> {
        self.with(|h| h.wants(point))
    }

    /// Name of a point in messages.
    fn named(&self, point: usize) -> PyResult<String> {
        self.with(|h| {
            let point = &h.plan().points[point];
            let axes = point.axes.iter().map(|(k, v)| format!("{k} = {v}, "));
            let axes: String = axes.collect();
            format!("{axes}{}, seed {}", point.scheme, point.seed)
        })
    }

    /// Stores a point; false where it is there already.
    fn bring(&self, py: Python<'_>, point: usize, bytes: &[u8]) -> PyResult<bool> {
        let brought = py.detach(|| self.with(|h| h.bring(point, bytes)))?;
        brought.map_err(|e| errors::of_failure(py, e))
    }

    /// Whether no more points are needed.
    fn is_done(&self) -> PyResult<bool> {
        self.with(|h| h.is_done())
    }

    /// Whether the command was asked to end (Ctrl-C).
    fn stopped(&self) -> PyResult<bool> {
        self.with(|h| h.stopped())
    }

    /// Tells `tick` how far it is, as `run` does.
    fn tell(&self, py: Python<'_>, tick: Py<PyAny>) -> PyResult<()> {
        match &self.watching {
            Some(watching) => told(py, Some(&tick), watching.progress()),
            None => Ok(()),
        }
    }

    /// Ends it and writes what a finished run leaves in its directory. `KeyboardInterrupt` says
    /// what is kept where points are missing.
    fn finish(&self, py: Python<'_>) -> PyResult<Ran> {
        let Some(handed) = self.taken() else {
            return Err(PyRuntimeError::new_err("this run has ended"));
        };
        let mut ran = handed.end().map_err(|e| errors::of_failure(py, e))?;
        if let Some(Failure::Interrupted(text)) = ran.interrupted.take() {
            return Err(PyKeyboardInterrupt::new_err(text));
        }
        py.detach(|| Ran::new(ran))
            .map_err(|e| errors::of_failure(py, e))
    }
}

/// Folder of the files of markers that were sent. They are loaded when it goes.
struct Unpacked(PathBuf);

impl Unpacked {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cemark-markers-{}-{n}", std::process::id());
        Unpacked(std::env::temp_dir().join(name))
    }

    fn marker(&self, (declared, bytes): &(String, Vec<u8>)) -> std::io::Result<OwnMarker> {
        let marker: OwnMarker = serde_json::from_str(declared)?;
        std::fs::create_dir_all(&self.0)?;
        let path = self.0.join(format!("{:016x}", marker.content));
        std::fs::write(&path, bytes)?;
        Ok(OwnMarker { path, ..marker })
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The end that simulates.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Bench(cemark_runner::Bench);

#[pymethods]
impl Bench {
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        file: String,
        digest: &str,
        build: &str,
        markers: Vec<(String, Vec<u8>)>,
    ) -> PyResult<Self> {
        let folder = Unpacked::new();
        let markers: std::io::Result<Vec<OwnMarker>> =
            markers.iter().map(|m| folder.marker(m)).collect();
        let markers = markers.map_err(|e| errors::of_argument(py, e.to_string(), ""))?;
        let sent = Sent {
            text,
            file,
            markers,
        };
        let digest = u64::from_str_radix(digest, 16)
            .map_err(|_| errors::of_argument(py, format!("`{digest}` is no digest"), ""))?;
        py.detach(|| cemark_runner::Bench::new(&sent, digest, SIMULATOR.to_owned(), build))
            .map(Bench)
            .map_err(|e| errors::of_failure(py, e))
    }

    /// Simulates a point: the bytes that [`Handed::bring`] takes.
    fn simulate<'py>(&self, py: Python<'py>, point: usize) -> PyResult<Bound<'py, PyBytes>> {
        let stop = AtomicBool::new(false);
        let work = || {
            let mut goes_on = || !stop.load(Ordering::Relaxed);
            self.0.simulate(point, &mut goes_on)
        };
        match patiently(py, &stop, work, || Ok(()))? {
            (_, Some(raised)) => Err(raised),
            (Err(failure), None) => Err(errors::of_failure(py, failure)),
            (Ok(Some(bytes)), None) => Ok(PyBytes::new(py, &bytes)),
            (Ok(None), None) => Err(PyKeyboardInterrupt::new_err(())),
        }
    }
}
