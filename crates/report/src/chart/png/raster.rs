// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contours as pixels, with smooth edges.

use plotters_backend::BackendColor;

use super::outline::Contour;

/// Lines of a row of pixels along which contours are cut.
const LINES: usize = 16;

/// A picture of opaque pixels.
pub(super) struct Pixels {
    pub width: usize,
    pub height: usize,
    /// Red, green and blue of each pixel, row by row.
    pub rgb: Vec<u8>,
}

/// A side of a contour from its upper to its lower end.
struct Side {
    top: f64,
    bottom: f64,
    /// At the top.
    x: f64,
    /// Change of `x` for each pixel down.
    slope: f64,
    /// 1 where the contour goes down, -1 where it goes up.
    way: i32,
}

impl Pixels {
    /// White paper.
    pub fn white(width: usize, height: usize) -> Self {
        Pixels {
            width,
            height,
            rgb: vec![255; 3 * width * height],
        }
    }

    /// Fills the parts that contours go round, whatever the direction.
    pub fn fill(&mut self, contours: &[Contour], colour: BackendColor) {
        let sides: Vec<Side> = contours.iter().flat_map(sides).collect();
        let top = sides.iter().map(|s| s.top).fold(f64::INFINITY, f64::min);
        let bottom = sides.iter().map(|s| s.bottom).fold(0.0, f64::max);
        let rows = top.max(0.0) as usize..(bottom.ceil() as usize).min(self.height);
        let mut covered = vec![0.0; self.width];
        for row in rows {
            let (upper, lower) = (row as f64, row as f64 + 1.0);
            let here = sides.iter().filter(|s| s.top < lower && s.bottom > upper);
            let here: Vec<&Side> = here.collect();
            if here.is_empty() {
                continue;
            }
            covered.fill(0.0);
            for line in 0..LINES {
                let y = upper + (line as f64 + 0.5) / LINES as f64;
                cut(&here, y, &mut covered);
            }
            self.paint(row, &covered, colour);
        }
    }

    /// Mixes a colour into a row, of whose pixels `covered` lines each are covered.
    fn paint(&mut self, row: usize, covered: &[f64], colour: BackendColor) {
        let (r, g, b) = colour.rgb;
        let start = 3 * row * self.width;
        let pixels = self.rgb[start..].chunks_exact_mut(3);
        for (pixel, lines) in pixels.zip(covered).filter(|(_, lines)| **lines > 0.0) {
            let share = colour.alpha * (lines / LINES as f64).min(1.0);
            for (part, new) in pixel.iter_mut().zip([r, g, b]) {
                let old = f64::from(*part);
                *part = (old + share * (f64::from(new) - old)).round() as u8;
            }
        }
    }
}

fn sides(contour: &Contour) -> impl Iterator<Item = Side> + '_ {
    let next = contour.iter().cycle().skip(1);
    contour.iter().zip(next).filter_map(|(from, to)| {
        let (upper, lower, way) = match from.1 < to.1 {
            true => (from, to, 1),
            false => (to, from, -1),
        };
        (upper.1 < lower.1).then(|| Side {
            top: upper.1,
            bottom: lower.1,
            x: upper.0,
            slope: (lower.0 - upper.0) / (lower.1 - upper.1),
            way,
        })
    })
}

/// Adds the parts of the line at `y` that are inside of contours.
fn cut(sides: &[&Side], y: f64, covered: &mut [f64]) {
    let here = sides.iter().filter(|s| s.top <= y && y < s.bottom);
    let mut crossed: Vec<(f64, i32)> = here.map(|s| (s.x + (y - s.top) * s.slope, s.way)).collect();
    crossed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut around, mut from) = (0, 0.0);
    for (x, way) in crossed {
        if around == 0 {
            from = x;
        }
        around += way;
        if around == 0 {
            cover(covered, from, x);
        }
    }
}

/// Adds a line from `from` to `to`, whose first and last pixels may be covered in part.
fn cover(covered: &mut [f64], from: f64, to: f64) {
    let (from, to) = (from.max(0.0), to.min(covered.len() as f64));
    if from >= to {
        return;
    }
    let (first, last) = (from as usize, to as usize);
    if first == last {
        covered[first] += to - from;
        return;
    }
    covered[first] += (first + 1) as f64 - from;
    covered[first + 1..last].iter_mut().for_each(|c| *c += 1.0);
    if let Some(end) = covered.get_mut(last) {
        *end += to - last as f64;
    }
}
