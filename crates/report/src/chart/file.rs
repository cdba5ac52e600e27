// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chart as a file of its own, right on white paper, with everything inside.

use std::sync::Arc;

use svg2pdf::usvg::{Options, Tree, fontdb::Database};
use svg2pdf::{ConversionOptions, PageOptions};

use super::canvas::{Medium, escape};
use super::{Chart, FILE, draw, font};

impl Chart {
    /// An SVG file. Texts are outlines, as few programs read fonts inside SVG; the pointer shows
    /// values. A text with characters that our font lacks remains a text.
    pub fn svg(&self) -> String {
        self.markup(Medium::File)
    }

    /// A PDF file of one page, with the part of the font that it uses.
    pub fn pdf(&self) -> Vec<u8> {
        let mut fonts = Database::new();
        fonts.load_font_data(font::FILE.to_vec());
        let options = Options {
            font_family: font::FAMILY.to_owned(),
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        let tree = Tree::from_str(&self.markup(Medium::Pdf), &options).expect("our own SVG");
        // 96 units of SVG are an inch.
        let page = PageOptions { dpi: 96.0 };
        svg2pdf::to_pdf(&tree, ConversionOptions::default(), page).expect("a font and paths")
    }

    fn markup(&self, medium: Medium) -> String {
        let (body, height) = draw::draw(self, medium, FILE, true);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \
             xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 {FILE} {height}\" \
             width=\"{FILE}\" height=\"{height}\" role=\"img\" aria-labelledby=\"t d\">\n\
             <title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n{body}</svg>\n",
            escape(&self.title),
            escape(&self.caption)
        )
    }
}
