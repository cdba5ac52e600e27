// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes and failures as exceptions of the package (`cemark/_errors.py`).

use cemark_runner::Failure;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Content of an exception.
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
        Failure::Interrupted(text) => of_interrupt(py, &text),
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

/// The exception of this class, made by `raised` of `_errors.py`, which writes Python's arguments
/// for the command's options.
fn raised(py: Python<'_>, class: &str, said: Said<'_>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let (line, column) = said.position.unzip();
        let raised = crate::python(py, "_errors")?.getattr("raised")?;
        let given = (class, said.message, said.help, said.file, line, column);
        Ok(PyErr::from_value(raised.call1(given)?))
    };
    make().unwrap_or_else(|e| e)
}

/// Ctrl-C, with what is kept.
pub(crate) fn of_interrupt(py: Python<'_>, text: &str) -> PyErr {
    let make = || -> PyResult<String> {
        let words = crate::python(py, "_errors")?.getattr("in_python")?;
        words.call1((text,))?.extract()
    };
    PyKeyboardInterrupt::new_err(make().unwrap_or_else(|_| text.to_owned()))
}
