// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows of a `list` from a file, up to some millions of them: comma-separated values, Parquet
//! with the same columns, or the lists of other simulators.

mod after;
mod foreign;
mod parquet;

use cemark_formats::Kind as File;
use cemark_sim::topology::Topology;
use cemark_sim::workload::{FlowLine, Kind};
use cemark_wire::Picos;

pub(crate) use after::{Names, Wrong};

use crate::error::{At, Fallible, Fault};
use crate::units::LARGEST_FLOW;
use crate::units::{LENGTHS, TIMES, Units, quantity, rounded};

/// Most flows of a file: half a gigabyte in memory.
pub(crate) const MOST: usize = 10_000_000;
/// Largest file.
pub(crate) const LARGEST: u64 = 256 << 20;

/// The columns that a file may have; `src`, `dst` and `size` it must have.
const NAMES: [&str; 8] = ["at", "src", "dst", "size", "class", "rtt", "id", "after"];

/// Where each of [`NAMES`] is, and the unit that its name ends in.
type Columns = [Option<(usize, String)>; 8];

/// A cell of a row: its text and the unit that the name of its column ends in, by the place of the
/// column in [`NAMES`].
type Cell<'a> = dyn Fn(usize) -> Option<(std::borrow::Cow<'a, str>, &'a str)> + 'a;

/// Flows, and what those that wait say of each other.
#[derive(Default)]
struct Found {
    lines: Vec<FlowLine>,
    names: Names,
}

impl Found {
    /// Adds the flow of a row.
    fn add(&mut self, cell: &Cell<'_>, hosts: u32, queues: usize) -> Result<(), String> {
        let line = line(cell, hosts, queues)?;
        let text = |n: usize| cell(n).map(|(text, _)| text.into_owned());
        let after = text(7).unwrap_or_default();
        let after = after.split_whitespace().map(str::to_owned);
        let added = self.names.add(self.lines.len(), text(6).as_deref(), after);
        added.map_err(|wrong| wrong.message)?;
        self.lines.push(line);
        Ok(())
    }
}

/// The workload of the flows in file `name`. `at`: where the scenario names it.
pub(crate) fn of(
    content: Result<&[u8], String>,
    (name, at): (&str, At),
    topology: &Topology,
    queues: usize,
) -> Fallible<Kind> {
    let kind = content.and_then(|content| {
        let found = found_in(content, topology, queues)?;
        let wrong = |wrong: Wrong| format!("flow {}: {}", wrong.place + 1, wrong.message);
        found.names.kind(found.lines).map_err(wrong)
    });
    kind.map_err(|why| {
        Fault::new(at, format!("the flows in `{name}` cannot be read: {why}")).help(
            "a first line such as at_us,src,dst,size and a line for each flow; or Parquet with \
             such columns, HPCC's flow.txt or a .cm of htsim. A relative path starts from the \
             scenario's folder",
        )
    })
}

/// How many flows of a file are not read, because its first line counts fewer.
pub(crate) fn uncounted(content: &[u8]) -> usize {
    match std::str::from_utf8(content) {
        Ok(text) if File::of(text) == Ok(File::HpccFlows) => cemark_formats::hpcc::uncounted(text),
        _ => 0,
    }
}

/// The flows of a file of any kind; its first bytes and lines say which it is.
fn found_in(content: &[u8], topology: &Topology, queues: usize) -> Result<Found, String> {
    if content.starts_with(parquet::MAGIC) {
        return parquet::read(content, topology.hosts(), queues);
    }
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8 text".to_owned())?;
    match File::of(text) {
        Ok(kind) => {
            let lines = foreign::read(kind, text, topology.hosts(), queues)?;
            let names = Names::default();
            Ok(Found { lines, names })
        }
        Err(_) => read(text, topology, queues),
    }
}

/// Reads comma-separated values. A mistake is described with its line.
fn read(text: &str, topology: &Topology, queues: usize) -> Result<Found, String> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| e.to_string())?;
    let columns = columns(header.iter())?;
    let mut found = Found::default();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let number = record.position().map_or(0, csv::Position::line);
        let cell = |n: usize| {
            let (i, unit) = columns[n].as_ref()?;
            let text = record.get(*i).filter(|text| !text.is_empty())?;
            Some((text.into(), unit.as_str()))
        };
        let added = found.add(&cell, topology.hosts(), queues);
        added.map_err(|why| format!("line {number}: {why}"))?;
        if found.lines.len() > MOST {
            return Err(format!("it has more than {MOST} flows"));
        }
    }
    match found.lines.is_empty() {
        true => Err("it has no flows".to_owned()),
        false => Ok(found),
    }
}

fn columns<'a>(header: impl Iterator<Item = &'a str>) -> Result<Columns, String> {
    let mut columns = Columns::default();
    for (i, cell) in header.enumerate() {
        let (name, unit) = cell.split_once('_').unwrap_or((cell, ""));
        let Some(n) = NAMES.iter().position(|known| *known == name) else {
            let known = NAMES.join(", ");
            return Err(format!("`{cell}` is no column of flows ({known})"));
        };
        if columns[n].is_some() {
            return Err(format!("two columns are called `{name}`"));
        }
        let unit = match (n, unit) {
            (3, "" | "bytes") => "B",
            (_, unit) => unit,
        };
        columns[n] = Some((i, unit.to_owned()));
    }
    match (1..4).find(|&n| columns[n].is_none()) {
        Some(n) => Err(format!("it has no column `{}`", NAMES[n])),
        None => Ok(columns),
    }
}

fn line(cell: &Cell<'_>, hosts: u32, queues: usize) -> Result<FlowLine, String> {
    let host = |n: usize| match cell(n).and_then(|(text, _)| text.parse::<u32>().ok()) {
        Some(host) if host < hosts => Ok(host),
        _ => Err(format!("`{}` is not a host, 0 to {}", NAMES[n], hosts - 1)),
    };
    let value = |n: usize, units: &Units| match cell(n) {
        None => Ok(None),
        Some((text, unit)) => {
            let bare = text.ends_with(|c: char| c.is_ascii_digit());
            let whole = format!("{text}{}", if bare { unit } else { "" });
            // Times may have been computed; there is no part of a byte.
            let read = match n {
                3 => quantity(&whole, units),
                _ => rounded(&whole, units),
            };
            let read = read.ok();
            read.map(Some)
                .ok_or_else(|| format!("`{}` cannot be read: `{text}`", NAMES[n]))
        }
    };
    let (src, dst) = (host(1)?, host(2)?);
    if src == dst {
        return Err(format!("host {src} cannot send to itself"));
    }
    let bytes = value(3, &LENGTHS)?.unwrap_or(0);
    if !(1..=LARGEST_FLOW).contains(&bytes) {
        return Err("a flow has from one byte to a petabyte".to_owned());
    }
    let class = match cell(4).map(|(text, _)| text.parse::<u8>()) {
        None => None,
        Some(Ok(class)) if usize::from(class) < queues => Some(class),
        Some(_) => return Err(format!("`class` is not a queue, 0 to {}", queues - 1)),
    };
    Ok(FlowLine {
        start: Picos(value(0, &TIMES)?.unwrap_or(0)),
        src,
        dst,
        bytes,
        class,
        rtt: value(5, &TIMES)?.map(Picos),
    })
}
