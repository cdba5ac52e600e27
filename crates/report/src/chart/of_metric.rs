// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of one metric.

use std::slice::from_ref;

use cemark_scenario::Plan;

use super::by_metric::{self, OfMetric};
use super::{
    Body, Chart, Values, of_buffers, of_distribution, of_goodput, of_group, of_ports, of_queues,
    of_sizes,
};
use crate::by_port::Share;
use crate::by_size::{self, Buckets, PERCENTILES};
use crate::comparison::Group;
use crate::cumulative::Quantity;
use crate::metrics;
use crate::{Comparisons, Finished};

/// Charts over time.
const QUEUE: &str = "queue";
const BUFFER: &str = "buffer";
const GOODPUT: &str = "goodput";

/// The metrics that have charts: `slowdown-by-size`, also one percentile of it, distributions,
/// charts over time, and the metrics by which schemes are compared.
pub fn metrics() -> Vec<String> {
    let percentiles = PERCENTILES.map(|(name, _)| format!("{}.{name}", by_size::NAME));
    let mut all = vec![by_size::NAME.to_owned()];
    all.extend(percentiles);
    all.extend(Quantity::EACH.map(|quantity| quantity.name().to_owned()));
    all.extend([QUEUE, BUFFER].map(str::to_owned));
    all.extend(Share::EACH.map(|share| share.name().to_owned()));
    all.extend(metrics::compared().map(|metric| metric.key.to_string()));
    all
}

/// Whether the charts of this name show differences between schemes: flows, queues and buffers are
/// drawn from points that are only [grouped](Comparisons::grouped).
pub fn compares(name: &str) -> bool {
    let is_distribution = Quantity::EACH.iter().any(|q| q.name() == name);
    let is_of_ports = Share::EACH.iter().any(|share| share.name() == name);
    let is_over_time = [QUEUE, BUFFER].contains(&name);
    !(name.starts_with(by_size::NAME) || is_distribution || is_of_ports || is_over_time)
}

/// The charts of the metric of this name, one of [`metrics()`]: over the axes of a sweep, and
/// otherwise at each value of the axes.
pub fn of_metric(
    plan: &Plan,
    finished: &[Finished],
    comparisons: &Comparisons,
    name: &str,
    buckets: &Buckets,
) -> Vec<Chart> {
    let each = |of: &dyn Fn(&Group) -> Option<Chart>| -> Vec<Chart> {
        comparisons.groups.iter().filter_map(of).collect()
    };
    if let Some(rest) = name.strip_prefix(by_size::NAME) {
        let percentile = rest.strip_prefix('.');
        let chart = |group: &Group| of_sizes(plan, finished, group, buckets);
        return each(&|group| only(chart(group)?, percentile));
    }
    if let Some(quantity) = Quantity::EACH.into_iter().find(|q| q.name() == name) {
        return each(&|group| of_distribution(plan, finished, from_ref(group), quantity));
    }
    if let Some(share) = Share::EACH.into_iter().find(|s| s.name() == name) {
        return each(&|group| of_ports(plan, finished, group, &[share]));
    }
    if name == QUEUE {
        return each(&|group| of_queues(plan, finished, group));
    }
    if name == BUFFER {
        return each(&|group| of_buffers(plan, finished, group));
    }
    let Some(metric) = metrics::compared().find(|m| m.key == name) else {
        return Vec::new();
    };
    let forms = [Values::Differences, Values::Absolute(finished)];
    let over_axes = |values| by_metric::of_metrics(plan, comparisons, values, vec![metric]);
    let found = forms.into_iter().flat_map(over_axes);
    let mut charts: Vec<Chart> = found.flat_map(OfMetric::charts).collect();
    if charts.is_empty() {
        charts = each(&|group| of_group::of_metrics(plan, group, &[metric]));
        charts.extend(each(&|group| {
            of_group::absolute(plan, finished, group, metric)
        }));
    }
    if name == GOODPUT {
        charts.extend(each(&|group| of_goodput(plan, finished, group)));
    }
    charts
}

/// The chart with the panel of this percentile alone; with every panel without a percentile.
fn only(mut chart: Chart, percentile: Option<&str>) -> Option<Chart> {
    let Some(percentile) = percentile else {
        return Some(chart);
    };
    chart.panels.retain(|panel| panel.title == percentile);
    chart.name = chart
        .name
        .replacen(by_size::NAME, &format!("{}.{percentile}", by_size::NAME), 1);
    chart.title = chart
        .title
        .replacen("Slowdown", &format!("{percentile} slowdown"), 1);
    for panel in &mut chart.panels {
        panel.title = String::new();
        if let Body::Curves(curves) = &mut panel.body {
            curves.y.label = format!("{percentile} slowdown");
        }
    }
    (!chart.panels.is_empty()).then_some(chart)
}
