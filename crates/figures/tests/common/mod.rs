// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of figures on one core, so that points are simulated in their order.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cemark_figures::Means;
use cemark_report::Provenance;
use cemark_runner::{Cores, Failure, Show};

/// Calls `run` with the means of a test; every step is told to `show`.
pub(crate) fn with<T>(show: &dyn Show, run: impl FnOnce(Means<'_>) -> T) -> T {
    let who = Provenance {
        version: "test".into(),
        build: "test".into(),
        command: Vec::new(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    run(Means {
        who: &who,
        cores: Cores::of_jobs(NonZeroUsize::new(1)),
        anyway: true,
        native: false,
        stop: &stop,
        console: &(),
        show,
    })
}

/// The text and the help of a failure, and whether the user caused it.
pub(crate) fn said(failure: Failure) -> (String, String, bool) {
    let is_users = matches!(failure, Failure::User(_));
    match failure {
        Failure::User(report) | Failure::Machine(report) => {
            let help = report.help().map_or_else(String::new, |h| h.to_string());
            (report.to_string(), help, is_users)
        }
        Failure::Interrupted(text) => (text, String::new(), is_users),
        Failure::OutputClosed => (String::new(), String::new(), is_users),
    }
}
