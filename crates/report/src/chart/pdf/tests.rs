// SPDX-License-Identifier: MIT OR Apache-2.0
//! A reader's view of a PDF file: texts, the font, lines and transparencies.

use std::collections::BTreeMap;

use miniz_oxide::inflate::decompress_to_vec_zlib;
use plotters_backend::BackendColor;
use plotters_backend::text_anchor::HPos;

use super::document;
use crate::chart::font;
use crate::chart::shapes::{Corners, Paint, Shape, Sheet, Stroke, Text};

const INK: BackendColor = BackendColor {
    alpha: 1.0,
    rgb: (0, 51, 255),
};

fn sheet(shapes: Vec<Shape>) -> Sheet {
    Sheet {
        width: 400.0,
        height: 200.0,
        shapes,
        texts: Vec::new(),
    }
}

fn text(words: &str, turned: bool) -> Shape {
    Shape::Text(Text {
        text: words.to_owned(),
        size: 11.0,
        colour: INK,
        x: 30.0,
        y: 50.0,
        anchor: HPos::Right,
        along: -10.04,
        turned,
    })
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|w| w == word)
}

/// The streams of a file, unpacked.
fn streams(mut pdf: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(at) = find(pdf, b"\nstream\n") {
        pdf = &pdf[at + 8..];
        let end = find(pdf, b"\nendstream").expect("an end");
        all.push(decompress_to_vec_zlib(&pdf[..end]).expect("packed bytes"));
        pdf = &pdf[end..];
    }
    all
}

/// The bytes of a string of PDF, which is written after `from` and ends before ` Tj`.
fn string(from: &str) -> Vec<u8> {
    if let Some(digits) = from.strip_prefix('<') {
        let digits = digits.trim_end_matches('>');
        let pairs = (0..digits.len() / 2).map(|i| &digits[2 * i..2 * i + 2]);
        return pairs
            .map(|pair| u8::from_str_radix(pair, 16).expect("digits"))
            .collect();
    }
    let inside = from.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
    let mut rest = inside.expect("a string").bytes().peekable();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next().expect("an escape") {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                first @ b'0'..=b'7' => {
                    let mut digit = || u32::from(rest.next().expect("a digit") - b'0');
                    let number = u32::from(first - b'0') * 64 + digit() * 8 + digit();
                    u8::try_from(number).expect("a byte")
                }
                other => other,
            },
            other => other,
        });
    }
    bytes
}

/// The texts of a file as a program reads them that copies text: strings by the map of characters.
fn texts(pdf: &[u8]) -> Vec<String> {
    let all: Vec<String> = streams(pdf)
        .into_iter()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect();
    let map = all.iter().find(|s| s.contains("beginbfchar"));
    let mut characters = BTreeMap::new();
    for line in map.expect("a map of characters").lines() {
        let Some((code, units)) = line.split_once("> <") else {
            continue;
        };
        let units: Vec<u16> = string(&format!("<{units}"))
            .chunks(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        let c = String::from_utf16(&units).expect("a character");
        characters.insert(string(code), c);
    }
    let page = all.iter().find(|s| s.contains(" Tf\n")).expect("a page");
    let shown = page.lines().filter_map(|line| line.strip_suffix(" Tj"));
    shown
        .map(|line| {
            let codes = string(line);
            codes.chunks(2).map(|code| &characters[code][..]).collect()
        })
        .collect()
}

/// The operators of the page.
fn page(pdf: &[u8]) -> String {
    let first = streams(pdf).swap_remove(0);
    String::from_utf8(first).expect("operators")
}

#[test]
fn texts_are_texts() {
    let words = [
        "ECN# −33.7 % ±2.1 [−29, 340] µs",
        "95 % × · … ü λ ≤ – (a\\b) )(",
        "队列 and 😀",
        "a)\u{28}\\",
    ];
    let pdf = document(&sheet(words.map(|w| text(w, false)).into()), "t");
    assert_eq!(texts(&pdf), words);
}

#[test]
fn each_character_has_a_glyph_of_its_own() {
    let all = (' '..'\u{ffff}').filter_map(|c| font::glyph(c).map(|glyph| (glyph, c)));
    let pairs: Vec<_> = all.collect();
    let by_glyph: BTreeMap<u16, char> = pairs.iter().copied().collect();
    assert_eq!(by_glyph.len(), pairs.len());
    assert!(!by_glyph.contains_key(&0) && by_glyph.len() > 300);
}

#[test]
fn the_font_is_inside_as_it_is() {
    let pdf = document(&sheet(vec![text("a", false)]), "t");
    assert!(streams(&pdf).iter().any(|s| s == font::FILE));
    assert!(find(&pdf, b"/CIDToGIDMap /Identity").is_some());
    assert!(find(&pdf, b"/FontFile2").is_some() && pdf.len() < 25_000);
}

#[test]
fn a_character_that_the_font_lacks_is_a_box() {
    let pdf = document(&sheet(vec![text("a队b列", false)]), "t");
    assert!(find(&pdf, b"/CIDToGIDMap /Identity").is_none());
    let glyphs = usize::from(font::glyphs());
    let maps = streams(&pdf).into_iter();
    let maps: Vec<_> = maps.filter(|s| s.len() == 2 * (glyphs + 2)).collect();
    let [map] = &maps[..] else {
        panic!("one map of codes to glyphs");
    };
    let glyph = |code: usize| u16::from_be_bytes([map[2 * code], map[2 * code + 1]]);
    let a = font::glyph('a').expect("a letter");
    assert_eq!(glyph(usize::from(a)), a);
    assert_eq!((glyph(glyphs), glyph(glyphs + 1)), (0, 0));
    // As wide as the layout takes it to be.
    assert!(find(&pdf, format!("{glyphs} [1000]").as_bytes()).is_some());
}

#[test]
fn a_text_begins_where_the_layout_says() {
    let flat = page(&document(&sheet(vec![text("a", false)]), "t"));
    assert!(flat.starts_with("0.75 0 0 -0.75 0 150 cm\n"), "{flat}");
    assert!(flat.contains("/F 11 Tf\n1 0 0 -1 20 50 Tm"), "{flat}");
    let turned = page(&document(&sheet(vec![text("a", true)]), "t"));
    assert!(turned.contains("0 -1 -1 0 30 60 Tm"), "{turned}");
}

#[test]
fn a_line_has_its_width_colour_and_dashes() {
    let line = |rgb, width| Shape::Line {
        places: vec![(10, 25), (30, -5)],
        stroke: Stroke {
            colour: BackendColor { rgb, alpha: 1.0 },
            width,
        },
    };
    let solid = page(&document(&sheet(vec![line((0, 51, 255), 12)]), "t"));
    assert!(
        solid.contains("0 0.2 1 RG\n1.2 w\n[] 0 d\n1 2.5 m\n3 -0.5 l\nS"),
        "{solid}"
    );
    let dashed = page(&document(&sheet(vec![line((0x3d, 0x9b, 0xd1), 20)]), "t"));
    assert!(dashed.contains("[6 3] 0 d"), "{dashed}");
    let thin = page(&document(&sheet(vec![line((0x3d, 0x9b, 0xd1), 13)]), "t"));
    assert!(thin.contains("[] 0 d"), "{thin}");
}

#[test]
fn a_transparency_holds_until_the_next_one() {
    let square = |alpha| Shape::Rect {
        within: Corners::new((30, 40), (10, 20)),
        paint: Paint::Fill(BackendColor { alpha, ..INK }),
    };
    let shapes = [0.16, 1.0, 0.16, 0.16].map(square);
    let pdf = document(&sheet(shapes.into()), "t");
    let page = page(&pdf);
    let states = page.lines().filter(|line| line.ends_with(" gs"));
    assert_eq!(states.collect::<Vec<_>>(), ["/A0 gs", "/A1 gs", "/A0 gs"]);
    assert_eq!(page.matches("1 2 2 2 re\nf").count(), 4);
    assert!(find(&pdf, b"/CA 0.16").is_some() && find(&pdf, b"/ca 1").is_some());
    assert!(find(&pdf, b"/S /Transparency").is_some());
    let opaque = document(&sheet(vec![square(1.0)]), "t");
    assert!(find(&opaque, b"/Transparency").is_none() && find(&opaque, b"/ca").is_none());
}

#[test]
fn a_circle_is_four_curves_through_its_ends() {
    let circle = Shape::Circle {
        centre: (100, 50),
        radius: 32,
        paint: Paint::Fill(INK),
    };
    let page = page(&document(&sheet(vec![circle]), "t"));
    let ends = page.lines().filter(|line| line.ends_with(" c"));
    let ends: Vec<String> = ends
        .map(|line| {
            line.split(' ')
                .skip(4)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(ends, ["10 8.2", "6.8 5", "10 1.8", "13.2 5"]);
    assert!(page.contains("13.2 5 m\n"), "{page}");
}

#[test]
fn the_file_has_a_title_and_no_time() {
    let pdf = document(&sheet(Vec::new()), "Load 0.9\u{1b} (web search)");
    let title = r"/Title (Load 0.9\\u{1b} (web search))";
    assert!(find(&pdf, title.as_bytes()).is_some());
    assert!(find(&pdf, b"/Producer (cemark)").is_some() && find(&pdf, b"Date").is_none());
    assert!(pdf.starts_with(b"%PDF-1.4\n"));
}
