// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of one scheme under two runs.

use cemark_sim::Outcome;
use serde::{Serialize, Serializer};

use super::Block;
use super::places::Pair;
use crate::comparison::Cell;
use crate::metrics::{self, Better, Metric, Sample};
use crate::rundir::Run;
use crate::stats::{self, ALPHA, Comparison, Method, sequential};
use crate::text::distinct;

/// Metric of a scheme under both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Which one.
    #[serde(serialize_with = "key")]
    pub metric: &'static Metric,
    /// Unit of its values.
    pub unit: &'static str,
    /// Mean over seeds in the first run.
    pub a: f64,
    /// Mean over seeds in the second run.
    pub b: f64,
    /// Values in the first run, all seeds.
    pub count_a: u64,
    /// Values in the second run.
    pub count_b: u64,
    /// Things that `count_a` and `count_b` count.
    pub counted: &'static str,
    /// Difference of the second run against the first in percent; `None` where the first has zero.
    pub percent: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Where the interval comes from.
    pub method: Method,
    /// The fewest values of a seed, where a percentile is the largest of its values: then the line
    /// decides nothing.
    pub largest_of: Option<u64>,
    /// Which run is better.
    pub verdict: Verdict,
    /// Difference with its interval, as tables print it.
    #[serde(skip)]
    pub against: Option<Comparison>,
}

/// Whether the second run is better than the first in a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better.
    Better,
    /// Worse.
    Worse,
    /// The interval, or the lack of one, does not tell.
    NotDecided,
    /// Every flow or seed has the same value.
    Equal,
    /// Neither direction of the metric is an improvement.
    NotJudged,
}

impl Verdict {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NotDecided => "not decided",
            Verdict::Equal => "equal",
            Verdict::NotJudged => "",
        }
    }
}

fn key<S: Serializer>(metric: &&'static Metric, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&metric.key)
}

/// The metrics of a combination that both runs have.
pub(super) fn block(a: &Run, b: &Run, pair: &Pair) -> Block {
    let sides = Sides::of(a, b, pair);
    let all = metrics::compared().chain(metrics::counted());
    Block {
        combination: pair.name.clone(),
        paired: sides.paired,
        seeds_a: sides.a.len() as u32,
        seeds_b: sides.b.len() as u32,
        metrics: all.filter_map(|metric| sides.line(metric)).collect(),
    }
}

/// Samples of a scheme in both runs, one a seed.
struct Sides<'a> {
    a: Vec<Sample<'a>>,
    b: Vec<Sample<'a>>,
    /// Whether the samples of equal place have the same flows.
    paired: bool,
    /// The replications after which a run with a stated precision looked.
    look: Option<u32>,
}

impl<'a> Sides<'a> {
    fn of(a: &'a Run, b: &'a Run, pair: &Pair) -> Self {
        let partners = partners(a, b, pair);
        let paired = partners.is_some();
        let (in_a, in_b) = partners.unwrap_or_else(|| (pair.a.clone(), pair.b.clone()));
        let samples = |run: &'a Run, points: &[usize]| -> Vec<Sample<'a>> {
            let of = |i: &usize| Sample::new(&run.plan.points[*i], &run.finished[*i].outcome);
            points.iter().map(of).collect()
        };
        let looks = [a, b].iter().any(|run| run.plan.precision.is_some());
        Sides {
            look: looks.then(|| in_a.len().min(in_b.len()) as u32),
            a: samples(a, &in_a),
            b: samples(b, &in_b),
            paired,
        }
    }

    fn line(&self, metric: &'static Metric) -> Option<Line> {
        let values = |side: &[Sample<'_>]| -> Vec<f64> {
            side.iter().filter_map(|s| metric.value(s).ok()).collect()
        };
        let (a, b) = (values(&self.a), values(&self.b));
        let count = |side: &[Sample<'_>]| side.iter().map(|s| metric.samples(s)).sum();
        let all = self.a.iter().chain(&self.b);
        let largest_of = all.filter_map(|s| metric.largest_of(s)).min();
        let against = self.compare(metric);
        let against = against.map(|c| match largest_of {
            None => c,
            Some(_) => c.without_interval(),
        });
        let (mean_a, mean_b) = (stats::mean(&a)?, stats::mean(&b)?);
        let cell = Cell {
            metric,
            absolute: Some(mean_b),
            against,
            published: None,
            largest_of,
        };
        let verdict = match (cell.better(), cell.worse()) {
            _ if self.is_equal(metric) => Verdict::Equal,
            _ if metric.better == Better::Neither => Verdict::NotJudged,
            (true, _) => Verdict::Better,
            (_, true) => Verdict::Worse,
            _ => Verdict::NotDecided,
        };
        let interval = against.and_then(|c| c.interval);
        Some(Line {
            metric,
            unit: metric.unit.name(),
            a: mean_a,
            b: mean_b,
            count_a: count(&self.a),
            count_b: count(&self.b),
            counted: metric.counts(),
            percent: against.map(|c| c.percent),
            low: interval.map(|i| i.0),
            high: interval.map(|i| i.1),
            method: against.map_or(Method::None, |c| c.method),
            largest_of,
            verdict,
            against,
        })
    }

    /// The difference of the second run against the first.
    fn compare(&self, metric: &Metric) -> Option<Comparison> {
        let scalars = |side: &[Sample<'_>]| -> Vec<f64> {
            side.iter().filter_map(|s| metric.value(s).ok()).collect()
        };
        // One and two replications have no interval at any level.
        let alpha = self.look.map(|look| {
            let known = look.clamp(sequential::FIRST_INTERVAL, sequential::MOST);
            sequential::alpha(known).unwrap_or(ALPHA)
        });
        let alpha = alpha.unwrap_or(ALPHA);
        match (metric.of_pairs(), self.paired) {
            (Some(statistic), true) => {
                let seeds = self.pairs(metric);
                match self.look {
                    None => stats::compare(&seeds, statistic),
                    Some(look) => stats::compare_at(&seeds, statistic, look),
                }
            }
            (Some(statistic), false) => {
                let times = |side: &[Sample<'_>]| -> Vec<Vec<f64>> {
                    side.iter().filter_map(|s| metric.times(s).ok()).collect()
                };
                stats::compare_unpaired(&times(&self.a), &times(&self.b), statistic, alpha)
            }
            (None, true) => {
                let seeds = self.values(metric);
                match self.look {
                    None => stats::compare_scalars(&seeds),
                    Some(look) => stats::compare_scalars_at(&seeds, look),
                }
            }
            (None, false) => {
                stats::compare_unpaired_scalars(&scalars(&self.a), &scalars(&self.b), alpha)
            }
        }
    }

    /// Completion times of equal flows or queries under both runs, by seed.
    fn pairs(&self, metric: &Metric) -> Vec<Vec<(f64, f64)>> {
        let both = self.a.iter().zip(&self.b);
        both.map(|(a, b)| metric.pairs(a, b).unwrap_or_default())
            .collect()
    }

    /// Values of a metric under both runs, by seed.
    fn values(&self, metric: &Metric) -> Vec<(f64, f64)> {
        let both = self.a.iter().zip(&self.b);
        both.filter_map(|(a, b)| Some((metric.value(a).ok()?, metric.value(b).ok()?)))
            .collect()
    }

    /// Whether every flow, or every seed, has the same value under both runs; without pairs,
    /// whether all seeds have one value.
    fn is_equal(&self, metric: &Metric) -> bool {
        if !self.paired {
            let all = self.a.iter().chain(&self.b);
            return distinct(all.map(|s| metric.value(s).ok())).len() == 1;
        }
        let equal = |pairs: &[(f64, f64)]| pairs.iter().all(|(a, b)| a == b);
        let times = self.pairs(metric);
        times.iter().all(|seed| equal(seed)) && equal(&self.values(metric))
    }
}

/// The points of both runs by seed, where each seed of the run with fewer seeds is in the other run
/// too and has the same flows there.
fn partners(a: &Run, b: &Run, pair: &Pair) -> Option<(Vec<usize>, Vec<usize>)> {
    let seed = |run: &Run, i: usize| run.plan.points[i].seed;
    let partner = |i: &usize| {
        let mut others = pair.b.iter();
        let same = others.find(|j| seed(b, **j) == seed(a, *i));
        same.map(|j| (*i, *j))
    };
    let both: Vec<(usize, usize)> = pair.a.iter().filter_map(partner).collect();
    let same =
        |(i, j): &(usize, usize)| has_same_flows(&a.finished[*i].outcome, &b.finished[*j].outcome);
    let all = both.len() == pair.a.len().min(pair.b.len());
    (all && both.iter().all(same)).then(|| both.into_iter().unzip())
}

/// Whether two outcomes have the same flows, endless ones too; without any, the same probes.
fn has_same_flows(a: &Outcome, b: &Outcome) -> bool {
    let flows = |o: &Outcome| -> Vec<_> {
        let each = o.flows.iter();
        each.map(|f| (f.id, f.src, f.dst, f.bytes, f.start))
            .collect()
    };
    let endless = |o: &Outcome| -> Vec<_> {
        let each = o.long_flows.iter();
        each.map(|f| (f.id, f.src, f.dst, f.class)).collect()
    };
    let probes =
        |o: &Outcome| -> Vec<_> { o.probes.iter().map(|p| (p.workload, p.sent)).collect() };
    let none = a.flows.is_empty() && a.long_flows.is_empty();
    flows(a) == flows(b) && endless(a) == endless(b) && (!none || probes(a) == probes(b))
}
