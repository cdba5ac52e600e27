// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a published number is in a chart: a row's statistic, turned into the unit of the panel.

use cemark_report::chart::Mark;
use cemark_report::metrics;
use cemark_report::units::number;

use super::super::evaluate::fits;
use super::super::row::{Formula, Row};
use super::super::targets::Target;
use super::draw::{Axes, Drawn, Place};

/// The published values that have a place in a panel. What is not about a value of the panel (a
/// spread, a difference between two places) has none, and is in the table of rows only.
pub(super) fn marks(panel: &Drawn<'_>) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for row in panel.source.rows.iter().filter(|r| is_of(r, panel)) {
        let target = panel.source.targets.iter().find(|t| t.id == row.id);
        let Some((target, published)) = target.and_then(|t| Some((t, t.published?))) else {
            continue;
        };
        let here = |p: &&Place<'_>| p.scheme == row.scheme && fits(p.axes, &row.selection);
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
        let colour = places.len() > 1 || row.formula == Formula::Onset;
        marks.push(Mark {
            colour: colour.then(|| cemark_report::chart::colour(panel.source.plan, &row.scheme)),
            places,
            tip: tip(target, published),
        });
    }
    marks
}

/// Text at the pointer for a published value.
pub(super) fn tip(target: &Target, published: f64) -> String {
    let number = number(published);
    let said = format!("published ({}): {number} {}", target.id, target.unit);
    format!("{}, {}", said.trim(), target.statistic)
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

/// A published number in the unit of the panel, at one place.
fn height(panel: &Drawn<'_>, row: &Row, axes: &Axes, published: f64) -> Option<f64> {
    // A published value is beside a measured one.
    panel.value(axes, &row.scheme).ok()?;
    let is_absolute = panel.spec.against.is_empty();
    if row.formula == Formula::Value {
        let per = panel.panel.per.unwrap_or(1.0);
        let measured = published * row.unit.unwrap_or(1.0) + row.base.unwrap_or(0.0);
        return is_absolute.then_some(measured / per);
    }
    let factor = factor(row, published)?;
    // A base is subtracted from both before they are compared.
    let base = match (row.base, row.over, is_absolute) {
        (None, ..) => 0.0,
        (Some(base), None, true) => base / panel.panel.per.unwrap_or(1.0),
        (Some(_), ..) => return None,
    };
    let (measured, _) = panel.value(axes, &row.against).ok()?;
    let height = base + factor * (measured - base);
    height.is_finite().then_some(height)
}

/// By what the value of `against` is multiplied to give the published one.
fn factor(row: &Row, published: f64) -> Option<f64> {
    match row.formula {
        Formula::Ratio => Some(published * row.unit.unwrap_or(1.0)),
        Formula::Excess => Some(1.0 + published / 100.0),
        Formula::Gain => Some(1.0 - published / 100.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_difference_is_a_factor_of_what_it_is_relative_to() {
        let of = |formula| factor(&Row::of(formula, "short.mean"), 23.4);
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
        near(of(Formula::Gain), 0.766);
        near(of(Formula::Excess), 1.234);
        near(of(Formula::Ratio), 23.4);
        // A spread is between two schemes that the row does not name.
        assert_eq!(of(Formula::Spread), None);
    }

    #[test]
    fn a_row_has_places_at_its_points_only() {
        let row: Row =
            toml::from_str("id = \"X\"\nstatistic = \"gain\"\nwhere = { load = [0.5, 0.9] }")
                .unwrap();
        let axes = |load: &str| Axes::from([("workload.load".to_owned(), load.to_owned())]);
        assert!(fits(&axes("0.9"), &row.selection) && !fits(&axes("0.8"), &row.selection));
    }
}
