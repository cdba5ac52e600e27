// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shapes of a sheet as a PNG file.
//!
//! Shapes become contours (`outline`), contours pixels (`raster`), and pixels a file (`file`), with
//! additions, multiplications, divisions and square roots only: equal charts are equal bytes on
//! every machine.

mod file;
mod outline;
mod raster;

#[cfg(test)]
mod tests;

use plotters_backend::BackendColor;

use super::Width;
use super::font;
use super::shapes::{Corners, FINE, Paint, Shape, Sheet, Stroke, Text};
use outline::{Contour, Place};
use raster::Pixels;

/// The file of a sheet whose width this is.
pub(super) fn document(sheet: &Sheet, width: Width) -> Vec<u8> {
    let drawn = drawn(sheet, width.scale());
    file::encode(&drawn, width.dots())
}

/// A sheet in pixels, `scale` of them a unit.
fn drawn(sheet: &Sheet, scale: f64) -> Pixels {
    let whole = |units: f64| (units * scale).round().max(1.0) as usize;
    let mut canvas = Canvas {
        pixels: Pixels::white(whole(sheet.width), whole(sheet.height)),
        scale,
    };
    for shape in &sheet.shapes {
        canvas.shape(shape);
    }
    canvas.pixels
}

struct Canvas {
    pixels: Pixels,
    /// Pixels of a unit.
    scale: f64,
}

impl Canvas {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { within, paint } => self.painted(paint, rectangle(within)),
            Shape::Circle {
                centre,
                radius,
                paint,
            } => {
                let at = (f64::from(centre.0), f64::from(centre.1));
                self.painted(paint, outline::circle(at, f64::from(*radius)));
            }
            Shape::Line { places, stroke } => self.line(&path(places), *stroke),
            Shape::Polygon { corners, fill } => self.fill(&[path(corners)], *fill),
            Shape::Text(text) => self.text(text),
            // A file of pixels has no pointer.
            Shape::Tip(_)
            | Shape::Hovers
            | Shape::Hover { .. }
            | Shape::Scheme(_)
            | Shape::Plot(_)
            | Shape::End => {}
        }
    }

    fn painted(&mut self, paint: &Paint, mut contour: Contour) {
        match paint {
            Paint::Fill(colour) => self.fill(&[contour], *colour),
            Paint::Stroke(stroke) => {
                contour.extend(contour.first().copied());
                self.line(&contour, *stroke);
            }
        }
    }

    /// Fills contours whose places are in tenths of a unit.
    fn fill(&mut self, contours: &[Contour], colour: BackendColor) {
        let scale = self.scale / FINE;
        self.fill_scaled(contours, |(x, y)| (x * scale, y * scale), colour);
    }

    fn fill_scaled(
        &mut self,
        contours: &[Contour],
        pixel: impl Fn(Place) -> Place,
        colour: BackendColor,
    ) {
        let contours = contours
            .iter()
            .map(|c| c.iter().map(|at| pixel(*at)).collect());
        self.pixels
            .fill(&contours.collect::<Vec<Contour>>(), colour);
    }

    fn line(&mut self, places: &[Place], stroke: Stroke) {
        let lengths: Vec<f64> = stroke.dashes().iter().map(|units| units * FINE).collect();
        let width = f64::from(stroke.width);
        let dashes = outline::dashes(places, &lengths);
        let contours = dashes.iter().flat_map(|dash| outline::stroke(dash, width));
        self.fill(&contours.collect::<Vec<_>>(), stroke.colour);
    }

    fn text(&mut self, text: &Text) {
        let (start, size) = (text.start(), text.size / font::units());
        let scale = self.scale;
        let mut along = 0.0;
        for c in text.text.chars() {
            // Units of the font go up from the base line.
            let pixel = |(x, y): Place| {
                let (right, up) = ((along + x) * size, y * size);
                let (x, y) = match text.turned {
                    true => (start.0 - up, start.1 - right),
                    false => (start.0 + right, start.1 - up),
                };
                (x * scale, y * scale)
            };
            self.fill_scaled(&outline::letter(c), pixel, text.colour);
            along += font::advance(c);
        }
    }
}

fn path(places: &[(i32, i32)]) -> Contour {
    let places = places.iter();
    places
        .map(|(x, y)| (f64::from(*x), f64::from(*y)))
        .collect()
}

fn rectangle(within: &Corners) -> Contour {
    let ((x, y), (width, height)) = (within.least, within.size);
    path(&[
        (x, y),
        (x + width, y),
        (x + width, y + height),
        (x, y + height),
    ])
}
