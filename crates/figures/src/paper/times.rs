// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts over time: the queue of a port under each scheme, and what each queue class delivers.

use std::collections::BTreeMap;

use cemark_report::chart::{self, Body, Chart, Curve, Intervals, Key, Mark, Panel, Unit};
use cemark_report::comparison::Group;
use cemark_report::metrics::{self, Conversion};
use cemark_report::{Comparisons, Finished};
use cemark_scenario::Plan;

use super::super::evaluate::fits;
use super::super::row::{Formula, Row};
use super::super::targets::Target;
use super::published::tip;
use super::spec::Spec;

/// The run of a figure, as charts over time read it.
pub(super) struct Run<'a> {
    pub plan: &'a Plan,
    pub finished: &'a [Finished],
    pub rows: &'a [Row],
    pub targets: &'a [Target],
}

impl Run<'_> {
    /// The groups of points that a chart asks for.
    fn groups(&self, spec: &Spec) -> Vec<Group> {
        let all = Comparisons::grouped(self.plan, self.finished).groups;
        let chosen = |g: &Group| fits(&g.axes, &spec.selection);
        all.into_iter().filter(chosen).collect()
    }
}

/// The queue of the port that was traced, a curve for each scheme.
pub(super) fn queues(run: &Run<'_>, spec: &Spec) -> Vec<Chart> {
    let mut charts = Vec::new();
    for group in run.groups(spec) {
        let Some(mut chart) = chart::of_queues(run.plan, run.finished, &group) else {
            continue;
        };
        let all = run.plan.schemes.iter();
        let wanted = all.filter(|s| spec.schemes.is_empty() || spec.schemes.contains(s));
        let wanted: Vec<(&String, usize)> =
            wanted.map(|s| (s, chart::colour(run.plan, s))).collect();
        let has = |colour: usize| wanted.iter().any(|w| w.1 == colour);
        chart.legend.retain(|key| has(key.colour));
        chart.title = format!("{}{}", spec.title, chart::at(&group));
        let mut is_marked = false;
        for panel in &mut chart.panels {
            if let Body::Times(curves) = &mut panel.body {
                curves.curves.retain(|curve| has(curve.colour));
                let marks = wanted.iter();
                let marks = marks.flat_map(|w| lengths(run, &group.axes, *w, curves.x.range));
                curves.marks = marks.collect();
                is_marked |= !curves.marks.is_empty();
            }
        }
        if is_marked {
            chart.caption += " Diamonds: published mean lengths.";
        }
        chart.caption = format!("{} {}", chart.caption, spec.note).trim().to_owned();
        charts.push(chart);
    }
    charts
}

/// Published mean lengths of a queue under a scheme of this colour, in bytes.
fn lengths(
    run: &Run<'_>,
    axes: &BTreeMap<String, String>,
    (scheme, colour): (&String, usize),
    range: Option<(f64, f64)>,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    let of_scheme = |r: &&Row| r.scheme == *scheme && r.minus.is_none() && fits(axes, &r.selection);
    for row in run.rows.iter().filter(of_scheme) {
        let target = run.targets.iter().find(|t| t.id == row.id);
        let (Some(target), Formula::Value, "queue.mean") = (target, row.formula, &row.metric[..])
        else {
            continue;
        };
        let factor = metrics::find(&row.metric).and_then(|m| m.in_figures);
        let factor = match factor.map(|f| f.value) {
            Some(Conversion::Times(factor)) => factor,
            _ => 1.0,
        };
        if let (Some(published), Some((from, until))) = (target.published, range) {
            let bytes = published * row.unit.unwrap_or(1.0) / factor;
            marks.push(Mark {
                colour: Some(colour),
                places: vec![(from, bytes), (from + 0.97 * (until - from), bytes)],
                tip: tip(target, published),
            });
        }
    }
    marks
}

/// Charts of the goodput of endless flows by queue class, a panel for each scheme.
pub(super) fn goodput(run: &Run<'_>, spec: &Spec) -> Vec<Chart> {
    let groups = run.groups(spec);
    groups
        .iter()
        .filter_map(|g| goodput_of(run, spec, g))
        .collect()
}

fn goodput_of(run: &Run<'_>, spec: &Spec, group: &Group) -> Option<Chart> {
    let first = *group.baseline().points.first()?;
    let intervals = Intervals::of(&run.plan.points[first]);
    let mut panels: Vec<(&str, Vec<Curve>)> = Vec::new();
    let mut classes: Vec<u8> = Vec::new();
    for row in &group.rows {
        let flows = &run.finished[*row.points.first()?].outcome.long_flows;
        let mut of_class: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
        for flow in flows {
            let sum = of_class.entry(flow.class).or_default();
            sum.resize(sum.len().max(flow.intervals.len()), 0);
            sum.iter_mut()
                .zip(&flow.intervals)
                .for_each(|(s, b)| *s += b);
        }
        let curves = of_class.iter().map(|(class, bytes)| {
            let stride = Intervals::stride(bytes.len());
            Curve {
                label: format!("queue {}", class + 1),
                colour: usize::from(*class) % (chart::COLOURS - 1) + 1,
                spots: intervals.curve(bytes, stride, &format!("queue {}", class + 1)),
            }
        });
        panels.push((&row.scheme, curves.collect()));
        classes.extend(of_class.keys());
    }
    classes.sort_unstable();
    classes.dedup();
    let all = || panels.iter().flat_map(|p| &p.1).flat_map(|c| &c.spots);
    let most = all().map(|s| s.y).fold(0.0, f64::max);
    let until = all().map(|s| s.x).fold(intervals.from, f64::max);
    if intervals.length <= 0.0 || most <= 0.0 {
        return None;
    }
    let panel = |(scheme, curves): (&str, Vec<Curve>)| {
        let time = (intervals.from, until);
        Panel::over_time(scheme, time, Unit::BitsPerSecond, most, curves)
    };
    let key = |class: &u8| Key {
        label: format!("queue {}", class + 1),
        colour: usize::from(*class) % (chart::COLOURS - 1) + 1,
    };
    let seed = run.plan.points[first].seed;
    Some(Chart {
        name: String::new(),
        title: format!("{}{}", spec.title, chart::at(group)),
        caption: format!("Payload that arrived, seed {seed}. {}", spec.note)
            .trim()
            .to_owned(),
        legend: classes.iter().map(key).collect(),
        panels: panels.into_iter().map(panel).collect(),
    })
}
