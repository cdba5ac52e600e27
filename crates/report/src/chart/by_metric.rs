// SPDX-License-Identifier: MIT OR Apache-2.0
//! The charts of a sweep, a metric after the other: over each axis, and over two axes as maps.

use cemark_scenario::Plan;

use super::of_group::headline;
use super::of_sweep::{self, Swept};
use super::{Chart, Values, curves, of_heat};
use crate::comparison::Comparisons;
use crate::metrics::Metric;

/// The charts of a metric over the axes of a sweep.
pub(crate) struct OfMetric {
    pub metric: &'static Metric,
    /// Over two axes, a map for each scheme; with percents only.
    pub heat: Option<Chart>,
    /// Over each axis of which more than one value was run, the axis of most values first.
    pub over: Vec<Chart>,
}

impl OfMetric {
    /// All of them, the maps first.
    pub fn charts(self) -> impl Iterator<Item = Chart> {
        self.heat.into_iter().chain(self.over)
    }
}

/// The charts of one kind: of each metric over each axis of which more than one value was run.
pub fn of_sweep(plan: &Plan, comparisons: &Comparisons, values: Values<'_>) -> Vec<Chart> {
    let all = by_metric(plan, comparisons, values).into_iter();
    all.flat_map(OfMetric::charts).collect()
}

/// The charts of one kind by metric. All charts of a metric have one scale.
pub(crate) fn by_metric(
    plan: &Plan,
    comparisons: &Comparisons,
    values: Values<'_>,
) -> Vec<OfMetric> {
    of_metrics(plan, comparisons, values, headline())
}

/// The charts of one kind of these metrics.
pub(super) fn of_metrics(
    plan: &Plan,
    comparisons: &Comparisons,
    values: Values<'_>,
    metrics: Vec<&'static Metric>,
) -> Vec<OfMetric> {
    let paths = plan.axes.iter();
    let mut axes: Vec<_> = paths.filter_map(|p| Swept::new(p, comparisons)).collect();
    axes.sort_by_key(|swept| std::cmp::Reverse(swept.places.places.len()));
    let of = |metric| {
        let over = axes.iter();
        let over =
            over.filter_map(|swept| of_sweep::chart(plan, comparisons, swept, metric, values));
        let mut over: Vec<Chart> = over.collect();
        curves::share(&mut over);
        let heat = match (&axes[..], values) {
            ([across, down], Values::Differences) => {
                of_heat::chart(plan, comparisons, [across, down], metric)
            }
            _ => None,
        };
        OfMetric { metric, heat, over }
    };
    let all = metrics.into_iter().map(of);
    all.filter(|of| !of.over.is_empty()).collect()
}
