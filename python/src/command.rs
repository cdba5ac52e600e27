// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `cemark`, and what it lists: schemes and theories.

use std::ffi::OsString;
use std::sync::Arc;

use cemark_cli::Program;
use pyo3::prelude::*;

use crate::errors;

/// Runs the command with these words, and returns its exit code. `again` is how a process like this
/// one is started.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>, again: Vec<OsString>) -> u8 {
    let program = Program {
        words,
        again,
        cluster: Some(Arc::new(crate::ray::Ray::default())),
    };
    py.detach(|| cemark_cli::main(program))
}

/// Every scheme with its parameters, as JSON (`cemark schemes --format json`).
#[pyfunction]
pub(crate) fn schemes() -> String {
    cemark_cli::schemes_json().to_string()
}

/// Every theory with its inputs and outputs, as JSON.
#[pyfunction]
pub(crate) fn theories() -> String {
    cemark_cli::theories_json().to_string()
}

/// A theory evaluated, as JSON (`cemark theory NAME --format json`).
#[pyfunction]
pub(crate) fn theory(py: Python<'_>, name: &str, inputs: Vec<String>) -> PyResult<String> {
    match cemark_cli::theory_json(name, &inputs) {
        Ok(value) => Ok(value.to_string()),
        Err(failure) => Err(errors::of_failure(py, failure)),
    }
}
