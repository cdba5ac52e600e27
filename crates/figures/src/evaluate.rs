// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the points of a figure to the number of a row.

use std::collections::BTreeMap;

use cemark_report::metrics::{self, Metric, Sample};
use cemark_report::stats::{self, Statistic};
use cemark_report::text::distinct;
use cemark_scenario::near_of_many;

use super::error::RowError;
use super::estimate::Estimate;
use super::row::{Formula, OneOrMany, Over, Row};

/// Simulated point of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Value of each axis as written.
    pub axes: &'a BTreeMap<String, String>,
    /// Label of its scheme.
    pub scheme: &'a str,
    /// Its seed.
    pub seed: u64,
    /// Sample that metrics are computed from.
    pub sample: Sample<'a>,
}

/// All points of a figure.
#[derive(Clone, Debug)]
pub struct Data<'a> {
    /// In the plan's order.
    pub cells: Vec<Cell<'a>>,
    /// The probability with which an interval may miss.
    pub alpha: f64,
}

type Axes = BTreeMap<String, String>;
type Selection = BTreeMap<String, OneOrMany>;

/// The number of a row.
///
/// # Errors
/// Where the row asks for something that the points do not have, which is a mistake in the file.
pub fn evaluate(row: &Row, data: &Data<'_>) -> Result<Estimate, RowError> {
    let number = at(row, data, &row.selection)?;
    let number = match &row.minus {
        None => number,
        Some(changed) => {
            let mut selection = row.selection.clone();
            selection.extend(changed.clone());
            let other = at(row, data, &selection)?;
            number
                .minus(&other)
                .ok_or_else(|| different_seeds("the two selections"))?
        }
    };
    Ok(match row.unit {
        Some(unit) => number.linear(0.0, 1.0 / unit),
        None => number,
    })
}

/// The statistic over the selected cells.
fn at(row: &Row, data: &Data<'_>, selection: &Selection) -> Result<Estimate, RowError> {
    let evaluation = Evaluation {
        row,
        data,
        metric: metric(&row.metric)?,
    };
    let cells = data.select(selection)?;
    match row.formula {
        Formula::Onset => return evaluation.onset(&cells),
        Formula::Growth => return evaluation.growth(&cells),
        _ => {}
    }
    let all = cells
        .iter()
        .map(|axes| evaluation.one(axes))
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
            return Err(RowError::Cells(all.len()));
        }
        Some(Over::Mean) => {
            return Estimate::average(&all).ok_or_else(|| different_seeds("the cells"));
        }
        Some(Over::Max) => extreme(|a, b| a > b),
        Some(Over::Min) => extreme(|a, b| a < b),
        Some(Over::Farthest) => extreme(|a, b| a.abs() > b.abs()),
        Some(Over::Median) => ranked(&all).get((all.len().max(1) - 1) / 2).copied(),
        Some(Over::NextToMax) => ranked(&all).iter().rev().nth(1).copied(),
        Some(Over::HighestLow) => {
            let lows = all.iter().map(|e| e.interval_at(data.alpha).map(|i| i.0));
            let lows: Option<Vec<f64>> = lows.collect();
            let highest = lows.and_then(|l| l.into_iter().reduce(f64::max));
            return highest.map(Estimate::exact).ok_or(RowError::NoInterval);
        }
    };
    chosen.cloned().ok_or(RowError::NoCell)
}

/// Whether a row reads the points of a scheme at these values of the axes.
pub(super) fn reads(row: &Row, axes: &Axes, scheme: &str) -> bool {
    let mut named = [&row.scheme, &row.against].into_iter().chain(&row.schemes);
    let changed = |minus: &Selection| {
        let mut selection = row.selection.clone();
        selection.extend(minus.clone());
        fits(axes, &selection)
    };
    named.any(|s| s == scheme)
        && (fits(axes, &row.selection) || row.minus.as_ref().is_some_and(changed))
}

fn different_seeds(what: &str) -> RowError {
    RowError::Seeds(what.to_owned())
}

/// In rising order of their values.
fn ranked(all: &[Estimate]) -> Vec<&Estimate> {
    let mut ranked: Vec<&Estimate> = all.iter().collect();
    ranked.sort_by(|a, b| a.value().total_cmp(&b.value()));
    ranked
}

fn metric(key: &str) -> Result<&'static Metric, RowError> {
    metrics::find(key).ok_or_else(|| {
        let keys = metrics::all().iter().map(|m| &*m.key);
        RowError::Metric {
            key: key.to_owned(),
            near: near_of_many(key, keys, "docs/output.md lists them"),
        }
    })
}

impl Data<'_> {
    /// The different combinations of axes that match, in order.
    fn select(&self, selection: &Selection) -> Result<Vec<&Axes>, RowError> {
        let all = self.cells.iter().map(|cell| cell.axes);
        let found = distinct(all.filter(|axes| fits(axes, selection)));
        let known = |axis: &str| self.cells.iter().any(|c| value(c.axes, axis).is_some());
        if let Some(axis) = selection.keys().find(|axis| !known(axis)) {
            let axes = self.cells.first().map(|c| c.axes.keys().cloned().collect());
            return Err(RowError::Axis {
                axis: axis.clone(),
                known: axes.unwrap_or_default(),
            });
        }
        match found.is_empty() {
            true => Err(RowError::Selection(written(selection))),
            false => Ok(found),
        }
    }

    /// Cells of a scheme, one for each seed.
    fn seeds(&self, axes: &Axes, scheme: &str) -> Result<Vec<&Cell<'_>>, RowError> {
        let here = || self.cells.iter().filter(|c| c.axes == axes);
        let found: Vec<&Cell<'_>> = here().filter(|c| c.scheme == scheme).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut known: Vec<String> = here().map(|c| c.scheme.to_owned()).collect();
        known.dedup();
        let axes = axes.iter().map(|(path, value)| format!("{path} = {value}"));
        Err(RowError::Scheme {
            label: scheme.to_owned(),
            axes: axes.collect::<Vec<_>>().join(", "),
            known,
        })
    }
}

/// A selection as a row writes it.
fn written(selection: &Selection) -> String {
    let parts = selection.iter().map(|(axis, wanted)| match wanted {
        OneOrMany::One(value) => format!("{axis} = {value}"),
        OneOrMany::Many(values) => {
            let values: Vec<String> = values.iter().map(toml::Value::to_string).collect();
            format!("{axis} = [{}]", values.join(", "))
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Whether axes have the values that a selection asks for.
pub(super) fn fits(axes: &Axes, selection: &Selection) -> bool {
    let mut wanted = selection.iter();
    wanted.all(|(axis, wanted)| value(axes, axis).is_some_and(|v| wanted.has(v)))
}

/// The value of an axis that is called by the last words of its path.
pub(super) fn value<'a>(axes: &'a Axes, axis: &str) -> Option<&'a str> {
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

/// A row and what it is taken from.
struct Evaluation<'a> {
    row: &'a Row,
    data: &'a Data<'a>,
    metric: &'static Metric,
}

impl Evaluation<'_> {
    /// The statistic in one cell.
    fn one(&self, axes: &Axes) -> Result<Estimate, RowError> {
        let (row, metric) = (self.row, self.metric);
        let excess = |scheme: &str, against: &str| self.excess(axes, metric, scheme, against);
        Ok(match row.formula {
            Formula::Value => self.values(axes, metric, &row.scheme)?,
            Formula::Difference => {
                let of = |scheme: &str| self.values(axes, metric, scheme);
                of(&row.scheme)?
                    .minus(&of(&row.against)?)
                    .ok_or_else(|| different_seeds("the two schemes"))?
            }
            Formula::GainBeyond => {
                let other = self::metric(&row.other_metric)?;
                let [ours, theirs] =
                    [metric, other].map(|m| self.excess(axes, m, &row.scheme, &row.against));
                // A gain is an excess turned round.
                theirs?
                    .minus(&ours?)
                    .ok_or_else(|| different_seeds("the two metrics"))?
            }
            Formula::Excess => excess(&row.scheme, &row.against)?,
            Formula::Gain => excess(&row.scheme, &row.against)?.linear(0.0, -1.0),
            Formula::Ratio => excess(&row.scheme, &row.against)?.linear(1.0, 0.01),
            Formula::GapClosed => {
                let [from, to] = &row.schemes[..] else {
                    return Err(RowError::Labels("two labels"));
                };
                excess(&row.scheme, from)?
                    .over(&excess(to, from)?)
                    .ok_or_else(|| different_seeds("the schemes"))?
            }
            Formula::ExcessOverBest => {
                let others: Vec<&str> = row
                    .schemes
                    .iter()
                    .map(String::as_str)
                    .filter(|s| *s != row.scheme)
                    .collect();
                excess(&row.scheme, self.extremes(axes, metric, &others)?.0)?
            }
            Formula::SmallestStep => {
                let steps = row
                    .schemes
                    .windows(2)
                    .map(|w| excess(&w[1], &w[0]))
                    .collect::<Result<Vec<_>, _>>()?;
                steps
                    .into_iter()
                    .min_by(|a, b| a.value().total_cmp(&b.value()))
                    .ok_or(RowError::Labels("two labels or more"))?
            }
            Formula::ArgminDiffers => self.argmin_differs(axes)?,
            Formula::Spread => {
                let labels: Vec<&str> = row.schemes.iter().map(String::as_str).collect();
                let (low, high) = self.extremes(axes, metric, &labels)?;
                excess(high, low)?.picked_of(labels.len() * labels.len().saturating_sub(1) / 2)
            }
            Formula::QuantilesAbove => self.quantiles_above(axes)?,
            Formula::Onset
            | Formula::Growth
            | Formula::Rtt
            | Formula::RttRatio
            | Formula::Sizes
            | Formula::Division
            | Formula::Dcib
            | Formula::Cedm
            | Formula::Quotient => {
                return Err(RowError::NotByCell);
            }
        })
    }

    /// Loss of either metric's best scheme on the other metric, whichever is less.
    fn argmin_differs(&self, axes: &Axes) -> Result<Estimate, RowError> {
        let labels: Vec<&str> = self.row.schemes.iter().map(String::as_str).collect();
        let other = metric(&self.row.other_metric)?;
        let best = self.extremes(axes, self.metric, &labels)?.0;
        let other_best = self.extremes(axes, other, &labels)?.0;
        if best == other_best {
            return Ok(Estimate::exact(0.0));
        }
        let lost = self.excess(axes, self.metric, other_best, best)?;
        let other_lost = self.excess(axes, other, best, other_best)?;
        Ok(match lost.value() < other_lost.value() {
            true => lost,
            false => other_lost,
        })
    }

    /// In each seed, the percent of places in the order of flows at which the scheme's flow
    /// delivered more.
    fn quantiles_above(&self, axes: &Axes) -> Result<Estimate, RowError> {
        let sorted = |cell: &Cell<'_>| {
            let flows = cell.sample.outcome.long_flows.iter();
            let mut all: Vec<u64> = flows.map(|f| f.delivered).collect();
            all.sort_unstable();
            all
        };
        let ours = self.data.seeds(axes, &self.row.scheme)?;
        let theirs = self.data.seeds(axes, &self.row.against)?;
        if ours.len() != theirs.len() {
            return Err(different_seeds("the two schemes"));
        }
        let shares = ours.iter().zip(&theirs).map(|(a, b)| {
            let (a, b) = (sorted(a), sorted(b));
            match a.len() == b.len() && !a.is_empty() {
                true => {
                    let above = a.iter().zip(&b).filter(|(a, b)| a > b).count();
                    Ok(100.0 * above as f64 / a.len() as f64)
                }
                false => Err(RowError::EndlessFlows),
            }
        });
        shares
            .collect::<Result<_, RowError>>()
            .map(Estimate::of_seeds)
    }

    /// The schemes with the smallest and the largest mean over seeds.
    fn extremes<'l>(
        &self,
        axes: &Axes,
        metric: &Metric,
        labels: &[&'l str],
    ) -> Result<(&'l str, &'l str), RowError> {
        let mut all = Vec::new();
        for label in labels {
            all.push((self.values(axes, metric, label)?.value(), *label));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        match (all.first(), all.last()) {
            (Some(low), Some(high)) => Ok((low.1, high.1)),
            _ => Err(RowError::Labels("another label than that of `scheme`")),
        }
    }

    /// The part of a point that the row asks for.
    fn sample<'c>(&'c self, cell: &Cell<'c>) -> Sample<'c> {
        Sample {
            only: self.row.restriction(),
            ..cell.sample
        }
    }

    /// The metric itself in each seed.
    fn values(&self, axes: &Axes, metric: &Metric, scheme: &str) -> Result<Estimate, RowError> {
        let cells = self.data.seeds(axes, scheme)?;
        let values = cells.iter().map(|c| self.scalar(c, metric));
        Ok(Estimate::of_seeds(values.collect::<Result<_, _>>()?))
    }

    fn scalar(&self, cell: &Cell<'_>, metric: &Metric) -> Result<f64, RowError> {
        let value = metric.value_in_figures(&self.sample(cell))?;
        Ok(value - self.row.base.unwrap_or(0.0))
    }

    /// Percent by which `scheme` is above `against`, paired flow by flow where flows are
    /// compared.
    fn excess(
        &self,
        axes: &Axes,
        metric: &Metric,
        scheme: &str,
        against: &str,
    ) -> Result<Estimate, RowError> {
        let theirs = self.data.seeds(axes, against)?;
        let ours = self.data.seeds(axes, scheme)?;
        if theirs.len() != ours.len() {
            return Err(different_seeds(&format!("`{scheme}` and `{against}`")));
        }
        if let Some(statistic) = metric.of_pairs() {
            return self.excess_of_pairs(&theirs, &ours, metric, statistic);
        }
        let percents = theirs.iter().zip(&ours).map(|(b, s)| {
            match (self.scalar(b, metric)?, self.scalar(s, metric)?) {
                (0.0, 0.0) => Ok(0.0),
                (0.0, _) => Err(RowError::Zero(against.to_owned())),
                (b, s) => Ok(100.0 * (s / b - 1.0)),
            }
        });
        Ok(Estimate::of_seeds(
            percents.collect::<Result<_, RowError>>()?,
        ))
    }

    fn excess_of_pairs(
        &self,
        theirs: &[&Cell<'_>],
        ours: &[&Cell<'_>],
        metric: &Metric,
        statistic: Statistic,
    ) -> Result<Estimate, RowError> {
        let tail = matches!(statistic, Statistic::Percentile(_));
        let enough = theirs.len() >= 3;
        let (mut plain, mut resampled) = (Vec::new(), Vec::new());
        for (b, s) in theirs.iter().zip(ours) {
            let both = metric.pairs(&self.sample(b), &self.sample(s))?;
            if enough && !tail {
                plain.push(mean_excess(both)?);
                continue;
            }
            let seed = [both];
            let one = stats::compare(&seed, statistic).ok_or(RowError::Pairs)?;
            let half = match tail {
                // With three seeds or more the bootstrap tells how few flows a tail is made of; it
                // is no interval of its own.
                true if enough => stats::half_by_flows(&seed[0], statistic),
                true => None,
                false => one.interval.map(|(_, high)| high - one.percent),
            };
            match half {
                Some(half) => resampled.push((one.percent, half)),
                None => plain.push(one.percent),
            }
        }
        if plain.is_empty() {
            return Ok(Estimate::of_flows(resampled, tail));
        }
        plain.extend(resampled.into_iter().map(|r| r.0));
        Ok(Estimate::of_seeds(plain))
    }

    /// The metric along the axis, in rising order.
    fn along(&self, cells: &[&Axes], scheme: &str) -> Result<Vec<(f64, Vec<f64>)>, RowError> {
        let axis = self.row.axis.as_deref().ok_or(RowError::NoAxis)?;
        let mut along = Vec::new();
        for axes in cells {
            let written = value(axes, axis).ok_or_else(|| RowError::Axis {
                axis: axis.to_owned(),
                known: axes.keys().cloned().collect(),
            })?;
            let x = first_number(written);
            let x = x.ok_or_else(|| RowError::AxisValue(written.to_owned()))?;
            along.push((x, self.values(axes, self.metric, scheme)?.seeds));
        }
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(along)
    }

    /// For each seed, where along the axis the metric leaves zero; less where `against` does, if
    /// there is one.
    fn onset(&self, cells: &[&Axes]) -> Result<Estimate, RowError> {
        let mut onsets = self.onsets(cells, &self.row.scheme)?;
        if !self.row.against.is_empty() {
            let others = self.onsets(cells, &self.row.against)?;
            onsets.iter_mut().zip(others).for_each(|(a, b)| *a -= b);
        }
        Ok(Estimate::of_range(onsets))
    }

    fn onsets(&self, cells: &[&Axes], scheme: &str) -> Result<Vec<f64>, RowError> {
        let along = self.along(cells, scheme)?;
        let [.., (before, _), (last, seeds)] = &along[..] else {
            return Err(RowError::AxisValues("an onset", ""));
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
    fn growth(&self, cells: &[&Axes]) -> Result<Estimate, RowError> {
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
            false => Err(RowError::AxisValues("a growth", ", all of them above zero")),
        }
    }
}

/// Percent by which the second mean of the pairs is above the first.
fn mean_excess(pairs: Vec<(f64, f64)>) -> Result<f64, RowError> {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    match (stats::mean(&x), stats::mean(&y)) {
        (Some(x), Some(y)) if x > 0.0 => Ok(100.0 * (y / x - 1.0)),
        _ => Err(RowError::Pairs),
    }
}

/// The first number in what is written for an axis: 20 of `20 Gb/s` and of `at 20us`.
pub(super) fn first_number(written: &str) -> Option<f64> {
    let start = written.find(|c: char| c.is_ascii_digit())?;
    let rest = &written[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// How many flows did not finish, and how many flows there are. Unfinished flows are in no number.
pub fn unfinished(data: &Data<'_>) -> (u64, u64) {
    data.cells
        .iter()
        .flat_map(|c| &c.sample.outcome.flows)
        .fold((0, 0), |(open, all), f| {
            (open + u64::from(f.fct.is_none()), all + 1)
        })
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
