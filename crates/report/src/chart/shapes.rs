// SPDX-License-Identifier: MIT OR Apache-2.0
//! A picture as a list of shapes, from which files of every form are written.

use plotters_backend::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendCoord};

use super::colour;

/// Steps of a place per unit of the picture.
pub(super) const FINE: f64 = 10.0;

/// A picture that is being drawn.
pub(super) struct Sheet {
    pub width: f64,
    pub height: f64,
    /// From the farthest back to the front.
    pub shapes: Vec<Shape>,
    /// Where every text is.
    pub texts: Vec<Placed>,
}

impl Sheet {
    /// The texts among the shapes.
    pub fn written(&self) -> impl Iterator<Item = &Text> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// Where a text is, in units of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub text: String,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// A part of a picture. Its places and lengths are in tenths of a unit, downwards from the top.
pub(super) enum Shape {
    /// A rectangle.
    Rect { within: Corners, paint: Paint },
    /// A circle.
    Circle {
        centre: BackendCoord,
        radius: u32,
        paint: Paint,
    },
    /// A line through places.
    Line {
        places: Vec<BackendCoord>,
        stroke: Stroke,
    },
    /// The part inside a line.
    Polygon {
        corners: Vec<BackendCoord>,
        fill: BackendColor,
    },
    /// A text.
    Text(Text),
    /// Opens a group that says something under the pointer.
    Tip(String),
    /// Opens a group of [`Hover`](Shape::Hover)s.
    Hovers,
    /// A part of the picture that shows nothing and says something under the pointer.
    Hover { within: Corners, tip: String },
    /// Opens a group of shapes of the schemes with this place in the list of colours, which a page
    /// can hide.
    Scheme(usize),
    /// Opens a group of the shapes inside two axes, at whose horizontal places a page reads values.
    Plot(Corners),
    /// Closes a group.
    End,
}

/// A rectangle without its paint: its least corner and its size.
pub(super) struct Corners {
    pub least: BackendCoord,
    pub size: BackendCoord,
}

impl Corners {
    pub fn new(a: BackendCoord, b: BackendCoord) -> Self {
        Corners {
            least: (a.0.min(b.0), a.1.min(b.1)),
            size: ((a.0 - b.0).abs(), (a.1 - b.1).abs()),
        }
    }
}

/// A line that is drawn.
#[derive(Clone, Copy)]
pub(super) struct Stroke {
    pub colour: BackendColor,
    /// In tenths of a unit.
    pub width: u32,
}

/// Least width of a line with dashes.
const DASHED: u32 = 20;

impl Stroke {
    /// The width in units.
    pub fn width(&self) -> f64 {
        f64::from(self.width) / FINE
    }

    /// The lengths of dashes and of the gaps between them, in units; empty: a solid line.
    pub fn dashes(&self) -> &'static [f64] {
        // A thin line of many points would be nothing but dashes.
        match self.width >= DASHED {
            true => colour::dashes(self.colour.rgb),
            false => &[],
        }
    }
}

/// How a shape is drawn.
pub(super) enum Paint {
    Fill(BackendColor),
    Stroke(Stroke),
}

/// A text on a base line.
pub(super) struct Text {
    pub text: String,
    pub size: f64,
    pub colour: BackendColor,
    /// The place of the anchor on the base line, in units of the picture.
    pub x: f64,
    pub y: f64,
    /// Which part of the text is at the anchor, and where the text begins from there along the base
    /// line.
    pub anchor: HPos,
    pub along: f64,
    /// Whether the base line is turned against the clock, so that it goes up.
    pub turned: bool,
}

impl Text {
    /// Where the text begins, rounded as places of other shapes are.
    pub fn start(&self) -> (f64, f64) {
        let (x, y) = (short(self.x), short(self.y));
        match self.turned {
            true => (x, short(y - self.along)),
            false => (short(x + self.along), y),
        }
    }
}

/// Tenths as a decimal number: `12`, `4.5`, `-0.3`.
pub(super) fn tenth(fine: i32) -> f64 {
    f64::from(fine) / FINE
}

/// A place in units, rounded to tenths.
pub(super) fn short(x: f64) -> f64 {
    (x * FINE).round() / FINE
}
