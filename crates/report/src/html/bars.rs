// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion times by size class, each scheme relative to the baseline, with intervals and the
//! paper's values.

use std::fmt::Write as _;

use cemark_scenario::Plan;

use super::colour;
use crate::model::{Group, Metric};
use crate::stats::{SizeClass, Statistic};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 48.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 46.0;
/// Bars above so many times the baseline are cut, and say by how much they go on.
const CUT: f64 = 2.5;

const P99: Statistic = Statistic::Percentile(0.99);
const SHOWN: [(Metric, &str); 6] = [
    (Metric::Fct(SizeClass::All, Statistic::Mean), "overall mean"),
    (Metric::SHORT_MEAN, "short mean"),
    (Metric::SHORT_P99, "short p99"),
    (
        Metric::Fct(SizeClass::Medium, Statistic::Mean),
        "medium mean",
    ),
    (Metric::LARGE_MEAN, "large mean"),
    (Metric::Fct(SizeClass::Large, P99), "large p99"),
];

/// The chart; `None` where no flow finished or there is nothing to compare.
pub(super) fn draw(plan: &Plan, group: &Group) -> Option<String> {
    let shown: Vec<_> = SHOWN
        .iter()
        .filter(|(m, _)| group.baseline().cell(*m).absolute.is_some())
        .collect();
    if shown.is_empty() || group.rows.len() < 2 {
        return None;
    }
    let tops = group
        .rows
        .iter()
        .flat_map(|r| shown.iter().filter_map(|(m, _)| r.cell(*m).against))
        .map(|c| 1.0 + c.interval.map_or(c.percent, |i| i.1).max(c.percent) / 100.0);
    let papers = group
        .rows
        .iter()
        .flat_map(|r| {
            shown
                .iter()
                .filter_map(|(m, _)| r.cell(*m).published.as_ref())
        })
        .map(|p| 1.0 + p.percent / 100.0);
    let most = tops.chain(papers).fold(1.0_f64, f64::max).min(CUT);
    let top = (most * 4.0).ceil() / 4.0;
    let y = |ratio: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - ratio.clamp(0.0, top) / top);
    let slot = (WIDTH - LEFT) / shown.len() as f64;
    let bar = ((slot - 24.0) / group.rows.len() as f64).min(30.0);

    let mut s = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Completion times relative to the baseline\">\n"
    );
    let step = if top > 1.5 { 0.5 } else { 0.25 };
    let mut tick = 0.0;
    while tick <= top + 1e-9 {
        let class = if (tick - 1.0).abs() < 1e-9 {
            "base"
        } else {
            "grid"
        };
        let _ = writeln!(
            s,
            "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text class=\"tick\" x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3:.0} %</text>",
            y(tick),
            LEFT - 8.0,
            y(tick) + 4.0,
            tick * 100.0
        );
        tick += step;
    }
    for (i, (metric, name)) in shown.iter().enumerate() {
        let middle = LEFT + slot * (i as f64 + 0.5);
        let first = middle - bar * group.rows.len() as f64 / 2.0;
        for (j, row) in group.rows.iter().enumerate() {
            let cell = row.cell(*metric);
            let percent = if row.baseline {
                Some(0.0)
            } else {
                cell.against.map(|c| c.percent)
            };
            let Some(percent) = percent else { continue };
            let ratio = 1.0 + percent / 100.0;
            let (x, centre) = (first + bar * j as f64, first + bar * (j as f64 + 0.5));
            let tip = match cell.against {
                Some(c) => {
                    let text = format!("{}, {name}: {percent:+.1} % ", row.scheme);
                    (text + &c.printed_interval()).trim_end().to_owned()
                }
                None => format!(
                    "{}, {name}: {}",
                    row.scheme,
                    metric.show(cell.absolute.unwrap_or(0.0))
                ),
            };
            let _ = writeln!(
                s,
                "<rect class=\"f{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\"><title>{}</title></rect>",
                colour(plan, &row.scheme),
                x + 1.0,
                y(ratio),
                bar - 2.0,
                y(0.0) - y(ratio),
                escape(&tip)
            );
            let mut label = y(ratio) - 5.0;
            if let Some((low, high)) = cell.against.and_then(|c| c.interval) {
                let (low, high) = (y(1.0 + low / 100.0), y(1.0 + high / 100.0));
                let _ = writeln!(
                    s,
                    "<path class=\"whisker\" d=\"M{centre:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6\"/>",
                    centre - 3.0
                );
                label = label.min(high - 5.0);
            }
            if let Some(paper) = cell.published.as_ref().map(|p| 1.0 + p.percent / 100.0) {
                let at = y(paper);
                let _ = writeln!(
                    s,
                    "<path class=\"paper\" d=\"M{centre:.1} {:.1}l5 5l-5 5l-5 -5z\"><title>paper: {:+.1} %</title></path>",
                    at - 5.0,
                    (paper - 1.0) * 100.0
                );
                label = label.min(at - 8.0);
            }
            if !row.baseline && bar >= 16.0 {
                let text = format!("{:+.0}", if percent.abs() < 0.5 { 0.0 } else { percent })
                    .replace('-', "−");
                let arrow = if ratio > top { "↑" } else { "" };
                let _ = writeln!(
                    s,
                    "<text class=\"value\" x=\"{centre:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}{arrow}</text>",
                    label.max(10.0)
                );
            }
        }
        let baseline = group
            .baseline()
            .cell(*metric)
            .absolute
            .map(|v| metric.show(v))
            .unwrap_or_default();
        let _ = writeln!(
            s,
            "<text class=\"name\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text><text class=\"tick\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">100 % = {baseline}</text>",
            HEIGHT - 24.0,
            HEIGHT - 7.0
        );
    }
    s += "</svg>";
    Some(s)
}

/// Text inside markup.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
