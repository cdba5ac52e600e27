// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of schemes over all seeds, each with unit, number of values and interval: one shape for
//! `summary.json` and `metrics.parquet`.

use std::collections::BTreeMap;

use cemark_scenario::Plan;
use serde::{Deserialize, Serialize};

use crate::comparison::{Comparisons, Group, OfClass, Row};
use crate::metrics::{self, Metric, Restriction, Sample};
use crate::rundir::Finished;
use crate::stats::{Method, Own, own, own_scalars};

/// Metric of a scheme at one value of the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Value of each swept axis.
    pub axes: BTreeMap<String, String>,
    /// Traffic class whose flows count; absent: all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Label of the scheme.
    pub scheme: String,
    /// Key of the metric.
    pub metric: String,
    /// Unit of `value`, `low` and `high`.
    pub unit: String,
    /// Mean over replications.
    pub value: f64,
    /// Lower end of its 95 % interval; `null` without one.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Where the interval comes from.
    pub method: Method,
    /// Values in all replications.
    pub count: u64,
    /// Things that `count` counts: flows, probes, samples of a queue …
    pub counted: String,
    /// Replications with a value.
    pub replications: u32,
    /// The fewest values of a replication, where the percentile of a replication is the largest of
    /// its values; `null` elsewhere.
    pub largest_of: Option<u64>,
}

/// Every metric of every scheme that has a value.
pub fn measures(plan: &Plan, finished: &[Finished], comparisons: &Comparisons) -> Vec<Measure> {
    let mut all = Vec::new();
    for (class, group) in comparisons.groups.iter().flat_map(Group::with_classes) {
        let look = look(plan, group);
        for row in &group.rows {
            let samples = samples(plan, finished, row, class);
            let of_class = |m: &&Metric| class.is_none() || m.subject.has_class();
            let shown = metrics::all().iter().filter(of_class);
            let known = shown.filter_map(|m| Some((m, value(m, &samples, look)?)));
            all.extend(known.map(|(metric, own)| Measure {
                axes: group.axes.clone(),
                class: class.map(|class| class.name.clone()),
                scheme: row.scheme.clone(),
                ..measure(metric, &samples, own)
            }));
        }
    }
    all
}

/// A metric of a row of a group; `None` without a value.
pub(crate) fn of_row(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    row: &Row,
    metric: &Metric,
) -> Option<Measure> {
    let samples = samples(plan, finished, row, None);
    let own = value(metric, &samples, look(plan, group))?;
    Some(measure(metric, &samples, own))
}

/// The replications after which a run with a stated precision looks.
fn look(plan: &Plan, group: &Group) -> Option<u32> {
    plan.precision.as_ref().map(|_| group.seeds.len() as u32)
}

/// The points of a row, one a replication.
fn samples<'a>(
    plan: &'a Plan,
    finished: &'a [Finished],
    row: &Row,
    class: Option<&OfClass>,
) -> Vec<Sample<'a>> {
    let only = Restriction {
        class: class.map(|class| class.queue),
        ..Restriction::default()
    };
    let of = |i: &usize| Sample {
        only,
        ..Sample::new(&plan.points[*i], &finished[*i].outcome)
    };
    row.points.iter().map(of).collect()
}

fn value(metric: &Metric, samples: &[Sample<'_>], look: Option<u32>) -> Option<Own> {
    match metric.of_pairs() {
        Some(statistic) => {
            let times = samples.iter().filter_map(|s| metric.times(s).ok());
            own(&times.collect::<Vec<_>>(), statistic, look)
        }
        None => {
            let values = samples.iter().filter_map(|s| metric.value(s).ok());
            own_scalars(&values.collect::<Vec<_>>(), look)
        }
    }
}

/// The measure, without its place. A percentile that is the largest of its values has no interval.
fn measure(metric: &Metric, samples: &[Sample<'_>], own: Own) -> Measure {
    let largest_of = samples.iter().filter_map(|s| metric.largest_of(s)).min();
    let interval = own.interval.filter(|_| largest_of.is_none());
    Measure {
        axes: BTreeMap::new(),
        class: None,
        scheme: String::new(),
        metric: metric.key.to_string(),
        unit: metric.unit.name().to_owned(),
        value: own.value,
        low: interval.map(|i| i.0),
        high: interval.map(|i| i.1),
        method: interval.map_or(Method::None, |_| own.method),
        count: samples.iter().map(|s| metric.samples(s)).sum(),
        counted: metric.counts().to_owned(),
        replications: own.seeds,
        largest_of,
    }
}
