// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pixels as the bytes of a PNG file (ISO/IEC 15948).

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::raster::Pixels;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Eight bits of red, green and blue, no palette, not interlaced.
const FORM: [u8; 5] = [8, 2, 0, 0, 0];
/// Filter of a row whose bytes are colours: differences of neighbours take more room in charts.
const AS_THEY_ARE: u8 = 0;
/// Metres of an inch.
const INCH: f64 = 0.0254;

/// The file of pixels, of which an inch has `dots`.
pub(super) fn encode(pixels: &Pixels, dots: f64) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    let number = |n: usize| u32::try_from(n).expect("a small picture").to_be_bytes();
    let size = [number(pixels.width), number(pixels.height)].concat();
    chunk(&mut out, b"IHDR", &[&size[..], &FORM].concat());
    let per_metre = ((dots / INCH).round() as u32).to_be_bytes();
    chunk(
        &mut out,
        b"pHYs",
        &[&per_metre[..], &per_metre, &[1]].concat(),
    );
    chunk(&mut out, b"IDAT", &compress_to_vec_zlib(&rows(pixels), 9));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn rows(pixels: &Pixels) -> Vec<u8> {
    let rows = pixels.rgb.chunks_exact(3 * pixels.width);
    let rows = rows.map(|row| [&[AS_THEY_ARE], row].concat());
    rows.collect::<Vec<_>>().concat()
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("a small picture");
    out.extend(length.to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(data);
    let sum = checksum(&out[start..]);
    out.extend(sum.to_be_bytes());
}

/// The CRC-32 of bytes.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        let step = |sum: u32, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        (0..8).fold(sum ^ u32::from(*byte), step)
    })
}
