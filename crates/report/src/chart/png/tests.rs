// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pixels of shapes whose areas are known, and files that a reader takes apart.

use miniz_oxide::inflate::decompress_to_vec_zlib;
use plotters_backend::text_anchor::HPos;

use super::*;
use crate::chart::shapes::Placed;

const BLACK: BackendColor = BackendColor {
    alpha: 1.0,
    rgb: (0, 0, 0),
};

fn sheet(shapes: Vec<Shape>) -> Sheet {
    Sheet {
        width: 20.0,
        height: 10.0,
        shapes,
        texts: Vec::<Placed>::new(),
    }
}

/// Covered pixels, parts of pixels among them.
fn ink(pixels: &Pixels) -> f64 {
    let dark = pixels.rgb.chunks_exact(3).map(|p| 255.0 - f64::from(p[0]));
    dark.sum::<f64>() / 255.0
}

fn stroke(width: u32, colour: BackendColor) -> Stroke {
    Stroke { colour, width }
}

#[test]
fn areas_are_those_of_the_shapes() {
    let line = |places: &[(i32, i32)], width| Shape::Line {
        places: places.to_vec(),
        stroke: stroke(width, BLACK),
    };
    let within = Corners::new((15, 20), (65, 80));
    let paint = Paint::Fill(BLACK);
    for (shape, area) in [
        (Shape::Rect { within, paint }, 30.0),
        (line(&[(20, 50), (180, 50)], 10), 16.0),
        (line(&[(20, 20), (100, 80)], 15), 15.0),
        // A right angle: both parts, and the square of the corner.
        (line(&[(20, 20), (100, 20), (100, 80)], 10), 14.0),
        (
            Shape::Circle {
                centre: (100, 50),
                radius: 40,
                paint: Paint::Fill(BLACK),
            },
            std::f64::consts::PI * 16.0,
        ),
        (
            Shape::Polygon {
                corners: vec![(10, 10), (110, 10), (10, 90)],
                fill: BLACK,
            },
            40.0,
        ),
    ] {
        let pixels = drawn(&sheet(vec![shape]), 1.0);
        let found = ink(&pixels);
        assert!((found - area).abs() < 0.02 * area, "{found} of {area}");
    }
}

#[test]
fn a_pixel_has_the_mixed_colour() {
    let half = BackendColor {
        alpha: 0.5,
        rgb: (200, 100, 0),
    };
    let within = Corners::new((0, 0), (200, 100));
    let paint = Paint::Fill(half);
    let pixels = drawn(&sheet(vec![Shape::Rect { within, paint }]), 2.0);
    assert_eq!((pixels.width, pixels.height), (40, 20));
    assert!(pixels.rgb.chunks_exact(3).all(|p| p == [228, 178, 128]));
}

#[test]
fn dashes_leave_gaps() {
    let whole = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
    let dashes = outline::dashes(&whole, &[6.0, 3.0]);
    assert_eq!(
        dashes,
        [
            vec![(0.0, 0.0), (6.0, 0.0)],
            vec![(9.0, 0.0), (10.0, 0.0), (10.0, 5.0)],
            vec![(10.0, 8.0), (10.0, 10.0)]
        ]
    );
    assert_eq!(outline::dashes(&whole, &[]), [whole.to_vec()]);
}

#[test]
fn letters_stand_on_their_base_line_upright_and_turned() {
    let text = |turned| {
        Shape::Text(Text {
            text: "H".to_owned(),
            size: 8.0,
            colour: BLACK,
            x: 8.0,
            y: 9.0,
            anchor: HPos::Left,
            along: 0.0,
            turned,
        })
    };
    let dark = |turned| {
        let pixels = drawn(&sheet(vec![text(turned)]), 4.0);
        let all = pixels.rgb.chunks_exact(3).enumerate();
        let dark = all.filter(|(_, p)| p[0] < 128);
        let places = dark.map(|(i, _)| (i % pixels.width, i / pixels.width));
        places.collect::<Vec<_>>()
    };
    let ends = |all: &[(usize, usize)]| {
        let (xs, ys) = (all.iter().map(|p| p.0), all.iter().map(|p| p.1));
        [xs.clone().min(), xs.max(), ys.clone().min(), ys.max()].map(Option::unwrap)
    };
    // Capitals of this font are 0.71 of its size high, here 22.8 pixels.
    let [left, right, top, bottom] = ends(&dark(false));
    assert!(left >= 32 && right < 32 + 24, "{left} to {right}");
    assert!(
        (12..=14).contains(&top) && bottom == 35,
        "{top} to {bottom}"
    );
    let [left, right, top, bottom] = ends(&dark(true));
    assert!((8..=10).contains(&left) && right == 31, "{left} to {right}");
    assert!(bottom < 36 && top >= 12, "{top} to {bottom}");
    // Between the stems of the letter is paper above its bar.
    let upright = dark(false);
    let middle = (upright[0].0 + upright.iter().map(|p| p.0).max().unwrap()) / 2;
    assert!(!upright.contains(&(middle, 15)));
}

#[test]
fn a_file_has_its_size_its_resolution_and_its_pixels() {
    let within = Corners::new((20, 20), (60, 60));
    let paint = Paint::Fill(BLACK);
    let sheet = sheet(vec![Shape::Rect { within, paint }]);
    let pixels = drawn(&sheet, 1.0);
    let file = document(&sheet, "880px".parse().expect("a width"));
    let (head, mut rest) = file.split_at(8);
    assert_eq!(head, b"\x89PNG\r\n\x1a\n");
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().expect("4 bytes"));
        let end = 8 + number(0) as usize;
        assert_eq!(file::checksum(&rest[4..end]), number(end));
        chunks.push((&rest[4..8], &rest[8..end]));
        rest = &rest[end + 4..];
    }
    let of = |kind: &[u8]| chunks.iter().find(|c| c.0 == kind).expect("a chunk").1;
    assert_eq!(of(b"IHDR")[..8], [0, 0, 0, 20, 0, 0, 0, 10]);
    // 96 pixels of an inch are 3780 of a metre.
    assert_eq!(of(b"pHYs"), [0, 0, 14, 196, 0, 0, 14, 196, 1]);
    let rows = decompress_to_vec_zlib(of(b"IDAT")).expect("a stream");
    assert_eq!(rows.len(), 61 * 10);
    for (row, seen) in rows.chunks_exact(61).zip(pixels.rgb.chunks_exact(60)) {
        assert_eq!((row[0], &row[1..]), (0, seen));
    }
    // The sum of these nine digits is given in the standard's literature.
    assert_eq!(file::checksum(b"123456789"), 0xcbf4_3926);
}
