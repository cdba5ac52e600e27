// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heat maps: a value at each pair of places on two axes, as a colour and as a number.

use plotters::element::{Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::axis::SIZE;
use super::canvas::{Area, Begin, End};
use super::pen::{done, fine, style, write};
use super::{colour, font};

/// Height of a tile, at least and at most.
const TILE: f64 = 24.0;
const TALL: f64 = 56.0;
/// Height of a line of names or of the title of an axis.
const LINE: f64 = 18.0;
/// Space between names and tiles.
const BESIDE: f64 = 8.0;
/// Opacity of the weakest and of the strongest colour: numbers stay readable on both.
const FAINT: f64 = 0.06;
const STRONG: f64 = 0.42;
/// Steps between the two: a file names each opacity once.
const STEPS: f64 = 12.0;

/// Values over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// Place of the scheme in the list of colours: the legend of a page hides its map.
    pub colour: usize,
    /// The quantity across and its values.
    pub across: Names,
    /// The quantity down and its values, from top to bottom.
    pub down: Names,
    /// The tiles, line by line; `None` where there is no value.
    pub tiles: Vec<Option<Tile>>,
    /// The value with the strongest colour: charts that share it can be compared.
    pub most: f64,
}

/// An axis of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Quantity on the axis.
    pub label: String,
    /// Names of its places.
    pub names: Vec<String>,
}

/// A value of a heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// The value, in percent.
    pub percent: f64,
    /// Whether the value is an improvement; `None`: it is neither.
    pub better: Option<bool>,
    /// Whether its interval excludes zero: the tile has a triangle.
    pub is_decided: bool,
    /// Whether the value is of the largest values instead of percentiles: its number is in
    /// parentheses.
    pub is_largest: bool,
    /// Text at the pointer.
    pub tip: String,
}

/// Height of a panel without its heading.
pub(super) fn height(map: &Heat) -> f64 {
    2.0 * LINE + LINE + map.down.names.len() as f64 * TILE
}

/// Draws a heat map into an area of this size.
pub(super) fn draw(area: &Area<'_>, map: &Heat, (width, height): (f64, f64)) {
    let names = map.down.names.iter().map(|n| font::width(n, SIZE));
    let left = names.fold(0.0, f64::max).min(0.3 * width) + BESIDE;
    let (columns, lines) = (map.across.names.len(), map.down.names.len());
    let tile = (
        (width - left) / columns.max(1) as f64,
        ((height - 3.0 * LINE) / lines.max(1) as f64).clamp(TILE, TALL),
    );
    let soft = style(SIZE, colour::SOFT);
    let title = font::fitted(&map.down.label, SIZE, width);
    write(area, &title, (0.0, 2.0), &soft, (HPos::Left, VPos::Top));
    for (i, name) in map.down.names.iter().enumerate() {
        let name = font::fitted(name, SIZE, left - BESIDE);
        let at = (left - BESIDE, LINE + (i as f64 + 0.5) * tile.1);
        write(area, &name, at, &soft, (HPos::Right, VPos::Center));
    }
    let under = LINE + lines as f64 * tile.1 + 0.5 * LINE;
    for (i, name) in map.across.names.iter().enumerate() {
        let name = font::fitted(name, SIZE, tile.0 - 4.0);
        let at = (left + (i as f64 + 0.5) * tile.0, under);
        write(area, &name, at, &soft, (HPos::Center, VPos::Center));
    }
    let title = font::fitted(&map.across.label, SIZE, width - left);
    write(
        area,
        &title,
        (left, under + LINE),
        &soft,
        (HPos::Left, VPos::Center),
    );
    let form = Form::of(map, tile.0);
    for (i, one) in map.tiles.iter().enumerate() {
        let (line, column) = (i / columns, i % columns);
        let at = (left + column as f64 * tile.0, LINE + line as f64 * tile.1);
        if let Some(one) = one {
            put(area, one, map.most, form, (at, tile));
        }
    }
}

/// Draws a tile: a place and a size.
fn put(
    area: &Area<'_>,
    tile: &Tile,
    most: f64,
    form: Form,
    ((x, y), (width, height)): ((f64, f64), (f64, f64)),
) {
    let share = if most > 0.0 {
        (tile.percent.abs() / most).min(1.0)
    } else {
        0.0
    };
    let paint: RGBColor = match tile.better {
        Some(true) => colour::BETTER,
        Some(false) => colour::WORSE,
        None => colour::SOFT,
    };
    let step = (share * STEPS).round() / STEPS;
    let fill = paint.mix(FAINT + step * (STRONG - FAINT));
    let corners = [(x + 1.0, y + 1.0), (x + width - 1.0, y + height - 1.0)];
    let corners = corners.map(|(x, y)| (fine(x), fine(y)));
    done(area.draw(&Begin(&tile.tip)));
    done(area.draw(&Rectangle::new(corners, fill.filled())));
    if let (true, Some(better)) = (tile.is_decided, tile.better) {
        let way = if better { 1.0 } else { -1.0 };
        let (x, y) = (x + width - 7.5, y + 6.5);
        let corners = [(-3.5, 2.5 * way), (3.5, 2.5 * way), (0.0, -2.5 * way)];
        let corners = corners.map(|(a, b)| (fine(x + a), fine(y + b)));
        done(area.draw(&Polygon::new(corners.to_vec(), colour::INK.filled())));
    }
    let at = (x + width / 2.0, y + height / 2.0 + 1.0);
    let ink = style(SIZE, colour::INK);
    write(
        area,
        &form.text(tile),
        at,
        &ink,
        (HPos::Center, VPos::Center),
    );
    done(area.draw(&End));
}

/// How exactly the tiles of a map print their numbers.
#[derive(Clone, Copy)]
enum Form {
    Tenths,
    Whole,
    /// No number fits; the colour remains, and the text at the pointer.
    None,
}

impl Form {
    /// The most exact form in which all numbers fit into tiles of this width.
    fn of(map: &Heat, width: f64) -> Form {
        let fits = |form: &Form| {
            let texts = map.tiles.iter().flatten().map(|t| form.text(t));
            texts.map(|t| font::width(&t, SIZE)).fold(0.0, f64::max) <= width - 8.0
        };
        let forms = [Form::Tenths, Form::Whole];
        forms.into_iter().find(fits).unwrap_or(Form::None)
    }

    fn text(self, tile: &Tile) -> String {
        let text = match self {
            Form::Tenths => format!("{:+.1}", tile.percent),
            Form::Whole => format!("{:+.0}", tile.percent),
            Form::None => return String::new(),
        };
        let text = match tile.is_largest {
            true => format!("({text})"),
            false => text,
        };
        text.replace('-', "−")
    }
}
