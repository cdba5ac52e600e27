// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison of schemes at one value of the axes: a panel a metric, a bar a scheme.

use cemark_scenario::Plan;

use super::{Axis, Body, Chart, Panel, Row, Rows, Unit, colour, file_word, unit_of};
use crate::comparison::{Cell, Group};
use crate::metrics::{self, Better, Metric};
use crate::stats::Comparison;
use crate::summary::measures;
use crate::text::capital;
use crate::{Finished, units};

/// The chart; `None` where nothing was measured or there is nothing to compare.
pub fn of_group(plan: &Plan, group: &Group) -> Option<Chart> {
    of_metrics(plan, group, &headline())
}

/// The chart with a panel for each of these metrics that was measured.
pub(super) fn of_metrics(plan: &Plan, group: &Group, metrics: &[&Metric]) -> Option<Chart> {
    let differs = |m: &Metric| group.rows.iter().any(|r| r.cell(m).against.is_some());
    let measured = |m: &&&Metric| group.baseline().cell(m).absolute.is_some() && differs(m);
    let shown: Vec<&Metric> = metrics.iter().filter(measured).copied().collect();
    if shown.is_empty() || group.rows.len() < 2 {
        return None;
    }
    let base = &group.baseline().scheme;
    let cells = || group.rows.iter().flat_map(|r| &r.cells);
    let is_published = cells().any(|c| c.published.is_some() && shown.contains(&c.metric));
    let mut compared = cells().filter(|c| shown.contains(&c.metric));
    let intervals = match compared.any(|c| c.against.is_some_and(|c| c.interval.is_some())) {
        true => "; the lines are paired 95 % intervals",
        false => "",
    };
    let mut caption = format!("Difference from {base}{intervals}.");
    if is_published {
        caption += " Diamonds are the values that the paper printed.";
    }
    Some(Chart {
        name: format!("comparison{}", place_of(group)),
        title: format!("Schemes against {base}{}", at(group)),
        caption,
        legend: Vec::new(),
        panels: shown.iter().map(|m| panel(plan, group, m)).collect(),
    })
}

/// Values of a metric in its unit with their own intervals; `None` where no scheme has a value.
pub(super) fn absolute(
    plan: &Plan,
    finished: &[Finished],
    group: &Group,
    metric: &Metric,
) -> Option<Chart> {
    let measured = group.rows.iter().filter_map(|row| {
        let measure = measures::of_row(plan, finished, group, row, metric)?;
        Some((row, measure))
    });
    let rows = measured.map(|(row, measure)| {
        let mut text = metric.show(measure.value);
        if let Some(count) = measure.largest_of {
            text += &format!(", max of {count}");
        }
        Row {
            label: row.scheme.clone(),
            colour: colour(plan, &row.scheme),
            value: Some(measure.value),
            interval: measure.low.zip(measure.high),
            tip: format!("{}, {}: {text}", row.scheme, name(metric)),
            text,
            ..Row::default()
        }
    });
    let rows: Vec<Row> = rows.collect();
    let mut caption = String::new();
    if group.seeds.len() > 1 {
        caption = format!("Means over {} seeds", group.seeds.len());
        caption += match rows.iter().any(|row| row.interval.is_some()) {
            true => "; the lines are 95 % intervals.",
            false => ".",
        };
    }
    (!rows.is_empty()).then(|| Chart {
        name: format!(
            "{}-absolute{}",
            file_word(&metric.key.replace('.', "-")),
            place_of(group)
        ),
        title: format!("{}{}", capital(&name(metric)), at(group)),
        caption,
        legend: Vec::new(),
        panels: vec![Panel::new(
            "",
            Body::Rows(Rows {
                axis: Axis::new("", unit_of(metric.unit)),
                origin: Some(0.0),
                rows,
            }),
        )],
    })
}

/// The metrics that charts show.
pub(super) fn headline() -> Vec<&'static Metric> {
    metrics::shown(metrics::compared(), |c| c.report || c.bar.is_some())
}

/// Name that charts give a metric: `short flows, mean FCT`.
pub fn name(metric: &Metric) -> String {
    let column = metric.column.as_ref();
    if let Some(name) = column.and_then(|c| c.bar) {
        return format!("{name} FCT");
    }
    if let Some((_, name)) = column.and_then(|c| c.sentence) {
        return name.trim_start_matches("the ").to_owned();
    }
    let (first, second) = metric.heading();
    format!("{first}, {second}")
}

/// `, load 0.9`: behind a title.
pub fn at(group: &Group) -> String {
    match group.title() {
        title if title.is_empty() => String::new(),
        title => format!(", {title}"),
    }
}

/// `-load-0.9-rtt.hi-240us`: of the file's name.
pub(crate) fn place_of(group: &Group) -> String {
    let title = group.title();
    let words = title.split([' ', ',']).filter(|w| !w.is_empty());
    words.map(|w| format!("-{}", file_word(w))).collect()
}

fn panel(plan: &Plan, group: &Group, metric: &Metric) -> Panel {
    let base = group.baseline();
    let absolute = base.cell(metric).absolute.map(|v| metric.show(v));
    let better = match metric.better {
        Better::Less => "less is better",
        Better::More => "more is better",
        Better::Neither => "",
    };
    let rows = group.rows.iter().map(|row| {
        let cell = row.cell(metric);
        let colour = colour(plan, &row.scheme);
        let text = match (row.baseline, cell.against) {
            (true, _) => absolute.clone().unwrap_or_default(),
            (false, None) => "no value".to_owned(),
            (false, Some(c)) => of_cell(cell, c),
        };
        let published = cell.published.as_ref().map(|p| p.percent);
        Row {
            label: row.scheme.clone(),
            colour,
            value: cell.against.map(|c| c.percent),
            interval: cell.against.and_then(|c| c.interval),
            band: None,
            published,
            tip: tip(&row.scheme, &name(metric), &text, cell),
            text,
        }
    });
    Panel {
        title: name(metric),
        note: better.to_owned(),
        body: Body::Rows(Rows {
            axis: Axis::new("", Unit::Percent),
            origin: Some(0.0),
            rows: rows.collect(),
        }),
    }
}

/// `−33.7 % ±2.1`.
pub(crate) fn difference(percent: f64, interval: Option<(f64, f64)>) -> String {
    let range = interval.map(|i| units::interval(percent, i));
    let text = format!("{} {}", units::percent(percent), range.unwrap_or_default());
    text.trim_end().replace('-', "−")
}

/// The difference of a cell; a percentile that is the largest of its values says so.
pub(super) fn of_cell(cell: &Cell, against: Comparison) -> String {
    match cell.largest_of {
        None => difference(against.percent, against.interval),
        Some(_) => format!("{}, {}", difference(against.percent, None), cell.largest()),
    }
}

fn tip(scheme: &str, metric: &str, text: &str, cell: &Cell) -> String {
    let mut tip = format!("{scheme}, {metric}: {text}");
    if let (Some(value), true) = (cell.absolute, cell.against.is_some()) {
        tip += &format!(" (mean of the seeds: {})", cell.metric.show(value));
    }
    if let Some(p) = &cell.published {
        let percent = units::percent(p.percent).replace('-', "−");
        tip += &format!("; {}: {percent}", p.source);
    }
    tip
}
