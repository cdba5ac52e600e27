// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chart of completion times by size class: each scheme relative to the baseline, with
//! intervals and the paper's values.

use std::fmt::Write as _;

use cemark_scenario::Plan;

use super::colour;
use crate::comparison::{Cell, Group, Row};
use crate::metrics::{self, Metric};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 48.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 46.0;
/// Bars above this multiple of the baseline are cut off, and an arrow says so.
const CUT: f64 = 2.5;

/// A metric of the chart and its name there.
type Shown = (&'static Metric, &'static str);

/// The chart; `None` where no flow finished or there is nothing to compare.
pub(super) fn draw(plan: &Plan, group: &Group) -> Option<String> {
    let named = metrics::shown(metrics::compared(), |c| c.bar.is_some());
    let shown: Vec<Shown> = named
        .into_iter()
        .filter(|m| group.baseline().cell(m).absolute.is_some())
        .filter_map(|m| Some((m, m.column.as_ref()?.bar?)))
        .collect();
    if shown.is_empty() || group.rows.len() < 2 {
        return None;
    }
    let chart = Chart::new(group, &shown);
    let mut s = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Completion times relative to the baseline\">\n"
    );
    chart.axis(&mut s);
    for (i, metric) in shown.iter().enumerate() {
        let middle = LEFT + chart.slot * (i as f64 + 0.5);
        let first = middle - chart.bar * group.rows.len() as f64 / 2.0;
        for (j, row) in group.rows.iter().enumerate() {
            chart.bar(plan, row, *metric, first + chart.bar * j as f64, &mut s);
        }
        name(group, *metric, middle, &mut s);
    }
    s += "</svg>";
    Some(s)
}

/// The scales of the chart.
struct Chart {
    /// The largest ratio to the baseline that fits.
    top: f64,
    /// Width of a metric.
    slot: f64,
    /// Width of a bar.
    bar: f64,
}

impl Chart {
    fn new(group: &Group, shown: &[Shown]) -> Self {
        let cells = || {
            let rows = group.rows.iter();
            rows.flat_map(|r| shown.iter().map(|(m, _)| r.cell(m)))
        };
        let highest = |c: crate::stats::Comparison| {
            1.0 + c.interval.map_or(c.percent, |i| i.1).max(c.percent) / 100.0
        };
        let tops = cells().filter_map(|c| c.against).map(highest);
        let papers = cells().filter_map(paper);
        let most = tops.chain(papers).fold(1.0_f64, f64::max).min(CUT);
        let slot = (WIDTH - LEFT) / shown.len() as f64;
        Chart {
            top: (most * 4.0).ceil() / 4.0,
            slot,
            bar: ((slot - 24.0) / group.rows.len() as f64).min(30.0),
        }
    }

    /// Height of a ratio to the baseline.
    fn y(&self, ratio: f64) -> f64 {
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - ratio.clamp(0.0, self.top) / self.top)
    }

    /// Lines and labels of the ratios.
    fn axis(&self, s: &mut String) {
        let step = if self.top > 1.5 { 0.5 } else { 0.25 };
        let mut tick = 0.0;
        while tick <= self.top + 1e-9 {
            let class = if (tick - 1.0).abs() < 1e-9 {
                "base"
            } else {
                "grid"
            };
            let _ = writeln!(
                s,
                "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\
                 <text class=\"tick\" x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3:.0} %</text>",
                self.y(tick),
                LEFT - 8.0,
                self.y(tick) + 4.0,
                tick * 100.0
            );
            tick += step;
        }
    }

    /// A scheme's bar from `x` on, with its interval, the paper's value and its label.
    fn bar(&self, plan: &Plan, row: &Row, (metric, name): Shown, x: f64, s: &mut String) {
        let cell = row.cell(metric);
        let against = cell.against.map(|c| c.percent);
        let Some(percent) = (if row.baseline { Some(0.0) } else { against }) else {
            return;
        };
        let ratio = 1.0 + percent / 100.0;
        let _ = writeln!(
            s,
            "<rect class=\"f{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             rx=\"1.5\"><title>{}</title></rect>",
            colour(plan, &row.scheme),
            x + 1.0,
            self.y(ratio),
            self.bar - 2.0,
            self.y(0.0) - self.y(ratio),
            escape(&tip(row, cell, name))
        );
        let centre = x + self.bar * 0.5;
        let label = self.marks(cell, centre, self.y(ratio) - 5.0, s);
        if !row.baseline && self.bar >= 16.0 {
            let shown = if percent.abs() < 0.5 { 0.0 } else { percent };
            let text = format!("{shown:+.0}").replace('-', "−");
            let arrow = if ratio > self.top { "↑" } else { "" };
            let _ = writeln!(
                s,
                "<text class=\"value\" x=\"{centre:.1}\" y=\"{:.1}\" text-anchor=\"middle\">\
                 {text}{arrow}</text>",
                label.max(10.0)
            );
        }
    }

    /// The whisker of the interval and the diamond of the paper's value. Returns where the label
    /// goes: at `label`, or above what was drawn.
    fn marks(&self, cell: &Cell, centre: f64, mut label: f64, s: &mut String) -> f64 {
        if let Some((low, high)) = cell.against.and_then(|c| c.interval) {
            let (low, high) = (self.y(1.0 + low / 100.0), self.y(1.0 + high / 100.0));
            let _ = writeln!(
                s,
                "<path class=\"whisker\" d=\"M{centre:.1} {low:.1}V{high:.1}\
                 M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6\"/>",
                centre - 3.0
            );
            label = label.min(high - 5.0);
        }
        if let Some(paper) = paper(cell) {
            let at = self.y(paper);
            let _ = writeln!(
                s,
                "<path class=\"paper\" d=\"M{centre:.1} {:.1}l5 5l-5 5l-5 -5z\">\
                 <title>paper: {:+.1} %</title></path>",
                at - 5.0,
                (paper - 1.0) * 100.0
            );
            label = label.min(at - 8.0);
        }
        label
    }
}

/// The paper's value as a ratio to the baseline.
fn paper(cell: &Cell) -> Option<f64> {
    cell.published.as_ref().map(|p| 1.0 + p.percent / 100.0)
}

/// What a bar says under the pointer.
fn tip(row: &Row, cell: &Cell, name: &str) -> String {
    match cell.against {
        Some(c) => {
            let text = format!("{}, {name}: {:+.1} % ", row.scheme, c.percent);
            (text + &c.printed_interval()).trim_end().to_owned()
        }
        None => {
            let value = cell.metric.show(cell.absolute.unwrap_or(0.0));
            format!("{}, {name}: {value}", row.scheme)
        }
    }
}

/// The name of a metric and the baseline's value, below the axis.
fn name(group: &Group, (metric, name): Shown, middle: f64, s: &mut String) {
    let baseline = group.baseline().cell(metric).absolute;
    let baseline = baseline.map(|v| metric.show(v)).unwrap_or_default();
    let _ = writeln!(
        s,
        "<text class=\"name\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>\
         <text class=\"tick\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">\
         100 % = {baseline}</text>",
        HEIGHT - 24.0,
        HEIGHT - 7.0
    );
}

/// Text inside markup.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
