// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports: lines of JSON on standard output, and a file for Prometheus.

use std::path::PathBuf;

use cemark_wire::Nanos;

use super::say;
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
            self.write_now(&counts(), why);
        }
    }

    /// Writes a report. One that cannot be written is no reason to end.
    pub(super) fn write_now(&self, counts: &Counts, why: Option<&str>) {
        if self.form == Some(Form::Json) {
            say::line(counts.json(why));
        }
        if let Some(path) = &self.prometheus {
            say::file(path, counts.prometheus(self.end, &self.device));
        }
    }
}
