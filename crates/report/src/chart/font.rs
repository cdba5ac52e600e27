// SPDX-License-Identifier: MIT OR Apache-2.0
//! The font of the charts: widths of texts, outlines of characters, and the font itself for pages.
//!
//! Every form of a chart uses this one font, so that a text has the same width in a browser, in a
//! paper and in the test that looks for texts which overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ttf_parser::{Face, OutlineBuilder};

/// Roboto Regular, reduced (`font/README.md`).
pub(super) const FILE: &[u8] = include_bytes!("font/Roboto-subset.ttf");
/// Its name in files.
pub(super) const FAMILY: &str = "Roboto";

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(FILE, 0).expect("the font of this crate"));

/// Units of the font per em.
pub(super) fn units() -> f64 {
    f64::from(FACE.units_per_em())
}

/// Advance of a character in units of the font; of one that the font lacks, an estimate: other
/// fonts draw it.
pub(super) fn advance(c: char) -> f64 {
    let glyph = FACE.glyph_index(c).and_then(|g| FACE.glyph_hor_advance(g));
    match glyph {
        Some(advance) => f64::from(advance),
        // Scripts from Hangul on are about as wide as high.
        None if u32::from(c) >= 0x1100 => units(),
        None => 0.7 * units(),
    }
}

/// Width of a text of this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size / units()
}

/// The number of a character's glyph.
pub(super) fn glyph(c: char) -> Option<u16> {
    FACE.glyph_index(c).map(|glyph| glyph.0)
}

/// Glyphs of the font; the first one is a box, for characters that it lacks.
pub(super) fn glyphs() -> u16 {
    FACE.number_of_glyphs()
}

/// Whether the font has every character of a text.
pub(super) fn has(text: &str) -> bool {
    text.chars().all(|c| glyph(c).is_some())
}

/// Measures that programs that show text ask of a font, in units of the font.
pub(super) struct Measures {
    /// The least rectangle around all characters: left, bottom, right, top.
    pub around: [i16; 4],
    pub ascender: i16,
    pub descender: i16,
    /// Height of capital letters.
    pub capital: i16,
}

/// The measures of the whole font.
pub(super) fn measures() -> Measures {
    let all = FACE.global_bounding_box();
    Measures {
        around: [all.x_min, all.y_min, all.x_max, all.y_max],
        ascender: FACE.ascender(),
        descender: FACE.descender(),
        capital: FACE.capital_height().unwrap_or(FACE.ascender()),
    }
}

/// The text, or as much of its beginning as fits into `room`, and then dots.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let fits = |advances: f64| (advances + advance('…')) * size / units() <= room;
    if !fits(0.0) {
        return String::new();
    }
    // The end of the longest beginning that fits, without spaces at its end.
    let (mut end, mut advances) = (0, 0.0);
    for (at, c) in text.char_indices() {
        advances += advance(c);
        if !c.is_whitespace() {
            if !fits(advances) {
                break;
            }
            end = at + c.len_utf8();
        }
    }
    format!("{}…", &text[..end])
}

/// The text in lines that fit into `room`; a word that does not fit is shortened.
pub(super) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| width(line, size) <= room) {
            Some(line) => *lines.last_mut().expect("it was longer") = line,
            None => lines.push(fitted(word, size, room)),
        }
    }
    lines
}

/// Draws a character in units of the font, or the box of characters that the font lacks.
pub(super) fn draw(c: char, to: &mut impl OutlineBuilder) {
    let glyph = FACE.glyph_index(c).unwrap_or(ttf_parser::GlyphId(0));
    FACE.outline_glyph(glyph, to);
}

/// Definitions of these texts as outlines, in units of the font: `t0`, `t1` … by their numbers,
/// made of the characters `g41`, `g42` …, which are numbered in hexadecimal.
pub(super) fn outlines(texts: &BTreeMap<String, usize>) -> String {
    let mut out = String::new();
    let characters: BTreeSet<char> = texts.keys().flat_map(|t| t.chars()).collect();
    for c in characters {
        let mut path = Path(String::new());
        let glyph = FACE.glyph_index(c);
        glyph.and_then(|g| FACE.outline_glyph(g, &mut path));
        let _ = writeln!(out, "<path id=\"g{:x}\" d=\"{}\"/>", u32::from(c), path.0);
    }
    for (text, number) in texts {
        let _ = write!(out, "<g id=\"t{number}\">");
        let mut at = 0.0;
        for c in text.chars() {
            if !c.is_whitespace() {
                let code = u32::from(c);
                let _ = write!(out, "<use xlink:href=\"#g{code:x}\" x=\"{at}\"/>");
            }
            at += advance(c);
        }
        out += "</g>\n";
    }
    out
}

/// A `@font-face` rule with the font inside, named `family`.
pub(super) fn face(family: &str) -> String {
    format!(
        "@font-face {{ font-family: \"{family}\"; \
         src: url(data:font/ttf;base64,{}) format(\"truetype\"); }}",
        STANDARD.encode(FILE)
    )
}

/// Collects an outline as the data of an SVG path.
struct Path(String);

impl OutlineBuilder for Path {
    fn move_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.0, "M{x} {y}");
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.0, "L{x} {y}");
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let _ = write!(self.0, "Q{x1} {y1} {x} {y}");
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let _ = write!(self.0, "C{x1} {y1} {x2} {y2} {x} {y}");
    }

    fn close(&mut self) {
        self.0.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_charts_write() {
        assert!(has("ECN# −33.7 % ±2.1 [−29, 340] µs 95 % × · … ü λ ≤"));
        assert!(!has("队列"));
        assert_eq!(width("0123456789", 10.0), 10.0 * width("7", 10.0));
    }

    #[test]
    fn a_long_text_is_shortened_and_a_wide_one_wrapped() {
        assert_eq!(fitted("DCTCP", 12.0, 100.0), "DCTCP");
        let short = fitted("DCTCP-RED-Tail with a long name", 12.0, 80.0);
        assert!(
            short.ends_with('…') && width(&short, 12.0) <= 80.0,
            "{short}"
        );
        assert_eq!(fitted("W", 12.0, 1.0), "");
        let lines = wrapped("difference from DCTCP-RED-Tail in percent", 12.0, 120.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 12.0) <= 120.0));
        assert!(wrapped("", 12.0, 120.0).is_empty());
    }
}
