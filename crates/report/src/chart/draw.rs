// SPDX-License-Identifier: MIT OR Apache-2.0
//! The layout of a chart: title, legend, panels in a grid, caption.

use plotters::drawing::IntoDrawingArea;
use plotters::element::PathElement;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::canvas::{Area, Canvas, End, Group};
use super::pen::{done, fine, style, write};
use super::rows::Columns;
use super::shapes::Sheet;
use super::{Body, Chart, Form, Key, Panel, colour, curves, font, heat, rows};

/// Sizes of letters.
const TITLE: f64 = 15.0;
const HEAD: f64 = 13.0;
const SMALL: f64 = 12.0;
/// Height of a line in relation to its letters.
const LEADING: f64 = 1.3;
/// Distance between panels.
const GAP: f64 = 24.0;
/// Width of the sample of a line in the legend, and distance between entries.
const SAMPLE: f64 = 20.0;
const BETWEEN: f64 = 18.0;
/// Space around a chart in a file.
const MARGIN: f64 = 12.0;
/// Least width of a panel with curves.
const LEAST: f64 = 290.0;

/// Lines of text and how high they are together.
struct Lines {
    lines: Vec<String>,
    size: f64,
    colour: RGBColor,
}

impl Lines {
    fn new(text: &str, size: f64, room: f64, colour: RGBColor) -> Self {
        Lines {
            lines: font::wrapped(text, size, room),
            size,
            colour,
        }
    }

    fn height(&self) -> f64 {
        self.lines.len() as f64 * self.size * LEADING
    }

    fn draw(&self, area: &Area<'_>, (x, y): (f64, f64)) {
        let style = style(self.size, self.colour);
        for (i, line) in self.lines.iter().enumerate() {
            let at = (x, y + (i as f64 + 0.5) * self.size * LEADING);
            write(area, line, at, &style, (HPos::Left, VPos::Center));
        }
    }
}

/// The heading of a panel.
struct Heading(Lines, Lines);

impl Heading {
    fn new(panel: &Panel, room: f64) -> Self {
        Heading(
            Lines::new(&panel.title, HEAD, room, colour::INK),
            Lines::new(&panel.note, SMALL, room, colour::SOFT),
        )
    }

    fn height(&self) -> f64 {
        self.0.height() + self.1.height() + 4.0
    }

    fn draw(&self, area: &Area<'_>) {
        self.0.draw(area, (0.0, 0.0));
        self.1.draw(area, (0.0, self.0.height()));
    }
}

/// The entries of the legend, each at its place.
fn legend(keys: &[Key], room: f64) -> (Vec<(f64, f64, &Key)>, f64) {
    let line = HEAD * LEADING + 2.0;
    let (mut x, mut y, mut out) = (0.0, 0.0, Vec::new());
    for key in keys {
        let width = SAMPLE + 6.0 + font::width(&key.label, HEAD).min(room - SAMPLE - 6.0);
        if x > 0.0 && x + width > room {
            (x, y) = (0.0, y + line);
        }
        out.push((x, y, key));
        x += width + BETWEEN;
    }
    let height = if keys.is_empty() { 0.0 } else { y + line + 6.0 };
    (out, height)
}

/// Draws a chart. With `titled`, as in files, it has its title, its legend, its caption and a
/// margin; in pages these are outside.
pub(super) fn sheet(chart: &Chart, width: f64, titled: bool) -> Sheet {
    let margin = if titled { MARGIN } else { 2.0 };
    let room = width - 2.0 * margin;
    let said = |text| if titled { text } else { "" };
    let title = Lines::new(said(&chart.title), TITLE, room, colour::INK);
    let caption = Lines::new(said(&chart.caption), SMALL, room, colour::SOFT);
    let keys = if titled { &chart.legend[..] } else { &[] };
    let (keys, keys_height) = legend(keys, room);
    let grid = Grid::new(chart, room);
    let above = if titled { title.height() + 10.0 } else { 0.0 };
    let below = if titled { caption.height() + 8.0 } else { 0.0 };
    let body = grid.height();
    let height = (2.0 * margin + above + keys_height + body + below).ceil();
    let mut sheet = Sheet {
        width,
        height,
        shapes: Vec::new(),
        texts: Vec::new(),
    };
    {
        let root = Canvas(&mut sheet).into_drawing_area();
        if titled {
            done(root.fill(&colour::PAPER));
        }
        title.draw(&root, (margin, margin));
        let top = margin + above;
        for (x, y, key) in keys {
            draw_key(&root, (margin + x, top + y), key, room, grid.stroke);
        }
        grid.draw(&root, (margin, top + keys_height), !titled);
        let under = top + keys_height + body + 8.0;
        caption.draw(&root, (margin, under));
    }
    sheet
}

fn draw_key(area: &Area<'_>, (x, y): (f64, f64), key: &Key, room: f64, stroke: u32) {
    let middle = y + HEAD * LEADING / 2.0;
    let stroke = colour::series(key.colour).stroke_width(stroke);
    let ends = [x, x + SAMPLE].map(|x| (fine(x), fine(middle)));
    done(area.draw(&PathElement::new(ends.to_vec(), stroke)));
    let label = font::fitted(&key.label, HEAD, room - SAMPLE - 6.0);
    let at = (x + SAMPLE + 6.0, middle);
    let style = style(HEAD, colour::INK);
    write(area, &label, at, &style, (HPos::Left, VPos::Center));
}

/// The panels, side by side as far as there is room. All panels have one width, so that the eye can
/// compare their scales.
struct Grid<'a> {
    panels: &'a [Panel],
    /// The most panels of a line, and the width of each panel.
    columns: usize,
    width: f64,
    headings: Vec<Heading>,
    /// Height of a panel's heading.
    heading: f64,
    /// Widths of names and numbers in panels with rows.
    places: Columns,
    /// Width of the legend's samples: curves over time have no dashes.
    stroke: u32,
}

impl<'a> Grid<'a> {
    fn new(chart: &'a Chart, room: f64) -> Self {
        let panels = &chart.panels[..];
        let places = Columns::new(panels, room);
        let fit = match panels.first().map(|p| &p.body) {
            Some(Body::Rows(_)) => places.fit(room, GAP),
            Some(Body::Curves(_) | Body::Heat(_)) => {
                ((room + GAP) / (LEAST + GAP)).floor().clamp(1.0, 3.0) as usize
            }
            Some(Body::Times(_)) | None => 1,
        };
        let fit = fit.clamp(1, panels.len().max(1));
        // Lines of equal length where some length but 1 allows them.
        let divides = |columns: &usize| panels.len().is_multiple_of(*columns);
        let columns = (2..=fit).rev().find(divides).unwrap_or(fit);
        let width = (room - GAP * (columns - 1) as f64) / columns as f64;
        let headings: Vec<_> = panels.iter().map(|p| Heading::new(p, width)).collect();
        Grid {
            panels,
            columns,
            width,
            heading: headings.iter().map(Heading::height).fold(0.0, f64::max),
            headings,
            places,
            stroke: match panels.first().map(|p| &p.body) {
                Some(Body::Curves(curves)) if !matches!(curves.form, Form::Bars(_)) => 20,
                Some(Body::Times(_)) => 19,
                _ => 80,
            },
        }
    }

    /// Height of one line of panels: the tallest of them.
    fn line_height(&self, line: &[Panel], last: bool) -> f64 {
        let body = |panel: &Panel| match &panel.body {
            Body::Rows(rows) => rows::height(rows),
            Body::Curves(_) => curves::height(self.width, self.columns),
            Body::Times(_) => curves::strip_height(self.panels.len(), last),
            Body::Heat(map) => heat::height(map),
        };
        self.heading + line.iter().map(body).fold(0.0, f64::max)
    }

    /// The panels of each line, and whether the line is the last.
    fn lines(&self) -> impl Iterator<Item = (&'a [Panel], bool)> + use<'a> {
        let lines = self.panels.chunks(self.columns);
        let last = lines.len().saturating_sub(1);
        lines.enumerate().map(move |(i, line)| (line, i == last))
    }

    fn gap(&self) -> f64 {
        match self.panels.first().map(|p| &p.body) {
            Some(Body::Times(_)) => 6.0,
            _ => 14.0,
        }
    }

    fn height(&self) -> f64 {
        let heights = self
            .lines()
            .map(|(line, last)| self.line_height(line, last));
        let gaps = self.gap() * (self.lines().count().max(1) - 1) as f64;
        heights.sum::<f64>() + gaps
    }

    fn draw(&self, root: &Area<'_>, (left, mut top): (f64, f64), is_page: bool) {
        let mut headings = self.headings.iter();
        let density = curves::Density::of(self.panels, is_page);
        for (line, last) in self.lines() {
            let height = self.line_height(line, last);
            let width = self.width;
            for (column, panel) in line.iter().enumerate() {
                let x = left + column as f64 * (width + GAP);
                let area = part(root, (x, top), (width, height));
                let scheme = match &panel.body {
                    Body::Heat(map) => Some(Group::Scheme(map.colour)),
                    _ => None,
                };
                if let Some(scheme) = &scheme {
                    done(root.draw(scheme));
                }
                if let Some(heading) = headings.next() {
                    heading.draw(&area);
                }
                let size = (width, height - self.heading);
                let area = part(&area, (0.0, self.heading), size);
                match &panel.body {
                    Body::Rows(rows) => rows::draw(&area, rows, &self.places, size.0),
                    Body::Curves(curves) => curves::draw(&area, curves, size, density),
                    Body::Times(times) => curves::strip(&area, times, size, last),
                    Body::Heat(map) => heat::draw(&area, map, size),
                }
                if scheme.is_some() {
                    done(root.draw(&End));
                }
            }
            top += height + self.gap();
        }
    }
}

/// A part of an area.
fn part<'a>(area: &Area<'a>, (x, y): (f64, f64), (width, height): (f64, f64)) -> Area<'a> {
    area.clone()
        .shrink((fine(x), fine(y)), (fine(width), fine(height)))
}
