// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves with bands, over the axis of a sweep or over time.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{Circle, EmptyElement, PathElement, Polygon};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor, TRANSPARENT};

use super::axis::{SIZE, Scale};
use super::canvas::{Area, Begin, Canvas, End, Hover, Hovers};
use super::draw::{done, fine, style, write};
use super::rows::{extent, number};
use super::shapes::FINE;
use super::{Body, Curve, Curves, Form, Panel, Spot, Unit, bars, colour, font};

/// Height of the title of the vertical axis, and of numbers and title below.
const ABOVE: f64 = 20.0;
const BELOW: f64 = 38.0;
/// Height of a panel over time.
const STRIP: f64 = 76.0;
/// Space for half a number at the right end.
const RIGHT: f64 = 22.0;

/// Most dots of a chart: lines of more points need none, and thousands make a large file.
const MOST_DOTS: usize = 400;

pub(super) type Plot<'a, 'b> = ChartContext<'a, Canvas<'b>, Cartesian2d<Scale, Scale>>;

/// Height of a panel without its heading.
pub(super) fn height(width: f64, columns: usize) -> f64 {
    let plot = if columns == 1 { 0.42 } else { 0.56 } * width;
    ABOVE + plot.clamp(150.0, 280.0) + BELOW
}

/// Height of a panel over time; only the last one has numbers below.
pub(super) fn strip_height(last: bool) -> f64 {
    STRIP + if last { BELOW } else { 8.0 }
}

/// Draws curves over the axis of a sweep.
pub(super) fn draw(area: &Area<'_>, curves: &Curves, (width, height): (f64, f64), is_dense: bool) {
    let (low, high) = vertical(curves);
    let y = Scale::new(&curves.y, (low, high), height - ABOVE - BELOW, true);
    let left = y.widest() + 8.0;
    let room = width - left - RIGHT;
    let x = horizontal(curves, room);
    let soft = style(SIZE, colour::SOFT);
    let title = font::fitted(&y.title, SIZE, width);
    write(area, &title, (0.0, 2.0), &soft, (HPos::Left, VPos::Top));
    let plot = mesh(area, (&x, &y), (left, ABOVE), BELOW);
    let title = font::fitted(&x.title, SIZE, width - left);
    let at = (left, height - 6.0);
    write(area, &title, at, &soft, (HPos::Left, VPos::Center));
    origin(&plot, curves, (&x, &y));
    let banded = match curves.form {
        Form::Bars(_) => &[][..],
        _ => &curves.curves,
    };
    for curve in banded {
        band(&plot, curve, (&x, &y));
    }
    for curve in &curves.curves {
        if let Form::Bars(wide) = curves.form {
            bars::draw(area, &plot, curve, wide, (&x, &y));
            continue;
        }
        line(&plot, curve, (&x, &y), 20);
        let is_plain = is_dense || curves.form == Form::Plain;
        let dots = if is_plain { &[][..] } else { &curve.spots };
        for spot in dots {
            done(area.draw(&Begin(&spot.tip)));
            let place = (x.place(spot.x), y.place(spot.y));
            if (y.low..=y.high).contains(&place.1) {
                let fill = colour::series(curve.colour).filled();
                done(
                    plot.plotting_area()
                        .draw(&Circle::new(place, fine(3.2), fill)),
                );
            }
            done(area.draw(&End));
        }
    }
    arrows(area, &plot, curves, (&x, &y), is_dense);
    for mark in &curves.marks {
        bars::mark(area, &plot, mark, (&x, &y));
    }
}

/// Draws a panel over time: no dots, and the pointer shows the bins.
pub(super) fn strip(area: &Area<'_>, curves: &Curves, (width, height): (f64, f64), last: bool) {
    let below = if last { BELOW } else { 8.0 };
    let (low, high) = curves.y.range.unwrap_or_else(|| vertical(curves));
    let mut y = Scale::new(&curves.y, (low, high), height - below, true);
    // A title of the axis would take as much room as the strip.
    for (place, number) in &mut y.ticks {
        if *place != 0.0 {
            *number = format!("{number} {}", y.title);
        }
    }
    let left = y.widest() + 8.0;
    let span = extent(spots(curves).map(|s| s.x));
    let span = curves.x.range.unwrap_or(span);
    let span = (span.0, span.1.max(span.0 + 1e-9));
    let x = Scale::new(&curves.x, span, width - left - RIGHT, false);
    let plot = mesh(area, (&x, &y), (left, 2.0), below);
    for curve in &curves.curves {
        band(&plot, curve, (&x, &y));
        line(&plot, curve, (&x, &y), 13);
        done(area.draw(&Hovers));
        for pair in curve.spots.chunks(HOVERED) {
            let (first, end) = (&pair[0], pair[pair.len() - 1].x);
            let corners = [(first.x, low), (end, high)];
            done(plot.plotting_area().draw(&Hover(&first.tip, corners)));
        }
        done(area.draw(&End));
    }
    for mark in &curves.marks {
        bars::mark(area, &plot, mark, (&x, &y));
    }
    if last {
        let soft = style(SIZE, colour::SOFT);
        let at = (left, height - 6.0);
        write(area, &x.title, at, &soft, (HPos::Left, VPos::Center));
    }
}

/// Whether the curves of these panels have more points than dots can show.
pub(super) fn is_dense(panels: &[Panel]) -> bool {
    let all = panels.iter().map(|p| match &p.body {
        Body::Curves(curves) => spots(curves).count(),
        _ => 0,
    });
    all.sum::<usize>() > MOST_DOTS
}

/// Bins that share one text under the pointer.
pub(super) const HOVERED: usize = 6;

fn spots(curves: &Curves) -> impl Iterator<Item = &Spot> {
    curves.curves.iter().flat_map(|c| &c.spots)
}

/// The part of the vertical axis that is shown: every value, and of the bands as much as leaves the
/// values apart.
fn vertical(curves: &Curves) -> (f64, f64) {
    let percent = curves.y.unit == Unit::Percent;
    let values = spots(curves).map(|s| s.y);
    let marks = curves.marks.iter().flat_map(|m| &m.places).map(|p| p.1);
    let foot = matches!(curves.form, Form::Bars(_)).then_some(0.0);
    let others = curves.origin.iter().map(|o| o.0).chain(foot).chain(marks);
    let (low, high) = extent(values.chain(others));
    let least = if percent {
        2.0
    } else {
        high.abs().max(low.abs()) * 0.02
    };
    let span = (high - low).max(least).max(1e-9);
    let ends = spots(curves)
        .filter_map(|s| s.band)
        .flat_map(|b| [b.0, b.1]);
    let (first, last) = extent(ends.chain([low, high]));
    let (low, high) = (first.max(low - span), last.min(high + span));
    // What cannot be negative has no room below zero.
    let slack = 0.06 * (high - low).max(least).max(1e-9);
    match percent || low < 0.0 {
        true => (low - slack, high + slack),
        false => (0.0, high + slack),
    }
}

fn horizontal(curves: &Curves, room: f64) -> Scale {
    let marks = curves.marks.iter().flat_map(|m| &m.places).map(|p| p.0);
    let (low, high) = extent(spots(curves).map(|s| s.x).chain(marks));
    let range = if !curves.x.names.is_empty() {
        (-0.5, curves.x.names.len() as f64 - 0.5)
    } else if low == high {
        let around = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        (low - around, high + around)
    } else {
        (low, high)
    };
    let mut scale = Scale::new(&curves.x, range, room, false);
    if curves.x.names.is_empty() {
        let slack = 0.02 * (scale.high - scale.low);
        (scale.low, scale.high) = (scale.low - slack, scale.high + slack);
    }
    scale
}

/// The grid and its numbers, in an area with these spaces left of the plot, above and below.
fn mesh<'a, 'b>(
    area: &'a Area<'b>,
    (x, y): (&Scale, &Scale),
    (left, above): (f64, f64),
    below: f64,
) -> Plot<'a, 'b> {
    let numbered = below >= BELOW;
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_top(fine(above))
        .margin_right(fine(RIGHT))
        .y_label_area_size(fine(left));
    match numbered {
        true => builder.x_label_area_size(fine(below)),
        false => builder.margin_bottom(fine(below)),
    };
    let mut plot = builder
        .build_cartesian_2d(x.clone(), y.clone())
        .expect("a sheet in memory");
    let drawn = plot
        .configure_mesh()
        .axis_style(TRANSPARENT)
        .light_line_style(TRANSPARENT)
        .bold_line_style(colour::LINE.stroke_width(10))
        .set_all_tick_mark_size(fine(2.5))
        .label_style(style(SIZE, colour::SOFT))
        .draw();
    done(drawn);
    plot
}

/// The line of the baseline, or another one that is named.
fn origin(plot: &Plot<'_, '_>, curves: &Curves, (x, y): (&Scale, &Scale)) {
    let Some((value, _)) = &curves.origin else {
        return;
    };
    let place = y.place(*value);
    let ends = vec![(x.low, place), (x.high, place)];
    let line = colour::SOFT.stroke_width(12);
    done(plot.plotting_area().draw(&PathElement::new(ends, line)));
}

/// The band of a curve; a curve of one point has a whisker instead.
fn band(plot: &Plot<'_, '_>, curve: &Curve, (x, y): (&Scale, &Scale)) {
    let paint: RGBColor = colour::series(curve.colour);
    let inside = |v: f64| y.place(v).clamp(y.low, y.high);
    let ends: Vec<_> = curve
        .spots
        .iter()
        .filter_map(|s| s.band.map(|b| (x.place(s.x), inside(b.0), inside(b.1))))
        .collect();
    if let [(x, low, high)] = ends[..] {
        let line = paint.stroke_width(14);
        done(
            plot.plotting_area()
                .draw(&PathElement::new(vec![(x, low), (x, high)], line)),
        );
        return;
    }
    let upper = ends.iter().map(|e| (e.0, e.2));
    let lower = ends.iter().rev().map(|e| (e.0, e.1));
    let corners: Vec<_> = upper.chain(lower).collect();
    if !corners.is_empty() {
        done(
            plot.plotting_area()
                .draw(&Polygon::new(corners, paint.mix(0.16).filled())),
        );
    }
}

fn line(plot: &Plot<'_, '_>, curve: &Curve, (x, y): (&Scale, &Scale), width: u32) {
    let inside = |v: f64| y.place(v).clamp(y.low, y.high);
    let spots = curve.spots.iter();
    let places: Vec<_> = spots.map(|s| (x.place(s.x), inside(s.y))).collect();
    if places.len() > 1 {
        let stroke = colour::series(curve.colour).stroke_width(width);
        done(plot.plotting_area().draw(&PathElement::new(places, stroke)));
    }
}

/// Arrows where a band leaves the axis. On either side the farthest end of a curve has its number.
fn arrows(
    area: &Area<'_>,
    plot: &Plot<'_, '_>,
    curves: &Curves,
    (x, y): (&Scale, &Scale),
    is_dense: bool,
) {
    // Where numbers are: centre, half of the width, row.
    let mut taken: Vec<(i32, i32, i32)> = Vec::new();
    for curve in &curves.curves {
        let paint = colour::series(curve.colour);
        let bands = curve.spots.iter().filter_map(|s| Some((s.x, s.band?)));
        let bands: Vec<_> = bands.collect();
        for way in [-1, 1] {
            let (edge, sign) = (if way < 0 { y.low } else { y.high }, f64::from(way));
            let end = |band: (f64, f64)| if way < 0 { band.0 } else { band.1 };
            let outside = bands
                .iter()
                .map(|(at, band)| (x.place(*at), end(*band)))
                .filter(|(_, end)| sign * (y.place(*end) - edge) > 1e-9 * edge.abs());
            let outside: Vec<_> = outside.collect();
            let farthest = outside
                .iter()
                .max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
            let arrows = outside.iter().filter(|o| !is_dense || Some(*o) == farthest);
            for (at, _) in arrows {
                let corners = [(-3.5, 0.0), (0.0, -7.0), (3.5, 0.0)];
                let corners = corners.map(|(a, b)| (fine(a), fine(b) * way));
                let arrow = Polygon::new(corners.to_vec(), paint.filled());
                done(
                    plot.plotting_area()
                        .draw(&(EmptyElement::at((*at, edge)) + arrow)),
                );
            }
            if let Some((at, end)) = farthest {
                let text = number(*end, &curves.y.unit);
                let free = room(plot, (*at, edge), way, &text, &mut taken);
                if let Some(place) = free {
                    let (left, top) = area.get_base_pixel();
                    let unit = |fine: i32| f64::from(fine) / FINE;
                    let place = (unit(place.0 - left), unit(place.1 - top));
                    let centre = (HPos::Center, VPos::Center);
                    write(area, &text, place, &style(SIZE, paint), centre);
                }
            }
        }
    }
}

/// Where the number of an arrow is free of other numbers, inside the plot.
fn room(
    plot: &Plot<'_, '_>,
    place: (f64, f64),
    way: i32,
    text: &str,
    taken: &mut Vec<(i32, i32, i32)>,
) -> Option<(i32, i32)> {
    let (at, edge) = plot.backend_coord(&place);
    let half = fine(font::width(text, SIZE) / 2.0);
    let (columns, _) = plot.plotting_area().get_pixel_range();
    let (first, last) = (columns.start + half + fine(2.0), columns.end - half);
    let at = at.clamp(first, last.max(first));
    let line = fine(SIZE * 1.2);
    let rows = (0..6).map(|k| edge + way * (fine(8.0) + k * line));
    let free = rows.into_iter().find(|row| {
        let overlaps = |t: &(i32, i32, i32)| {
            (t.2 - row).abs() < line && (t.0 - at).abs() < t.1 + half + fine(4.0)
        };
        !taken.iter().any(overlaps)
    })?;
    taken.push((at, half, free));
    Some((at, free))
}
