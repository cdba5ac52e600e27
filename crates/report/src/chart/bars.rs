// SPDX-License-Identifier: MIT OR Apache-2.0
//! Upright bars beside each other, and the published values over bars and lines.

use plotters::element::{EmptyElement, PathElement, Polygon, Rectangle};
use plotters::style::Color;

use super::axis::Scale;
use super::canvas::{Area, Begin, End};
use super::curves::Plot;
use super::draw::{done, fine};
use super::{Curve, Mark, colour};

/// Half the width of a diamond.
const DIAMOND: f64 = 4.5;

/// The bars of a curve, from the origin of the axis or its lower end, with their intervals.
pub(super) fn draw(
    area: &Area<'_>,
    plot: &Plot<'_, '_>,
    curve: &Curve,
    wide: f64,
    (x, y): (&Scale, &Scale),
) {
    let paint = colour::series(curve.colour);
    let foot = 0.0_f64.clamp(y.low, y.high);
    for spot in &curve.spots {
        done(area.draw(&Begin(&spot.tip)));
        let at = x.place(spot.x);
        let top = y.place(spot.y).clamp(y.low, y.high);
        let corners = [(at - wide / 2.0, foot), (at + wide / 2.0, top)];
        let plotted = plot.plotting_area();
        done(plotted.draw(&Rectangle::new(corners, paint.filled())));
        if let Some((low, high)) = spot.band {
            let ends = [low, high].map(|v| (at, y.place(v).clamp(y.low, y.high)));
            let line = colour::INK.stroke_width(10);
            done(plotted.draw(&PathElement::new(ends.to_vec(), line)));
        }
        done(area.draw(&End));
    }
}

/// A published value. Over several places it is a line, with a diamond in its middle.
pub(super) fn mark(area: &Area<'_>, plot: &Plot<'_, '_>, mark: &Mark, (x, y): (&Scale, &Scale)) {
    let inside = |v: f64| y.place(v).clamp(y.low, y.high);
    let places: Vec<_> = mark
        .places
        .iter()
        .map(|p| (x.place(p.0), inside(p.1)))
        .collect();
    let Some(middle) = places.get(places.len() / 2) else {
        return;
    };
    done(area.draw(&Begin(&mark.tip)));
    let plotted = plot.plotting_area();
    if places.len() > 1 {
        let line = colour::INK.stroke_width(12);
        done(plotted.draw(&PathElement::new(places.clone(), line)));
    }
    let corners = [
        (0.0, -1.0),
        (1.0, 0.0),
        (0.0, 1.0),
        (-1.0, 0.0),
        (0.0, -1.0),
    ]
    .map(|(x, y)| (fine(x * DIAMOND), fine(y * DIAMOND)));
    let inside = mark.colour.map_or(colour::PAPER, colour::series);
    let diamond = EmptyElement::at(*middle)
        + Polygon::new(corners.to_vec(), inside.filled())
        + PathElement::new(corners.to_vec(), colour::INK.stroke_width(14));
    done(plotted.draw(&diamond));
    done(area.draw(&End));
}
