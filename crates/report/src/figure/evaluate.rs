// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the points of a figure to the number of a row.

use std::collections::BTreeMap;

use cemark_sim::Outcome;
use cemark_sim::config::Measure;
use cemark_sim::outcome::{FlowRecord, PortReport};
use cemark_sim::workload::Workload;

use super::endless;
use super::estimate::Estimate;
use super::full;
use super::row::{Flow, Metric, OneOrMany, Over, Part, Row, Statistic};
use crate::stats::{self, Statistic as FctStatistic};
use crate::summary::hottest;

/// The papers count queues in packets of so many bytes.
const PACKET: f64 = 1500.0;

/// One simulated point.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Value of each axis as written.
    pub axes: &'a BTreeMap<String, String>,
    /// Label of its scheme.
    pub scheme: &'a str,
    /// Its seed.
    pub seed: u64,
    /// Its workloads, in the order of `FlowRecord::workload`.
    pub workloads: &'a [Workload],
    /// What was measured, and when.
    pub measure: &'a Measure,
    /// What it left.
    pub outcome: &'a Outcome,
}

/// All points of a figure.
#[derive(Clone, Debug, Default)]
pub struct Data<'a> {
    /// In the plan's order.
    pub cells: Vec<Cell<'a>>,
}

type Axes = BTreeMap<String, String>;
type Selection = BTreeMap<String, OneOrMany>;

/// The number of a row.
///
/// # Errors
/// Where the row asks for what the points do not have: a mistake in the figure's file.
pub fn evaluate(row: &Row, data: &Data<'_>) -> Result<Estimate, String> {
    let number = at(row, data, &row.selection)?;
    let number = match &row.minus {
        None => number,
        Some(changed) => {
            let mut selection = row.selection.clone();
            selection.extend(changed.clone());
            let other = at(row, data, &selection)?;
            number
                .minus(&other)
                .ok_or("the two selections have different seeds")?
        }
    };
    Ok(match row.unit {
        Some(unit) => number.linear(0.0, 1.0 / unit),
        None => number,
    })
}

/// The statistic over the selected cells.
fn at(row: &Row, data: &Data<'_>, selection: &Selection) -> Result<Estimate, String> {
    let ask = Ask {
        row,
        data,
        metric: metric(&row.metric)?,
    };
    let cells = data.select(selection)?;
    match row.statistic {
        Statistic::Onset => return ask.onset(&cells),
        Statistic::Growth => return ask.growth(&cells),
        _ => {}
    }
    let all = cells
        .iter()
        .map(|axes| ask.one(axes))
        .collect::<Result<Vec<_>, _>>()?;
    let extreme = |better: fn(f64, f64) -> bool| {
        all.iter()
            .fold(None, |best: Option<&Estimate>, e| match best {
                Some(b) if !better(e.value(), b.value()) => Some(b),
                _ => Some(e),
            })
    };
    let chosen = match row.over {
        None if all.len() == 1 => all.first(),
        None => {
            return Err(format!(
                "{} cells are selected; say which, or over = \"mean\"",
                all.len()
            ));
        }
        Some(Over::Mean) => {
            return Estimate::average(&all)
                .ok_or_else(|| "the cells have different seeds".to_owned());
        }
        Some(Over::Max) => extreme(|a, b| a > b),
        Some(Over::Min) => extreme(|a, b| a < b),
        Some(Over::Farthest) => extreme(|a, b| a.abs() > b.abs()),
        Some(Over::Median) => ranked(&all).get((all.len().max(1) - 1) / 2).copied(),
        Some(Over::NextToMax) => ranked(&all).iter().rev().nth(1).copied(),
        Some(Over::HighestLow) => {
            let lows = all.iter().map(|e| e.interval().map(|i| i.0));
            let lows: Option<Vec<f64>> = lows.collect();
            let highest = lows.and_then(|l| l.into_iter().reduce(f64::max));
            return highest
                .map(Estimate::exact)
                .ok_or_else(|| "a cell has no interval".to_owned());
        }
    };
    chosen
        .cloned()
        .ok_or_else(|| "no cell is selected".to_owned())
}

/// MB that endless flows delivered.
fn delivered(outcome: &Outcome, flow: Flow) -> Result<f64, String> {
    let mut all: Vec<u64> = outcome.long_flows.iter().map(|f| f.delivered).collect();
    let last = *all.last().ok_or("no endless flow was measured")?;
    let sum: u64 = all.iter().sum();
    all.sort_unstable();
    let n = all.len();
    let bytes = match flow {
        Flow::All => sum as f64,
        Flow::Min => all[0] as f64,
        Flow::P50 => all[(n - 1) / 2] as f64,
        Flow::Max => all[n - 1] as f64,
        Flow::Last => last as f64,
        Flow::Others => (sum - last) as f64 / (n - 1).max(1) as f64,
        // Not a length, so it returns here.
        Flow::LastOfFair => return Ok(100.0 * last as f64 * n as f64 / sum.max(1) as f64),
    };
    Ok(bytes / 1e6)
}

/// In rising order of their values.
fn ranked(all: &[Estimate]) -> Vec<&Estimate> {
    let mut ranked: Vec<&Estimate> = all.iter().collect();
    ranked.sort_by(|a, b| a.value().total_cmp(&b.value()));
    ranked
}

fn metric(key: &str) -> Result<Metric, String> {
    Metric::parse(key).ok_or_else(|| format!("no metric is called `{key}`"))
}

impl Data<'_> {
    /// The different combinations of axes that match, in order.
    fn select(&self, selection: &Selection) -> Result<Vec<&Axes>, String> {
        let mut found: Vec<&Axes> = Vec::new();
        for cell in &self.cells {
            if !found.contains(&cell.axes)
                && selection
                    .iter()
                    .all(|(axis, wanted)| value(cell.axes, axis).is_some_and(|v| wanted.has(v)))
            {
                found.push(cell.axes);
            }
        }
        for axis in selection.keys() {
            if self
                .cells
                .iter()
                .all(|cell| value(cell.axes, axis).is_none())
            {
                return Err(format!("there is no axis `{axis}`"));
            }
        }
        if found.is_empty() {
            Err(format!("no point has {selection:?}"))
        } else {
            Ok(found)
        }
    }

    /// What a scheme left in each seed.
    fn seeds(&self, axes: &Axes, scheme: &str) -> Result<Vec<&Cell<'_>>, String> {
        let found: Vec<&Cell<'_>> = self
            .cells
            .iter()
            .filter(|c| c.axes == axes && c.scheme == scheme)
            .collect();
        if found.is_empty() {
            Err(format!("no scheme is labelled `{scheme}` at {axes:?}"))
        } else {
            Ok(found)
        }
    }
}

/// The value of an axis that is called by the last words of its path.
fn value<'a>(axes: &'a Axes, axis: &str) -> Option<&'a str> {
    let called = |path: &str| {
        path == axis
            || path
                .strip_suffix(axis)
                .is_some_and(|head| head.ends_with('.'))
    };
    axes.iter()
        .find(|(path, _)| called(path))
        .map(|(_, v)| v.as_str())
}

struct Ask<'a> {
    row: &'a Row,
    data: &'a Data<'a>,
    metric: Metric,
}

impl Ask<'_> {
    /// The statistic in one cell.
    fn one(&self, axes: &Axes) -> Result<Estimate, String> {
        let (row, metric) = (self.row, self.metric);
        let excess = |scheme: &str, against: &str| self.excess(axes, metric, scheme, against);
        Ok(match row.statistic {
            Statistic::Value => self.values(axes, metric, &row.scheme)?,
            Statistic::Difference => {
                let of = |scheme: &str| self.values(axes, metric, scheme);
                of(&row.scheme)?
                    .minus(&of(&row.against)?)
                    .ok_or("the two schemes have different seeds")?
            }
            Statistic::GainBeyond => {
                let other = self::metric(&row.other_metric)?;
                let [ours, theirs] =
                    [metric, other].map(|m| self.excess(axes, m, &row.scheme, &row.against));
                // A gain is an excess turned round.
                theirs?
                    .minus(&ours?)
                    .ok_or("the two metrics have different seeds")?
            }
            Statistic::Excess => excess(&row.scheme, &row.against)?,
            Statistic::Gain => excess(&row.scheme, &row.against)?.linear(0.0, -1.0),
            Statistic::Ratio => excess(&row.scheme, &row.against)?.linear(1.0, 0.01),
            Statistic::GapClosed => {
                let [from, to] = &row.schemes[..] else {
                    return Err("`gap-closed` needs two labels in `schemes`".to_owned());
                };
                excess(&row.scheme, from)?
                    .over(&excess(to, from)?)
                    .ok_or("the schemes have different seeds")?
            }
            Statistic::ExcessOverBest => {
                let others: Vec<&str> = row
                    .schemes
                    .iter()
                    .map(String::as_str)
                    .filter(|s| *s != row.scheme)
                    .collect();
                excess(&row.scheme, self.extremes(axes, metric, &others)?.0)?
            }
            Statistic::SmallestStep => {
                let steps = row
                    .schemes
                    .windows(2)
                    .map(|w| excess(&w[1], &w[0]))
                    .collect::<Result<Vec<_>, _>>()?;
                steps
                    .into_iter()
                    .min_by(|a, b| a.value().total_cmp(&b.value()))
                    .ok_or("`schemes` needs two labels or more")?
            }
            Statistic::ArgminDiffers => {
                let labels: Vec<&str> = row.schemes.iter().map(String::as_str).collect();
                let other = self::metric(&row.other_metric)?;
                let (a, b) = (
                    self.extremes(axes, metric, &labels)?.0,
                    self.extremes(axes, other, &labels)?.0,
                );
                if a == b {
                    return Ok(Estimate::exact(0.0));
                }
                let (lost, other_lost) = (excess(b, a)?, self.excess(axes, other, a, b)?);
                if lost.value() < other_lost.value() {
                    lost
                } else {
                    other_lost
                }
            }
            Statistic::Spread => {
                let labels: Vec<&str> = row.schemes.iter().map(String::as_str).collect();
                let (low, high) = self.extremes(axes, metric, &labels)?;
                excess(high, low)?.picked_of(labels.len() * labels.len().saturating_sub(1) / 2)
            }
            Statistic::QuantilesAbove => self.quantiles_above(axes)?,
            Statistic::Onset
            | Statistic::Growth
            | Statistic::Rtt
            | Statistic::RttRatio
            | Statistic::Sizes
            | Statistic::Division
            | Statistic::Dcib
            | Statistic::Cedm
            | Statistic::Quotient => {
                return Err("this statistic is not taken cell by cell".to_owned());
            }
        })
    }

    /// In each seed, the percent of places in the order of flows at which the scheme's flow
    /// delivered more.
    fn quantiles_above(&self, axes: &Axes) -> Result<Estimate, String> {
        let sorted = |cell: &Cell<'_>| {
            let flows = cell.outcome.long_flows.iter();
            let mut all: Vec<u64> = flows.map(|f| f.delivered).collect();
            all.sort_unstable();
            all
        };
        let ours = self.data.seeds(axes, &self.row.scheme)?;
        let theirs = self.data.seeds(axes, &self.row.against)?;
        if ours.len() != theirs.len() {
            return Err("the two schemes have different seeds".to_owned());
        }
        let shares = ours.iter().zip(&theirs).map(|(a, b)| {
            let (a, b) = (sorted(a), sorted(b));
            match a.len() == b.len() && !a.is_empty() {
                true => {
                    let above = a.iter().zip(&b).filter(|(a, b)| a > b).count();
                    Ok(100.0 * above as f64 / a.len() as f64)
                }
                false => Err("the two schemes have not the same endless flows".to_owned()),
            }
        });
        shares
            .collect::<Result<_, String>>()
            .map(Estimate::of_seeds)
    }

    /// The schemes with the smallest and the largest mean over seeds.
    fn extremes<'l>(
        &self,
        axes: &Axes,
        metric: Metric,
        labels: &[&'l str],
    ) -> Result<(&'l str, &'l str), String> {
        let mut all = Vec::new();
        for label in labels {
            all.push((self.values(axes, metric, label)?.value(), *label));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        match (all.first(), all.last()) {
            (Some(low), Some(high)) => Ok((low.1, high.1)),
            _ => Err("`schemes` names no other scheme".to_owned()),
        }
    }

    /// The measured flows in question: those of the row's workload, or all.
    fn flows<'c>(
        &self,
        cell: &'c Cell<'_>,
    ) -> Result<impl Iterator<Item = &'c FlowRecord> + use<'c>, String> {
        let wanted =
            match &self.row.workload {
                None => None,
                Some(name) => {
                    let found = cell.workloads.iter().position(|w| w.name == *name);
                    Some(found.ok_or_else(|| {
                        format!("no workload is called `{name}` at {:?}", cell.axes)
                    })?)
                }
            };
        Ok(cell
            .outcome
            .flows
            .iter()
            .filter(move |f| wanted.is_none_or(|w| usize::from(f.workload) == w)))
    }

    /// The metric itself in each seed.
    fn values(&self, axes: &Axes, metric: Metric, scheme: &str) -> Result<Estimate, String> {
        let cells = self.data.seeds(axes, scheme)?;
        let values = cells
            .iter()
            .map(|c| self.scalar(c, metric))
            .collect::<Result<_, _>>()?;
        Ok(Estimate::of_seeds(values))
    }

    fn scalar(&self, cell: &Cell<'_>, metric: Metric) -> Result<f64, String> {
        Ok(self.measured(cell, metric)? - self.row.base.unwrap_or(0.0))
    }

    fn measured(&self, cell: &Cell<'_>, metric: Metric) -> Result<f64, String> {
        let outcome = cell.outcome;
        let class = || {
            let class = self.row.class;
            class.ok_or("`share` and `settling` need a class")
        };
        Ok(match metric {
            Metric::Rtt(statistic) => {
                let times: Vec<f64> = outcome
                    .probes
                    .iter()
                    .map(|p| p.rtt.as_micros_f64())
                    .collect();
                statistic.of(&times).ok_or("no probe was answered")?
            }
            Metric::Goodput => endless::goodput(outcome, cell.measure, self.row.class)?,
            Metric::Share => endless::share(outcome, class()?)?,
            Metric::Settling => endless::settling(outcome, cell.measure, class()?)?,
            Metric::Fct(class, statistic) => {
                let flows = self.flows(cell)?.filter(|f| class.has(f.bytes));
                let times: Vec<f64> = flows
                    .filter_map(|f| f.fct.map(|t| t.as_micros_f64()))
                    .collect();
                statistic
                    .of(&times)
                    .ok_or("a seed has no finished flow of this class")?
            }
            Metric::Queue(part) => {
                let queue = &self.port(outcome)?.queue;
                if queue.count == 0 {
                    return Err("no queue was sampled".to_owned());
                }
                PACKET.recip()
                    * match part {
                        Part::Mean => queue.mean,
                        Part::P50 => queue.p50,
                        Part::P99 => queue.p99,
                        Part::Min => queue.min,
                        Part::Max => queue.max,
                        Part::Swing => queue.max - queue.min,
                    }
            }
            Metric::Full(what) => full::milliseconds(outcome, what)?,
            Metric::Utilisation => 100.0 * self.port(outcome)?.utilisation,
            Metric::Delivered(flow) => delivered(outcome, flow)?,
            Metric::Edge(name) => *outcome
                .edges
                .get(name)
                .ok_or("there is no box at an edge that counts this")?
                as f64,
            Metric::Drops => outcome.totals.all_drops() as f64,
            Metric::Marks => outcome.totals.all_marks() as f64,
            Metric::Timeouts if self.row.workload.is_none() => outcome.totals.timeouts as f64,
            Metric::Timeouts => self.sum(cell, |f| f.timeouts)?,
            Metric::Lost => self.sum(cell, |f| f.retransmits)?,
        })
    }

    fn sum(&self, cell: &Cell<'_>, of: fn(&FlowRecord) -> u32) -> Result<f64, String> {
        let all: Vec<u32> = self.flows(cell)?.map(of).collect();
        if all.is_empty() {
            return Err("a seed has no measured flow of this workload".to_owned());
        }
        Ok(all.into_iter().map(f64::from).sum())
    }

    fn port<'o>(&self, outcome: &'o Outcome) -> Result<&'o PortReport, String> {
        match &self.row.port {
            None => hottest(&outcome.ports).ok_or_else(|| "no queue was sampled".to_owned()),
            Some(end) => {
                let found = outcome
                    .ports
                    .iter()
                    .find(|p| p.name.ends_with(end.as_str()));
                found.ok_or_else(|| {
                    let names: Vec<&str> = outcome
                        .ports
                        .iter()
                        .take(20)
                        .map(|p| p.name.as_str())
                        .collect();
                    format!("no port's name ends in `{end}`; ports: {}", names.join(" "))
                })
            }
        }
    }

    /// Percent by which `scheme` lies above `against`, paired flow by flow where flows are
    /// compared.
    fn excess(
        &self,
        axes: &Axes,
        metric: Metric,
        scheme: &str,
        against: &str,
    ) -> Result<Estimate, String> {
        let (theirs, ours) = (
            self.data.seeds(axes, against)?,
            self.data.seeds(axes, scheme)?,
        );
        if theirs.len() != ours.len() {
            return Err(format!("`{scheme}` and `{against}` have different seeds"));
        }
        let pairs = theirs.iter().zip(&ours);
        let Metric::Fct(class, statistic) = metric else {
            let percents = pairs
                .map(
                    |(b, s)| match (self.scalar(b, metric)?, self.scalar(s, metric)?) {
                        (0.0, 0.0) => Ok(0.0),
                        (0.0, _) => Err(format!("`{against}` has a seed where the metric is zero")),
                        (b, s) => Ok(100.0 * (s / b - 1.0)),
                    },
                )
                .collect::<Result<_, String>>()?;
            return Ok(Estimate::of_seeds(percents));
        };
        let tail = matches!(statistic, FctStatistic::Percentile(_));
        let enough = theirs.len() >= 3;
        let resample = tail || !enough;
        let (mut plain, mut resampled) = (Vec::new(), Vec::new());
        for (b, s) in pairs {
            let of = |cell| -> Result<Vec<FlowRecord>, String> {
                Ok(self.flows(cell)?.copied().collect())
            };
            let both = stats::pairs(&of(b)?, &of(s)?, |f| class.has(f.bytes));
            if resample {
                let seed = [both];
                let one = stats::compare(&seed, statistic)
                    .ok_or("a seed has no flow of this class that ended under both schemes")?;
                let half = match tail {
                    // Beside three seeds the bootstrap says on how few flows a tail rests; it is no
                    // interval of its own.
                    true if enough => stats::half_by_flows(&seed[0], statistic),
                    true => None,
                    false => one.interval.map(|(_, high)| high - one.percent),
                };
                match half {
                    Some(half) => resampled.push((one.percent, half)),
                    None => plain.push(one.percent),
                }
            } else {
                let (x, y): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
                match (stats::mean(&x), stats::mean(&y)) {
                    (Some(x), Some(y)) if x > 0.0 => plain.push(100.0 * (y / x - 1.0)),
                    _ => {
                        return Err(
                            "a seed has no flow of this class that ended under both schemes"
                                .to_owned(),
                        );
                    }
                }
            }
        }
        if plain.is_empty() {
            return Ok(Estimate::of_flows(resampled, tail));
        }
        plain.extend(resampled.into_iter().map(|r| r.0));
        Ok(Estimate::of_seeds(plain))
    }

    /// The metric along the axis, in rising order.
    fn along(&self, cells: &[&Axes], scheme: &str) -> Result<Vec<(f64, Vec<f64>)>, String> {
        let axis = self.row.axis.as_deref();
        let axis = axis.ok_or("`onset` and `growth` need an axis")?;
        let mut along = Vec::new();
        for axes in cells {
            let written = value(axes, axis).ok_or_else(|| format!("there is no axis `{axis}`"))?;
            let x = first_number(written)
                .ok_or_else(|| format!("`{written}` is not a number to walk along"))?;
            along.push((x, self.values(axes, self.metric, scheme)?.seeds));
        }
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(along)
    }

    /// For each seed, where along the axis the metric leaves zero; less where `against` does, if
    /// there is one.
    fn onset(&self, cells: &[&Axes]) -> Result<Estimate, String> {
        let mut onsets = self.onsets(cells, &self.row.scheme)?;
        if !self.row.against.is_empty() {
            let others = self.onsets(cells, &self.row.against)?;
            onsets.iter_mut().zip(others).for_each(|(a, b)| *a -= b);
        }
        Ok(Estimate::of_range(onsets))
    }

    fn onsets(&self, cells: &[&Axes], scheme: &str) -> Result<Vec<f64>, String> {
        let along = self.along(cells, scheme)?;
        let [.., (before, _), (last, seeds)] = &along[..] else {
            return Err("an onset needs two values of the axis or more".to_owned());
        };
        let beyond = last + (last - before);
        let onset = |seed: usize| {
            along
                .iter()
                .find(|(_, v)| v.get(seed).is_some_and(|v| *v > 0.0))
                .map_or(beyond, |(x, _)| *x)
        };
        Ok((0..seeds.len()).map(onset).collect())
    }

    /// For each seed, the slope of the line through the logarithms.
    fn growth(&self, cells: &[&Axes]) -> Result<Estimate, String> {
        let along = self.along(cells, &self.row.scheme)?;
        let seeds = along.iter().map(|(_, v)| v.len()).min().unwrap_or(0);
        let slope = |seed: usize| {
            let points: Vec<(f64, f64)> =
                along.iter().map(|(x, v)| (x.ln(), v[seed].ln())).collect();
            let n = points.len() as f64;
            let (x, y) = points
                .iter()
                .fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
            let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), p| {
                (over + (p.0 - x) * (p.1 - y), under + (p.0 - x).powi(2))
            });
            over / under
        };
        let slopes: Vec<f64> = (0..seeds).map(slope).collect();
        match slopes.iter().all(|s| s.is_finite()) && !slopes.is_empty() {
            true => Ok(Estimate::of_seeds(slopes)),
            false => {
                Err("a growth needs two values of the axis or more, and all above zero".into())
            }
        }
    }
}

/// The first number in what is written for an axis: 20 of `20 Gb/s` and of `at 20us`.
fn first_number(written: &str) -> Option<f64> {
    let start = written.find(|c: char| c.is_ascii_digit())?;
    let rest = &written[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// Flows of the rows' points that have not ended, of all; they are in no number.
pub fn unfinished(data: &Data<'_>) -> (u64, u64) {
    data.cells
        .iter()
        .flat_map(|c| &c.outcome.flows)
        .fold((0, 0), |(open, all), f| {
            (open + u64::from(f.fct.is_none()), all + 1)
        })
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
