// SPDX-License-Identifier: MIT OR Apache-2.0
//! Characters of charts that the font lacks.

use std::collections::BTreeSet;

use cemark_report::chart::Chart;

use crate::exit::complain;

/// Most characters and charts that a warning names.
const MOST_NAMED: usize = 5;

/// Warns of characters that files of these charts show as boxes; `files` are PDF or PNG files.
pub(super) fn warn(charts: &[Chart], files: &str) {
    let listed = |all: &[String]| {
        let some = all.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>();
        match all.len().saturating_sub(MOST_NAMED) {
            0 => some.join(", "),
            more => format!("{} and {more} more", some.join(", ")),
        }
    };
    let (mut characters, mut names) = (BTreeSet::new(), Vec::new());
    for chart in charts {
        let lacking = chart.lacking();
        if !lacking.is_empty() {
            characters.extend(lacking);
            names.push(chart.name.clone());
        }
    }
    if characters.is_empty() {
        return;
    }
    let code = |c: &char| format!("`{c}` (U+{:04X})", u32::from(*c));
    let characters: Vec<String> = characters.iter().map(code).collect();
    complain(
        &format!(
            "the font of {files} files lacks {}; boxes stand for them in {}",
            listed(&characters),
            listed(&names)
        ),
        "write labels and titles in Latin or Greek letters, or take the SVG files, which leave \
         such characters to the program that shows them",
    );
}
