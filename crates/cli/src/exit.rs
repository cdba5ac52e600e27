// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command ends: its answer on standard output, or a failure on standard error with an exit code that tells whose it is.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use cemark_report::{Console, Fault};

/// The machine failed: a full disk, a directory without permission.
pub(crate) const MACHINE: u8 = 1;
/// The user's mistake.
pub(crate) const USER: u8 = 2;
/// Ctrl-C, as shells number it.
const INTERRUPTED: u8 = 130;

/// Why a command did not end well.
pub(crate) enum Failure {
    /// The machine's fault.
    Machine(miette::Report),
    /// The user's mistake.
    User(miette::Report),
    /// Ctrl-C; the text says how to go on.
    Interrupted(String),
    /// Whoever read standard output has gone: there is nobody left to answer.
    NobodyListens,
}

impl From<cemark_scenario::Error> for Failure {
    fn from(e: cemark_scenario::Error) -> Self {
        Failure::User(e.into())
    }
}

impl From<cemark_report::Error> for Failure {
    fn from(e: cemark_report::Error) -> Self {
        let help = e.help.clone();
        let report = match &e.source {
            Some(source) => miette::miette!(help = help, "{e}: {source}"),
            None => miette::miette!(help = help, "{e}"),
        };
        match e.fault {
            Fault::Machine => Failure::Machine(report),
            Fault::User => Failure::User(report),
        }
    }
}

impl From<cemark_conformance::Error> for Failure {
    fn from(e: cemark_conformance::Error) -> Self {
        Failure::User(miette::miette!("{e}"))
    }
}

/// Writes an answer to standard output.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| match e.kind() {
            ErrorKind::BrokenPipe => Failure::NobodyListens,
            _ => Failure::Machine(miette::miette!("cannot write to standard output: {e}")),
        })
}

/// Writes a JSON answer to standard output.
pub(crate) fn answer_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).expect("numbers and strings");
    text.push('\n');
    answer(&text)
}

/// Says on standard error what a scenario asks for and its author probably did not mean.
pub(crate) fn warn(plan: &cemark_scenario::Plan) {
    let mut err = io::stderr().lock();
    for warning in &plan.warnings {
        // A closed standard error is no reason not to run: the warnings are in the run directory too.
        let _ = writeln!(
            err,
            "warning: {}\n   help: {}",
            warning.text(plan.points.len()),
            warning.help
        );
    }
}

/// Says on standard error what a run showed and an operator would be woken for.
pub(crate) fn complain(what: &str, help: &str) {
    // A closed standard error is no reason not to answer.
    let _ = writeln!(io::stderr(), "warning: {what}\n   help: {help}");
}

/// Standard error, for what a run directory has to say.
pub(crate) struct Stderr;

impl Console for Stderr {
    fn say(&self, note: &str) {
        // A closed standard error is no reason not to go on.
        let _ = writeln!(io::stderr(), "warning: {note}");
    }
}

/// Says on standard error what went wrong, and turns it into the exit code.
pub(crate) fn code(done: Result<(), Failure>) -> ExitCode {
    let (text, code) = match done {
        Ok(()) | Err(Failure::NobodyListens) => return ExitCode::SUCCESS,
        Err(Failure::Machine(report)) => (format!("{report:?}"), MACHINE),
        Err(Failure::User(report)) => (format!("{report:?}"), USER),
        Err(Failure::Interrupted(text)) => (text, INTERRUPTED),
    };
    // If standard error is closed too, the code is all that is left to say.
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::from(code)
}
