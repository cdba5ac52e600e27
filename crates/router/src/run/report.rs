// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports: lines of JSON on standard output, and a file for Prometheus.

use std::io::Write;
use std::path::PathBuf;

use cemark_wire::Nanos;

use crate::config::File;
use crate::counts::Counts;
use crate::key::End;

/// Form of the reports on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line of JSON each.
    Json,
}

/// Writes reports from time to time.
pub(super) struct Reports {
    every: Nanos,
    next: Nanos,
    form: Option<Form>,
    prometheus: Option<PathBuf>,
    end: &'static str,
    device: String,
    /// The last report could not be written, which has been said.
    failed: bool,
}

impl Reports {
    pub(super) fn new(file: &File, end: End, form: Option<Form>) -> Reports {
        Reports {
            every: Nanos(file.stats.every.0),
            next: Nanos::ZERO,
            form,
            prometheus: file.stats.prometheus.clone(),
            end: match end {
                End::Near => "near",
                End::Far => "far",
            },
            device: file.tunnel.device.clone(),
            failed: false,
        }
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Nanos {
        match (self.form, &self.prometheus) {
            (None, None) => Nanos::MAX,
            _ => self.next,
        }
    }

    /// Writes a report if it is due.
    pub(super) fn write(&mut self, now: Nanos, counts: impl FnOnce() -> Counts, why: Option<&str>) {
        if now >= self.next() {
            self.next = now + self.every;
            self.last(&counts(), why);
        }
    }

    /// Writes a report. One that cannot be written is no reason to end.
    pub(super) fn last(&mut self, counts: &Counts, why: Option<&str>) {
        if self.form == Some(Form::Json) {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", counts.json(why)).and_then(|()| out.flush());
        }
        let Some(path) = &self.prometheus else {
            return;
        };
        // In one step, so that no reader gets half of it.
        let half = path.with_extension("tmp");
        let done = std::fs::write(&half, counts.prometheus(self.end, &self.device))
            .and_then(|()| std::fs::rename(&half, path));
        let failed = done.is_err();
        if let Err(e) = done
            && !self.failed
        {
            eprintln!("cemark-edge: [stats] prometheus, {}: {e}", path.display());
        }
        self.failed = failed;
    }
}
