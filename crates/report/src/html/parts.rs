// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts and tables of a run, as pages of runs and of figures show them: metrics over the axes,
//! and a block for each value of the axes.

use cemark_scenario::Plan;
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::block::{self, Block};
use super::glance::{self, Glance};
use super::page::{Entry, Picture, fitting};
use super::sweep::{self, Section};
use crate::Finished;
use crate::by_port::Share;
use crate::by_size::Buckets;
use crate::chart;
use crate::comparison::{Comparisons, Group, sentence};
use crate::metrics::Metric;

/// Bytes of the charts of a page. Charts that do not fit are left out, with a note: a page must
/// stay small enough for a browser and for mail.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Charts over the axes.
    pub curves: usize,
    /// Schemes beside each other, queues and buffers over time.
    pub compared: usize,
    /// Slowdown by flow size, distributions, and ports.
    pub flows: usize,
}

impl Room {
    /// Room on the page of a run.
    pub(super) fn of_run(comparisons: &Comparisons) -> Self {
        let (curves, compared) = match is_folded(comparisons) {
            true => (1_700_000, 1_700_000),
            false => (1_700_000, 1_200_000),
        };
        Room {
            curves,
            compared,
            flows: 1_000_000,
        }
    }

    /// Room on the page of a figure, whose rows have charts of their own.
    pub const OF_FIGURE: Room = Room {
        curves: 900_000,
        compared: 700_000,
        flows: 900_000,
    };
}

/// Whether a page folds the blocks of its combinations.
fn is_folded(comparisons: &Comparisons) -> bool {
    comparisons.groups.len() > sentence::FEW
}

/// Charts and tables of a run.
pub struct Parts {
    glance: Option<Glance>,
    pub(super) curves: Vec<Section>,
    /// Charts of flows with a panel for each combination of the axes.
    flows: Vec<Picture>,
    pub(super) blocks: Vec<Block>,
    folded: bool,
    /// Charts over the axes that found no room.
    not_drawn: usize,
    /// Whether the charts of a block found no room.
    full: bool,
    axes: usize,
    baseline: String,
    has_intervals: bool,
}

impl Parts {
    /// Parts of finished points, which are in the order of the plan's points.
    pub fn new(
        plan: &Plan,
        finished: &[Finished],
        comparisons: &Comparisons,
        mut room: Room,
    ) -> Self {
        let (mut curves, mut not_drawn) = (Vec::new(), 0);
        if comparisons.groups.len() > 1 && !comparisons.all_alike() {
            (curves, not_drawn) = sweep::sections(plan, comparisons, &mut room.curves);
        }
        let mut flows = Vec::new();
        if is_folded(comparisons) && !comparisons.all_alike() {
            let over = chart::of_flows_over(plan, finished, &comparisons.groups);
            flows = fitting(over, &mut room.flows);
        }
        let groups = comparisons.groups.iter().enumerate();
        let blocks = groups.map(|(i, group)| {
            let charts = charts(plan, finished, group, &mut room);
            block::block(plan, finished, group, i, charts)
        });
        let mut parts = Parts {
            glance: None,
            curves,
            flows,
            blocks: blocks.collect(),
            folded: is_folded(comparisons),
            not_drawn,
            full: room.compared == 0 || room.flows == 0,
            axes: plan.axes.len(),
            baseline: comparisons.baseline.clone(),
            has_intervals: has_intervals(comparisons),
        };
        parts.glance = glance::glance(plan, comparisons, |m| parts.anchor(m));
        parts
    }

    /// Values for the macros `over_axes` and `combinations`.
    pub fn values(&self) -> Value {
        context! {
            glance => Value::from(Serde(&self.glance)),
            curves => Value::from(Serde(&self.curves)),
            flows => Value::from(Serde(&self.flows)),
            blocks => Value::from(Serde(&self.blocks)),
            folded => self.folded,
            not_drawn => self.not_drawn,
            full => self.full,
            axes => self.axes,
            baseline => &self.baseline,
            has_intervals => self.has_intervals,
        }
    }

    /// Entries of the contents, those of many blocks under one.
    pub fn contents(&self) -> Vec<Entry> {
        let of_blocks = self.blocks.iter();
        let of_blocks = of_blocks.map(|b| Entry::new(&b.anchor, &b.title));
        let mut out = Vec::new();
        if !self.curves.is_empty() {
            out.push(Entry::new("curves", "Over the axes"));
        }
        if !self.flows.is_empty() {
            out.push(Entry::new("flows", "Flows over the axes"));
        }
        match self.folded {
            true => out.push(Entry {
                parts: of_blocks.collect(),
                ..Entry::new("blocks", "Every combination")
            }),
            false => out.extend(of_blocks),
        }
        out
    }

    /// Where a page shows a metric: its chart over the axes, the chart of the only table, or a
    /// table.
    fn anchor(&self, metric: &Metric) -> String {
        let section = self.curves.iter().find(|s| s.metric == metric);
        let chart = section.and_then(Section::anchor);
        let only = self.blocks.first().filter(|_| self.blocks.len() == 1);
        let chart = chart.or(only
            .and_then(|b| b.charts.compared.first())
            .map(Picture::id));
        chart.map_or_else(|| "g0".to_owned(), str::to_owned)
    }
}

/// Charts of a group that find room. Charts of schemes that nothing tells apart are flat lines.
fn charts(plan: &Plan, finished: &[Finished], group: &Group, room: &mut Room) -> block::Charts {
    if group.alike.is_some() {
        return block::Charts::default();
    }
    let mut flows = Vec::new();
    if room.flows > 0 {
        flows = chart::of_flows(plan, finished, group, &Buckets::Deciles);
        flows.extend(chart::of_ports(plan, finished, group, &Share::EACH));
    }
    let mut compared = Vec::new();
    if room.compared > 0 {
        compared.extend(chart::of_group(plan, group));
        compared.extend(chart::of_queues(plan, finished, group));
        compared.extend(chart::of_buffers(plan, finished, group));
    }
    block::Charts {
        compared: fitting(compared, &mut room.compared),
        flows: fitting(flows, &mut room.flows),
    }
}

/// Whether any difference has an interval.
fn has_intervals(comparisons: &Comparisons) -> bool {
    let rows = comparisons.groups.iter().flat_map(|g| &g.rows);
    let mut differences = rows.flat_map(|r| &r.cells).filter_map(|c| c.against);
    differences.any(|c| c.interval.is_some())
}
