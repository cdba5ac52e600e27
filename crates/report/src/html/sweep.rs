// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a report over the axes of a sweep: a metric after the other. Two axes have maps
//! beside the curves; of three, the metrics of the headline are open and the others folded.

use cemark_scenario::Plan;
use serde::Serialize;

use super::page::{Picture, fitting};
use crate::chart::{self, Chart, Values};
use crate::comparison::Comparisons;
use crate::metrics::{Metric, Topic};

/// Charts of a metric.
#[derive(Serialize)]
pub(super) struct Section {
    #[serde(skip)]
    pub metric: &'static Metric,
    name: String,
    is_open: bool,
    /// The chart that leads; `None` where the page has no room for it.
    lead: Option<Picture>,
    /// The charts over the other axes.
    more: Vec<Picture>,
}

impl Section {
    /// Anchor of the chart that leads.
    pub fn anchor(&self) -> Option<&str> {
        self.lead.as_ref().map(Picture::id)
    }
}

/// The sections, and how many charts found no room.
pub(super) fn sections(
    plan: &Plan,
    comparisons: &Comparisons,
    room: &mut usize,
) -> (Vec<Section>, usize) {
    let all = chart::by_metric(plan, comparisons, Values::Differences);
    let topic = |m: &Metric| m.column.as_ref().and_then(|c| c.sentence).map(|s| s.0);
    let headline: Option<Topic> = all.iter().filter_map(|m| topic(m.metric)).min();
    let axes = all.iter().map(|m| m.over.len()).max().unwrap_or(0);
    let mut sections = Vec::new();
    let mut later = Vec::new();
    let mut left_out = 0;
    for of in all {
        let mut over = of.over.into_iter();
        let lead = over.next().map(|first| beside(of.heat, first));
        let lead = lead.and_then(|chart| fitting([chart], room).pop());
        left_out += usize::from(lead.is_none());
        sections.push(Section {
            metric: of.metric,
            name: chart::metric_name(of.metric),
            is_open: axes < 3 || topic(of.metric) == headline,
            lead,
            more: Vec::new(),
        });
        later.push(over.collect::<Vec<Chart>>());
    }
    for (section, charts) in sections.iter_mut().zip(later) {
        let many = charts.len();
        section.more = fitting(charts, room);
        left_out += many - section.more.len();
    }
    (sections, left_out)
}

/// The maps of a metric and its curves over an axis as one chart.
fn beside(maps: Option<Chart>, curves: Chart) -> Chart {
    let Some(maps) = maps else {
        return curves;
    };
    Chart {
        caption: format!("{} {}", maps.caption, curves.caption),
        panels: maps.panels.into_iter().chain(curves.panels).collect(),
        ..curves
    }
}
