// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark._native`: what the Python package `cemark` calls. The classes and functions that people
//! use are in `python/cemark`; they are documented there and in `docs/python.md`.

mod beside;
mod chart;
mod command;
mod elsewhere;
mod errors;
mod frame;
mod marking;
mod own;
mod patience;
mod ran;
mod ray;
mod run;
mod scenario;
mod steps;
mod watching;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::beside::{NativeBeside, compare};
    #[pymodule_export]
    use crate::chart::NativeChart;
    #[pymodule_export]
    use crate::command::{main, schemes, theories, theory};
    #[pymodule_export]
    use crate::elsewhere::{Bench, Handed, hand, scenario_of};
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::marking::NativeMarker;
    #[pymodule_export]
    use crate::own::{At, Queue, c_headers};
    #[pymodule_export]
    use crate::ran::Ran;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::scenario::Source;
    #[pymodule_export]
    use crate::steps::Steps;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// A module of the package, for what is written in Python.
fn python<'py>(py: Python<'py>, module: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(format!("cemark.{module}"))
}
