// SPDX-License-Identifier: MIT OR Apache-2.0
//! The font of a PDF file and the codes of its characters.
//!
//! The code of a character is the number of its glyph. A character that the font lacks has a code
//! behind all glyphs: it is drawn as a box as wide as the layout takes it to be, and a reader that
//! searches or copies text finds the character itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Finish as _, Name, Pdf, Rect, Ref, Str};

use super::{packed, stream};
use crate::chart::font;
use crate::chart::shapes::Sheet;

/// Name of the font in the resources of the page.
pub(super) const NAME: &[u8] = b"F";
/// The name of the font. The letters before `+` say that it is a part of Roboto; it is the same
/// part in every file.
const FONT: Name<'static> = Name(b"CEMARK+Roboto-Regular");
/// Thickness of upright lines in thousandths of an em, as of a regular font.
const STEM: f32 = 95.0;

/// The file of the font, which is the same in every PDF.
static PACKED: LazyLock<Vec<u8>> = LazyLock::new(|| packed(font::FILE));

const IDENTITY: SystemInfo<'static> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// The characters of a file with their codes.
pub(super) struct Letters(BTreeMap<char, u16>);

impl Letters {
    /// Letters of the texts of a sheet.
    pub fn of(sheet: &Sheet) -> Self {
        let all: BTreeSet<char> = sheet.written().flat_map(|t| t.text.chars()).collect();
        let mut beyond = font::glyphs()..u16::MAX;
        let code = |c: char| {
            let code = font::glyph(c).or_else(|| beyond.next());
            (c, code.unwrap_or(0))
        };
        Letters(all.into_iter().map(code).collect())
    }

    /// A text as the font's codes, two bytes each.
    pub fn codes(&self, text: &str) -> Vec<u8> {
        let codes = text.chars().filter_map(|c| self.0.get(&c));
        codes.flat_map(|code| code.to_be_bytes()).collect()
    }

    /// Writes the font as `object`, and what it consists of as the next ones.
    pub fn write(&self, pdf: &mut Pdf, object: Ref, next: &mut Ref) {
        let [letters, about, file, unicode] = [(); 4].map(|()| next.bump());
        pdf.type0_font(object)
            .base_font(FONT)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(letters)
            .to_unicode(unicode);
        self.glyphs(pdf, letters, about, next);
        descriptor(pdf, about, file);
        let length = i32::try_from(font::FILE.len()).expect("a small font");
        stream(pdf, file, &PACKED).pair(Name(b"Length1"), length);
        let mut characters = UnicodeCmap::new(Name(b"Characters"), IDENTITY);
        for (c, code) in &self.0 {
            characters.pair(*code, *c);
        }
        stream(pdf, unicode, &packed(&characters.finish()));
    }

    /// Which glyphs the codes are and how wide they are.
    fn glyphs(&self, pdf: &mut Pdf, object: Ref, about: Ref, next: &mut Ref) {
        let count = font::glyphs();
        let lacking = self.0.values().filter(|code| **code >= count).count();
        let map = (lacking > 0).then(|| next.bump());
        let mut letters = pdf.cid_font(object);
        letters
            .subtype(CidFontType::Type2)
            .base_font(FONT)
            .system_info(IDENTITY)
            .font_descriptor(about);
        match map {
            None => letters.cid_to_gid_map_predefined(Name(b"Identity")),
            Some(map) => letters.cid_to_gid_map_stream(map),
        };
        let by_code: BTreeMap<u16, char> = self.0.iter().map(|(c, code)| (*code, *c)).collect();
        let mut widths = letters.widths();
        for (code, c) in by_code {
            widths.consecutive(code, [thousandths(font::advance(c))]);
        }
        widths.finish();
        letters.finish();
        if let Some(map) = map {
            let glyphs = (0..count).chain(std::iter::repeat_n(0, lacking));
            let bytes: Vec<u8> = glyphs.flat_map(u16::to_be_bytes).collect();
            stream(pdf, map, &packed(&bytes));
        }
    }
}

/// Measures that a reader asks of a font before it opens the font's file.
fn descriptor(pdf: &mut Pdf, object: Ref, file: Ref) {
    let font::Measures {
        around,
        ascender,
        descender,
        capital,
    } = font::measures();
    let [left, bottom, right, top] = around.map(|v| thousandths(f64::from(v)));
    pdf.font_descriptor(object)
        .name(FONT)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(thousandths(f64::from(ascender)))
        .descent(thousandths(f64::from(descender)))
        .cap_height(thousandths(f64::from(capital)))
        .stem_v(STEM)
        .font_file2(file);
}

/// Units of the font as thousandths of an em.
fn thousandths(units: f64) -> f32 {
    (units * 1000.0 / font::units()) as f32
}
