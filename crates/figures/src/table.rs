// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of a figure as a file: published beside measured, with the band.

use cemark_report::table::files::Table;
use cemark_report::units;

use super::RowResult;

/// The rows of a figure; with every digit for programs.
pub fn of_rows(rows: &[RowResult], exact: bool) -> Table {
    let head = [
        "row",
        "statistic",
        "unit",
        "published",
        "measured",
        "low",
        "high",
        "band from",
        "band to",
        "verdict",
    ];
    let value = |x: Option<f64>| match (x, exact) {
        (x, true) => x.map_or(String::new(), |x| x.to_string()),
        (Some(x), false) => units::number(x).replace('-', "−"),
        (None, false) => "–".to_owned(),
    };
    let cells = rows.iter().flat_map(|row| {
        row.parts.iter().map(move |p| {
            let verdict = p.verdict.map_or(String::new(), |v| v.to_string());
            let mut cells = vec![p.id.clone(), p.statistic.clone(), p.unit.clone()];
            cells.extend([p.published, p.measured, p.low, p.high, p.lo, p.hi].map(value));
            cells.push(verdict);
            cells
        })
    });
    Table {
        name: "rows".to_owned(),
        title: "Published and measured, with the band that counts as reproduced.".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: cells.collect(),
    }
}
