// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison of schemes that the terminal table, the report and the JSON document show:
//! numbers only, no layout.

mod alike;
mod classes;
pub(crate) mod drops;
mod ports;
pub mod precision;
pub(crate) mod sentence;
mod sizes;
pub(crate) mod workloads;

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Published};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct};

pub use self::alike::Alike;
pub use self::classes::OfClass;
use self::precision::Standing;
pub use self::workloads::{Got, Shares};
use crate::metrics::{self, Better, Metric, Restriction, Sample};
use crate::rundir::Finished;
use crate::stats::{self, Comparison};
use crate::summary::ComparisonLine;
use crate::text::distinct;
use crate::units;

/// Number in the table: a metric of a scheme.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Metric of the cell.
    pub metric: &'static Metric,
    /// Mean over seeds, in the metric's unit; `None` where nothing was measured.
    pub absolute: Option<f64>,
    /// The difference from the baseline; `None` for the baseline itself.
    pub against: Option<Comparison>,
    /// Number in the paper, in percent against the baseline.
    pub published: Option<Published>,
    /// The fewest values of a seed, where the percentile of a seed is the largest of its values:
    /// then the cell decides nothing.
    pub largest_of: Option<u64>,
}

/// A counter summed over seeds.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Metric of the counter.
    pub metric: &'static Metric,
    /// The sum.
    pub sum: f64,
}

impl Cell {
    /// A cell without a value.
    fn empty(metric: &'static Metric) -> Cell {
        Cell {
            metric,
            absolute: None,
            against: None,
            published: None,
            largest_of: None,
        }
    }

    /// Whether the whole interval is on the bad side of zero, and the difference is not printed as
    /// zero.
    pub fn worse(&self) -> bool {
        self.decided().is_some_and(|c| match self.metric.better {
            Better::Less => c.above(),
            Better::More => c.below(),
            Better::Neither => false,
        })
    }

    /// Whether the whole interval is on the good side of zero, and the difference is not printed as
    /// zero.
    pub fn better(&self) -> bool {
        self.decided().is_some_and(|c| match self.metric.better {
            Better::Less => c.below(),
            Better::More => c.above(),
            Better::Neither => false,
        })
    }

    fn decided(&self) -> Option<Comparison> {
        let visible = |c: &Comparison| units::percent(c.percent) != units::percent(0.0);
        self.against.filter(visible)
    }

    /// "max of 28", where a percentile is the largest of its values.
    pub fn largest(&self) -> String {
        let of = |n| format!("max of {n}");
        self.largest_of.map_or_else(String::new, of)
    }
}

/// Scheme at one value of the axes, all seeds together.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its label.
    pub scheme: String,
    /// Whether the others are compared with it.
    pub baseline: bool,
    /// Cells of the metrics in [`metrics::compared`], in that order.
    pub cells: Vec<Cell>,
    /// Counters of the metrics in [`metrics::counted`], in that order.
    pub counts: Vec<Count>,
    /// Measured flows, all seeds.
    pub flows: u64,
    /// Measured flows that did not finish, all seeds.
    pub unfinished: u64,
    /// Packets discarded in all seeds, by reason, under the names of the JSON document.
    pub drops_by: BTreeMap<String, u64>,
    /// Policy for packets that the scheme wants to mark and that are not ECN-capable; `None` where
    /// nothing marks.
    pub non_ect: Option<NonEct>,
    /// Goodput and completion times of each workload and each queue class.
    pub shares: Shares,
    /// Indices of its points in the plan, one for each seed.
    pub points: Vec<usize>,
}

impl Row {
    /// The cell of a metric.
    ///
    /// # Panics
    /// Where schemes are not compared by the metric.
    pub fn cell(&self, metric: &Metric) -> &Cell {
        self.cells
            .iter()
            .find(|c| c.metric == metric)
            .expect("rows hold a cell for every metric that compares")
    }

    /// The sum of a counter.
    ///
    /// # Panics
    /// Where the metric is not shown as a sum.
    pub fn sum(&self, metric: &Metric) -> f64 {
        let count = self.counts.iter().find(|c| c.metric == metric);
        count.expect("rows hold every counter").sum
    }
}

/// All schemes at one value of the axes.
#[derive(Clone, Debug)]
pub struct Group {
    /// Value of each swept axis; empty without any.
    pub axes: BTreeMap<String, String>,
    /// In the order of the scenario; the baseline first.
    pub rows: Vec<Row>,
    /// Schemes by the flows of each traffic class; empty without `[[switch.class]]`.
    pub classes: Vec<OfClass>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// In a run with a stated precision, how far it is reached here.
    pub standing: Option<Standing>,
    /// Why nothing tells the schemes apart here, where nothing does.
    pub alike: Option<Alike>,
    /// Packets of each port that wait below the marker, in a buffer that counts packets, where
    /// there is one: queue lengths do not include them.
    pub device_packets: u32,
}

impl Group {
    /// `load 0.8, rtt.hi 240us`; empty without axes.
    pub fn title(&self) -> String {
        title(&self.axes)
    }

    /// Short names of the axes by path ([`axis_name`]), or the whole path where two names are
    /// alike.
    pub fn short_axes(&self) -> BTreeMap<String, String> {
        short_axes(&self.axes)
    }

    /// The lines below the table: shares of workloads and classes, drops by reason, and packets
    /// that queue lengths leave out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut all = workloads::lines(self);
        all.extend(drops::lines(self));
        if self.device_packets > 0 {
            all.push(format!(
                "queue lengths do not include the up to {} packets that wait in the device of each \
                 port, below the marker (switch.device-packets)",
                self.device_packets
            ));
        }
        all
    }

    /// The group, and after it its part of each traffic class.
    pub fn with_classes(&self) -> impl Iterator<Item = (Option<&OfClass>, &Group)> {
        let classes = self.classes.iter().map(|class| (Some(class), &class.group));
        std::iter::once((None, self)).chain(classes)
    }

    /// The baseline.
    pub fn baseline(&self) -> &Row {
        self.rows
            .iter()
            .find(|r| r.baseline)
            .expect("every group has its baseline")
    }

    /// The metrics of sentences and reports that have a value here.
    pub(crate) fn judged(&self) -> Vec<&'static Metric> {
        let mut judged = metrics::judged();
        judged.retain(|m| self.has(m));
        judged
    }

    /// Whether any scheme has a value.
    pub fn has(&self, metric: &Metric) -> bool {
        self.rows.iter().any(|r| r.cell(metric).absolute.is_some())
    }
}

/// `load 0.8, rtt.hi 240us`: values of axes in words; empty without axes.
pub(crate) fn title(axes: &BTreeMap<String, String>) -> String {
    let names = short_axes(axes);
    axes.iter()
        .map(|(path, value)| format!("{} {value}", names[path]))
        .collect::<Vec<_>>()
        .join(", ")
}

fn short_axes(axes: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let alike = |name: &str| axes.keys().filter(|p| axis_name(p) == name).count();
    let named = axes.keys().map(|path| {
        let name = axis_name(path);
        let name = if alike(&name) > 1 { path.clone() } else { name };
        (path.clone(), name)
    });
    named.collect()
}

/// The name of the axis of a sweep: the last word of its path, and where the path names one scheme,
/// workload or traffic class, its name as well: `load`, `ECN#: pst_target`, `schemes: k`,
/// `ECN# tcp: k`.
pub fn axis_name(path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or(path);
    if let Some(of_class) = path.strip_prefix("switch.class.") {
        let class = of_class.split('.').next().unwrap_or(of_class);
        return format!("{class}: {last}");
    }
    let Some((section @ ("scheme" | "workload"), rest)) = path.split_once('.') else {
        return last.to_owned();
    };
    let whose = rest.rsplit_once('.').map(|(whose, _)| whose);
    let whose = whose.map(|whose| whose.strip_suffix(".transport").unwrap_or(whose));
    match whose.filter(|whose| *whose != "*") {
        Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{section} {number}: {last}")
        }
        Some(whose) => format!("{}: {last}", whose.replacen(".class.", " ", 1)),
        None if section == "scheme" => format!("schemes: {last}"),
        None => last.to_owned(),
    }
}

/// How much of finished points is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Which points a scheme has.
    Grouped,
    /// Every metric, and its difference from the baseline with an interval.
    Compared,
}

/// The whole comparison.
#[derive(Clone, Debug)]
pub struct Comparisons {
    /// Groups by value of the axes, in the order of the plan.
    pub groups: Vec<Group>,
    /// Label of the baseline.
    pub baseline: String,
}

impl Comparisons {
    /// Compares finished points, which are in the order of the plan's points.
    pub fn new(plan: &Plan, finished: &[Finished]) -> Self {
        Comparisons::of(plan, &finished.iter().collect::<Vec<_>>())
    }

    /// Compares finished points by reference, in the order of the plan's points.
    pub fn of(plan: &Plan, finished: &[&Finished]) -> Self {
        Comparisons::with(plan, finished, Depth::Compared)
    }

    /// Groups finished points by the values of the axes and by scheme, for charts of flows and of
    /// queues. No metric has a value here, and no interval is computed.
    pub fn grouped(plan: &Plan, finished: &[Finished]) -> Self {
        let finished: Vec<&Finished> = finished.iter().collect();
        Comparisons::with(plan, &finished, Depth::Grouped)
    }

    fn with(plan: &Plan, finished: &[&Finished], depth: Depth) -> Self {
        debug_assert_eq!(plan.points.len(), finished.len());
        let baseline = plan.schemes.get(plan.baseline).cloned().unwrap_or_default();
        let order = distinct(plan.points.iter().map(|p| &p.axes)).into_iter();
        let groups = order.map(|axes| group(plan, finished, axes, &baseline, depth));
        Comparisons {
            groups: groups.collect(),
            baseline,
        }
    }

    /// The entries of the JSON document, one for each cell that compares.
    pub fn lines(&self) -> Vec<ComparisonLine> {
        let mut out = Vec::new();
        for (class, group) in self.groups.iter().flat_map(Group::with_classes) {
            for row in &group.rows {
                for cell in &row.cells {
                    let Some(c) = cell.against.filter(|_| cell.largest_of.is_none()) else {
                        continue;
                    };
                    out.push(ComparisonLine {
                        axes: group.axes.clone(),
                        class: class.map(|class| class.name.clone()),
                        scheme: row.scheme.clone(),
                        baseline: self.baseline.clone(),
                        metric: cell.metric.key.to_string(),
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
    finished: &[&Finished],
    axes: &BTreeMap<String, String>,
    baseline: &str,
    depth: Depth,
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
    let seeds = base.iter().map(|i| plan.points[*i].seed).collect();
    let first = base.first().map(|i| &plan.points[*i].config);
    let all = Part {
        plan,
        finished,
        only: Restriction::default(),
    };
    let rows = order.into_iter().map(|scheme| {
        let against = (scheme != baseline).then_some(&base[..]);
        match depth {
            Depth::Grouped => bare(finished, scheme, of(scheme), against.is_none()),
            Depth::Compared => all.row(scheme, of(scheme), against),
        }
    });
    let mut group = Group {
        axes: axes.clone(),
        rows: rows.collect(),
        classes: Vec::new(),
        seeds,
        standing: None,
        alike: None,
        device_packets: first.map_or(0, |config| config.switch.device.packets),
    };
    group.alike = alike::of(plan, finished, &group);
    if depth == Depth::Compared {
        group.classes = classes::of(&all, &group);
    }
    let precision = plan.precision.as_ref();
    group.standing = precision.map(|precision| Standing::of(&group, precision));
    group
}

/// Row of a scheme whose cells and counters are empty.
fn bare(finished: &[&Finished], scheme: &str, points: Vec<usize>, baseline: bool) -> Row {
    let here = points.iter().map(|i| &finished[*i].summary);
    let cells = metrics::compared().map(Cell::empty);
    let counts = metrics::counted().map(|metric| Count { metric, sum: 0.0 });
    Row {
        scheme: scheme.to_owned(),
        baseline,
        cells: cells.collect(),
        counts: counts.collect(),
        flows: here.clone().map(|p| p.flows).sum(),
        unfinished: here.map(|p| p.unfinished).sum(),
        drops_by: BTreeMap::new(),
        non_ect: None,
        shares: Shares::default(),
        points,
    }
}

/// Finished points, or the flows of one traffic class in them.
#[derive(Clone, Copy)]
struct Part<'a> {
    plan: &'a Plan,
    finished: &'a [&'a Finished],
    only: Restriction<'a>,
}

impl<'a> Part<'a> {
    fn sample(&self, point: usize) -> Sample<'a> {
        Sample {
            only: self.only,
            ..Sample::new(&self.plan.points[point], &self.finished[point].outcome)
        }
    }

    /// The value of a metric at a point; `None` where the point has none.
    fn value(&self, metric: &Metric, point: usize) -> Option<f64> {
        metric.value(&self.sample(point)).ok()
    }

    /// Values of a metric by seed.
    fn values(&self, metric: &Metric, points: &[usize]) -> Vec<f64> {
        let all = points.iter();
        all.filter_map(|i| self.value(metric, *i)).collect()
    }

    /// Row of a scheme; `against` holds the points of the baseline, `None` for the baseline itself.
    fn row(&self, scheme: &str, points: Vec<usize>, against: Option<&[usize]>) -> Row {
        let (plan, finished) = (self.plan, self.finished);
        let here: Vec<&Finished> = points.iter().map(|i| finished[*i]).collect();
        let axes = points.first().map(|i| &plan.points[*i].axes);
        let cells = metrics::compared().map(|metric| {
            let mut cell = self.cell(metric, &points, against);
            cell.published = axes.and_then(|axes| published(plan, axes, scheme, &metric.key));
            cell
        });
        let counts = metrics::counted().map(|metric| Count {
            metric,
            sum: self.values(metric, &points).iter().sum(),
        });
        Row {
            scheme: scheme.to_owned(),
            baseline: against.is_none(),
            cells: cells.collect(),
            counts: counts.collect(),
            flows: here.iter().map(|p| p.summary.flows).sum(),
            unfinished: here.iter().map(|p| p.summary.unfinished).sum(),
            drops_by: drops_by(&here),
            non_ect: points
                .first()
                .and_then(|i| non_ect(&plan.points[*i].config)),
            shares: {
                let pairs = points.iter().map(|i| (&plan.points[*i], finished[*i]));
                workloads::of(&pairs.collect::<Vec<_>>())
            },
            points,
        }
    }

    /// A metric of a scheme, without a published value.
    fn cell(&self, metric: &'static Metric, points: &[usize], against: Option<&[usize]>) -> Cell {
        let largest_of = {
            let all = against.unwrap_or_default().iter().chain(points);
            let samples = all.map(|i| self.sample(*i));
            samples.filter_map(|s| metric.largest_of(&s)).min()
        };
        let against = against.and_then(|base| self.compare(metric, base, points));
        Cell {
            metric,
            absolute: stats::mean(&self.values(metric, points)),
            against: against.map(|c| match largest_of {
                None => c,
                Some(_) => c.without_interval(),
            }),
            published: None,
            largest_of,
        }
    }

    /// The paired difference between the points `here` and those of the baseline.
    fn compare(&self, metric: &Metric, base: &[usize], here: &[usize]) -> Option<Comparison> {
        let seed = |i: usize| self.finished[i].summary.seed;
        // The replications after which a run with a stated precision looks.
        let look = self.plan.precision.as_ref().map(|_| base.len() as u32);
        let same_seed = base.iter().filter_map(|b| {
            let same = here.iter().find(|h| seed(**h) == seed(*b))?;
            Some((self.sample(*b), self.sample(*same)))
        });
        metric.compare(same_seed, look)
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
    let mut markers = config.switch.markers();
    let marks = markers.any(|marker| !matches!(marker, MarkerChoice::None));
    marks.then_some(config.switch.non_ect)
}

/// Number that a paper printed for a cell. A published value belongs to a group if all axes it
/// names have its values there; numbers are compared as numbers, so that `0.80` is `0.8`.
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
