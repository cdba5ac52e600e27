// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chart as a file of its own, right on white paper, with everything inside.

use std::collections::BTreeSet;

use super::svg::{self, Medium, escape};
use super::{Chart, FILE, Width, draw, font, pdf, png};

impl Chart {
    /// An SVG file. Texts are outlines, as few programs read fonts inside SVG; the pointer shows
    /// values. A text with characters that our font lacks remains a text.
    pub fn svg(&self, width: Width) -> String {
        let sheet = draw::sheet(self, width.units, true);
        let (wide, height) = (thousandths(width.units), sheet.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \
             xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 {wide} {height}\" \
             width=\"{wide}\" height=\"{height}\" role=\"img\" aria-labelledby=\"t d\">\n\
             <title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n{}</svg>\n",
            escape(&self.title),
            escape(&self.caption),
            svg::elements(&sheet, Medium::File)
        )
    }

    /// A PDF file of one page with the font inside. Texts are texts, also those of the characters
    /// that [`lacking`](Chart::lacking) returns, which are drawn as boxes.
    pub fn pdf(&self, width: Width) -> Vec<u8> {
        pdf::document(&draw::sheet(self, width.units, true), &self.title)
    }

    /// A PNG file, with boxes as in PDF.
    pub fn png(&self, width: Width) -> Vec<u8> {
        png::document(&draw::sheet(self, width.units, true), width)
    }

    /// The characters of its texts that the font lacks.
    pub fn lacking(&self) -> BTreeSet<char> {
        let sheet = draw::sheet(self, FILE, true);
        let written = sheet.written().flat_map(|text| text.text.chars());
        written.filter(|c| font::glyph(*c).is_none()).collect()
    }
}

/// A length in thousandths of a unit at most.
fn thousandths(units: f64) -> f64 {
    (units * 1000.0).round() / 1000.0
}
