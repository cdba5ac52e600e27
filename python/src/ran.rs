// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run that has ended, as Python holds it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cemark_report::by_size::Buckets;
use cemark_report::cumulative::{self, Quantity};
use cemark_report::rundir::{self, Kind, columns, measure_columns};
use cemark_report::table::{self, Look, files};
use cemark_report::{Comparisons, Finished, Group, Provenance, RunSummary, chart, html, pauses};
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

/// Label of a scheme, values, and the share of all values up to each.
type Distribution = (String, Vec<f64>, Vec<f64>);

/// Buckets in words; without words the deciles.
fn read_buckets(py: Python<'_>, words: Option<&str>) -> PyResult<Buckets> {
    let read = words.map_or(Ok(Buckets::Deciles), str::parse);
    read.map_err(|why| {
        let example = r#"write buckets=["10KB", "100KB", "1MB"]"#;
        errors::of_argument(py, why, example)
    })
}

impl Ran {
    /// The comparisons at these values of the axes, by path (`workload.load`) or short name
    /// (`load`). All of them without a value.
    fn at(&self, py: Python<'_>, at: &BTreeMap<String, String>) -> PyResult<Comparisons> {
        let fits = |group: &&Group| {
            let short = group.short_axes();
            at.iter().all(|(name, value)| {
                let is_named = |path: &String| path == name || short.get(path) == Some(name);
                let mut axes = group.axes.iter();
                axes.any(|(path, here)| is_named(path) && here == value)
            })
        };
        let groups: Vec<Group> = self
            .comparisons
            .groups
            .iter()
            .filter(fits)
            .cloned()
            .collect();
        if groups.is_empty() {
            let wanted = at.iter().map(|(name, value)| format!("{name} {value}"));
            let wanted = wanted.collect::<Vec<_>>().join(", ");
            let all = self.comparisons.groups.iter().map(Group::title);
            let help = format!("the run has {}", all.collect::<Vec<_>>().join("; "));
            return Err(errors::of_argument(
                py,
                format!("no point has {wanted}"),
                &help,
            ));
        }
        Ok(Comparisons {
            groups,
            baseline: self.comparisons.baseline.clone(),
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

    /// A table with every row, by its name.
    fn frame(&self, py: Python<'_>, kind: &str) -> PyResult<Frame> {
        if kind == "metrics" {
            let table = measure_columns(&self.plan, &self.summary.measures);
            return Ok(Frame::new(table.into_iter().collect()));
        }
        let Some(kind) = Kind::ALL.into_iter().find(|k| k.name() == kind) else {
            let known = Kind::ALL.map(Kind::name).join(", ");
            let known = format!("write one of {known}, metrics");
            let message = format!("there is no table `{kind}`");
            return Err(errors::of_argument(py, message, &known));
        };
        Ok(py.detach(|| Frame::new(columns(kind, &self.plan, &self.finished).collect())))
    }

    /// The charts of the run.
    fn charts(&self, py: Python<'_>) -> Vec<NativeChart> {
        let made = || {
            let buckets = Buckets::Deciles;
            chart::of_run(&self.plan, &self.finished, &self.comparisons, &buckets)
        };
        py.detach(made).into_iter().map(NativeChart).collect()
    }

    /// The charts of a metric at these values of the axes; `None` where no chart shows such a
    /// metric.
    fn charts_of(
        &self,
        py: Python<'_>,
        metric: &str,
        buckets: Option<&str>,
        at: BTreeMap<String, String>,
    ) -> PyResult<Option<Vec<NativeChart>>> {
        if !chart::metrics().iter().any(|name| name == metric) {
            return Ok(None);
        }
        let buckets = read_buckets(py, buckets)?;
        let comparisons = self.at(py, &at)?;
        let (plan, finished) = (&self.plan, &self.finished);
        let made = || chart::of_metric(plan, finished, &comparisons, metric, &buckets);
        Ok(Some(py.detach(made).into_iter().map(NativeChart).collect()))
    }

    /// Slowdown by flow size. `buckets` are their largest sizes with commas between them, by
    /// default the deciles.
    fn slowdown_by_size(&self, py: Python<'_>, buckets: Option<&str>) -> PyResult<Frame> {
        let buckets = read_buckets(py, buckets)?;
        Ok(py.detach(|| {
            let slowdowns = self.comparisons.slowdown_by_size(&self.finished, &buckets);
            Frame::new(vec![rundir::slowdown_by_size(&self.plan, &slowdowns)])
        }))
    }

    /// Distribution of `fct`, `slowdown` or `queue-cdf` at each of these values of the axes: the
    /// title of the values, and for each scheme its label, values and the share of all values up to
    /// each.
    fn distribution(
        &self,
        py: Python<'_>,
        name: &str,
        at: BTreeMap<String, String>,
    ) -> PyResult<Vec<(String, Vec<Distribution>)>> {
        let found = Quantity::EACH.into_iter().find(|q| q.name() == name);
        let quantity = found.expect("a name of the package");
        let of_group = |group: &Group| {
            let all = cumulative::of_group(&self.finished, group, quantity).into_iter();
            let parts = all.map(|c| (c.scheme, c.values, c.shares));
            (group.title(), parts.collect())
        };
        let comparisons = self.at(py, &at)?;
        Ok(py.detach(|| comparisons.groups.iter().map(of_group).collect()))
    }

    /// Chart of the distribution of `fct`, `slowdown` or `queue-cdf`, a panel for each of these
    /// values of the axes; `None` where there are no values.
    fn distribution_chart(
        &self,
        py: Python<'_>,
        name: &str,
        at: BTreeMap<String, String>,
    ) -> PyResult<Option<NativeChart>> {
        let found = Quantity::EACH.into_iter().find(|q| q.name() == name);
        let quantity = found.expect("a name of the package");
        let groups = self.at(py, &at)?.groups;
        let made = || chart::of_distribution(&self.plan, &self.finished, &groups, quantity);
        Ok(py.detach(made).map(NativeChart))
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
