// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goal of a search: a metric as good as possible, and bounds on others.

use cemark_report::metrics::{self, Better, Metric, Sample, Unit};
use cemark_report::rundir::Finished;
use cemark_report::stats::{self, Comparison};
use cemark_report::units;
use cemark_scenario::{Measure, Point, near, read_quantity};

/// A text that names no quantity or no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// Remedy.
    pub instead: String,
}

fn refused(why: impl Into<String>, instead: impl Into<String>) -> Refused {
    Refused {
        why: why.into(),
        instead: instead.into(),
    }
}

/// A point with its result.
pub type Done<'a> = (&'a Point, &'a Finished);

/// A metric, of all flows or of one traffic class.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The metric.
    pub metric: &'static Metric,
    /// Name and queue of the traffic class; `None`: all flows.
    pub class: Option<(String, u8)>,
}

impl Quantity {
    /// Reads `short.mean`, or `short.mean@storage`; `classes`: the traffic classes of the
    /// scenario, by name and queue.
    ///
    /// # Errors
    /// [`Refused`] where there is no such metric or class.
    pub fn read(text: &str, classes: &[(String, u8)]) -> Result<Self, Refused> {
        let (key, class) = match text.trim().split_once('@') {
            Some((key, class)) => (key.trim(), Some(class.trim())),
            None => (text.trim(), None),
        };
        let compared = || metrics::compared().filter(|m| m.better != Better::Neither);
        let metric = compared()
            .find(|m| m.key == key || m.alias == Some(key))
            .ok_or_else(|| {
                refused(
                    format!("no metric that schemes are compared by is called `{key}`"),
                    near(key, compared().map(|m| &*m.key)),
                )
            })?;
        let class = class.map(|name| {
            let known = classes.iter().find(|(own, _)| own == name);
            let names = || classes.iter().map(|(own, _)| own.as_str());
            let found = known.ok_or_else(|| {
                let why = format!("the scenario has no traffic class called `{name}`");
                refused(why, near(name, names()))
            })?;
            match metric.subject.has_class() {
                true => Ok(found.clone()),
                false => Err(refused(
                    format!("`{key}` is of ports, which all classes share"),
                    format!("write {key} without @{name}"),
                )),
            }
        });
        Ok(Quantity {
            metric,
            class: class.transpose()?,
        })
    }

    /// `short.mean@storage`.
    pub fn key(&self) -> String {
        match &self.class {
            None => self.metric.key.to_string(),
            Some((class, _)) => format!("{}@{class}", self.metric.key),
        }
    }

    /// In words: `short mean of storage`.
    pub fn name(&self) -> String {
        match &self.class {
            None => self.metric.name(),
            Some((class, _)) => format!("{} of {class}", self.metric.name()),
        }
    }

    fn sample<'a>(&self, point: &'a Point, done: &'a Finished) -> Sample<'a> {
        let mut sample = Sample::new(point, &done.outcome);
        sample.only.class = self.class.as_ref().map(|(_, queue)| *queue);
        sample
    }

    /// The value at a point; `None` where the point has none.
    pub fn value(&self, point: &Point, done: &Finished) -> Option<f64> {
        self.metric.value(&self.sample(point, done)).ok()
    }

    /// The difference over replications, (baseline, candidate).
    pub fn compare(
        &self,
        replications: &[(Done<'_>, Done<'_>)],
        look: Option<u32>,
    ) -> Option<Comparison> {
        let samples = replications
            .iter()
            .map(|(base, here)| (self.sample(base.0, base.1), self.sample(here.0, here.1)));
        self.metric.compare(samples, look)
    }
}

/// A limit of a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A difference from the baseline in percent.
    Percent(f64),
    /// A value in the unit of the metric.
    Value(f64),
}

/// A quantity with a limit: `large.mean<=+3%`, `queue.p99<=300KB`, `goodput>=-2%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The quantity.
    pub of: Quantity,
    /// Whether the limit is the most that is allowed, or the least.
    pub at_most: bool,
    /// The limit.
    pub limit: Limit,
}

impl Bound {
    /// Reads a bound. A percentage with a sign is a difference from the baseline; everything else
    /// is a value in a unit of the metric.
    ///
    /// # Errors
    /// [`Refused`] where the text is no bound, or names no metric or class.
    pub fn read(text: &str, classes: &[(String, u8)]) -> Result<Self, Refused> {
        let split = |sign: &str| text.split_once(sign);
        let (of, at_most, limit) = match (split("<="), split(">=")) {
            (Some((of, limit)), None) => (of, true, limit.trim()),
            (None, Some((of, limit))) => (of, false, limit.trim()),
            _ => {
                return Err(refused(
                    format!("`{text}` is no bound"),
                    "write large.mean<=+3% (against the baseline) or overall.p99<=2ms (a value)",
                ));
            }
        };
        let of = Quantity::read(of, classes)?;
        let limit = read_limit(limit, of.metric.unit).ok_or_else(|| {
            refused(
                format!("`{limit}` is no limit for {}", of.key()),
                format!(
                    "write +3% against the baseline, or a value in {}",
                    of.metric.unit.name()
                ),
            )
        })?;
        Ok(Bound { of, at_most, limit })
    }

    /// `large.mean <= +3 %`.
    pub fn text(&self) -> String {
        let sign = if self.at_most { "<=" } else { ">=" };
        let limit = match self.limit {
            Limit::Percent(percent) => units::percent(percent),
            Limit::Value(value) => self.of.metric.show(value),
        };
        format!("{} {sign} {limit}", self.of.key())
    }

    /// By how much a difference or a value is beyond the limit, relative to the limit or to one
    /// percent; zero or less within it. `None` without a number to judge.
    pub(crate) fn excess(&self, percent: Option<f64>, value: Option<f64>) -> Option<f64> {
        let (number, limit, scale) = match self.limit {
            Limit::Percent(limit) => (percent?, limit, 1.0),
            Limit::Value(limit) => (value?, limit, 0.01 * limit.abs().max(1e-9)),
        };
        let beyond = (number - limit) / scale;
        Some(if self.at_most { beyond } else { -beyond })
    }
}

/// A limit in the unit of a metric.
fn read_limit(text: &str, unit: Unit) -> Option<Limit> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    if text.starts_with(['+', '-']) {
        return number(text.strip_suffix('%')?).map(Limit::Percent);
    }
    let quantity = |measure, scale: f64| Some(read_quantity(text, measure).ok()? as f64 / scale);
    let value = match unit {
        Unit::Micros => quantity(Measure::Time, 1e6),
        Unit::Millis => quantity(Measure::Time, 1e9),
        Unit::Bytes => quantity(Measure::Length, 1.0),
        Unit::Megabytes => quantity(Measure::Length, 1e6),
        Unit::BitsPerSecond => quantity(Measure::Rate, 1.0),
        Unit::Percent => number(text.strip_suffix('%').unwrap_or(text)),
        Unit::Index | Unit::Slowdown | Unit::Count(_) => number(text),
    };
    value.map(Limit::Value)
}

/// Goal and bounds of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// Quantity to be as good as possible.
    pub goal: Quantity,
    /// Bounds.
    pub bounds: Vec<Bound>,
    /// Half the width of an interval that is narrow enough, in percentage points.
    pub within: f64,
}

impl Aim {
    /// The goal's difference as a cost: negative is better.
    pub(crate) fn cost(&self, percent: f64) -> f64 {
        match self.goal.metric.better {
            Better::More => -percent,
            Better::Less | Better::Neither => percent,
        }
    }
}

/// The mean of a quantity over points.
pub(crate) fn mean(of: &Quantity, points: &[Done<'_>]) -> Option<f64> {
    let values: Vec<f64> = points
        .iter()
        .filter_map(|(point, done)| of.value(point, done))
        .collect();
    stats::mean(&values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Result<Bound, Refused> {
        Bound::read(text, &[("storage".to_owned(), 3)])
    }

    #[test]
    fn bounds_are_read_with_their_units() {
        let read = |text: &str| bound(text).map(|b| (b.of.key(), b.at_most, b.limit));
        let of = |key: &str, at_most, limit| Ok((key.to_owned(), at_most, limit));
        assert_eq!(
            read("large.mean<=+3%"),
            of("large.mean", true, Limit::Percent(3.0))
        );
        assert_eq!(
            read("short.p99@storage <= 2ms"),
            of("short.p99@storage", true, Limit::Value(2000.0))
        );
        assert_eq!(
            read("large.mean>=-2.5 %"),
            of("large.mean", false, Limit::Percent(-2.5))
        );
    }

    #[test]
    fn what_is_no_bound_says_what_to_write() {
        for (text, why, instead) in [
            ("large.mean", "no bound", "large.mean<=+3%"),
            ("large.maen<=+3%", "no metric", "did you mean `large.mean`"),
            ("large.mean<=+3us", "no limit", "a value in µs"),
            ("large.mean<=soon", "no limit", "+3%"),
            (
                "short.mean@stroage<=+1%",
                "no traffic class",
                "did you mean `storage`",
            ),
            (
                "queue.mean@storage<=+1%",
                "all classes share",
                "without @storage",
            ),
        ] {
            let no = bound(text).expect_err(text);
            assert!(no.why.contains(why), "{text}: {}", no.why);
            assert!(no.instead.contains(instead), "{text}: {}", no.instead);
        }
    }

    #[test]
    fn an_excess_is_positive_beyond_the_limit() {
        let excess = |text: &str, percent, value| {
            let bound = bound(text).expect("a bound");
            bound.excess(percent, value)
        };
        assert_eq!(excess("large.mean<=+3%", Some(5.0), None), Some(2.0));
        assert_eq!(excess("large.mean<=+3%", Some(1.0), None), Some(-2.0));
        assert_eq!(excess("large.mean>=-3%", Some(-5.0), None), Some(2.0));
        assert_eq!(excess("large.mean<=100us", None, Some(101.0)), Some(1.0));
        assert_eq!(excess("large.mean<=100us", Some(1.0), None), None);
    }
}
