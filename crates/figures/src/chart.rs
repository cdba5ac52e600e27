// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row of a figure: published beside measured, with the interval and the band that counts as
//! reproduced. Conditions with the same unit share an axis.

use cemark_report::chart::{Axis, Body, Chart, Panel, Row, Rows, Unit, file_word};
use cemark_report::units;

use super::{PartResult, RowResult};

/// The chart of a row; `None` where there is no number to draw.
pub fn of_row(row: &RowResult) -> Option<Chart> {
    let mut panels: Vec<(String, Vec<Row>)> = Vec::new();
    for part in &row.parts {
        let known = [part.published, part.measured, part.lo, part.hi];
        if known.iter().all(Option::is_none) {
            continue;
        }
        let drawn = drawn(row, part);
        match panels.iter_mut().find(|p| p.0 == part.unit) {
            Some(panel) => panel.1.push(drawn),
            None => panels.push((part.unit.clone(), vec![drawn])),
        }
    }
    let panel = |(unit, rows)| {
        let rows = Rows {
            axis: Axis::new("", Unit::Other(unit)),
            origin: None,
            rows,
        };
        Panel::new("", Body::Rows(rows))
    };
    (!panels.is_empty()).then(|| Chart {
        name: file_word(&row.id),
        title: format!("{}: {}", row.id, row.experiment),
        caption: caption(row),
        legend: Vec::new(),
        panels: panels.into_iter().map(panel).collect(),
    })
}

/// The meanings of the marks that the chart has.
fn caption(row: &RowResult) -> String {
    let any = |has: fn(&PartResult) -> bool| row.parts.iter().any(has);
    let marks = [
        match any(|p| p.low.is_some() && p.high.is_some()) {
            true => (
                any(|p| p.measured.is_some()),
                "Dots: measured, with their 95 % intervals.",
            ),
            false => (any(|p| p.measured.is_some()), "Dots: measured."),
        },
        (any(|p| p.published.is_some()), "Diamonds: published."),
        (
            any(|p| p.lo.is_some() || p.hi.is_some()),
            "Shaded: the band in which the number counts as reproduced.",
        ),
    ];
    let there = marks.iter().filter(|(is_there, _)| *is_there);
    there.map(|(_, words)| *words).collect::<Vec<_>>().join(" ")
}

fn drawn(row: &RowResult, part: &PartResult) -> Row {
    let letter = part.id.strip_prefix(&row.id).unwrap_or_default();
    let letter = letter.trim_start_matches('.');
    let number = |x: f64| units::number(x).replace('-', "−");
    let mut tip = format!("{} {}", part.id, part.statistic);
    let mut say = |what: &str, value: Option<f64>| {
        if let Some(value) = value {
            tip += &format!("; {what} {} {}", number(value), part.unit);
        }
    };
    say("measured", part.measured);
    say("from", part.low);
    say("to", part.high);
    say("published", part.published);
    let band = match (part.lo, part.hi) {
        (None, None) => None,
        (low, high) => Some((
            low.unwrap_or(f64::NEG_INFINITY),
            high.unwrap_or(f64::INFINITY),
        )),
    };
    Row {
        label: format!("{letter} {}", part.statistic).trim().to_owned(),
        colour: 1,
        value: part.measured,
        interval: part.low.zip(part.high),
        band,
        published: part.published,
        text: part.measured.map_or("–".to_owned(), number),
        tip,
    }
}
