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
        let made = svg2pdf::to_pdf(&tree, ConversionOptions::default(), page);
        in_order(&made.expect("a font and paths"))
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

/// The file with the entries of its dictionaries of resources in order. svg2pdf lists
/// transparencies (`/gs3 10 0 R`, a line each) in the order of a hash map, which is another one in
/// each process. Every line keeps its bytes and the whole its length, so the table of places stays
/// right.
fn in_order(pdf: &[u8]) -> Vec<u8> {
    let is_entry = |line: &[u8]| {
        let line = std::str::from_utf8(line).unwrap_or_default().trim();
        line.starts_with('/') && line.ends_with(" 0 R") && line.split(' ').count() == 4
    };
    let mut lines: Vec<&[u8]> = pdf.split(|b| *b == b'\n').collect();
    for some in lines.chunk_by_mut(|a, b| is_entry(a) && is_entry(b)) {
        some.sort_unstable();
    }
    lines.join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn entries_of_resources_are_in_order() {
        let pdf = b"<<\n  /gs3 10 0 R\n  /gs1 8 0 R\n>>\n  /a 2 0 R\n/Length 3\n";
        let sorted = b"<<\n  /gs1 8 0 R\n  /gs3 10 0 R\n>>\n  /a 2 0 R\n/Length 3\n";
        assert_eq!(in_order(pdf), sorted);
    }
}
