// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a published number is in a chart: a row's statistic, turned into the unit of the panel.

use super::super::evaluate::value;
use super::super::render::number;
use super::super::row::{Formula, Row};
use super::draw::{Axes, Drawn, Place};
use crate::chart::Mark;
use crate::metrics;

/// The published values that have a place in a panel. What is not about a value of the panel (a
/// spread, a difference between two places) has none, and is in the table of rows only.
pub(super) fn marks(panel: &Drawn<'_>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for row in panel.source.rows.iter().filter(|r| is_of(r, panel)) {
        let target = panel.source.targets.iter().find(|t| t.id == row.id);
        let Some((target, published)) = target.and_then(|t| Some((t, t.published?))) else {
            continue;
        };
        let here = |p: &&Place<'_>| p.scheme == row.scheme && reads(row, p.axes);
        let mut places: Vec<(f64, f64)> = match row.formula {
            Formula::Onset => vec![(published, 0.0)],
            _ => {
                let chosen = panel.places.iter().filter(here);
                let place = |p: &Place<'_>| Some((p.x, height(panel, row, p.axes, published)?));
                chosen.filter_map(place).collect()
            }
        };
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let same = |m: &Mark| m.places.len() > 1 && heights(&m.places) == heights(&places);
        if places.is_empty() || marks.iter().any(same) {
            continue;
        }
        let unit = &target.unit;
        marks.push(Mark {
            places,
            tip: format!(
                "published ({}): {} {unit}, {}",
                row.id,
                number(published),
                target.statistic
            ),
        });
    }
    marks
}

fn heights(places: &[(f64, f64)]) -> Vec<f64> {
    places.iter().map(|p| p.1).collect()
}

/// Whether a row is about the metric of a panel, and about the same part of a point.
fn is_of(row: &Row, panel: &Drawn<'_>) -> bool {
    let spec = panel.panel;
    let metric = |key: &str| metrics::find(key).map(|m| &m.key);
    metric(&row.metric) == metric(&spec.metric)
        && metric(&row.metric).is_some()
        && row.workload == spec.workload
        && row.port == spec.port
        && row.class == spec.class
        && row.minus.is_none()
}

/// Whether a row reads the points with these values of the axes.
fn reads(row: &Row, axes: &Axes) -> bool {
    let mut all = row.selection.iter();
    all.all(|(axis, wanted)| value(axes, axis).is_some_and(|v| wanted.has(v)))
}

/// A published number in the unit of the panel, at one place.
fn height(panel: &Drawn<'_>, row: &Row, axes: &Axes, published: f64) -> Option<f64> {
    // A published value is beside a measured one.
    panel.value(axes, &row.scheme).ok()?;
    let is_absolute = panel.spec.against.is_empty();
    let factor = match row.formula {
        Formula::Value if is_absolute => {
            return Some(published * row.unit.unwrap_or(1.0) / panel.panel.per.unwrap_or(1.0));
        }
        Formula::Ratio => published * row.unit.unwrap_or(1.0),
        Formula::Excess => 1.0 + published / 100.0,
        Formula::Gain => 1.0 - published / 100.0,
        _ => return None,
    };
    // The base is subtracted from both before they are compared.
    let base = match (row.base, is_absolute) {
        (None, _) => 0.0,
        (Some(base), true) => base / panel.panel.per.unwrap_or(1.0),
        (Some(_), false) => return None,
    };
    let (measured, _) = panel.value(axes, &row.against).ok()?;
    let height = base + factor * (measured - base);
    height.is_finite().then_some(height)
}
