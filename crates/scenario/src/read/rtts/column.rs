// SPDX-License-Identifier: MIT OR Apache-2.0
//! A column of RTTs: a text file with a value in each line, or a table with a line of names.

use cemark_sim::workload::{RttModel, Samples};
use cemark_wire::Picos;

use super::buckets::{self, Bucket};
use super::value::{rtt, shortened, unit_of_name};
use super::{Ask, Column, Found, Trouble};
use crate::error::{alike, near};

/// More than anyone measures for a distribution; they stay in memory.
const MOST: usize = 10_000_000;

/// The cells of one line.
type Cells = Vec<String>;

/// Reads the RTTs of a table; one with the columns `le` and `count` is a histogram.
pub(super) fn read(text: &str, ask: &Ask) -> Result<Found, Trouble> {
    let mut lines = significant(text).peekable();
    let Some(&(line, first)) = lines.peek() else {
        let help = "write a column of RTTs, such as 85.2, or the buckets of a histogram";
        return Err(Trouble::new("it contains no RTT".to_owned(), help));
    };
    let separator = separator(first);
    let cells = split(first, separator);
    let names = is_header(&cells).then_some(cells.as_slice());
    if names.is_some() {
        lines.next();
    }
    if let (Some(names), None) = (names, &ask.column)
        && let Some((le, count)) = histogram(names)
    {
        let unit = agreed(&names[le], ask)?;
        let bucket = |(line, text): (usize, &str)| {
            let cells = split(text, separator);
            let cell = |i: usize| cells.get(i).map_or("", String::as_str);
            Bucket::read(cell(le), cell(count), unit)
                .map_err(|t| t.at(line))
                .map(|bucket| (line, bucket))
        };
        return buckets::model(lines.map(bucket).collect::<Result<_, _>>()?);
    }
    let column = column(&cells, names.is_some(), ask).map_err(|t| t.at(line))?;
    let unit = match names {
        Some(names) => agreed(&names[column], ask)?,
        None => ask.unit,
    };
    let mut values: Vec<Picos> = Vec::new();
    for (line, text) in lines {
        if values.len() == MOST {
            let help = "a sample of it, such as every tenth line, gives the same distribution";
            return Err(Trouble::new(format!("it has more than {MOST} RTTs"), help));
        }
        values.push(value(text, separator, column, unit).map_err(|t| t.at(line))?);
    }
    let samples = Samples::new(values).ok_or_else(|| {
        let help = "write the RTTs below the line of names, one in each line";
        Trouble::new("it has a line of names and no RTT".to_owned(), help)
    })?;
    Ok(Found {
        model: RttModel::Samples(samples),
        notes: Vec::new(),
    })
}

/// The lines that count, with their numbers.
pub(super) fn significant(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim).zip(1..);
    let counts = |(text, _): &(&str, usize)| !text.is_empty() && !text.starts_with('#');
    lines.filter(counts).map(|(text, line)| (line, text))
}

fn value(text: &str, separator: char, column: usize, unit: Option<u64>) -> Result<Picos, Trouble> {
    // Most files have one column, and a million lines.
    if !text.contains([separator, '"']) && column == 0 {
        return rtt(text, unit);
    }
    let cells = split(text, separator);
    match cells.get(column) {
        Some(cell) => rtt(cell, unit),
        None => Err(Trouble::new(
            format!(
                "column {} is missing, there are {}",
                column + 1,
                cells.len()
            ),
            "write a value there, or remove the line",
        )),
    }
}

/// The separator of the cells, by the first line.
fn separator(line: &str) -> char {
    *['\t', ';']
        .iter()
        .find(|c| line.contains(**c))
        .unwrap_or(&',')
}

/// The cells of a line. Quotes are those of CSV; a cell does not go on in the next line.
fn split(line: &str, separator: char) -> Cells {
    if !line.contains('"') {
        return line
            .split(separator)
            .map(|cell| cell.trim().to_owned())
            .collect();
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator as u8)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let record = reader.records().flatten().next().unwrap_or_default();
    record.iter().map(str::to_owned).collect()
}

/// Whether a line names its columns: each cell begins as a name does, and none is what tools write
/// for a missing value.
fn is_header(cells: &[String]) -> bool {
    let missing = ["nan", "inf", "infinity", "null", "none", "na"];
    let names = |cell: &String| {
        cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !missing.contains(&cell.to_lowercase().as_str())
    };
    cells.iter().all(names)
}

/// The places of the upper bounds and of the counts.
fn histogram(names: &[String]) -> Option<(usize, usize)> {
    let is_bound = |name: &String| {
        let mut words = name.split(|c: char| !c.is_alphabetic());
        words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("le"))
    };
    let le = names.iter().position(is_bound)?;
    let words = ["count", "counts", "cumulative", "bucket", "value"];
    let is_count = |name: &String| words.iter().any(|word| alike(word, name));
    Some((le, names.iter().position(is_count)?))
}

/// The unit of a column: by its name or by `unit`, which must agree.
fn agreed(name: &str, ask: &Ask) -> Result<Option<u64>, Trouble> {
    match (unit_of_name(name), ask.unit) {
        (Some(named), Some(asked)) if named != asked => Err(Trouble::new(
            format!(
                "the name of the column `{}` ends in another unit than `unit`",
                shortened(name)
            ),
            "leave `unit` out, or rename the column",
        )),
        (named, asked) => Ok(asked.or(named)),
    }
}

/// The place of the column to read.
fn column(cells: &[String], named: bool, ask: &Ask) -> Result<usize, Trouble> {
    let all = || {
        let names: Vec<String> = cells
            .iter()
            .map(|name| format!("`{}`", shortened(name)))
            .collect();
        names.join(", ")
    };
    match (&ask.column, named) {
        (None, _) if cells.len() == 1 => Ok(0),
        (None, true) => {
            let times: Vec<usize> = (0..cells.len())
                .filter(|&i| unit_of_name(&cells[i]).is_some())
                .collect();
            if let [one] = times.as_slice() {
                return Ok(*one);
            }
            let likely = cells
                .iter()
                .find(|name| name.to_lowercase().contains("rtt"));
            let likely = likely.unwrap_or(&cells[times.first().copied().unwrap_or(0)]);
            Err(Trouble::new(
                format!("it has {} columns: {}", cells.len(), all()),
                format!(
                    "say which has the RTTs: write column = \"{}\" in [rtt]",
                    shortened(likely)
                ),
            ))
        }
        (None, false) => Err(Trouble::new(
            format!("it has {} columns and no line of names", cells.len()),
            "write the number of the column, counted from 1, in [rtt]: column = 1. A comma \
             separates columns: write 85.2, not 85,2",
        )),
        (Some(Column::Number(n)), _) if *n <= cells.len() => Ok(n - 1),
        (Some(Column::Number(n)), _) => Err(Trouble::new(
            format!("it has no column {n}"),
            format!("write column = 1 to {}", cells.len()),
        )),
        (Some(Column::Name(name)), true) => {
            let found = cells.iter().position(|cell| alike(cell, name));
            found.ok_or_else(|| {
                let near = near(name, cells.iter().map(String::as_str));
                Trouble::new(format!("it has no column `{name}`"), near)
            })
        }
        (Some(Column::Name(name)), false) => Err(Trouble::new(
            format!("it has no line of names, and so no column `{name}`"),
            format!("write column = 1 to {}", cells.len()),
        )),
    }
}
