// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text of `cemark help` on a figure: its rows, with the published numbers.

use std::fmt::Write as _;

use cemark_figures::{TARGETS, names, targets};
use cemark_report::text::hang;

/// The rows of a figure; `None` where there is no such figure.
pub(super) fn about(figure: &str, width: usize) -> Option<String> {
    let figure = names().find(|name| *name == figure)?;
    let all = targets::parse(TARGETS).ok()?;
    let mut out = format!("figure {figure}: the rows that are compared with published numbers\n");
    for row in all.iter().filter(|target| target.figure == figure) {
        let published = row.published.map_or_else(String::new, |p| {
            let unit = if row.unit == "-" { "" } else { &row.unit };
            format!("; published: {p} {unit}").trim_end().to_owned()
        });
        let text = format!("{}; {}{published}", row.experiment, row.statistic);
        let text = hang(&text, width, 4);
        let _ = writeln!(out, "{}\n    {text}", row.id);
    }
    let _ = writeln!(out, "\nnext    cemark figure {figure}, cemark help figures");
    Some(out)
}
