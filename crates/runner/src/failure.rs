// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why something did not succeed, and who has to act.

use cemark_report::Fault;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The machine's fault.
    Machine(miette::Report),
    /// The user's mistake.
    User(miette::Report),
    /// Ctrl-C; the text says how to continue.
    Interrupted(String),
    /// The reader of standard output has closed it (`cemark schemes | head -1`). Not an error.
    OutputClosed,
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

impl From<cemark_foreign::Error> for Failure {
    fn from(e: cemark_foreign::Error) -> Self {
        Failure::User(match e.help() {
            Some(help) => miette::miette!(help = help, "{e}"),
            None => miette::miette!("{e}"),
        })
    }
}
