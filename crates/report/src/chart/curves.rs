// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves with bands, over the axis of a sweep or over time.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{
    Circle, Drawable, EmptyElement, PathElement, PointCollection, Polygon, Rectangle,
};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, TRANSPARENT};

use super::axis::{SIZE, Scale};
use super::canvas::{Area, Begin, Canvas, End, Group, Hover, Hovers};
use super::pen::{diamond, done, fine, style, write};
use super::rows::{extent, number};
use super::shapes::FINE;
use super::tips::STOPS;
use super::{Body, Chart, Curve, Curves, Form, Mark, Panel, Spot, Unit, colour, font};

/// Height of the title of the vertical axis, and of numbers and title below.
const ABOVE: f64 = 20.0;
const BELOW: f64 = 38.0;
/// Height of a panel over time, and of one that has the chart to itself.
const STRIP: f64 = 76.0;
const ALONE: f64 = 220.0;
/// Space for half a number at the right end.
const RIGHT: f64 = 22.0;

/// Most dots of a chart: lines of more points need none, and thousands make a large file.
const MOST_DOTS: usize = 400;
/// Most places of a chart without dots at which the pointer reads values.
const MOST_STOPS: usize = 1600;

/// A grid with both axes.
pub(super) struct Plot<'a, 'b> {
    area: &'a Area<'b>,
    chart: ChartContext<'a, Canvas<'b>, Cartesian2d<Scale, Scale>>,
    x: Scale,
    y: Scale,
}

/// Space around a grid.
struct Around {
    left: f64,
    above: f64,
    below: f64,
}

/// Height of a panel without its heading.
pub(super) fn height(width: f64, columns: usize) -> f64 {
    let plot = if columns == 1 { 0.42 } else { 0.56 } * width;
    ABOVE + plot.clamp(150.0, 280.0) + BELOW
}

/// Height of one of `many` panels over time; only the last one has numbers below.
pub(super) fn strip_height(many: usize, last: bool) -> f64 {
    let plot = if many == 1 { ALONE } else { STRIP };
    plot + if last { BELOW } else { 8.0 }
}

/// Curves whose bands and numbers have full weight.
const FEW: usize = 4;

/// Gives all panels of these charts one vertical scale.
pub(super) fn share(charts: &mut [Chart]) {
    let mut all: Vec<&mut Curves> = Vec::new();
    for panel in charts.iter_mut().flat_map(|chart| &mut chart.panels) {
        if let Body::Curves(curves) = &mut panel.body {
            all.push(curves);
        }
    }
    let ends = all.iter().map(|curves| vertical(curves));
    let range = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    for curves in all {
        curves.y.range = range;
    }
}

/// Gives all panels of a chart one scale on both axes.
pub(super) fn align(chart: &mut Chart) {
    share(std::slice::from_mut(chart));
    let bodies = chart
        .panels
        .iter_mut()
        .filter_map(|panel| match &mut panel.body {
            Body::Curves(curves) => Some(curves),
            _ => None,
        });
    let mut all: Vec<&mut Curves> = bodies.collect();
    let range = extent(all.iter().flat_map(|curves| spots(curves)).map(|s| s.x));
    all.iter_mut()
        .for_each(|curves| curves.x.range = Some(range));
}

/// Draws curves over the axis of a sweep.
pub(super) fn draw(
    area: &Area<'_>,
    curves: &Curves,
    (width, height): (f64, f64),
    density: Density,
) {
    let range = curves.y.range.unwrap_or_else(|| vertical(curves));
    let y = Scale::new(&curves.y, range, height - ABOVE - BELOW, true);
    let left = y.widest() + 8.0;
    let room = width - left - RIGHT;
    let x = horizontal(curves, room);
    let soft = style(SIZE, colour::SOFT);
    let title = font::fitted(&y.title, SIZE, width);
    write(area, &title, (0.0, 2.0), &soft, (HPos::Left, VPos::Top));
    let around = Around {
        left,
        above: ABOVE,
        below: BELOW,
    };
    let plot = Plot::new(area, x, y, &around);
    let title = font::fitted(&plot.x.title, SIZE, width - left);
    let at = (left, height - 6.0);
    write(area, &title, at, &soft, (HPos::Left, VPos::Center));
    if let Some(value) = curves.origin {
        let place = plot.y.place(value);
        let ends = vec![(plot.x.low, place), (plot.x.high, place)];
        plot.draw(&PathElement::new(ends, colour::SOFT.stroke_width(12)));
    }
    let banded = match curves.form {
        Form::Bars(_) => &[][..],
        _ => &curves.curves,
    };
    let opacity = opacity(banded.len());
    banded.iter().for_each(|curve| plot.band(curve, opacity));
    for curve in &curves.curves {
        plot.put(Group::Scheme(curve.colour));
        match curves.form {
            Form::Bars(wide) => plot.bars(curve, wide),
            Form::Dotted if !density.is_dense => {
                plot.line(curve, 20);
                plot.dots(curve);
            }
            Form::Dotted | Form::Plain => {
                plot.line(curve, 20);
                plot.hovers(&curve.spots, density.stops);
            }
        }
        plot.put(End);
    }
    plot.arrows(curves, density.is_dense);
    curves.marks.iter().for_each(|mark| plot.mark(mark));
    plot.put(End);
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
    let around = Around {
        left,
        above: 2.0,
        below,
    };
    let plot = Plot::new(area, x, y, &around);
    let opacity = opacity(curves.curves.len());
    for curve in &curves.curves {
        plot.band(curve, opacity);
    }
    for curve in &curves.curves {
        plot.put(Group::Scheme(curve.colour));
        plot.line(curve, 13);
        plot.hovers(&curve.spots, STOPS);
        plot.put(End);
    }
    curves.marks.iter().for_each(|mark| plot.mark(mark));
    plot.put(End);
    if last {
        let soft = style(SIZE, colour::SOFT);
        let at = (left, height - 6.0);
        write(area, &plot.x.title, at, &soft, (HPos::Left, VPos::Center));
    }
}

/// How many values the curves of a chart show.
#[derive(Clone, Copy)]
pub(super) struct Density {
    /// Whether there are more points than dots can show.
    is_dense: bool,
    /// Most places of a curve without dots at which the pointer reads values: none in files, which
    /// would grow too large.
    stops: usize,
}

impl Density {
    pub fn of(panels: &[Panel], is_page: bool) -> Self {
        let bodies = panels.iter().filter_map(|p| match &p.body {
            Body::Curves(curves) => Some(curves),
            _ => None,
        });
        let many = bodies
            .clone()
            .map(|curves| curves.curves.len())
            .sum::<usize>();
        Density {
            is_dense: bodies.flat_map(spots).count() > MOST_DOTS,
            stops: if is_page {
                (MOST_STOPS / many.max(1)).clamp(8, STOPS)
            } else {
                0
            },
        }
    }
}

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
    let others = curves.origin.into_iter().chain(foot).chain(marks);
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
    let slack = 0.06 * (high - low).max(least).max(1e-9);
    match is_signed(curves) {
        true => (low - slack, high + slack),
        false => (0.0, high + slack),
    }
}

/// Opacity of the bands of this many curves: bands of a crowd, one over the other, must not hide
/// lines.
fn opacity(curves: usize) -> f64 {
    0.16 * (FEW as f64 / curves.max(FEW) as f64)
}

/// Whether values may be negative; others have no room below zero, whatever their bands.
fn is_signed(curves: &Curves) -> bool {
    let marks = curves.marks.iter().flat_map(|m| &m.places).map(|p| p.1);
    let (low, _) = extent(spots(curves).map(|s| s.y).chain(marks));
    curves.y.unit == Unit::Percent || low < 0.0
}

fn horizontal(curves: &Curves, room: f64) -> Scale {
    let marks = curves.marks.iter().flat_map(|m| &m.places).map(|p| p.0);
    let own = || extent(spots(curves).map(|s| s.x).chain(marks));
    let (low, high) = curves.x.range.unwrap_or_else(own);
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

impl<'a, 'b> Plot<'a, 'b> {
    /// Draws the grid and its numbers.
    fn new(area: &'a Area<'b>, x: Scale, y: Scale, around: &Around) -> Self {
        let mut builder = ChartBuilder::on(area);
        builder
            .margin_top(fine(around.above))
            .margin_right(fine(RIGHT))
            .y_label_area_size(fine(around.left));
        match around.below >= BELOW {
            true => builder.x_label_area_size(fine(around.below)),
            false => builder.margin_bottom(fine(around.below)),
        };
        let mut chart = builder
            .build_cartesian_2d(x.clone(), y.clone())
            .expect("a sheet in memory");
        let drawn = chart
            .configure_mesh()
            .axis_style(TRANSPARENT)
            .light_line_style(TRANSPARENT)
            .bold_line_style(colour::LINE.stroke_width(10))
            .set_all_tick_mark_size(fine(2.5))
            .label_style(style(SIZE, colour::SOFT))
            .draw();
        done(drawn);
        let (across, down) = chart.plotting_area().get_pixel_range();
        let plot = Plot { area, chart, x, y };
        let (least, most) = ((across.start, down.start), (across.end, down.end));
        plot.put(Group::Plot(least, most));
        plot
    }

    /// Draws an element whose places are those of the axes.
    pub fn draw<'e, E: Drawable<Canvas<'b>>>(&self, element: &'e E)
    where
        &'e E: PointCollection<'e, (f64, f64)>,
    {
        done(self.chart.plotting_area().draw(element));
    }

    /// Opens or closes a group of elements.
    pub fn put(&self, group: Group<'_>) {
        done(self.area.draw(&group));
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// The place of two values, not above and not below the plot.
    pub fn inside(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.place(x, y);
        (x, y.clamp(self.y.low, self.y.high))
    }

    /// The band of a curve; a curve of one point has a whisker instead.
    fn band(&self, curve: &Curve, opacity: f64) {
        let paint = colour::series(curve.colour);
        let bands = curve.spots.iter().filter_map(|s| Some((s.x, s.band?)));
        let ends = bands.map(|(x, (low, high))| [self.inside(x, low), self.inside(x, high)]);
        let ends: Vec<[(f64, f64); 2]> = ends.collect();
        if ends.is_empty() {
            return;
        }
        self.put(Group::Scheme(curve.colour));
        match &ends[..] {
            [whisker] => self.draw(&PathElement::new(whisker.to_vec(), paint.stroke_width(14))),
            several => {
                let upper = several.iter().map(|e| e[1]);
                let corners = upper.chain(several.iter().rev().map(|e| e[0]));
                let fill = paint.mix(opacity).filled();
                self.draw(&Polygon::new(corners.collect::<Vec<_>>(), fill));
            }
        }
        self.put(End);
    }

    fn line(&self, curve: &Curve, width: u32) {
        let places = curve.spots.iter().map(|s| self.inside(s.x, s.y));
        let places: Vec<_> = places.collect();
        if places.len() > 1 {
            let stroke = colour::series(curve.colour).stroke_width(width);
            self.draw(&PathElement::new(places, stroke));
        }
    }

    /// A dot at each value.
    fn dots(&self, curve: &Curve) {
        for spot in &curve.spots {
            self.put(Begin(&spot.tip));
            let place = self.place(spot.x, spot.y);
            if (self.y.low..=self.y.high).contains(&place.1) {
                let fill = colour::series(curve.colour).filled();
                self.draw(&Circle::new(place, fine(3.2), fill));
            }
            self.put(End);
        }
    }

    /// Parts of the plot that say what spots with a text say, each until the next one.
    fn hovers(&self, spots: &[Spot], stops: usize) {
        let told: Vec<&Spot> = spots.iter().filter(|s| !s.tip.is_empty()).collect();
        if told.is_empty() || stops == 0 {
            return;
        }
        self.put(Hovers);
        let some: Vec<&Spot> = told
            .iter()
            .copied()
            .step_by(told.len().div_ceil(stops))
            .collect();
        for (i, spot) in some.iter().enumerate() {
            let end = some.get(i + 1).copied().or(spots.last()).unwrap_or(spot);
            let [from, to] = [spot.x, end.x].map(|x| self.x.place(x));
            self.draw(&Hover(&spot.tip, [(from, self.y.low), (to, self.y.high)]));
        }
        self.put(End);
    }

    /// The bars of a curve, from the origin of the axis or its lower end, with their intervals.
    fn bars(&self, curve: &Curve, wide: f64) {
        let paint = colour::series(curve.colour);
        let foot = 0.0_f64.clamp(self.y.low, self.y.high);
        for spot in &curve.spots {
            self.put(Begin(&spot.tip));
            let (at, top) = self.inside(spot.x, spot.y);
            let corners = [(at - wide / 2.0, foot), (at + wide / 2.0, top)];
            self.draw(&Rectangle::new(corners, paint.filled()));
            if let Some((low, high)) = spot.band {
                let ends = [low, high].map(|v| self.inside(spot.x, v));
                let line = colour::INK.stroke_width(10);
                self.draw(&PathElement::new(ends.to_vec(), line));
            }
            self.put(End);
        }
    }

    /// A published value.
    fn mark(&self, mark: &Mark) {
        let places = mark.places.iter().map(|p| self.inside(p.0, p.1));
        let places: Vec<_> = places.collect();
        let Some(middle) = places.get(places.len() / 2).copied() else {
            return;
        };
        self.put(Begin(&mark.tip));
        if places.len() > 1 {
            self.draw(&PathElement::new(places, colour::INK.stroke_width(12)));
        }
        let inside = mark.colour.map_or(colour::PAPER, colour::series);
        diamond(self.chart.plotting_area(), middle, 4.5, inside);
        self.put(End);
    }

    /// Arrows where a band leaves the axis. On either side the farthest end of a curve has its
    /// number.
    fn arrows(&self, curves: &Curves, is_dense: bool) {
        let mut taken: Vec<Number> = Vec::new();
        // Numbers of a crowd, one below the other, would hide the curves.
        let lines = if curves.curves.len() > FEW { 1 } else { 6 };
        for curve in &curves.curves {
            let paint = colour::series(curve.colour);
            self.put(Group::Scheme(curve.colour));
            let bands = curve.spots.iter().filter_map(|s| Some((s.x, s.band?)));
            let bands: Vec<_> = bands.collect();
            let ways: &[i32] = if is_signed(curves) { &[-1, 1] } else { &[1] };
            for &way in ways {
                let edge = if way < 0 { self.y.low } else { self.y.high };
                let sign = f64::from(way);
                let end = |band: (f64, f64)| if way < 0 { band.0 } else { band.1 };
                let outside = bands
                    .iter()
                    .map(|(at, band)| (self.x.place(*at), end(*band)))
                    .filter(|(_, end)| sign * (self.y.place(*end) - edge) > 1e-9 * edge.abs());
                let outside: Vec<_> = outside.collect();
                let farthest = outside
                    .iter()
                    .max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
                let arrows = outside.iter().filter(|o| !is_dense || Some(*o) == farthest);
                for (at, _) in arrows {
                    let corners = [(-3.5, 0.0), (0.0, -7.0), (3.5, 0.0)];
                    let corners = corners.map(|(a, b)| (fine(a), fine(b) * way));
                    let arrow = Polygon::new(corners.to_vec(), paint.filled());
                    self.draw(&(EmptyElement::at((*at, edge)) + arrow));
                }
                if let Some((at, end)) = farthest {
                    let text = number(*end, &curves.y.unit);
                    if let Some(free) = self.room((*at, edge), way, lines, &text, &taken) {
                        let (left, top) = self.area.get_base_pixel();
                        let unit = |fine: i32| f64::from(fine) / FINE;
                        let place = (unit(free.centre - left), unit(free.row - top));
                        let centre = (HPos::Center, VPos::Center);
                        write(self.area, &text, place, &style(SIZE, paint), centre);
                        taken.push(free);
                    }
                }
            }
            self.put(End);
        }
    }

    /// Where the number of an arrow is free of other numbers, in the first `lines` of the plot.
    fn room(
        &self,
        at: (f64, f64),
        way: i32,
        lines: i32,
        text: &str,
        taken: &[Number],
    ) -> Option<Number> {
        let (at, edge) = self.chart.backend_coord(&at);
        let half = fine(font::width(text, SIZE) / 2.0);
        let (columns, _) = self.chart.plotting_area().get_pixel_range();
        let (first, last) = (columns.start + half + fine(2.0), columns.end - half);
        let centre = at.clamp(first, last.max(first));
        let line = fine(SIZE * 1.2);
        let rows = (0..lines).map(|k| edge + way * (fine(8.0) + k * line));
        let mut rows = rows.map(|row| Number { centre, half, row });
        rows.find(|new| {
            let apart = |old: &Number| {
                (old.row - new.row).abs() >= line
                    || (old.centre - centre).abs() >= old.half + half + fine(4.0)
            };
            taken.iter().all(apart)
        })
    }
}

/// The place of an arrow's number: its centre, half of its width, and its row.
struct Number {
    centre: i32,
    half: i32,
    row: i32,
}
