// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where plotters draws: a sheet of shapes.
//!
//! plotters has backends of its own, but their colours are fixed, their places are whole pixels and
//! they guess how wide texts are. This one knows the font, keeps what the pointer shows, and
//! remembers where texts are.

use std::convert::Infallible;

use cemark_scenario::visible;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Drawable, PointCollection};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use super::font;
use super::shapes::{Corners, FINE, Paint, Placed, Shape, Sheet, Stroke, Text};

/// An area of the sheet, in tenths of a unit from its own corner.
pub(super) type Area<'a> = DrawingArea<Canvas<'a>, Shift>;

/// Draws on a sheet.
pub(super) struct Canvas<'a>(pub &'a mut Sheet);

impl Canvas<'_> {
    fn put(&mut self, shape: Shape) -> Done {
        self.0.shapes.push(shape);
        Ok(())
    }
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

fn stroke(style: &impl BackendStyle) -> Stroke {
    Stroke {
        colour: style.color(),
        width: style.stroke_width(),
    }
}

fn paint(style: &impl BackendStyle, fill: bool) -> Paint {
    match fill {
        true => Paint::Fill(style.color()),
        false => Paint::Stroke(stroke(style)),
    }
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let fine = |x: f64| (x * FINE).round() as u32;
        (fine(self.0.width), fine(self.0.height))
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Done {
        let (x, y) = point;
        self.draw_rect(point, (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S) -> Done {
        self.draw_path([a, b], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        self.put(Shape::Rect {
            within: Corners::new(a, b),
            paint: paint(style, fill),
        })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        if style.color().alpha == 0.0 {
            return Ok(());
        }
        self.put(Shape::Line {
            places: path.into_iter().collect(),
            stroke: stroke(style),
        })
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        self.put(Shape::Circle {
            centre,
            radius,
            paint: paint(style, fill),
        })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Done {
        self.put(Shape::Polygon {
            corners: corners.into_iter().collect(),
            fill: style.color(),
        })
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Done {
        let (x, y) = (f64::from(x) / FINE, f64::from(y) / FINE);
        let (size, width) = (style.size(), font::width(text, style.size()));
        let turned = !matches!(style.transform(), FontTransform::None);
        let anchor = style.anchor();
        // From the anchor to the beginning of the base line, along the text and across it.
        let along = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        let across = match anchor.v_pos {
            VPos::Top => 0.78 * size,
            VPos::Center => 0.35 * size,
            VPos::Bottom => -0.22 * size,
        };
        let (up, down) = (0.78 * size, 0.22 * size);
        let text_box = |left, top, right, bottom| Placed {
            text: text.to_owned(),
            left,
            top,
            right,
            bottom,
        };
        let (x, y, placed) = if turned {
            let (x, start) = (x + across, y - along);
            (x, y, text_box(x - up, start - width, x + down, start))
        } else {
            let (start, y) = (x + along, y + across);
            (x, y, text_box(start, y - up, start + width, y + down))
        };
        self.0.texts.push(placed);
        self.put(Shape::Text(Text {
            text: visible(text).into_owned(),
            size,
            colour: style.color(),
            x,
            y,
            anchor: anchor.h_pos,
            along,
            turned,
        }))
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let fine = |x: f64| (x * FINE).ceil() as u32;
        Ok((fine(font::width(text, style.size())), fine(style.size())))
    }
}

/// An end of a group of elements.
pub(super) enum Group<'a> {
    /// Opens a group that says something under the pointer.
    Begin(&'a str),
    /// Opens a group of [`Hover`]s.
    Hovers,
    /// Opens a group of a scheme's shapes.
    Scheme(usize),
    /// Opens a group of the shapes between these corners of the sheet.
    Plot(BackendCoord, BackendCoord),
    /// Closes a group.
    End,
}

pub(super) use self::Group::{Begin, End, Hovers};

/// A part of the plot that shows nothing and says something under the pointer.
pub(super) struct Hover<'a>(pub &'a str, pub [(f64, f64); 2]);

impl<'a> PointCollection<'a, (f64, f64)> for &'a Hover<'_> {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];
    fn point_iter(self) -> &'a [(f64, f64)] {
        &self.1
    }
}

impl Drawable<Canvas<'_>> for Hover<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut corners: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        let (Some(a), Some(b)) = (corners.next(), corners.next()) else {
            return Ok(());
        };
        canvas.put(Shape::Hover {
            within: Corners::new(a, b),
            tip: self.0.to_owned(),
        })
    }
}

const NOWHERE: [(i32, i32); 1] = [(0, 0)];

impl<'a> PointCollection<'a, (i32, i32)> for &'a Group<'_> {
    type Point = &'a (i32, i32);
    type IntoIter = &'a [(i32, i32)];

    fn point_iter(self) -> &'a [(i32, i32)] {
        &NOWHERE
    }
}

impl Drawable<Canvas<'_>> for Group<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Done {
        canvas.put(match self {
            Begin(tip) => Shape::Tip((*tip).to_owned()),
            Hovers => Shape::Hovers,
            Group::Scheme(colour) => Shape::Scheme(*colour),
            Group::Plot(a, b) => Shape::Plot(Corners::new(*a, *b)),
            End => Shape::End,
        })
    }
}
