// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes what the estimator is fed, so that `crates/cli/tests/progress` can replay real runs.
//!
//! The file has a line `threads N`, a line `point STAGE HOPS SECONDS TIMED CELL SCHEME` for each
//! point in the order in which they begin, and then a line `SECONDS WHAT POINT DONE HOPS` for each
//! event: the point begins (`b`), reports (`a`), is finished (`f`) or was finished before (`s`).

use std::fs::File;
use std::io::{BufWriter, Write};

use super::estimate::Estimator;

/// Names the file. For the developers of the estimator, so `--help` does not list it.
const VARIABLE: &str = "CEMARK_RECORD_PROGRESS";

/// An open recording.
pub(super) struct Record(BufWriter<File>);

impl Record {
    /// The one that the environment asks for, if it can be written.
    pub(super) fn asked_for(estimator: &Estimator) -> Option<Self> {
        let file = File::create(std::env::var_os(VARIABLE)?).ok()?;
        let mut record = Record(BufWriter::new(file));
        record.line(&format!("threads\t{}", estimator.threads()));
        for job in estimator.jobs() {
            record.line(&format!(
                "point\t{}\t{:.0}\t{:.4}\t{}\t{}\t{}",
                job.stage,
                job.hops,
                job.seconds,
                u8::from(job.timed),
                job.cell,
                job.scheme
            ));
        }
        Some(record)
    }

    /// One event.
    pub(super) fn write(&mut self, now: f64, what: char, i: usize, done: f64, hops: u64) {
        let done = (done * 1000.0).round() / 1000.0;
        self.line(&format!("{now:.2}\t{what}\t{i}\t{done}\t{hops}"));
    }

    fn line(&mut self, line: &str) {
        // A run must not fail because its recording cannot be written.
        let _ = writeln!(self.0, "{line}");
    }
}
