// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base RTTs from a file: measured values, the buckets of a histogram, or the output of `ss`.

mod buckets;
mod column;
mod ss;
mod value;

use std::path::{Path, PathBuf};

use cemark_sim::workload::RttModel;

use crate::error::{Fallible, Fault};
use crate::files;
use crate::key::{Key, keys, words};
use crate::plan::{Point, Warning};
use crate::section::{Section, count};
use crate::sizes::Tables;
use crate::tree::{Node, Value};

/// A unit of time in picoseconds.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct TimeUnit(u64);

words! { TimeUnit:
    "ns" => TimeUnit(1_000),
    "us" => TimeUnit(1_000_000),
    "ms" => TimeUnit(1_000_000_000),
    "s" => TimeUnit(1_000_000_000_000),
}

keys! {
    /// The keys that say where measured RTTs are.
    FILE_KEYS:
    FILE: String = Key::text("file").only(&["samples"]).needed("rtts.csv").doc(
        "a file of RTTs, one in each line, with or without a line of names; or a histogram as \
         Prometheus has it; or the output of `ss -tin` (below). Relative to the scenario's folder",
    );
    COLUMN: Node = Key::own(
        "column",
        "a name, or a number from 1",
        r#"{"anyOf":[{"type":"string"},{"type":"integer","minimum":1}]}"#,
    )
    .only(&["samples"])
    .follows("the only one")
    .doc(
        "the column that has the RTTs, needed unless there is one, or one whose name ends in a \
         unit; in the text of an exporter the name of the metric",
    );
    UNIT: TimeUnit = Key::choice("unit").only(&["samples"]).follows("by the name of the column")
        .doc("unit of values without one, where the column's name does not end in one (`rtt_us`)");
    SERIES: Series = Key::choice("series").only(&["samples"]).usual("one").doc(
        "a metric in the text of an exporter that has several series, one for each peer for \
         example: `one` refuses it, `sum` adds their counts",
    );
}

/// Series of a metric that are read, where it has one for each set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Series {
    /// There must be one.
    One,
    /// Their counts are added.
    Sum,
}

words! { Series: "one" => Series::One, "sum" => Series::Sum }

/// A file of ten million values has less.
const LARGEST_FILE: u64 = 256 << 20;

/// Which column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Column {
    Name(String),
    /// Counted from one.
    Number(usize),
}

/// The section's keys about the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ask {
    column: Option<Column>,
    /// In picoseconds.
    unit: Option<u64>,
    series: Series,
}

/// A file, and how it is to be read.
pub(crate) type Source = (PathBuf, Ask);

/// The RTTs of a file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) model: RttModel,
    /// Warnings for the author of the scenario, each with what to do.
    pub(crate) notes: Vec<(String, &'static str)>,
}

/// Why a file cannot be used.
pub(crate) struct Trouble {
    line: Option<usize>,
    what: String,
    help: String,
}

impl Trouble {
    fn new(what: String, help: impl Into<String>) -> Trouble {
        Trouble {
            line: None,
            what,
            help: help.into(),
        }
    }

    fn at(mut self, line: usize) -> Trouble {
        self.line.get_or_insert(line);
        self
    }
}

/// Reads a file's text.
fn parse(text: &str, ask: &Ask) -> Result<Found, Trouble> {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains("_bucket{") {
        buckets::exposition(text, ask)
    } else if ss::is_output(text) {
        ss::read(text, ask)
    } else {
        column::read(text, ask)
    }
}

impl Tables {
    /// Reads the keys `file`, `column` and `unit` of `[rtt]`, and the file.
    pub(crate) fn rtts(&mut self, s: &mut Section<'_>) -> Fallible<RttModel> {
        let name = s.read(&FILE)?;
        let at = s.need(&FILE)?.at;
        let ask = Ask {
            column: s.given(&COLUMN)?.map(|node| column_of(&node)).transpose()?,
            unit: s.given(&UNIT)?.map(|unit| unit.0),
            series: s.read(&SERIES)?,
        };
        let source = (self.base.join(&name), ask);
        if let Some(found) = self.rtts.get(&source) {
            return Ok(found.model.clone());
        }
        let text = files::text(&source.0, LARGEST_FILE).map_err(|why| {
            Fault::new(at, format!("the RTTs in `{name}` cannot be read: {why}"))
                .label("this file")
                .help("a relative path starts from the scenario's folder")
        })?;
        let found = parse(&text, &source.1).map_err(|t| trouble(&source.0, t, at))?;
        let model = found.model.clone();
        self.rtts.insert(source, found);
        Ok(model)
    }

    /// Warnings about the files of RTTs, each with the number of its points.
    pub(crate) fn warnings(&self, points: &[Point]) -> Vec<Warning> {
        let about = |(source, found): (&Source, &Found)| {
            let file = source.0.display().to_string();
            let model = found.model.clone();
            let warning = move |(note, help): &(String, &'static str)| {
                let message = format!("`{file}`: {note}");
                let concerned = points.iter().filter(|p| p.config.rtt == model);
                Warning {
                    about: format!("rtt file {message}"),
                    message,
                    help: (*help).to_owned(),
                    points: concerned.count(),
                }
            };
            found.notes.iter().map(warning).collect::<Vec<Warning>>()
        };
        let more = self.uncounted().map(|(path, flows)| {
            let message = format!(
                "`{}`: {flows} flows behind those that its first line counts are not read",
                path.display()
            );
            Warning {
                about: format!("flow file {message}"),
                message,
                help: "correct the number in the first line to simulate them".to_owned(),
                points: points.len(),
            }
        });
        self.rtts.iter().flat_map(about).chain(more).collect()
    }
}

fn trouble(path: &Path, trouble: Trouble, at: crate::error::At) -> Box<Fault> {
    let file = path.display();
    let message = match trouble.line {
        Some(line) => format!("`{file}`, line {line}: {}", trouble.what),
        None => format!("`{file}`: {}", trouble.what),
    };
    Fault::new(at, message)
        .label("this file")
        .help(trouble.help)
}

fn column_of(node: &Node) -> Fallible<Column> {
    match &node.value {
        Value::Text(name) => Ok(Column::Name(name.trim().to_owned())),
        _ => Ok(Column::Number(count(node, (1, 10_000))? as usize)),
    }
}
