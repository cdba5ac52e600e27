// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values below each other: bars or dots with intervals, names on the left and numbers on the
//! right. What leaves the axis ends in an arrow with its number.

use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, TRANSPARENT};

use super::axis::{SIZE, Scale};
use super::canvas::{Area, Begin, End};
use super::pen::{diamond, done, fine, style, write};
use super::{Body, Panel, Row, Rows, Unit, colour, font};

/// Height of a row, of the numbers below, and of the title below these.
const ROW: f64 = 19.0;
const BELOW: f64 = 22.0;
const UNIT: f64 = 15.0;
/// Sizes of names and numbers.
const NAME: f64 = 12.0;
/// Least width of the plot.
const PLOT: f64 = 130.0;
/// Width that a plot keeps in a narrow chart, where names and numbers are shortened for it.
const LEAST: f64 = 30.0;
/// Space beside the plot.
const BESIDE: f64 = 8.0;
/// Width of an arrow.
const ARROW: f64 = 7.0;
/// A bar longer than this is cut off, in percent.
const CUT: f64 = 150.0;

/// Height of a panel without its heading.
pub(super) fn height(rows: &Rows) -> f64 {
    rows.rows.len() as f64 * ROW + below(rows)
}

fn below(rows: &Rows) -> f64 {
    let is_named = !rows.axis.label.is_empty() || rows.axis.unit != Unit::Percent;
    BELOW + if is_named { UNIT } else { 0.0 }
}

/// Layout common to all panels of a chart: the widths beside the plot, and the part of the axis.
#[derive(Default)]
pub(super) struct Columns {
    names: f64,
    numbers: f64,
    /// For arrows on either side, with their numbers.
    left: f64,
    right: f64,
    /// Where all axes are equal, the part that all panels show.
    range: Option<(f64, f64)>,
}

impl Columns {
    pub fn new(panels: &[Panel], room: f64) -> Self {
        let all: Vec<&Rows> = panels
            .iter()
            .filter_map(|p| match &p.body {
                Body::Rows(rows) => Some(rows),
                _ => None,
            })
            .collect();
        let Some(first) = all.first() else {
            return Columns::default();
        };
        let range = all
            .iter()
            .all(|rows| rows.axis == first.axis)
            .then(|| range(&all));
        let mut columns = Columns {
            range,
            ..Columns::default()
        };
        for rows in &all {
            let (low, high) = columns.range_of(rows);
            for row in &rows.rows {
                columns.names = columns.names.max(font::width(&row.label, NAME));
                columns.numbers = columns.numbers.max(font::width(&row.text, SIZE));
                let (under, over) = outside(row, low, high);
                let zone = |x: Option<f64>| {
                    x.map_or(0.0, |x| {
                        font::width(&number(x, &rows.axis.unit), SIZE) + ARROW + 8.0
                    })
                };
                columns.left = columns.left.max(zone(under));
                columns.right = columns.right.max(zone(over));
            }
        }
        columns.names = columns.names.min(room * 0.32) + BESIDE;
        columns.numbers = columns.numbers.min(room * 0.4) + BESIDE;
        let beside = columns.names + columns.numbers;
        let share = (room - columns.left - columns.right - LEAST) / beside;
        columns.names *= share.min(1.0);
        columns.numbers *= share.min(1.0);
        columns
    }

    /// How many panels fit side by side.
    pub fn fit(&self, room: f64, gap: f64) -> usize {
        let least = self.names + self.left + PLOT + self.right + self.numbers;
        (((room + gap) / (least + gap)).floor() as usize).max(1)
    }

    fn range_of(&self, rows: &Rows) -> (f64, f64) {
        self.range.unwrap_or_else(|| range(&[rows]))
    }
}

/// The part of the axis in which these rows are shown: every value, and of the intervals as much
/// as leaves the values apart.
fn range(all: &[&Rows]) -> (f64, f64) {
    let percent = all.iter().any(|r| r.axis.unit == Unit::Percent);
    let cut = |x: f64| if percent { x.clamp(-CUT, CUT) } else { x };
    let rows = || all.iter().flat_map(|r| &r.rows);
    let origins = all.iter().filter_map(|r| r.origin);
    let values = rows().flat_map(|r| [r.value, r.published]).flatten();
    let bands = rows().filter_map(|r| r.band).flat_map(|b| [b.0, b.1]);
    let (low, high) = extent(origins.chain(values.map(cut)).chain(bands));
    let least = if percent {
        2.0
    } else {
        low.abs().max(high.abs()) * 0.02
    };
    let span = (high - low).max(least).max(1e-9);
    let ends = rows().filter_map(|r| r.interval).flat_map(|i| [i.0, i.1]);
    let (first, last) = extent(ends.chain([low, high]));
    let reach = if percent { 0.6 } else { 1.5 } * span;
    let (low, high) = (first.max(low - reach), last.min(high + reach));
    let slack = 0.05 * (high - low).max(least).max(1e-9);
    (low - slack, high + slack)
}

/// Smallest and largest of the finite values; 0 and 0 without any.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|x| x.is_finite());
    let pair = |(a, b): (f64, f64), x: f64| (a.min(x), b.max(x));
    let found = finite.fold((f64::INFINITY, f64::NEG_INFINITY), pair);
    if found.0 > found.1 { (0.0, 0.0) } else { found }
}

/// The numbers of what leaves the axis below and above.
fn outside(row: &Row, low: f64, high: f64) -> (Option<f64>, Option<f64>) {
    let interval = row.interval.map(|i| [i.0, i.1]);
    let all = [
        row.value,
        row.published,
        interval.map(|i| i[0]),
        interval.map(|i| i[1]),
    ];
    let (least, most) = extent(all.into_iter().flatten());
    (
        (least < low).then_some(least),
        (most > high).then_some(most),
    )
}

pub(super) fn number(x: f64, unit: &Unit) -> String {
    let text = match unit {
        Unit::Percent => format!("{x:+.0}"),
        _ => crate::units::number(x),
    };
    text.replace('-', "−")
}

/// Draws the rows into an area of this width, below the heading.
pub(super) fn draw(area: &Area<'_>, rows: &Rows, columns: &Columns, width: f64) {
    let (low, high) = columns.range_of(rows);
    let before = columns.names + columns.left;
    let after = columns.right + columns.numbers;
    let scale = Scale::new(&rows.axis, (low, high), width - before - after, false);
    let many = rows.rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_left(fine(before))
        .margin_right(fine(after))
        .x_label_area_size(fine(below(rows)))
        .build_cartesian_2d(scale.clone(), many..0.0)
        .expect("a sheet in memory");
    let mesh = chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .axis_style(TRANSPARENT)
        .light_line_style(TRANSPARENT)
        .bold_line_style(colour::LINE.stroke_width(10))
        .set_all_tick_mark_size(fine(2.5))
        .x_label_style(style(SIZE, colour::SOFT))
        .draw();
    done(mesh);
    let plot = chart.plotting_area();
    let base = rows.origin.map(|x| x.clamp(low, high));
    if let Some(x) = base {
        let line = colour::SOFT.stroke_width(12);
        done(plot.draw(&PathElement::new(vec![(x, 0.0), (x, many)], line)));
    }
    for (i, row) in rows.rows.iter().enumerate() {
        let y = i as f64;
        let inside = |x: f64| x.clamp(low, high);
        if let Some(band) = row.band {
            let corners = [(inside(band.0), y + 0.05), (inside(band.1), y + 0.95)];
            let fill = colour::series(3).mix(0.18).filled();
            done(plot.draw(&Rectangle::new(corners, fill)));
        }
        done(area.draw(&Begin(&row.tip)));
        let paint = colour::series(row.colour);
        if let (Some(value), Some(base)) = (row.value, base) {
            let corners = [(base, y + 0.2), (inside(value), y + 0.8)];
            done(plot.draw(&Rectangle::new(corners, paint.filled())));
        }
        whisker(plot, row, y, &inside);
        if let (Some(value), None) = (row.value.filter(|v| (low..=high).contains(v)), base) {
            done(plot.draw(&Circle::new((value, y + 0.5), fine(4.0), paint.filled())));
        }
        if let Some(at) = row.published.filter(|v| (low..=high).contains(v)) {
            diamond(plot, (at, y + 0.5), 5.0, colour::PAPER);
        }
        done(area.draw(&End));
        beside(area, rows, row, (i, width), (columns, low, high));
    }
    let under = height(rows) - 6.0;
    let title = font::fitted(&scale.title, SIZE, width - before);
    let at = (before, under);
    let soft = style(SIZE, colour::SOFT);
    write(area, &title, at, &soft, (HPos::Left, VPos::Center));
}

/// The interval of a row.
fn whisker(
    plot: &plotters::drawing::DrawingArea<
        super::canvas::Canvas<'_>,
        impl plotters::coord::CoordTranslate<From = (f64, f64)>,
    >,
    row: &Row,
    y: f64,
    inside: &impl Fn(f64) -> f64,
) {
    let Some((first, last)) = row.interval else {
        return;
    };
    let middle = y + 0.5;
    let line = colour::INK.stroke_width(12);
    let (from, to) = (inside(first), inside(last));
    done(plot.draw(&PathElement::new(vec![(from, middle), (to, middle)], line)));
    // An end that is cut off has an arrow instead.
    for (end, shown) in [(first, from), (last, to)] {
        if (end - shown).abs() <= 1e-9 * end.abs() {
            let cap = vec![(shown, y + 0.34), (shown, y + 0.66)];
            done(plot.draw(&PathElement::new(cap, line)));
        }
    }
}

/// The name, the number and the arrows of a row.
fn beside(
    area: &Area<'_>,
    rows: &Rows,
    row: &Row,
    (i, width): (usize, f64),
    (columns, low, high): (&Columns, f64, f64),
) {
    let middle = (i as f64 + 0.5) * ROW;
    let name = font::fitted(&row.label, NAME, columns.names - BESIDE);
    let ink = style(NAME, colour::INK);
    write(area, &name, (0.0, middle), &ink, (HPos::Left, VPos::Center));
    let text = font::fitted(&row.text, SIZE, columns.numbers - BESIDE);
    let small = style(SIZE, colour::INK);
    write(
        area,
        &text,
        (width, middle),
        &small,
        (HPos::Right, VPos::Center),
    );
    let (under, over) = outside(row, low, high);
    let edges = [
        (under, columns.names + columns.left, -1.0, HPos::Right),
        (
            over,
            width - columns.numbers - columns.right,
            1.0,
            HPos::Left,
        ),
    ];
    for (value, edge, way, anchor) in edges {
        let Some(value) = value else { continue };
        let corners = [(0.0, -3.5), (way * ARROW, 0.0), (0.0, 3.5)]
            .map(|(x, y)| (fine(edge + x), fine(middle + y)));
        done(area.draw(&Polygon::new(corners.to_vec(), colour::INK.filled())));
        let at = (edge + way * (ARROW + 2.0), middle);
        write(
            area,
            &number(value, &rows.axis.unit),
            at,
            &small,
            (anchor, VPos::Center),
        );
    }
}
