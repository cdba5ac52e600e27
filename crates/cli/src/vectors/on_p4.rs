// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark vectors --impl p4`: the P4 programs, which compute as a switch does. A file is equal
//! where every packet is judged as by the Rust model of the same arithmetic; the distance from the
//! ideal rule is printed beside it.

use std::collections::BTreeMap;
use std::fmt::Write;

use cemark_conformance::{OnP4, Rounding, replay_p4};
use cemark_vectors::Vectors;
use serde::Serialize;

use super::{Args, Row, say, verdict, wrong};
use crate::exit::Failure;

/// Results that only the P4 programs have of a file.
#[derive(Serialize)]
struct OfP4<'a> {
    /// Case and reason.
    left_out: &'a [(String, String)],
    marks: u64,
    marks_ideal: u64,
    /// Case and packet.
    first_difference_from_ideal: Option<(&'a str, u64)>,
}

pub(super) fn vectors(args: &Args, files: &[Vectors]) -> Result<(), Failure> {
    let replayed: Vec<(&Vectors, OnP4)> = files
        .iter()
        .filter_map(|file| {
            let came = replay_p4(file, Rounding::Nearest).transpose()?;
            Some(came.map(|came| (file, came)))
        })
        .collect::<Result<_, String>>()
        .map_err(wrong)?;
    let rows: Vec<Row<'_, OfP4<'_>>> = replayed
        .iter()
        .map(|(file, came)| row(file, came))
        .collect();
    say(args.format, "p4", &rows, table)
}

fn row<'a>(file: &'a Vectors, came: &'a OnP4) -> Row<'a, OfP4<'a>> {
    Row {
        scheme: file.scheme.name,
        file: &file.file,
        cases: came.cases,
        packets: came.packets,
        verdict: match came.cases {
            0 => "left out",
            _ => verdict(&came.differ),
        },
        differ: &came.differ,
        more: OfP4 {
            left_out: &came.left_out,
            marks: came.marks,
            marks_ideal: came.ideal,
            first_difference_from_ideal: came.first.as_ref().map(|(case, n)| (case.as_str(), *n)),
        },
    }
}

fn table(rows: &[Row<'_, OfP4<'_>>]) -> String {
    let mut text = format!(
        "{:<14} {:<15} {:>5} {:>9}  {:<8} {:>8} {:>8} {:>7}  first difference from the ideal\n",
        "scheme", "file", "cases", "packets", "p4", "marks", "ideal", "more"
    );
    for row in rows {
        let more = match row.more.marks_ideal {
            0 => "-".to_owned(),
            ideal => format!(
                "{:+.1} %",
                (row.more.marks as f64 / ideal as f64 - 1.0) * 100.0
            ),
        };
        let first = match row.more.first_difference_from_ideal {
            Some((case, packet)) => format!("packet {packet} of \"{case}\""),
            None => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:<14} {:<15} {:>5} {:>9}  {:<8} {:>8} {:>8} {more:>7}  {first}",
            row.scheme,
            row.file,
            row.cases,
            row.packets,
            row.verdict,
            row.more.marks,
            row.more.marks_ideal,
        );
        for differs in row.differ {
            let _ = writeln!(text, "    {differs}");
        }
    }
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, why) in rows.iter().flat_map(|r| r.more.left_out) {
        *reasons.entry(why).or_default() += 1;
    }
    for (why, cases) in reasons {
        let _ = writeln!(text, "left out: {cases:>3} cases: {why}");
    }
    text.push_str(
        "equal: every packet is judged as by the Rust model of the switch's arithmetic\n\
         marks, ideal: packets that the program marks, and that the rule marks in nanoseconds and \
         exact quotients; --format json names the cases that are left out\n",
    );
    text
}
