// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of the user's as classes in Python.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cemark_marking::{Hook, Marker, QueueId, QueueSpec, Values, Verdict, Why};
use cemark_runner::Failure;
use cemark_runner::marker::{Ask, Library, Mistake};
use cemark_sim::config::OwnFactory;
use cemark_wire::{Ecn, Nanos};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// A marker written in Python.
#[derive(Clone)]
pub(crate) struct InPythonClass {
    name: String,
    /// Called with a [`Queue`] for each queue.
    factory: Arc<Py<PyAny>>,
    hook: Hook,
    watches_empty: bool,
    /// The first exception of any queue.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl InPythonClass {
    /// A marker from its factory and what the class says of its hooks. `raised` takes the first
    /// exception.
    pub(crate) fn new(
        name: String,
        factory: Py<PyAny>,
        hook: &str,
        watches_empty: bool,
        raised: &Arc<Mutex<Option<PyErr>>>,
    ) -> Self {
        InPythonClass {
            name,
            factory: Arc::new(factory),
            hook: match hook {
                "enqueue" => Hook::Enqueue,
                "dequeue" => Hook::Dequeue,
                _ => Hook::Both,
            },
            watches_empty,
            raised: Arc::clone(raised),
        }
    }
}

/// The class of this name.
pub(crate) fn of_name(classes: &[InPythonClass], name: &str) -> Option<Box<dyn Library>> {
    let found = classes.iter().find(|class| class.name == name)?;
    Some(Box::new(found.clone()))
}

impl Library for InPythonClass {
    fn code(&self, _: &Values) -> Result<(OwnFactory, Ask), Failure> {
        let fault = Arc::new(OnceLock::new());
        let asked = Arc::clone(&fault);
        let ask: Ask = Box::new(move || {
            asked.get().map(|what: &String| Mistake {
                what: what.clone(),
                help: "the exception above says where".to_owned(),
            })
        });
        let own = self.clone();
        let make: OwnFactory = Arc::new(move |values, queue| {
            let mut marker = Called {
                object: None,
                hook: own.hook,
                watches_empty: own.watches_empty,
                fault: Arc::clone(&fault),
                raised: Arc::clone(&own.raised),
            };
            let queue = Queue {
                spec: *queue,
                values: *values,
            };
            match Python::attach(|py| own.factory.call1(py, (queue,))) {
                Ok(object) => marker.object = Some(object),
                Err(e) => marker.fails("it cannot be made", e),
            }
            Box::new(marker)
        });
        Ok((make, ask))
    }
}

/// The marker of one queue.
struct Called {
    /// `None` once it has raised: it lets packets pass until the run ends.
    object: Option<Py<PyAny>>,
    hook: Hook,
    watches_empty: bool,
    fault: Arc<OnceLock<String>>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Called {
    fn fails(&mut self, place: &str, e: PyErr) {
        self.object = None;
        let what = Python::attach(|py| format!("{place}: {}", e.value(py)));
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert(e);
        // The first one counts.
        let _ = self.fault.set(what);
    }

    fn judge(&mut self, hook: &str, at: &cemark_marking::At) -> Verdict {
        let Some(object) = &self.object else {
            return Verdict::Pass;
        };
        let judged = Python::attach(|py| {
            let answer = object.call_method1(py, hook, (At(*at),))?;
            verdict(answer.bind(py))
        });
        judged.unwrap_or_else(|e| {
            self.fails(&format!("{hook} at {} ns", at.now.0), e);
            Verdict::Pass
        })
    }
}

impl Marker for Called {
    fn hook(&self) -> Hook {
        self.hook
    }

    fn reads_length_at_dequeue(&self) -> bool {
        true
    }

    fn watches_empty(&self) -> bool {
        self.watches_empty
    }

    fn enqueue(&mut self, at: &cemark_marking::At) -> Verdict {
        self.judge("enqueue", at)
    }

    fn dequeue(&mut self, at: &cemark_marking::At) -> Verdict {
        self.judge("dequeue", at)
    }

    fn emptied(&mut self, _queue: QueueId, now: Nanos) {
        if let Some(object) = &self.object {
            let told = Python::attach(|py| object.call_method1(py, "emptied", (now.0,)));
            if let Err(e) = told {
                self.fails("emptied", e);
            }
        }
    }
}

/// Verdict from a method's answer: nothing, True or False, or a word.
fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if answer.is_none() {
        return Ok(Verdict::Pass);
    }
    if let Ok(mark) = answer.cast::<PyBool>() {
        return Ok(match mark.is_true() {
            true => Verdict::Mark(Why::Instant),
            false => Verdict::Pass,
        });
    }
    let word = answer.cast::<PyString>().ok().map(|w| w.to_string());
    match word.as_deref() {
        Some("pass") => Ok(Verdict::Pass),
        Some("mark") => Ok(Verdict::Mark(Why::Instant)),
        Some("drop") => Ok(Verdict::Drop(Why::Instant)),
        _ => Err(pyo3::exceptions::PyTypeError::new_err(format!(
            "a marker answers True to mark, False or None to pass, or \"mark\", \"pass\" or \
             \"drop\"; not {}",
            answer.repr()?
        ))),
    }
}

/// Inputs of a marker when it judges a packet.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct At(cemark_marking::At);

#[pymethods]
impl At {
    /// The time in nanoseconds.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now.0
    }

    /// Nanoseconds that the packet has been in this queue; zero at enqueue.
    #[getter]
    fn sojourn(&self) -> u64 {
        self.0.sojourn.0
    }

    /// The port's smoothed round time in nanoseconds; zero unless its scheduler serves rounds.
    #[getter]
    fn round(&self) -> u64 {
        self.0.round.0
    }

    /// A random number of 64 bits, the same for every scheme.
    #[getter]
    fn packet_hash(&self) -> u64 {
        self.0.packet_hash
    }

    /// Bytes of the packet on the wire.
    #[getter]
    fn pkt_bytes(&self) -> u32 {
        self.0.pkt_bytes
    }

    /// Whether the packet can carry CE.
    #[getter]
    fn ecn_capable(&self) -> bool {
        self.0.ecn != Ecn::NotEct
    }

    /// Whether this marker wanted to mark the packet at enqueue.
    #[getter]
    fn intent(&self) -> bool {
        self.0.intent.is_some()
    }

    /// Bytes in this queue, without the packet.
    #[getter]
    fn queue_bytes(&self) -> u32 {
        self.0.queue_bytes
    }

    /// Packets in this queue, without the packet.
    #[getter]
    fn queue_pkts(&self) -> u32 {
        self.0.queue_pkts
    }

    /// Bytes in all queues of the port.
    #[getter]
    fn port_bytes(&self) -> u32 {
        self.0.port_bytes
    }

    /// Bytes in the pool of the queue.
    #[getter]
    fn pool_bytes(&self) -> u32 {
        self.0.pool_bytes
    }

    /// The limit of the queue in bytes.
    #[getter]
    fn limit_bytes(&self) -> u32 {
        self.0.limit_bytes
    }
}

/// Properties of a marker's queue.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Queue {
    spec: QueueSpec,
    values: Values,
}

#[pymethods]
impl Queue {
    /// Bits per second of the link.
    #[getter]
    fn rate(&self) -> u64 {
        self.spec.rate.0
    }

    /// The queue's weight.
    #[getter]
    fn weight(&self) -> u32 {
        self.spec.weight
    }

    /// The sum of the weights of the port's queues.
    #[getter]
    fn weight_sum(&self) -> u32 {
        self.spec.weight_sum
    }

    /// Whether it is served with strict priority.
    #[getter]
    fn strict(&self) -> bool {
        self.spec.strict
    }

    /// Largest packet in bytes.
    #[getter]
    fn mtu(&self) -> u32 {
        self.spec.mtu
    }

    /// The limit of the queue in bytes.
    #[getter]
    fn limit_bytes(&self) -> u32 {
        self.spec.limit_bytes
    }

    /// The parameters of the marker in stored units, in the order in which its class declares them.
    #[getter]
    fn values(&self) -> Vec<u64> {
        self.values.0.to_vec()
    }
}

/// A hook as Python calls it.
pub(crate) fn hook_name(hook: Hook) -> &'static str {
    match hook {
        Hook::Enqueue => "enqueue",
        Hook::Dequeue => "dequeue",
        Hook::Both => "both",
    }
}

/// The C headers of the markers, by name: (`marker.h`, text).
#[pyfunction]
pub(crate) fn c_headers() -> Vec<(String, &'static str)> {
    let all = cemark_foreign::headers().iter();
    all.map(|(stem, text)| (format!("{stem}.h"), *text))
        .collect()
}
