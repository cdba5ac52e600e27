// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison behind the terminal table, the report and the JSON: numbers only, no layout.

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Published};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct};

use crate::rundir::Finished;
use crate::stats::{self, Comparison, Distribution, SizeClass, Statistic};
use crate::summary::{ComparisonLine, hottest};
use crate::units;

/// A column of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Completion time of a size class.
    Fct(SizeClass, Statistic),
    /// Queue length at the hottest port of each point.
    Queue(Statistic),
    /// Payload rate of endless flows.
    Goodput,
    /// Round trip of probes.
    Probe(Statistic),
}

const P99: Statistic = Statistic::Percentile(0.99);

impl Metric {
    /// Every metric, in the order of reports.
    pub const EACH: [Metric; 13] = [
        Metric::Fct(SizeClass::All, Statistic::Mean),
        Metric::Fct(SizeClass::All, P99),
        Metric::Fct(SizeClass::Short, Statistic::Mean),
        Metric::Fct(SizeClass::Short, P99),
        Metric::Fct(SizeClass::Medium, Statistic::Mean),
        Metric::Fct(SizeClass::Medium, P99),
        Metric::Fct(SizeClass::Large, Statistic::Mean),
        Metric::Fct(SizeClass::Large, P99),
        Metric::Queue(Statistic::Mean),
        Metric::Queue(P99),
        Metric::Goodput,
        Metric::Probe(Statistic::Mean),
        Metric::Probe(P99),
    ];
    /// Mean completion time of flows below 100 KB.
    pub const SHORT_MEAN: Metric = Metric::Fct(SizeClass::Short, Statistic::Mean);
    /// 99th percentile of the same.
    pub const SHORT_P99: Metric = Metric::Fct(SizeClass::Short, P99);
    /// Mean completion time of flows above 10 MB.
    pub const LARGE_MEAN: Metric = Metric::Fct(SizeClass::Large, Statistic::Mean);
    /// Mean queue at the hottest port.
    pub const QUEUE_MEAN: Metric = Metric::Queue(Statistic::Mean);
    /// 99th percentile of the same.
    pub const QUEUE_P99: Metric = Metric::Queue(P99);

    /// Its name in scenario files and JSON (`short.p99`, `overall.mean`, `queue.mean`).
    pub fn key(self) -> String {
        let stat = |s| match s {
            Statistic::Mean => "mean".to_owned(),
            Statistic::Percentile(p) => format!("p{}", (p * 100.0).round()),
        };
        match self {
            Metric::Fct(SizeClass::All, s) => format!("overall.{}", stat(s)),
            Metric::Fct(class, s) => format!("{}.{}", class.key(), stat(s)),
            Metric::Queue(s) => format!("queue.{}", stat(s)),
            Metric::Goodput => "goodput".to_owned(),
            Metric::Probe(s) => format!("probe.{}", stat(s)),
        }
    }

    /// Whether less is better.
    pub fn less_is_better(self) -> bool {
        self != Metric::Goodput
    }

    /// An absolute value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Metric::Fct(..) | Metric::Probe(_) => units::micros(value),
            Metric::Queue(_) => units::bytes(value),
            Metric::Goodput => units::bits_per_second(value),
        }
    }

    /// Its value in one point, in microseconds, bytes or bits per second.
    fn value(self, point: &Finished) -> Option<f64> {
        let pick = |d: &Distribution, s| match s {
            Statistic::Mean => d.mean,
            Statistic::Percentile(_) => d.p99,
        };
        match self {
            Metric::Fct(class, s) => pick(point.summary.fct_us.get(class), s),
            Metric::Probe(s) => pick(&point.summary.probe_rtt_us, s),
            Metric::Queue(s) => hottest(&point.outcome.ports).map(|p| match s {
                Statistic::Mean => p.queue.mean,
                Statistic::Percentile(_) => p.queue.p99,
            }),
            Metric::Goodput => point.summary.long_goodput_bps,
        }
    }
}

/// One number of the table.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Which.
    pub metric: Metric,
    /// Mean over seeds, in microseconds, bytes or bits per second; `None` where nothing was
    /// measured.
    pub absolute: Option<f64>,
    /// Against the baseline; `None` for the baseline itself.
    pub against: Option<Comparison>,
    /// What the paper printed, in percent against the baseline.
    pub published: Option<Published>,
}

impl Cell {
    /// Whether the whole interval is on the bad side of zero.
    pub fn worse(&self) -> bool {
        self.against.is_some_and(|c| {
            if self.metric.less_is_better() {
                c.above()
            } else {
                c.below()
            }
        })
    }

    /// Whether the whole interval is on the good side of zero.
    pub fn better(&self) -> bool {
        self.against.is_some_and(|c| {
            if self.metric.less_is_better() {
                c.below()
            } else {
                c.above()
            }
        })
    }
}

/// One scheme at one value of the axes, all seeds together.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label.
    pub scheme: String,
    /// Whether the others are compared with it.
    pub baseline: bool,
    /// In the order of [`Metric::EACH`].
    pub cells: Vec<Cell>,
    /// Measured flows, all seeds.
    pub flows: u64,
    /// Those without an end, all seeds.
    pub unfinished: u64,
    /// CE written, all seeds.
    pub marks: u64,
    /// Packets discarded, all seeds.
    pub drops: u64,
    /// The same by reason, under the names of the JSON.
    pub drops_by: BTreeMap<String, u64>,
    /// What becomes of packets that the scheme wants to mark and that are not ECN-capable; `None`
    /// where nothing marks.
    pub non_ect: Option<NonEct>,
    /// Retransmission timeouts, all seeds.
    pub timeouts: u64,
    /// Segments sent again, all seeds.
    pub retransmissions: u64,
    /// Indices of its points in the plan, one a seed.
    pub points: Vec<usize>,
}

impl Row {
    /// The cell of a metric.
    pub fn cell(&self, metric: Metric) -> &Cell {
        self.cells
            .iter()
            .find(|c| c.metric == metric)
            .expect("rows hold a cell for every metric")
    }
}

/// All schemes at one value of the axes.
#[derive(Clone, Debug)]
pub struct Group {
    /// Value of each swept axis; empty without any.
    pub axes: BTreeMap<String, String>,
    /// In the order of the scenario; the baseline first.
    pub rows: Vec<Row>,
    /// Seeds.
    pub seeds: Vec<u64>,
}

impl Group {
    /// `load 0.8, rtt.hi 240us`; empty without axes.
    pub fn title(&self) -> String {
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
        let names: Vec<String> = self.axes.keys().map(|p| last(p)).collect();
        let short = |path: &str| {
            let name = last(path);
            if names.iter().filter(|n| **n == name).count() > 1 {
                path.to_owned()
            } else {
                name
            }
        };
        self.axes
            .iter()
            .map(|(path, value)| format!("{} {value}", short(path)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The baseline.
    pub fn baseline(&self) -> &Row {
        self.rows
            .iter()
            .find(|r| r.baseline)
            .expect("every group has its baseline")
    }

    /// Whether any scheme has a value.
    pub fn has(&self, metric: Metric) -> bool {
        self.rows.iter().any(|r| r.cell(metric).absolute.is_some())
    }
}

/// The whole comparison.
#[derive(Clone, Debug)]
pub struct Comparisons {
    /// One a value of the axes, in the order of the plan.
    pub groups: Vec<Group>,
    /// Label of the baseline.
    pub baseline: String,
}

impl Comparisons {
    /// Compares finished points, one for each of the plan and in its order.
    pub fn new(plan: &Plan, finished: &[Finished]) -> Self {
        debug_assert_eq!(plan.points.len(), finished.len());
        let baseline = plan.schemes.get(plan.baseline).cloned().unwrap_or_default();
        let mut order: Vec<&BTreeMap<String, String>> = Vec::new();
        for p in &plan.points {
            if !order.contains(&&p.axes) {
                order.push(&p.axes);
            }
        }
        let groups = order
            .into_iter()
            .map(|axes| group(plan, finished, axes, &baseline))
            .collect();
        Comparisons { groups, baseline }
    }

    /// As JSON writes it: one line for each cell that compares.
    pub fn lines(&self) -> Vec<ComparisonLine> {
        let mut out = Vec::new();
        for group in &self.groups {
            for row in &group.rows {
                for cell in &row.cells {
                    let Some(c) = cell.against else { continue };
                    out.push(ComparisonLine {
                        axes: group.axes.clone(),
                        scheme: row.scheme.clone(),
                        baseline: self.baseline.clone(),
                        metric: cell.metric.key(),
                        percent: c.percent,
                        low: c.interval.map(|i| i.0),
                        high: c.interval.map(|i| i.1),
                        published: cell.published.as_ref().map(|p| p.percent),
                    });
                }
            }
        }
        out
    }
}

fn group(
    plan: &Plan,
    finished: &[Finished],
    axes: &BTreeMap<String, String>,
    baseline: &str,
) -> Group {
    let of = |scheme: &str| -> Vec<usize> {
        (0..plan.points.len())
            .filter(|i| plan.points[*i].axes == *axes && plan.points[*i].scheme == scheme)
            .collect()
    };
    let base = of(baseline);
    let mut order: Vec<&str> = vec![baseline];
    order.extend(
        plan.schemes
            .iter()
            .map(String::as_str)
            .filter(|s| *s != baseline),
    );
    let rows = order
        .into_iter()
        .map(|scheme| {
            let points = of(scheme);
            let here: Vec<&Finished> = points.iter().map(|i| &finished[*i]).collect();
            let sum = |f: fn(&Finished) -> u64| here.iter().map(|p| f(p)).sum();
            let cells = Metric::EACH
                .into_iter()
                .map(|metric| Cell {
                    metric,
                    absolute: stats::mean(
                        &here
                            .iter()
                            .filter_map(|p| metric.value(p))
                            .collect::<Vec<_>>(),
                    ),
                    against: (scheme != baseline)
                        .then(|| against(metric, finished, &base, &here))
                        .flatten(),
                    published: published(plan, axes, scheme, &metric.key()),
                })
                .collect();
            Row {
                scheme: scheme.to_owned(),
                baseline: scheme == baseline,
                cells,
                flows: sum(|p| p.summary.flows),
                unfinished: sum(|p| p.summary.unfinished),
                marks: sum(|p| p.summary.marks),
                drops: sum(|p| p.summary.all_drops()),
                drops_by: drops_by(&here),
                non_ect: points
                    .first()
                    .and_then(|i| non_ect(&plan.points[*i].config)),
                timeouts: sum(|p| p.summary.timeouts),
                retransmissions: sum(|p| p.summary.retransmissions),
                points,
            }
        })
        .collect();
    let seeds = base.iter().map(|i| plan.points[*i].seed).collect();
    Group {
        axes: axes.clone(),
        rows,
        seeds,
    }
}

fn drops_by(points: &[&Finished]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (why, n) in points.iter().flat_map(|p| &p.summary.drops) {
        *all.entry(why.clone()).or_default() += n;
    }
    all
}

fn non_ect(config: &Config) -> Option<NonEct> {
    let marks = !matches!(config.switch.marker, MarkerChoice::None);
    marks.then_some(config.switch.non_ect)
}

fn against(
    metric: Metric,
    finished: &[Finished],
    base: &[usize],
    here: &[&Finished],
) -> Option<Comparison> {
    let same_seed = base.iter().filter_map(|i| {
        here.iter()
            .find(|p| p.summary.seed == finished[*i].summary.seed)
            .map(|p| (&finished[*i], *p))
    });
    match metric {
        Metric::Fct(class, statistic) => {
            let seeds: Vec<_> = same_seed
                .map(|(b, s)| {
                    stats::pairs(&b.outcome.flows, &s.outcome.flows, |f| class.has(f.bytes))
                })
                .collect();
            stats::compare(&seeds, statistic)
        }
        _ => {
            let seeds: Vec<_> = same_seed
                .filter_map(|(b, s)| Some((metric.value(b)?, metric.value(s)?)))
                .collect();
            stats::compare_scalars(&seeds)
        }
    }
}

/// What a paper printed for a cell. A published value belongs to a group if all axes it names have
/// its values there; numbers are compared as numbers, so that `0.80` is `0.8`.
fn published(
    plan: &Plan,
    axes: &BTreeMap<String, String>,
    scheme: &str,
    metric: &str,
) -> Option<Published> {
    let same = |a: &str, b: &str| {
        a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(x), Ok(y)) if x == y)
    };
    plan.published
        .iter()
        .find(|p| {
            p.scheme == scheme
                && p.metric == metric
                && p.axes
                    .iter()
                    .all(|(path, value)| axes.get(path).is_some_and(|v| same(v, value)))
        })
        .cloned()
}
