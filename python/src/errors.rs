// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes and failures as exceptions of the package (`cemark/_errors.py`).

use cemark_runner::Failure;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What an exception says.
struct Said<'a> {
    message: String,
    help: Option<String>,
    file: Option<&'a str>,
    position: Option<(usize, usize)>,
}

/// The exception for a mistake in a scenario: file, line, column and remedy.
pub(crate) fn of_scenario(py: Python<'_>, e: &cemark_scenario::Error) -> PyErr {
    let said = Said {
        message: e.message().to_owned(),
        help: e.help_text().map(str::to_owned),
        file: Some(e.file()),
        position: e.position(),
    };
    raised(py, "ScenarioError", said)
}

/// The exception for why something did not succeed.
pub(crate) fn of_failure(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::User(report) => match report.downcast_ref::<cemark_scenario::Error>() {
            Some(e) => of_scenario(py, e),
            None => raised(py, "UserError", of_report(&report)),
        },
        Failure::Machine(report) => raised(py, "MachineError", of_report(&report)),
        Failure::Interrupted(text) => PyKeyboardInterrupt::new_err(text),
        Failure::OutputClosed => PyErr::new::<pyo3::exceptions::PyBrokenPipeError, _>(()),
    }
}

/// The exception for an argument that cannot be used.
pub(crate) fn of_argument(py: Python<'_>, message: String, help: &str) -> PyErr {
    let said = Said {
        message,
        help: (!help.is_empty()).then(|| help.to_owned()),
        file: None,
        position: None,
    };
    raised(py, "UserError", said)
}

/// The exception for a marker in Python that raised one: what the run says, caused by that.
pub(crate) fn of_marker(py: Python<'_>, failed: &PyErr, raised: PyErr) -> PyErr {
    let said = Said {
        message: failed.value(py).to_string(),
        help: None,
        file: None,
        position: None,
    };
    let error = self::raised(py, "MarkerError", said);
    error.set_cause(py, Some(raised));
    error
}

/// An exception of Python, for the command: one of the package's says who has to act.
pub(crate) fn to_failure(py: Python<'_>, e: &PyErr) -> Failure {
    let value = e.value(py);
    if e.is_instance_of::<PyKeyboardInterrupt>(py) {
        return Failure::Interrupted(value.to_string());
    }
    let text = |name: &str| value.getattr(name).ok()?.extract::<String>().ok();
    let report = match (text("message"), text("help")) {
        (Some(message), Some(help)) => miette::miette!(help = help, "{message}"),
        (Some(message), None) => miette::miette!("{message}"),
        (None, _) => miette::miette!("{e}"),
    };
    let user = crate::python(py, "_errors").and_then(|m| m.getattr("UserError"));
    match user.is_ok_and(|class| e.matches(py, class).unwrap_or(false)) {
        true => Failure::User(report),
        false => Failure::Machine(report),
    }
}

fn of_report(report: &miette::Report) -> Said<'static> {
    Said {
        message: report.to_string(),
        help: report.help().map(|help| help.to_string()),
        file: None,
        position: None,
    }
}

fn raised(py: Python<'_>, class: &str, said: Said<'_>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let given = PyDict::new(py);
        given.set_item("help", said.help)?;
        given.set_item("file", said.file)?;
        given.set_item("line", said.position.map(|p| p.0))?;
        given.set_item("column", said.position.map(|p| p.1))?;
        let class = crate::python(py, "_errors")?.getattr(class)?;
        Ok(PyErr::from_value(
            class.call((said.message,), Some(&given))?,
        ))
    };
    make().unwrap_or_else(|e| e)
}
