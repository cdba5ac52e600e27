// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two finished runs side by side.

use cemark_report::Beside;
use cemark_report::table::{self, Look};
use pyo3::prelude::*;

use crate::errors;

/// Two runs, A and B.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct NativeBeside(Beside);

/// Reads two finished runs, each named by its directory or by a scenario that has been run here.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, a: &str, b: &str) -> PyResult<NativeBeside> {
    let read = py.detach(|| cemark_cli::compare_runs(a, b));
    match read {
        Ok(beside) => Ok(NativeBeside(beside)),
        Err(failure) => Err(errors::of_failure(py, failure)),
    }
}

#[pymethods]
impl NativeBeside {
    /// The tables of `cemark compare`, this many columns wide.
    fn text(&self, width: usize) -> String {
        let look = Look {
            width: width.max(60),
            color: false,
        };
        table::beside::text(&self.0, look)
    }

    /// Document that `cemark compare --format json` prints.
    fn document(&self) -> String {
        serde_json::to_string(&self.0).expect("numbers and strings")
    }
}
