// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shapes of a sheet as a PDF file of one page.
//!
//! PDF 1.4 has everything that charts need, and every version of pdfTeX includes it without a
//! warning. The file names no time and no machine, so that equal charts are equal bytes.

mod content;
mod letters;

#[cfg(test)]
mod tests;

use cemark_scenario::visible;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::{Filter, Finish as _, Name, Pdf, Rect, Ref, Stream, TextStr};

use super::shapes::Sheet;
use content::Content;
use letters::Letters;

/// Points, of which an inch has 72, per unit of the picture, of which it has 96.
const POINTS: f32 = 0.75;

/// Objects of the file. The font has further ones, and every transparency one.
const CATALOG: Ref = Ref::new(1);
const INFO: Ref = Ref::new(2);
const PAGES: Ref = Ref::new(3);
const PAGE: Ref = Ref::new(4);
const CONTENT: Ref = Ref::new(5);
const FONT: Ref = Ref::new(6);
/// The first object that has no name.
const NEXT: Ref = Ref::new(7);

/// The file of a sheet, with this title.
pub(super) fn document(sheet: &Sheet, title: &str) -> Vec<u8> {
    let letters = Letters::of(sheet);
    let content = Content::of(sheet, &letters);
    let mut next = NEXT;
    let mut pdf = Pdf::new();
    pdf.set_version(1, 4);
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.document_info(INFO)
        .title(TextStr(&visible(title)))
        .producer(TextStr("cemark"));
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let alphas: Vec<_> = content.alphas.iter().map(|a| (*a, next.bump())).collect();
    let mut page = pdf.page(PAGE);
    let (width, height) = (sheet.width as f32, sheet.height as f32);
    page.parent(PAGES)
        .media_box(Rect::new(0.0, 0.0, POINTS * width, POINTS * height))
        .contents(CONTENT);
    // What is transparent is mixed as in the SVG, whatever the colours of a printer are.
    if !alphas.is_empty() {
        let mut group = page.group();
        group.transparency();
        group.color_space().device_rgb();
    }
    let mut resources = page.resources();
    resources.fonts().pair(Name(letters::NAME), FONT);
    if !alphas.is_empty() {
        let mut states = resources.ext_g_states();
        for (i, (_, object)) in alphas.iter().enumerate() {
            states.pair(Name(&content::state(i)), object);
        }
    }
    resources.finish();
    page.finish();
    stream(&mut pdf, CONTENT, &packed(&content.bytes()));
    letters.write(&mut pdf, FONT, &mut next);
    for (alpha, object) in alphas {
        pdf.ext_graphics(object)
            .stroking_alpha(alpha)
            .non_stroking_alpha(alpha);
    }
    pdf.finish()
}

/// Bytes as the filter `FlateDecode` reads them.
fn packed(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, 9)
}

/// Writes a stream of bytes that are [`packed`].
fn stream<'a>(pdf: &'a mut Pdf, object: Ref, packed: &'a [u8]) -> Stream<'a> {
    let mut stream = pdf.stream(object, packed);
    stream.filter(Filter::FlateDecode);
    stream
}
