// SPDX-License-Identifier: MIT OR Apache-2.0
//! The colours of charts: fixed ones on white paper in files, variables of the style sheet in
//! pages.

use std::fmt::Write as _;

use cemark_scenario::Plan;
use plotters::style::RGBColor;

/// Colours of schemes; with more schemes they repeat.
pub const COLOURS: usize = 12;

/// (name of the variable, on white paper, on a dark page).
const TABLE: [(&str, u32, u32); COLOURS + 6] = [
    ("c0", 0x6b7580, 0x9aa5b1),
    ("c1", 0x0072b2, 0x5ab4ee),
    ("c2", 0xd55e00, 0xf58b4c),
    ("c3", 0x009e73, 0x35c79b),
    ("c4", 0xa8508a, 0xdd92c4),
    ("c5", 0xb58400, 0xecbc3f),
    ("c6", 0x3d9bd1, 0x9bd4f7),
    ("c7", 0x8a5a2b, 0xc99a6b),
    ("c8", 0x5b4fb0, 0xaaa2f0),
    ("c9", 0xc2325a, 0xff8fa8),
    ("c10", 0x5f8a00, 0xb3d651),
    ("c11", 0x1f6f78, 0x63c3cd),
    ("paper", 0xffffff, 0x14181d),
    ("ink", 0x1b2026, 0xe6eaee),
    ("soft", 0x5c6670, 0x9aa5b1),
    ("line", 0xd9dee3, 0x2e363f),
    ("better", 0x0b6e4f, 0x5fd3a8),
    ("worse", 0xb3261e, 0xff8a80),
];

const fn rgb(place: usize) -> RGBColor {
    let [_, r, g, b] = TABLE[place].1.to_be_bytes();
    RGBColor(r, g, b)
}

pub(super) const PAPER: RGBColor = rgb(COLOURS);
pub(super) const INK: RGBColor = rgb(COLOURS + 1);
pub(super) const SOFT: RGBColor = rgb(COLOURS + 2);
pub(super) const LINE: RGBColor = rgb(COLOURS + 3);
pub(super) const BETTER: RGBColor = rgb(COLOURS + 4);
pub(super) const WORSE: RGBColor = rgb(COLOURS + 5);

/// Colour at a place in the list of colours. Places beyond its end begin again at the first.
pub(super) fn series(place: usize) -> RGBColor {
    rgb(place % COLOURS)
}

/// The variable that holds a colour in pages.
pub(super) fn variable((r, g, b): (u8, u8, u8)) -> &'static str {
    let number = u32::from_be_bytes([0, r, g, b]);
    let entry = TABLE.iter().find(|entry| entry.1 == number);
    entry.map_or("ink", |entry| entry.0)
}

/// The dashes and gaps of a line in this colour, so that neighbours in the list of colours can be
/// told apart in grey too; empty: a solid line.
pub(super) fn dashes((r, g, b): (u8, u8, u8)) -> &'static [f64] {
    let number = u32::from_be_bytes([0, r, g, b]);
    let place = TABLE.iter().position(|entry| entry.1 == number);
    match place {
        Some(6..=8) => &[6.0, 3.0],
        Some(9..=11) => &[2.0, 2.5],
        _ => &[],
    }
}

/// The place of a scheme in the list of colours: the baseline is always the first.
pub fn of_scheme(plan: &Plan, scheme: &str) -> usize {
    let place = plan.schemes.iter().position(|s| s == scheme).unwrap_or(0);
    if place == plan.baseline {
        return 0;
    }
    let behind = place + usize::from(place < plan.baseline);
    (behind - 1) % (COLOURS - 1) + 1
}

/// `--c0: #6b7580; --paper: …`: the variables for light pages, or for dark ones.
pub(super) fn variables(dark: bool) -> String {
    let mut out = String::new();
    for (name, light, night) in TABLE {
        let _ = write!(out, "--{name}: #{:06x}; ", if dark { night } else { light });
    }
    out.trim_end().to_owned()
}

/// The names of all variables.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.0)
}
