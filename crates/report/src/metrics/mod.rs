// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of a point.
//!
//! `registry` has one entry for each metric. The terminal table, the report, the JSON document,
//! `points.parquet`, the rows of figures (`[[row]] metric = "short.p99"`) and the list in
//! `docs/output.md` are all made from these entries, so a new metric is one new entry.

pub(crate) mod endless;
mod full;
mod registry;
mod sample;

pub use sample::{Missing, Restriction, Sample};

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use cemark_sim::outcome::FlowRecord;

use crate::stats::{self, Comparison, Statistic};
use crate::units;

/// Metric of a point, with its unit, subject and column.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Its name in scenario files, in figures and in JSON: `short.p99`, `queue.mean`, `goodput`.
    pub key: Cow<'static, str>,
    /// Another name that rows of figures use.
    pub alias: Option<&'static str>,
    /// Description in one sentence.
    pub doc: Cow<'static, str>,
    /// Unit of its values.
    pub unit: Unit,
    /// Which direction is an improvement.
    pub better: Better,
    /// Subject of the measurement.
    pub subject: Subject,
    /// How it is computed from a finished point.
    pub value: Value,
    /// Share and number of values of a percentile of anything but flows.
    pub rank: Option<Rank>,
    /// How rows of figures compute it, where they use another unit.
    pub in_figures: Option<InFigures>,
    /// How reports show it; `None` where only rows of figures ask for it.
    pub column: Option<Column>,
    /// Whether `[[published]]` of a scenario may name it (`cemark-scenario` reads that section).
    pub published: bool,
}

/// A percentile of the values that a point has.
#[derive(Clone, Copy, Debug)]
pub struct Rank {
    /// The share of the values at or below it, 0 to 1.
    pub share: f64,
    /// The number of values.
    pub values: fn(&Sample<'_>) -> u64,
}

/// The unit of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
    /// Megabytes (1e6 bytes).
    Megabytes,
    /// Bits per second.
    BitsPerSecond,
    /// Percent.
    Percent,
    /// A number from 0 to 1.
    Index,
    /// A time over that of an empty network, from 1 on.
    Slowdown,
    /// A number of these things.
    Count(&'static str),
}

impl Unit {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Micros => "µs",
            Unit::Millis => "ms",
            Unit::Bytes => "bytes",
            Unit::Megabytes => "MB",
            Unit::BitsPerSecond => "bit/s",
            Unit::Percent => "%",
            Unit::Index => "0 to 1",
            Unit::Slowdown => "ratio",
            Unit::Count(what) => what,
        }
    }

    /// A value with its unit, as people read it.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Micros => units::micros(value),
            Unit::Millis => units::micros(value * 1e3),
            Unit::Bytes => units::bytes(value),
            Unit::Megabytes => units::bytes(value * 1e6),
            Unit::BitsPerSecond => units::bits_per_second(value),
            Unit::Percent => format!("{value:.1} %"),
            Unit::Index => format!("{value:.3}"),
            Unit::Slowdown => format!("{value:.2}"),
            Unit::Count(_) => units::count(value),
        }
    }
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Smaller values.
    Less,
    /// Larger values.
    More,
    /// Neither: a difference is only reported.
    Neither,
}

/// Subject of a metric: the things on which it is measured. Columns are shown in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Flows that end.
    Flows,
    /// Queries of incasts.
    Queries,
    /// Endless flows.
    EndlessFlows,
    /// Probes.
    Probes,
    /// A switch port.
    Port,
    /// The whole network.
    Network,
}

impl Subject {
    /// Whether each of the things is in one queue class.
    pub fn has_class(self) -> bool {
        matches!(
            self,
            Subject::Flows | Subject::Queries | Subject::EndlessFlows
        )
    }
}

/// How a metric is computed from a finished point.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A statistic of the flows whose size `has` accepts. Two schemes are compared flow by flow.
    Flows {
        /// Whether a flow of this many payload bytes counts.
        has: fn(u64) -> bool,
        /// Number of a flow: its completion time in microseconds or its slowdown.
        of: fn(&FlowRecord) -> Option<f64>,
        /// Statistic of these numbers.
        statistic: Statistic,
    },
    /// A statistic of the completion times of queries. Two schemes are compared query by query.
    Queries(Statistic),
    /// Number computed from the point. Two schemes are compared seed by seed.
    Point(fn(&Sample<'_>) -> Result<f64, Missing>),
    /// A counter of the middleboxes at the edge of a data centre.
    Edge(&'static str),
}

/// How rows of figures compute a metric that papers print in another unit.
#[derive(Clone, Copy, Debug)]
pub struct InFigures {
    /// Unit of the paper.
    pub unit: &'static str,
    /// The value in that unit.
    pub value: Conversion,
}

/// From a metric's value to that of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// The value times this factor.
    Times(f64),
    /// Computed separately.
    Instead(fn(&Sample<'_>) -> Result<f64, Missing>),
}

/// How reports show a metric.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The two lines above it. Neighbours with the same first line share that line.
    pub heading: (&'static str, &'static str),
    /// Content of the cells.
    pub cells: Cells,
    /// Whether the terminal table shows it (where any scheme has a value).
    pub terminal: bool,
    /// Whether the report shows it (where any scheme has a value).
    pub report: bool,
    /// Name in the report's chart of completion times; `None` leaves the metric out.
    pub bar: Option<&'static str>,
    /// Name in charts, with its group.
    pub sentence: Option<(Topic, &'static str)>,
    /// The field of a point in the JSON document that holds the value. A metric without one is
    /// written into the map `metrics` of the point.
    pub field: Option<&'static str>,
}

/// Content of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// The mean over seeds for the baseline, percent against it for the others.
    Comparison,
    /// The sum over seeds.
    Sum,
}

/// The first of these groups that was measured is the headline of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Flows by size class.
    Classes,
    /// All flows together.
    AllFlows,
    /// Everything else.
    Rest,
}

static ALL: LazyLock<Vec<Metric>> = LazyLock::new(registry::metrics);

/// Every metric: first those with a column, in the order of the JSON document.
pub fn all() -> &'static [Metric] {
    &ALL
}

/// The metrics by which terminal, report and charts judge schemes, in the order in which they are
/// shown.
pub(crate) fn judged() -> Vec<&'static Metric> {
    shown(compared(), |column| column.report)
}

/// The metric of this name.
pub fn find(key: &str) -> Option<&'static Metric> {
    all().iter().find(|m| m.key == key || m.alias == Some(key))
}

/// Every metric that schemes are compared by, in the order of the JSON document.
pub fn compared() -> impl Iterator<Item = &'static Metric> {
    all().iter().filter(|m| m.shows(Cells::Comparison))
}

/// Every metric of which the sum over seeds is shown, in order.
pub fn counted() -> impl Iterator<Item = &'static Metric> {
    all().iter().filter(|m| m.shows(Cells::Sum))
}

/// Metrics of `these` whose columns satisfy `keep`, in the order in which they are shown.
pub(crate) fn shown(
    these: impl Iterator<Item = &'static Metric>,
    keep: fn(&Column) -> bool,
) -> Vec<&'static Metric> {
    let mut found: Vec<_> = these
        .filter(|m| m.column.as_ref().is_some_and(keep))
        .collect();
    found.sort_by_key(|m| m.subject);
    found
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Metric {
    fn shows(&self, cells: Cells) -> bool {
        self.column.as_ref().is_some_and(|c| c.cells == cells)
    }

    /// The two lines above its column; empty without one.
    pub fn heading(&self) -> (&'static str, &'static str) {
        self.column.as_ref().map_or(("", ""), |c| c.heading)
    }

    /// Name in sentences, in the words of its column: `short mean`, `queue p99`.
    pub fn name(&self) -> String {
        let (group, stat) = self.heading();
        let what = group.split([',', '<', '>']).next().unwrap_or_default();
        format!("{} {stat}", what.trim()).trim().to_owned()
    }

    /// A value with its unit, as people read it.
    pub fn show(&self, value: f64) -> String {
        self.unit.show(value)
    }

    /// Its value at a finished point.
    ///
    /// # Errors
    /// What the point does not have.
    pub fn value(&self, sample: &Sample<'_>) -> Result<f64, Missing> {
        match self.value {
            Value::Flows { statistic, .. } => statistic
                .of(&self.times(sample)?)
                .ok_or(Missing::FinishedFlows),
            Value::Queries(statistic) => statistic.of(&self.times(sample)?).ok_or(Missing::Queries),
            Value::Point(of) => of(sample),
            Value::Edge(name) => sample.edge(name),
        }
    }

    /// The statistic of a metric by which two schemes are compared flow by flow or query by query.
    pub fn of_pairs(&self) -> Option<Statistic> {
        match self.value {
            Value::Flows { statistic, .. } | Value::Queries(statistic) => Some(statistic),
            Value::Point(_) | Value::Edge(_) => None,
        }
    }

    /// Numbers of the flows or queries that finished, in the metric's unit; none where the metric
    /// is not computed from them.
    ///
    /// # Errors
    /// As [`Sample::flows`].
    pub fn times(&self, sample: &Sample<'_>) -> Result<Vec<f64>, Missing> {
        match self.value {
            Value::Flows { has, of, .. } => sample.of_flows(has, of),
            Value::Queries(_) => sample.query_times(),
            Value::Point(_) | Value::Edge(_) => Ok(Vec::new()),
        }
    }

    /// Numbers in the metric's unit, (baseline, scheme), of the flows or queries that finished under
    /// both; none where schemes are not compared by them.
    ///
    /// # Errors
    /// As [`Sample::flows`].
    pub fn pairs(
        &self,
        baseline: &Sample<'_>,
        scheme: &Sample<'_>,
    ) -> Result<Vec<(f64, f64)>, Missing> {
        Ok(match self.value {
            Value::Flows { has, of, .. } => {
                let keep = |f: &FlowRecord| has(f.bytes);
                stats::pairs(baseline.flows()?, scheme.flows()?, keep, of)
            }
            Value::Queries(_) => stats::pairs_of_queries(&baseline.queries()?, &scheme.queries()?),
            Value::Point(_) | Value::Edge(_) => Vec::new(),
        })
    }

    /// The difference of one scheme from another over replications, (baseline, scheme): paired by
    /// flow, query or replication. `look`: the number of replications of a look, which sets the
    /// level of the interval. `None` where no replication has a value.
    pub fn compare<'a>(
        &self,
        replications: impl IntoIterator<Item = (Sample<'a>, Sample<'a>)>,
        look: Option<u32>,
    ) -> Option<Comparison> {
        let all = replications.into_iter();
        match self.of_pairs() {
            Some(statistic) => {
                let pairs: Vec<_> = all
                    .filter_map(|(base, here)| self.pairs(&base, &here).ok())
                    .collect();
                match look {
                    None => stats::compare(&pairs, statistic),
                    Some(look) => stats::compare_at(&pairs, statistic, look),
                }
            }
            None => {
                let value = |sample: &Sample<'_>| self.value(sample).ok();
                let values: Vec<_> = all
                    .filter_map(|(base, here)| Some((value(&base)?, value(&here)?)))
                    .collect();
                match look {
                    None => stats::compare_scalars(&values),
                    Some(look) => stats::compare_scalars_at(&values, look),
                }
            }
        }
    }

    /// The number of values at a finished point, where the metric is a percentile of so few that it
    /// is the largest of them.
    pub fn largest_of(&self, sample: &Sample<'_>) -> Option<u64> {
        let statistic = match (self.value, self.rank) {
            (Value::Flows { statistic, .. } | Value::Queries(statistic), _) => statistic,
            (_, Some(rank)) => Statistic::Percentile(rank.share),
            _ => return None,
        };
        let n = match statistic {
            Statistic::Mean => return None,
            Statistic::Percentile(_) => self.samples(sample),
        };
        statistic.is_maximum(n).then_some(n)
    }

    /// The number of values at a finished point that the metric is computed from: flows that have
    /// ended, endless flows, probes that were answered, samples of a queue, or the point itself.
    pub fn samples(&self, sample: &Sample<'_>) -> u64 {
        let outcome = sample.outcome;
        match (self.value, self.rank, self.subject) {
            (Value::Flows { .. } | Value::Queries(_), ..) => {
                self.times(sample).map_or(0, |all| all.len() as u64)
            }
            (_, Some(rank), _) => (rank.values)(sample),
            (.., Subject::Flows | Subject::Queries) => {
                outcome.flows.iter().filter(|f| f.fct.is_some()).count() as u64
            }
            (.., Subject::EndlessFlows) => outcome.long_flows.len() as u64,
            (.., Subject::Probes) => outcome.probes.len() as u64,
            (.., Subject::Port) if self.of_queue() => sample.queue().map_or(0, |queue| queue.count),
            (.., Subject::Port | Subject::Network) => 1,
        }
    }

    /// Things that [`Metric::samples`] counts.
    pub fn counts(&self) -> &'static str {
        match self.subject {
            Subject::Flows => "flows",
            Subject::Queries => "queries",
            Subject::EndlessFlows => "endless flows",
            Subject::Probes => "probes",
            Subject::Port if self.of_queue() => "queue samples",
            Subject::Port | Subject::Network => "replications",
        }
    }

    /// Whether it is a length of a port's queue.
    fn of_queue(&self) -> bool {
        self.subject == Subject::Port && self.unit == Unit::Bytes
    }

    /// The value in reports and documents: none for a percentile of so few values that it is the
    /// largest of them.
    pub fn reported(&self, sample: &Sample<'_>) -> Option<f64> {
        match self.largest_of(sample) {
            None => self.value(sample).ok(),
            Some(_) => None,
        }
    }

    /// Its value in the unit of figures.
    ///
    /// # Errors
    /// What the point does not have.
    pub fn value_in_figures(&self, sample: &Sample<'_>) -> Result<f64, Missing> {
        match self.in_figures.map(|f| f.value) {
            None => self.value(sample),
            Some(Conversion::Times(factor)) => Ok(factor * self.value(sample)?),
            Some(Conversion::Instead(of)) => of(sample),
        }
    }
}

/// The list of metrics of `docs/output.md`; a test compares the two.
pub fn documentation() -> String {
    let mut out =
        String::from("| metric | unit | better | in | meaning |\n|---|---|---|---|---|\n");
    let edges = |m: &&Metric| matches!(m.value, Value::Edge(_));
    for metric in all().iter().filter(|m| !edges(m)) {
        let alias = metric.alias.map_or(String::new(), |a| format!(", `{a}`"));
        let unit = match metric.in_figures {
            None => metric.unit.name().to_owned(),
            Some(f) => format!("{}; in figures {}", metric.unit.name(), f.unit),
        };
        let better = match metric.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        };
        let _ = writeln!(
            out,
            "| `{}`{alias} | {unit} | {better} | {} | {} |",
            metric.key,
            places(metric),
            metric.doc
        );
    }
    out.push_str(
        "| `edge.NAME` | as counted | | figures | A counter of the middleboxes at an edge, by the \
         names in [dcib.md](dcib.md#what-is-counted). |\n",
    );
    out
}

/// Where a metric is found, for the documentation.
fn places(metric: &Metric) -> String {
    let mut places = Vec::new();
    if let Some(column) = &metric.column {
        if column.terminal {
            places.push("table".to_owned());
        }
        if column.report {
            places.push("report".to_owned());
        }
        if column.cells == Cells::Comparison {
            places.push("`comparisons`".to_owned());
        }
        places.push("`points.parquet`".to_owned());
        places.push(match column.field {
            Some(field) => format!("`points[].{field}`"),
            None => format!("`points[].metrics[\"{}\"]`", metric.key),
        });
    }
    if metric.published {
        places.push("`[[published]]`".to_owned());
    }
    places.push("figures".to_owned());
    places.join(", ")
}
