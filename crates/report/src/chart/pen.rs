// SPDX-License-Identifier: MIT OR Apache-2.0
//! The strokes that panels of every kind share: texts, and the diamond of a published value.

use plotters::coord::CoordTranslate;
use plotters::drawing::DrawingArea;
use plotters::element::{EmptyElement, PathElement, Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, TextStyle};

use super::canvas::{Area, Canvas};
use super::shapes::FINE;
use super::{colour, font};

/// A place in tenths of a unit.
pub(super) fn fine(x: f64) -> i32 {
    (x * FINE).round() as i32
}

/// A style of text.
pub(super) fn style(size: f64, colour: RGBColor) -> TextStyle<'static> {
    (font::FAMILY, size).into_font().color(&colour)
}

/// Writes a text at a place of an area, in units from its corner.
pub(super) fn write(
    area: &Area<'_>,
    text: &str,
    (x, y): (f64, f64),
    style: &TextStyle<'_>,
    (h, v): (HPos, VPos),
) {
    if text.is_empty() {
        return;
    }
    let style = style.pos(Pos::new(h, v));
    let at = (fine(x), fine(y));
    done(area.draw(&Text::new(text.to_owned(), at, style)));
}

/// Drawing on a sheet cannot fail.
pub(super) fn done<E: std::fmt::Debug>(drawn: Result<(), E>) {
    drawn.expect("a sheet in memory");
}

/// Draws the diamond of a published value.
pub(super) fn diamond(
    plane: &DrawingArea<Canvas<'_>, impl CoordTranslate<From = (f64, f64)>>,
    at: (f64, f64),
    half: f64,
    inside: RGBColor,
) {
    let corners = [(0, -1), (1, 0), (0, 1), (-1, 0), (0, -1)];
    let corners = corners.map(|(x, y)| (x * fine(half), y * fine(half)));
    let diamond = EmptyElement::at(at)
        + Polygon::new(corners.to_vec(), inside.filled())
        + PathElement::new(corners.to_vec(), colour::INK.stroke_width(14));
    done(plane.draw(&diamond));
}
