// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which program runs, and how it was called.

use std::path::Path;

use cemark_report::Provenance;
use cemark_wire::hash::Fnv1a;

/// Version, build and command line: for manifests, and to recognise points of another build.
/// `program` is the file that holds this code: the executable or, in another program, the library.
pub fn provenance(program: Option<&Path>, command: Vec<String>) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build(program),
        command,
    }
}

/// A fingerprint of this program. Points that another build stored are run again, because its
/// results may differ.
fn build(program: Option<&Path>) -> String {
    let bytes = program.and_then(|file| std::fs::read(file).ok());
    let bytes = bytes.unwrap_or_default();
    let mut hash = Fnv1a::new();
    let words = bytes
        .chunks(8)
        .map(|c| c.iter().fold(0_u64, |w, b| w << 8 | u64::from(*b)));
    let folded = words.fold(0_u64, |h, w| {
        (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    hash.write(&folded.to_le_bytes());
    hash.write(env!("CARGO_PKG_VERSION").as_bytes());
    cemark_report::summary::hex(hash.finish())
}
