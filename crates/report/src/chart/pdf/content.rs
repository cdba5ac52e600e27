// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawing on the page: shapes as operators of PDF.

use pdf_writer::{Name, Str};
use plotters_backend::{BackendColor, BackendCoord};

use super::POINTS;
use super::letters::{self, Letters};
use crate::chart::shapes::{Corners, FINE, Paint, Shape, Sheet, Stroke, Text, tenth};

/// How far the handles of a quarter of a circle reach, in parts of the radius.
const HANDLE: f64 = 0.552_284_75;
/// Corners sharper than those of SVG by default are cut off.
const MITER: f32 = 4.0;

/// The operators of a page.
pub(super) struct Content<'a> {
    letters: &'a Letters,
    operators: pdf_writer::Content,
    /// The transparencies in use. The first one is number 0.
    pub alphas: Vec<f32>,
    /// The one in force; 1 at the beginning of a page.
    alpha: f32,
}

/// The name of a transparency.
pub(super) fn state(number: usize) -> Vec<u8> {
    format!("A{number}").into_bytes()
}

impl<'a> Content<'a> {
    /// The operators that draw a sheet.
    pub fn of(sheet: &Sheet, letters: &'a Letters) -> Self {
        let mut content = Content {
            letters,
            operators: pdf_writer::Content::new(),
            alphas: Vec::new(),
            alpha: 1.0,
        };
        // Places of the sheet go down from its top, those of a page up from its bottom.
        let down = [POINTS, 0.0, 0.0, -POINTS, 0.0, POINTS * sheet.height as f32];
        content.operators.transform(down).set_miter_limit(MITER);
        for shape in &sheet.shapes {
            content.shape(shape);
        }
        content
    }

    /// The operators as text.
    pub fn bytes(self) -> Vec<u8> {
        self.operators.finish()
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { within, paint } => self.painted(paint, |to| rectangle(to, within)),
            Shape::Circle {
                centre,
                radius,
                paint,
            } => self.painted(paint, |to| circle(to, *centre, *radius)),
            Shape::Line { places, stroke } => {
                self.stroke(*stroke, |to| path(to, places));
            }
            Shape::Polygon { corners, fill } => self.fill(*fill, |to| path(to, corners)),
            Shape::Text(text) => self.text(text),
            // A page has no pointer.
            Shape::Tip(_)
            | Shape::Hovers
            | Shape::Hover { .. }
            | Shape::Scheme(_)
            | Shape::Plot(_)
            | Shape::End => {}
        }
    }

    fn painted(&mut self, paint: &Paint, draw: impl FnOnce(&mut pdf_writer::Content)) {
        match paint {
            Paint::Fill(colour) => self.fill(*colour, draw),
            Paint::Stroke(stroke) => self.stroke(*stroke, draw),
        }
    }

    fn fill(&mut self, colour: BackendColor, draw: impl FnOnce(&mut pdf_writer::Content)) {
        self.mix(colour.alpha);
        let [r, g, b] = parts(colour);
        self.operators.set_fill_rgb(r, g, b);
        draw(&mut self.operators);
        self.operators.fill_nonzero();
    }

    fn stroke(&mut self, stroke: Stroke, draw: impl FnOnce(&mut pdf_writer::Content)) {
        self.mix(stroke.colour.alpha);
        let [r, g, b] = parts(stroke.colour);
        let dashes = stroke.dashes().iter().map(|length| *length as f32);
        self.operators
            .set_stroke_rgb(r, g, b)
            .set_line_width(stroke.width() as f32)
            .set_dash_pattern(dashes, 0.0);
        draw(&mut self.operators);
        self.operators.stroke();
    }

    fn text(&mut self, text: &Text) {
        self.mix(text.colour.alpha);
        let [r, g, b] = parts(text.colour);
        let (x, y) = text.start();
        let (x, y) = (x as f32, y as f32);
        // Letters stand upright although places go down.
        let place = match text.turned {
            true => [0.0, -1.0, -1.0, 0.0, x, y],
            false => [1.0, 0.0, 0.0, -1.0, x, y],
        };
        self.operators
            .set_fill_rgb(r, g, b)
            .begin_text()
            .set_font(Name(letters::NAME), text.size as f32)
            .set_text_matrix(place)
            .show(Str(&self.letters.codes(&text.text)))
            .end_text();
    }

    /// Sets the transparency of what follows.
    fn mix(&mut self, alpha: f64) {
        let alpha = alpha as f32;
        if alpha == self.alpha {
            return;
        }
        self.alpha = alpha;
        let known = self.alphas.iter().position(|a| *a == alpha);
        let number = known.unwrap_or(self.alphas.len());
        if known.is_none() {
            self.alphas.push(alpha);
        }
        self.operators.set_parameters(Name(&state(number)));
    }
}

/// The parts of a colour, with as many digits as tell 256 steps apart.
fn parts(colour: BackendColor) -> [f32; 3] {
    let (r, g, b) = colour.rgb;
    [r, g, b].map(|part| (f32::from(part) * 1000.0 / 255.0).round() / 1000.0)
}

fn place((x, y): BackendCoord) -> (f32, f32) {
    (tenth(x) as f32, tenth(y) as f32)
}

fn rectangle(to: &mut pdf_writer::Content, within: &Corners) {
    let ((x, y), (width, height)) = (place(within.least), place(within.size));
    to.rect(x, y, width, height);
}

fn path(to: &mut pdf_writer::Content, places: &[BackendCoord]) {
    for (i, at) in places.iter().enumerate() {
        let (x, y) = place(*at);
        match i {
            0 => to.move_to(x, y),
            _ => to.line_to(x, y),
        };
    }
}

/// A circle of four curves.
fn circle(to: &mut pdf_writer::Content, centre: BackendCoord, radius: u32) {
    let (x, y) = (tenth(centre.0), tenth(centre.1));
    let radius = f64::from(radius) / FINE;
    // A place in parts of the radius from the centre, to hundredths of a unit.
    let at = |right: f64, down: f64| {
        let rounded = |v: f64| ((v * 100.0).round() / 100.0) as f32;
        (rounded(x + right * radius), rounded(y + down * radius))
    };
    let (start_x, start_y) = at(1.0, 0.0);
    to.move_to(start_x, start_y);
    // Each quarter begins in the direction `(right, down)` and ends in that turned by a right
    // angle.
    for (right, down) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
        let (next_right, next_down) = (-down, right);
        let first = at(right + HANDLE * next_right, down + HANDLE * next_down);
        let second = at(next_right + HANDLE * right, next_down + HANDLE * down);
        let end = at(next_right, next_down);
        to.cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
    }
    to.close_path();
}
