// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contours of lines, circles and letters.

use ttf_parser::OutlineBuilder;

use crate::chart::font;

pub(super) type Place = (f64, f64);
/// Corners of a closed line; the last one is joined to the first.
pub(super) type Contour = Vec<Place>;

/// A corner whose tip is farther from it than this many half widths is cut off, as in SVG.
const MITER: f64 = 4.0;
/// Straight parts of a curve of a letter.
const PARTS: u32 = 6;
/// Halvings of the corners of a square that make a circle of 64 corners.
const HALVINGS: u32 = 4;

/// A circle.
pub(super) fn circle(centre: Place, radius: f64) -> Contour {
    let mut ways = vec![(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    for _ in 0..HALVINGS {
        let next = ways.iter().cycle().skip(1);
        let between = ways.iter().zip(next).flat_map(|(a, b)| {
            let middle = unit((a.0 + b.0, a.1 + b.1)).unwrap_or(*a);
            [*a, middle]
        });
        ways = between.collect();
    }
    let corners = ways.iter();
    corners
        .map(|way| (centre.0 + radius * way.0, centre.1 + radius * way.1))
        .collect()
}

/// Parts of a line that dashes of these lengths, by turns with gaps, cover; without lengths the
/// whole line.
pub(super) fn dashes(places: &[Place], lengths: &[f64]) -> Vec<Contour> {
    let (Some(first), false) = (places.first(), lengths.is_empty()) else {
        return vec![places.to_vec()];
    };
    let mut parts = vec![vec![*first]];
    let (mut number, mut left) = (0, lengths[0]);
    for pair in places.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let distance = length(minus(to, from));
            let is_dash = number % 2 == 0;
            if distance <= left {
                left -= distance;
                if is_dash {
                    parts.last_mut().expect("a dash has begun").push(to);
                }
                break;
            }
            let share = left / distance;
            from = (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            );
            match is_dash {
                true => parts.last_mut().expect("a dash has begun").push(from),
                false => parts.push(vec![from]),
            }
            number += 1;
            left = lengths[number % lengths.len()];
        }
    }
    parts
}

/// Contours that together cover a line of this width: a rectangle for each part of it, and a corner
/// where two parts meet. All go round in one direction.
pub(super) fn stroke(places: &[Place], width: f64) -> Vec<Contour> {
    let half = width / 2.0;
    let mut contours = Vec::new();
    let mut before: Option<Place> = None;
    for pair in places.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let Some(way) = unit(minus(to, from)) else {
            continue;
        };
        let side = (-half * way.1, half * way.0);
        let (left, right) = (plus(from, side), minus(from, side));
        contours.push(vec![left, right, minus(to, side), plus(to, side)]);
        contours.extend(before.and_then(|earlier| corner(from, earlier, way, half)));
        before = Some(way);
    }
    for contour in &mut contours {
        if area(contour) < 0.0 {
            contour.reverse();
        }
    }
    contours
}

/// The outer side of a corner between two directions.
fn corner(at: Place, before: Place, after: Place, half: f64) -> Option<Contour> {
    let turn = before.0 * after.1 - before.1 * after.0;
    if turn == 0.0 {
        return None;
    }
    // The outer side is to the left of the line where it turns to the right.
    let out = if turn > 0.0 { half } else { -half };
    let side = |way: Place| (out * way.1, -out * way.0);
    let (first, last) = (side(before), side(after));
    let mut contour = vec![at, plus(at, first)];
    let cosine = before.0 * after.0 + before.1 * after.1;
    // The tip is at half a width over the cosine of half the turn.
    if MITER * MITER * (1.0 + cosine) >= 2.0 {
        let sum = plus(first, last);
        let factor = 1.0 / (1.0 + cosine);
        contour.push((at.0 + factor * sum.0, at.1 + factor * sum.1));
    }
    contour.push(plus(at, last));
    Some(contour)
}

/// Contours of a character in units of the font; a box where the font lacks it.
pub(super) fn letter(c: char) -> Vec<Contour> {
    let mut letter = Letter(Vec::new());
    font::draw(c, &mut letter);
    letter.0
}

struct Letter(Vec<Contour>);

impl Letter {
    fn put(&mut self, x: f32, y: f32) {
        let contour = self.0.last_mut().expect("a contour has begun");
        contour.push((f64::from(x), f64::from(y)));
    }

    /// Straight parts along a curve, whose places at 0 to 1 are those of `at`.
    fn curve(&mut self, at: impl Fn(f32) -> (f32, f32)) {
        for part in 1..=PARTS {
            let (x, y) = at(part as f32 / PARTS as f32);
            self.put(x, y);
        }
    }

    fn end(&self) -> (f32, f32) {
        let end = self.0.last().and_then(|contour| contour.last());
        end.map_or((0.0, 0.0), |(x, y)| (*x as f32, *y as f32))
    }
}

impl OutlineBuilder for Letter {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.push(Vec::new());
        self.put(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.put(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x0, y0) = self.end();
        self.curve(|t| {
            let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
            (a * x0 + b * x1 + c * x, a * y0 + b * y1 + c * y)
        });
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (x0, y0) = self.end();
        self.curve(|t| {
            let s = 1.0 - t;
            let (a, b, c, d) = (s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
            (
                a * x0 + b * x1 + c * x2 + d * x,
                a * y0 + b * y1 + c * y2 + d * y,
            )
        });
    }

    fn close(&mut self) {}
}

fn plus(a: Place, b: Place) -> Place {
    (a.0 + b.0, a.1 + b.1)
}

fn minus(a: Place, b: Place) -> Place {
    (a.0 - b.0, a.1 - b.1)
}

fn length(way: Place) -> f64 {
    (way.0 * way.0 + way.1 * way.1).sqrt()
}

/// A direction of length 1; `None` of nothing.
fn unit(way: Place) -> Option<Place> {
    let length = length(way);
    (length > 0.0).then(|| (way.0 / length, way.1 / length))
}

/// Twice the area inside a contour, negative where it goes round the other way.
fn area(contour: &[Place]) -> f64 {
    let next = contour.iter().cycle().skip(1);
    let pairs = contour.iter().zip(next);
    pairs.map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum()
}
