// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of files, and which files a new one may replace.

use std::collections::BTreeSet;

use crate::output::{self, Replace};

/// Bytes of a name before its number and its ending.
const LONGEST_NAME: usize = 200;

/// A name that no file of this command has yet, on a file system that does not tell `A` from `a`
/// either: labels that differ in other characters only would share a file.
pub(super) fn free(name: &str, ending: &str, taken: &mut BTreeSet<String>) -> String {
    // A file system has names of 255 bytes.
    let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
    let numbered = |n: u32| match n {
        1 => format!("{name}.{ending}"),
        n => format!("{name}-{n}.{ending}"),
    };
    let mut names = (1..).map(numbered);
    let free = names.find(|name| taken.insert(name.to_lowercase()));
    free.expect("there are more numbers than files")
}

/// Files that a chart or a table of this kind may replace.
pub(super) fn replaced(force: bool, ending: &str) -> Replace {
    let known: fn(&[u8]) -> bool = match ending {
        "svg" => |head| head.starts_with(b"<svg "),
        "pdf" => |head| head.starts_with(b"%PDF"),
        "png" => |head| head.starts_with(b"\x89PNG"),
        "csv" => is_table,
        "md" => |head| output::has(head, "\n\n| "),
        // fct.txt: the first words are addresses of hosts, of eight digits.
        _ => |head| {
            head.get(..8)
                .is_some_and(|address| address.iter().all(u8::is_ascii_hexdigit))
                && head.get(8) == Some(&b' ')
        },
    };
    Replace::ours(force, known)
}

/// Whether a CSV file begins as a table of a run or of a figure.
fn is_table(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let mut cells = line.split(|b| *b == b',');
    cells.any(|cell| [&b"scheme"[..], b"series", b"statistic"].contains(&cell))
}
