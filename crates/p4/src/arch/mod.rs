// SPDX-License-Identifier: MIT OR Apache-2.0
//! The architectures: names, widths and orders of what a program may use, in place of the files
//! that a P4 compiler brings along.

/// The text of an architecture's file.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    match name {
        "core.p4" => Some(include_str!("core.p4")),
        "tna.p4" => Some(include_str!("tna.p4")),
        "v1model.p4" => Some(include_str!("v1model.p4")),
        _ => None,
    }
}
