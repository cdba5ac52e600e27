// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run that has ended, as Python holds it.

use std::path::PathBuf;

use cemark_report::rundir::{Kind, columns, measure_columns};
use cemark_report::table::{self, Look, files};
use cemark_report::{Comparisons, Finished, Provenance, RunSummary, chart, html, pauses};
use cemark_runner::Failure;
use cemark_scenario::Plan;
use pyo3::prelude::*;

use crate::chart::NativeChart;
use crate::errors;
use crate::frame::Frame;

/// The results of a run, without its lock on the directory.
#[pyclass(frozen, module = "cemark._native")]
pub(crate) struct Ran {
    plan: Plan,
    finished: Vec<Finished>,
    comparisons: Comparisons,
    summary: RunSummary,
    who: Provenance,
    #[pyo3(get)]
    directory: PathBuf,
}

impl Ran {
    /// Writes what a finished run leaves in its directory, and lets go of that.
    pub(crate) fn new(ran: cemark_runner::Ran) -> Result<Self, Failure> {
        let (comparisons, summary) = ran.summary();
        ran.keep(&comparisons, &summary)?;
        Ok(Ran {
            directory: ran.dir.path().to_path_buf(),
            plan: ran.plan,
            finished: ran.finished,
            comparisons,
            summary,
            who: ran.who,
        })
    }
}

#[pymethods]
impl Ran {
    /// The tables of the terminal, this many columns wide.
    fn text(&self, width: usize) -> String {
        let look = Look {
            width: width.max(60),
            color: false,
        };
        let tables = table::tables(&self.plan, &self.comparisons, look);
        let pauses = pauses::lines(&self.plan, &self.finished);
        match pauses.is_empty() {
            true => tables,
            false => format!("{tables}\n{pauses}"),
        }
    }

    /// The rounded tables: (title, heads, rows) for each value of the axes.
    fn tables(&self) -> Vec<(String, Vec<String>, Vec<Vec<String>>)> {
        let tables = files::rounded(&self.plan, &self.comparisons).into_iter();
        let compared = tables.filter(|t| t.name.starts_with("comparison"));
        compared.map(|t| (t.title, t.head, t.rows)).collect()
    }

    /// The sentences about the whole run.
    fn storms(&self) -> Vec<String> {
        pauses::storms(&self.plan, &self.finished)
    }

    /// summary.json.
    fn summary(&self) -> String {
        serde_json::to_string(&self.summary).expect("numbers and strings")
    }

    /// A table with every row: `points`, `metrics`, `flows`, `queues`, `goodput` or `links`.
    fn frame(&self, py: Python<'_>, kind: &str) -> PyResult<Frame> {
        if kind == "metrics" {
            let table = measure_columns(&self.plan, &self.summary.measures);
            return Ok(Frame::new(table.into_iter().collect()));
        }
        let kind = match kind {
            "points" => Kind::Points,
            "flows" => Kind::Flows,
            "queues" => Kind::Queues,
            "goodput" => Kind::Goodput,
            "links" => Kind::Links,
            other => {
                let known = "write points, metrics, flows, queues, goodput or links";
                let message = format!("there is no table `{other}`");
                return Err(errors::of_argument(py, message, known));
            }
        };
        Ok(py.detach(|| Frame::new(columns(kind, &self.plan, &self.finished).collect())))
    }

    /// The charts of the run.
    fn charts(&self, py: Python<'_>) -> Vec<NativeChart> {
        let made = || chart::of_run(&self.plan, &self.finished, &self.comparisons);
        py.detach(made).into_iter().map(NativeChart).collect()
    }

    /// Labels of the schemes, in the order of their colours.
    fn schemes(&self) -> Vec<String> {
        self.plan.schemes.clone()
    }

    /// The report in HTML.
    fn report(&self, py: Python<'_>) -> String {
        py.detach(|| {
            html::render(
                &self.plan,
                &self.finished,
                &self.comparisons,
                &self.summary,
                &self.who,
            )
        })
    }
}
