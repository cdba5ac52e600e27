// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark sweep --ray`: the command of the package runs points on a Ray cluster.

use std::sync::{Arc, Mutex, PoisonError};

use cemark_cli::{Cluster, OnCluster};
use cemark_report::Console;
use cemark_report::summary::hex;
use cemark_runner::{Failure, Order, Ran, Show};
use pyo3::prelude::*;

use crate::elsewhere::Handed;
use crate::errors;

/// The cluster that Ray knows.
#[derive(Default)]
pub(crate) struct Ray {
    /// Mirror that copies the run directory to a store, once it runs.
    mirror: Mutex<Option<Py<PyAny>>>,
}

impl Cluster for Ray {
    fn run(
        &self,
        order: Order,
        console: &dyn Console,
        show: Arc<dyn Show + Send>,
        asked: &OnCluster,
    ) -> Result<Ran, Failure> {
        Python::attach(|py| {
            self.served(py, order, console, show, asked)
                .map_err(|e| errors::to_failure(py, &e))
        })
    }

    fn kept(&self) -> Result<(), Failure> {
        let mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mirror) = mirror.as_ref() else {
            return Ok(());
        };
        Python::attach(|py| {
            let closed = mirror.call_method0(py, "close");
            closed.map_err(|e| errors::to_failure(py, &e)).map(drop)
        })
    }
}

impl Ray {
    fn served(
        &self,
        py: Python<'_>,
        order: Order,
        console: &dyn Console,
        show: Arc<dyn Show + Send>,
        asked: &OnCluster,
    ) -> PyResult<Ran> {
        let ray = crate::python(py, "_ray")?;
        let cluster = ray.getattr("Cluster")?.call1((asked.address.as_deref(),))?;
        let at_once: usize = cluster.call_method0("cores")?.extract()?;
        if let Some(url) = &asked.store {
            let digest = hex(order.plan.digest);
            let of = crate::python(py, "_store")?.getattr("Mirror")?;
            let mirror = of.call1((url, &order.out, digest, order.fresh))?;
            *self.mirror.lock().unwrap_or_else(PoisonError::into_inner) = Some(mirror.unbind());
        }
        let anyway = order.anyway;
        let begun = py.detach(|| cemark_runner::Handed::begin(order, at_once, console, show));
        let handed = begun.map_err(|e| errors::of_failure(py, e))?;
        let handed = Bound::new(py, Handed::new(handed, &asked.scenario, None))?;
        let served = cluster.call_method1("serve", (&handed, py.None(), anyway));
        // Ctrl-C in Python ends the serving as well, and what is finished is shown.
        match served {
            Err(e) if !e.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Err(e),
            _ => {
                let handed = handed.get().taken();
                let handed = handed.expect("it is finished here only");
                py.detach(|| handed.end())
                    .map_err(|e| errors::of_failure(py, e))
            }
        }
    }
}
