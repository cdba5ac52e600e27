// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data behind a chart as a table: a row for each value, with the units in the header.

use super::files::{Table, number};
use crate::chart::{Axis, Body, Chart, Curve, Curves, Heat, Mark, Panel, Row, Rows, Spot, Unit};

/// Title of the column of panels.
const PANEL: &str = "panel";

/// The values of a chart, whose curves and rows are of things called `series`: `scheme`.
pub fn of_chart(chart: &Chart, series: &str) -> Table {
    if let Some(maps) = of_maps(chart, series) {
        return maps;
    }
    let columns = Columns::of(chart);
    let mut head = Vec::new();
    head.extend(columns.panel.then(|| PANEL.to_owned()));
    head.push(series.to_owned());
    head.extend(columns.x.clone());
    head.extend(columns.is_mixed.then(|| "unit".to_owned()));
    head.push(columns.y.clone());
    let unit = columns.unit.clone();
    let more = [
        (columns.band, "low"),
        (columns.band, "high"),
        (columns.published, "published"),
    ];
    let more = more.into_iter().filter(|(is_there, _)| *is_there);
    head.extend(more.map(|(_, name)| with_unit(name, &unit)));
    let of_panel = |panel: &Panel| -> Vec<Value> {
        match &panel.body {
            Body::Rows(rows) => rows.rows.iter().map(of_row).collect(),
            Body::Curves(curves) | Body::Times(curves) => of_curves(curves),
            Body::Heat(_) => Vec::new(),
        }
    };
    let rows = chart.panels.iter().flat_map(|panel| {
        let values = of_panel(panel).into_iter();
        values.map(|value| columns.cells(panel, value))
    });
    Table {
        name: format!("{}-data", chart.name),
        title: chart.title.clone(),
        head,
        rows: rows.collect(),
    }
}

/// The tiles of a chart of maps, a map for each `series`; `None` for other charts.
fn of_maps(chart: &Chart, series: &str) -> Option<Table> {
    let maps = chart.panels.iter().map(|panel| match &panel.body {
        Body::Heat(map) => Some((&panel.title, map)),
        _ => None,
    });
    let maps: Vec<(&String, &Heat)> = maps.collect::<Option<_>>()?;
    let (_, first) = maps.first()?;
    let head = [
        series,
        &first.across.label,
        &first.down.label,
        "difference [%]",
        "decided",
    ];
    let mut rows = Vec::new();
    for (title, map) in maps {
        let down = map.down.names.iter();
        let places = down.flat_map(|d| map.across.names.iter().map(move |a| (a, d)));
        for ((across, down), tile) in places.zip(&map.tiles) {
            if let Some(tile) = tile {
                rows.push(vec![
                    title.clone(),
                    across.clone(),
                    down.clone(),
                    number(Some(tile.percent)),
                    tile.is_decided.to_string(),
                ]);
            }
        }
    }
    Some(Table {
        name: format!("{}-data", chart.name),
        title: chart.title.clone(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}

/// Columns that a chart needs.
struct Columns {
    /// Whether panels have titles.
    panel: bool,
    /// Head of the places on the horizontal axis.
    x: Option<String>,
    /// Head of the values.
    y: String,
    /// Unit of the values.
    unit: String,
    /// Whether values have intervals.
    band: bool,
    /// Whether there are published values.
    published: bool,
    /// Whether panels have values in different units, which are a column then.
    is_mixed: bool,
}

impl Columns {
    fn of(chart: &Chart) -> Self {
        let panels = || chart.panels.iter();
        let of_rows = || panels().filter_map(|p| rows(&p.body)).flat_map(|r| &r.rows);
        let of_curves = || panels().filter_map(|p| curves(&p.body));
        let spots = || of_curves().flat_map(|c| &c.curves).flat_map(|c| &c.spots);
        let axes = || panels().filter_map(|panel| values_axis(&panel.body));
        let first = axes().next();
        let unit = first.map_or(String::new(), |axis| name(&axis.unit));
        let is_mixed = axes().any(|axis| name(&axis.unit) != unit);
        let unit = if is_mixed { String::new() } else { unit };
        let label = first.map_or("", |axis| &axis.label);
        let label = if label.is_empty() { "value" } else { label };
        let x = of_curves().next();
        Columns {
            panel: panels().any(|p| !p.title.is_empty()),
            x: x.map(|c| with_unit(&c.x.label, &name(&c.x.unit))),
            y: with_unit(label, &unit),
            unit,
            band: spots().any(|s| s.band.is_some()) || of_rows().any(|r| r.interval.is_some()),
            published: of_rows().any(|r| r.published.is_some())
                || of_curves().any(|c| !c.marks.is_empty()),
            is_mixed,
        }
    }

    fn cells(&self, panel: &Panel, value: Value) -> Vec<String> {
        let mut cells = Vec::new();
        cells.extend(self.panel.then(|| panel.title.clone()));
        cells.push(value.series);
        cells.extend(self.x.as_ref().map(|_| value.x));
        let axis = values_axis(&panel.body);
        cells.extend(axis.filter(|_| self.is_mixed).map(|axis| name(&axis.unit)));
        cells.push(number(value.y));
        if self.band {
            cells.extend([value.band.map(|b| b.0), value.band.map(|b| b.1)].map(number));
        }
        if self.published {
            cells.push(number(value.published));
        }
        cells
    }
}

/// The axis of the values, not that of their places.
fn values_axis(body: &Body) -> Option<&Axis> {
    match body {
        Body::Rows(rows) => Some(&rows.axis),
        Body::Curves(curves) | Body::Times(curves) => Some(&curves.y),
        Body::Heat(_) => None,
    }
}

fn rows(body: &Body) -> Option<&Rows> {
    match body {
        Body::Rows(rows) => Some(rows),
        _ => None,
    }
}

fn curves(body: &Body) -> Option<&Curves> {
    match body {
        Body::Curves(curves) | Body::Times(curves) => Some(curves),
        Body::Rows(_) | Body::Heat(_) => None,
    }
}

/// A row of the table.
#[derive(Default)]
struct Value {
    series: String,
    x: String,
    y: Option<f64>,
    band: Option<(f64, f64)>,
    published: Option<f64>,
}

fn of_row(row: &Row) -> Value {
    Value {
        series: row.label.clone(),
        x: String::new(),
        y: row.value,
        band: row.interval,
        published: row.published,
    }
}

fn of_curves(curves: &Curves) -> Vec<Value> {
    let place = |x: f64| match curves.x.names.get(x.round().max(0.0) as usize) {
        Some(name) => name.clone(),
        None => number(Some(x)),
    };
    let of_spot = |curve: &Curve, spot: &Spot| Value {
        series: curve.label.clone(),
        x: place(spot.x),
        y: Some(spot.y),
        band: spot.band,
        published: None,
    };
    let of_mark = |mark: &Mark| {
        let places = mark.places.iter().map(|(x, y)| Value {
            series: mark.tip.clone(),
            x: place(*x),
            published: Some(*y),
            ..Value::default()
        });
        places.collect::<Vec<_>>()
    };
    let spots = curves
        .curves
        .iter()
        .flat_map(|c| c.spots.iter().map(move |s| (c, s)));
    let spots = spots.map(|(curve, spot)| of_spot(curve, spot));
    spots.chain(curves.marks.iter().flat_map(of_mark)).collect()
}

/// Units of an axis as words of a header; empty: a number without unit.
fn name(unit: &Unit) -> String {
    match unit {
        Unit::Percent => "%".to_owned(),
        Unit::Micros => "µs".to_owned(),
        Unit::Bytes => "bytes".to_owned(),
        Unit::BitsPerSecond => "bit/s".to_owned(),
        Unit::Other(name) => name.clone(),
    }
}

fn with_unit(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_owned(),
        unit => format!("{name} [{unit}]"),
    }
}
