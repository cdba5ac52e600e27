// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result at a glance: a table of scheme by metric with better, worse and open, whose cells
//! lead to their charts.

use cemark_scenario::Plan;
use serde::Serialize;

use super::block::{Heading, headings};
use super::page::typeset;
use crate::chart::{self, colour};
use crate::comparison::{Cell, Comparisons};
use crate::metrics::{self, Metric};
use crate::units;

#[derive(Serialize)]
pub(super) struct Glance {
    /// Combinations of the axes.
    combinations: usize,
    groups: Vec<Heading>,
    stats: Vec<&'static str>,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    scheme: String,
    colour: usize,
    cells: Vec<Verdict>,
}

/// Verdict on a scheme by a metric.
#[derive(Default, Serialize)]
struct Verdict {
    /// Heading of its metric, for screens on which the table has no head.
    label: String,
    /// Where its chart is.
    link: String,
    /// Title of its panel, where a chart has one for each metric.
    panel: String,
    /// Words for each direction in which a combination is decided, or `open`.
    words: Vec<Word>,
    /// The difference, where there is one combination only.
    percent: String,
}

#[derive(Serialize)]
struct Word {
    class: &'static str,
    sign: &'static str,
    text: String,
}

/// The grid; `None` where no two schemes can be compared. `link` is the anchor of a metric's chart.
pub(super) fn glance(
    plan: &Plan,
    comparisons: &Comparisons,
    link: impl Fn(&Metric) -> String,
) -> Option<Glance> {
    let groups = &comparisons.groups;
    let first = groups.first().filter(|_| !comparisons.all_alike())?;
    let mut metrics = metrics::judged();
    metrics.retain(|m| groups.iter().any(|g| g.has(m)));
    let rows = first.rows.iter().enumerate().filter(|(_, r)| !r.baseline);
    let rows = rows.map(|(i, row)| Line {
        scheme: row.scheme.clone(),
        colour: colour(plan, &row.scheme),
        cells: metrics
            .iter()
            .map(|m| {
                let rows = groups.iter().filter_map(|g| g.rows.get(i));
                let cells: Vec<&Cell> = rows.map(|r| r.cell(m)).collect();
                let (first, second) = m.heading();
                Verdict {
                    label: format!("{first} {second}"),
                    link: link(m),
                    panel: chart::metric_name(m),
                    ..verdict(&cells)
                }
            })
            .collect(),
    });
    let rows: Vec<Line> = rows.collect();
    (!rows.is_empty() && !metrics.is_empty()).then(|| Glance {
        combinations: groups.len(),
        groups: headings(&metrics, 0),
        stats: metrics.iter().map(|m| m.heading().1).collect(),
        rows,
    })
}

fn verdict(cells: &[&Cell]) -> Verdict {
    let count = |has: fn(&Cell) -> bool| cells.iter().filter(|c| has(c)).count();
    let word = |many: usize, class: &'static str, sign| {
        let text = match cells.len() {
            1 => class.to_owned(),
            _ => format!("{many} {class}"),
        };
        (many > 0).then_some(Word { class, sign, text })
    };
    let sides = [
        word(count(Cell::better), "better", "▲"),
        word(count(Cell::worse), "worse", "▼"),
    ];
    let mut words: Vec<Word> = sides.into_iter().flatten().collect();
    let known = cells.iter().any(|c| c.against.is_some());
    if words.is_empty() {
        words.push(Word {
            class: "",
            sign: if known { "·" } else { "" },
            text: if known { "open" } else { "no value" }.to_owned(),
        });
    }
    let percent = match cells {
        [only] => only.against.map(|c| typeset(&units::percent(c.percent))),
        _ => None,
    };
    Verdict {
        words,
        percent: percent.unwrap_or_default(),
        ..Verdict::default()
    }
}
