// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers that `cemark init` needs, and how each is read: alike from an option and from a question
//! on the terminal.

use std::path::Path;

use cemark_scenario::{Measure, near, read_quantity};
use cemark_transport::cc::catalogue;

pub(super) use crate::quantity::read_rate as rate;

use super::quantiles::{self, Rows};

/// The kind of fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Hosts on one switch
    #[value(alias = "one-switch")]
    Star,
    /// Two tiers: every leaf is joined to every spine
    LeafSpine,
    /// Three tiers of switches with k ports each
    FatTree,
}

impl Kind {
    /// All of them, in the order of the question.
    pub(super) const ALL: [Kind; 3] = [Kind::LeafSpine, Kind::Star, Kind::FatTree];

    /// As people say it.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Kind::Star => "one switch",
            Kind::LeafSpine => "leaf-spine (two tiers)",
            Kind::FatTree => "fat tree (three tiers)",
        }
    }

    /// Number of hosts if nothing is said.
    pub(super) const fn usual_hosts(self) -> u32 {
        match self {
            Kind::Star => 16,
            Kind::LeafSpine => 64,
            Kind::FatTree => 128,
        }
    }

    /// Oversubscription if nothing is said.
    pub(super) const fn usual_ratio(self) -> f64 {
        match self {
            Kind::LeafSpine => 2.0,
            Kind::Star | Kind::FatTree => 1.0,
        }
    }
}

/// Everything that the scenario follows from.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(super) kind: Kind,
    pub(super) hosts: u32,
    /// Rate of the host links, in bits per second.
    pub(super) rate: u64,
    /// Rate of the links between switches, where it is another one.
    pub(super) uplink: Option<u64>,
    /// Capacity of a leaf's hosts over that of its uplinks.
    pub(super) ratio: f64,
    pub(super) rtt: Rtts,
    /// Keys of `[rtt]` about a file of RTTs, with their values.
    pub(super) rtt_keys: Vec<(&'static str, String)>,
    pub(super) buffer: Buffer,
    pub(super) sizes: String,
    pub(super) load: f64,
    /// The word of a congestion controller.
    pub(super) transport: &'static str,
    pub(super) queues: u32,
    /// Traffic classes; empty: all flows are alike.
    pub(super) classes: Vec<Class>,
}

impl Answers {
    /// Answers with other base RTTs: percentiles in millionths, and picoseconds.
    pub(crate) fn with_rtts(&self, rows: Vec<(u32, u64)>) -> Answers {
        Answers {
            rtt: Rtts::Quantiles(rows),
            rtt_keys: Vec::new(),
            ..self.clone()
        }
    }

    /// Bytes of the buffer.
    pub(crate) fn buffer_bytes(&self, cell: Option<u64>) -> Result<u64, String> {
        self.buffer.bytes(cell)
    }
}

/// A traffic class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// The word of a congestion controller.
    pub(crate) control: &'static str,
    pub(crate) dscps: Vec<u8>,
}

impl Class {
    /// Whether its senders are RDMA queue pairs.
    pub(crate) fn is_roce(&self) -> bool {
        self.control == "dcqcn"
    }
}

/// Base RTTs, in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rtts {
    /// From the smallest to the largest; perhaps with the median.
    Range {
        smallest: u64,
        typical: Option<u64>,
        largest: u64,
    },
    /// Percentiles, not all of one RTT.
    Quantiles(Rows),
    /// A file of measured RTTs.
    File(String),
}

/// Who has the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Per {
    /// The ports of a switch share it.
    Switch,
    /// Each port has its own.
    Port,
}

/// A buffer: bytes or cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    pub(super) amount: u64,
    pub(super) in_cells: bool,
    pub(super) per: Per,
}

/// Largest buffer of a scenario, in bytes.
const LARGEST_BUFFER: u64 = u32::MAX as u64;
/// Smallest buffer of a port, in bytes: ten packets.
const LEAST_PORT: u64 = 15_000;
/// Smallest buffer of a switch, in bytes.
const LEAST_SWITCH: u64 = 150_000;
const MICROSECOND: u64 = 1_000_000;

pub(crate) fn hosts(text: &str) -> Result<u32, String> {
    let range = 2..=4096;
    let n = text.trim().parse().ok().filter(|n| range.contains(n));
    n.ok_or_else(|| "write a number of hosts from 2 to 4096".to_owned())
}

/// `2`, `2:1`, `1.5`.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = text.strip_suffix(":1").unwrap_or(text).parse::<f64>();
    let number = number.ok().filter(|x| (1.0..=32.0).contains(x));
    number.ok_or_else(|| {
        "write 1 to 32: the rate of a switch's hosts over that of its uplinks, such as 2 or 3:1"
            .to_owned()
    })
}

/// `80us`, `20us..120us`, `20us..60us..120us`, `p50=12us,p99=95us`, or the path of a file.
pub(crate) fn rtt(text: &str) -> Result<Rtts, String> {
    const WRITE: &str = "write smallest..largest (20us..120us), smallest..typical..largest \
                         (20us..50us..120us), percentiles (p50=12us,p99=95us), or the path of a \
                         file of RTTs";
    let text = text.trim();
    if Path::new(text).is_file() {
        return Ok(Rtts::File(text.to_owned()));
    }
    if text.contains('=') {
        return within(of_rows(quantiles::read(text)?));
    }
    let parts: Result<Vec<u64>, String> = text
        .split("..")
        .map(|part| read_quantity(part.trim(), Measure::Time))
        .collect();
    let parts = parts.map_err(|_| format!("there is no such file, and it is no time: {WRITE}"))?;
    let (smallest, typical, largest) = match parts[..] {
        [one] => (one, None, one),
        [smallest, largest] => (smallest, None, largest),
        [smallest, typical, largest] => (smallest, Some(typical), largest),
        _ => return Err(WRITE.to_owned()),
    };
    let middle = typical.unwrap_or(smallest);
    if smallest > middle || middle > largest {
        return Err(format!("the RTTs fall: {WRITE}"));
    }
    within(Rtts::Range {
        smallest,
        typical: typical.filter(|_| smallest < largest),
        largest,
    })
}

/// Percentiles as base RTTs. Where all are equal, so are the RTTs of all flows.
fn of_rows(rows: Rows) -> Rtts {
    match rows[..] {
        [(_, smallest), .., (_, largest)] if smallest == largest => Rtts::Range {
            smallest,
            typical: None,
            largest,
        },
        _ => Rtts::Quantiles(rows),
    }
}

/// Rising RTTs, if all are within the range of base RTTs here.
fn within(rtts: Rtts) -> Result<Rtts, String> {
    let ends = match &rtts {
        Rtts::Range {
            smallest, largest, ..
        } => vec![*smallest, *largest],
        Rtts::Quantiles(rows) => rows.iter().map(|row| row.1).collect(),
        Rtts::File(_) => Vec::new(),
    };
    let range = MICROSECOND..=100_000 * MICROSECOND;
    match ends.iter().all(|rtt| range.contains(rtt)) {
        true => Ok(rtts),
        false => Err("a base RTT is from 1us to 100ms here".to_owned()),
    }
}

/// `column=rtt_us`, `unit=us`, `series=sum`.
pub(crate) fn rtt_key(text: &str) -> Result<(&'static str, String), String> {
    let known = ["column", "unit", "series"];
    let found = text.split_once('=').and_then(|(key, value)| {
        let key = known.iter().find(|known| **known == key.trim())?;
        let value = value.trim();
        (!value.is_empty()).then(|| (*key, value.to_owned()))
    });
    found.ok_or_else(|| "write column=NAME, unit=us or series=sum".to_owned())
}

/// `16MB`, `600KB/port`, `65536cells`, `4000cells/port`.
pub(crate) fn buffer(text: &str) -> Result<Buffer, String> {
    const WRITE: &str = "write the buffer of a switch (16MB), of a port (600KB/port), or cells \
                         (65536cells, with --cell 256B)";
    let text = text.trim();
    let (amount, per) = match text.split_once('/') {
        None => (text, Per::Switch),
        Some((amount, per)) => match per.trim() {
            "switch" => (amount.trim(), Per::Switch),
            "port" => (amount.trim(), Per::Port),
            _ => return Err(WRITE.to_owned()),
        },
    };
    let cells = amount
        .strip_suffix("cells")
        .or_else(|| amount.strip_suffix("cell"));
    let (amount, in_cells) = match cells {
        Some(count) => (count.trim().parse().map_err(|_| WRITE.to_owned())?, true),
        None => {
            let bytes = read_quantity(amount, Measure::Length);
            (bytes.map_err(|_| WRITE.to_owned())?, false)
        }
    };
    let buffer = Buffer {
        amount,
        in_cells,
        per,
    };
    if !in_cells {
        buffer.bytes(None)?;
    }
    Ok(buffer)
}

impl Buffer {
    /// In bytes, for cells of this size.
    pub(super) fn bytes(self, cell: Option<u64>) -> Result<u64, String> {
        let bytes = match (self.in_cells, cell) {
            (false, _) => self.amount,
            (true, Some(cell)) => self.amount.saturating_mul(cell),
            (true, None) => {
                return Err(
                    "a buffer in cells needs the size of a cell: add --cell 256B".to_owned(),
                );
            }
        };
        let (least, words) = match self.per {
            Per::Switch => (LEAST_SWITCH, "150KB to 4.2GB for a switch"),
            Per::Port => (LEAST_PORT, "15KB to 4.2GB for a port"),
        };
        match (least..=LARGEST_BUFFER).contains(&bytes) {
            true => Ok(bytes),
            false => Err(format!(
                "a buffer of {bytes} bytes is out of range: write {words}"
            )),
        }
    }
}

/// `256B`.
pub(crate) fn cell(text: &str) -> Result<u64, String> {
    let bytes = read_quantity(text.trim(), Measure::Length).ok();
    let bytes = bytes.filter(|bytes| (16..=16_384).contains(bytes));
    bytes.ok_or_else(|| "write the bytes of a cell from 16B to 16KB, such as 256B".to_owned())
}

/// `0.6`, `60%`.
pub(crate) fn load(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
        None => text.parse(),
    };
    let load = number.ok().filter(|load| (0.05..=0.95).contains(load));
    load.ok_or_else(|| "write a load from 0.05 to 0.95, such as 0.6 or 60%".to_owned())
}

/// The word of a congestion controller that uses ECN.
pub(crate) fn transport(text: &str) -> Result<&'static str, String> {
    let word = text.trim().to_lowercase().replace('_', "-");
    let marked = || catalogue::ALL.iter().filter(|spec| spec.ecn);
    if let Some(spec) = marked().find(|spec| spec.name == word) {
        return Ok(spec.name);
    }
    let help = near(&word, marked().map(|spec| spec.name));
    match catalogue::ALL.iter().any(|spec| spec.name == word) {
        true => Err(format!("{word} does not react to marks; {help}")),
        false => Err(help),
    }
}

/// DSCP of the notifications of queue pairs (CNPs).
pub(super) const CNP: u8 = 48;
/// Most classes: queues 0 to 5, and one for notifications.
const MOST_CLASSES: usize = 6;

/// `storage:dcqcn:26`, `rest:dctcp`.
pub(crate) fn class(text: &str) -> Result<Class, String> {
    const WRITE: &str = "write name, controller and DSCPs: storage:dcqcn:26, web:dctcp:0,8";
    let mut parts = text.trim().splitn(3, ':');
    let name = parts.next().unwrap_or_default().trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(plain) {
        return Err(WRITE.to_owned());
    }
    let control = transport(parts.next().ok_or_else(|| WRITE.to_owned())?)?;
    let dscps = match parts.next() {
        None => vec![0],
        Some(list) => {
            let each = list.split(',').map(|dscp| dscp.trim().parse::<u8>());
            let all: Result<Vec<u8>, _> = each.collect();
            all.map_err(|_| WRITE.to_owned())?
        }
    };
    match dscps.iter().all(|dscp| *dscp < 64 && *dscp != CNP) {
        true => Ok(Class {
            name: name.to_owned(),
            control,
            dscps,
        }),
        false => Err(format!(
            "a DSCP is 0 to 63, and {CNP} is that of CNPs: {WRITE}"
        )),
    }
}

/// Classes in a line, or `none`.
pub(super) fn classes(text: &str) -> Result<Vec<Class>, String> {
    if text.trim() == "none" {
        return Ok(Vec::new());
    }
    let all: Result<Vec<Class>, String> = text.split_whitespace().map(class).collect();
    let all = all?;
    fit(&all).map(|()| all)
}

/// Whether classes can be those of one switch.
pub(super) fn fit(all: &[Class]) -> Result<(), String> {
    if all.len() > MOST_CLASSES {
        return Err(format!("write at most {MOST_CLASSES} classes"));
    }
    for (i, class) in all.iter().enumerate() {
        for other in &all[..i] {
            if other.name == class.name || class.name == NOTIFICATIONS {
                return Err(format!("two classes are called {}", class.name));
            }
            if let Some(dscp) = class.dscps.iter().find(|dscp| other.dscps.contains(dscp)) {
                let (one, two) = (&other.name, &class.name);
                return Err(format!("{one} and {two} both have DSCP {dscp}"));
            }
        }
    }
    let mut tcp = all.iter().filter(|class| !class.is_roce());
    let first = tcp.next();
    match tcp.find(|class| Some(class.control) != first.map(|first| first.control)) {
        Some(other) => Err(format!(
            "the classes of TCP have one controller here: write {} as well for {}, or add \
             [workload.transport] to the scenario",
            first.map_or("dctcp", |first| first.control),
            other.name
        )),
        None => Ok(()),
    }
}

/// Name of the class of CNPs.
pub(super) const NOTIFICATIONS: &str = "notifications";

pub(crate) fn queues(text: &str) -> Result<u32, String> {
    let n = text.trim().parse().ok().filter(|n| (1..=64).contains(n));
    n.ok_or_else(|| "write a number of queues from 1 to 64".to_owned())
}

/// A table, a file or a length. Names are checked by the reader of scenarios, which knows them.
pub(crate) fn sizes(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("write a table (web-search), a file, or one size (100KB)".to_owned()),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_people_write_them() {
        assert_eq!(rate("25G"), Ok(25_000_000_000));
        assert_eq!(rate("25Gbps"), Ok(25_000_000_000));
        assert_eq!(rate("100 Mb/s"), Ok(100_000_000));
        assert_eq!(ratio("2:1"), Ok(2.0));
        assert_eq!(ratio("1.5"), Ok(1.5));
        assert_eq!(load("60%"), Ok(0.6));
        assert_eq!(transport("ECN_star"), Ok("ecn-star"));
        let range = |smallest, typical, largest| Rtts::Range {
            smallest,
            typical,
            largest,
        };
        assert_eq!(rtt("80us"), Ok(range(80_000_000, None, 80_000_000)));
        assert_eq!(rtt("20us..120us"), Ok(range(20_000_000, None, 120_000_000)));
        let three = range(20_000_000, Some(50_000_000), 1_000_000_000);
        assert_eq!(rtt("20us .. 50us .. 1ms"), Ok(three));
        let rows = vec![(500_000, 12_000_000), (990_000, 95_000_000)];
        assert_eq!(rtt("p50=12us,p99=95us"), Ok(Rtts::Quantiles(rows)));
        assert_eq!(rtt("p1=80us,p99=80us"), rtt("80us"));
        let of = |amount, in_cells, per| Buffer {
            amount,
            in_cells,
            per,
        };
        assert_eq!(buffer("16MB"), Ok(of(16_000_000, false, Per::Switch)));
        assert_eq!(buffer("600KB/port"), Ok(of(600_000, false, Per::Port)));
        assert_eq!(
            buffer("65536 cells / switch"),
            Ok(of(65_536, true, Per::Switch))
        );
        let cells = of(65_536, true, Per::Switch);
        assert_eq!(cells.bytes(Some(256)), Ok(16_777_216));
        assert!(cells.bytes(None).is_err_and(|e| e.contains("--cell 256B")));
    }

    #[test]
    fn what_is_out_of_range_says_what_to_write() {
        for (refused, instead) in [
            (hosts("1").err(), "2 to 4096"),
            (hosts("many").err(), "2 to 4096"),
            (rate("25").err(), "25G"),
            (rate("10M").err(), "100Mbps"),
            (ratio("0.5").err(), "1 to 32"),
            (load("1.2").err(), "0.6"),
            (load("0").err(), "0.6"),
            (queues("0").err(), "1 to 64"),
            (rtt("120us..20us").err(), "20us..120us"),
            (rtt("20").err(), "20us..120us"),
            (rtt("20us..200s").err(), "100ms"),
            (rtt("p50=12us,p99=95s").err(), "100ms"),
            (rtt("min=1ns,p99=95us").err(), "1us"),
            (rtt("p50=12us").err(), "p50=12us,p99=95us"),
            (rtt("20").err(), "p50=12us,p99=95us"),
            (rtt("no-such-file.csv").err(), "no such file"),
            (buffer("16").err(), "16MB"),
            (buffer("16MB/rack").err(), "600KB/port"),
            (buffer("1KB/port").err(), "15KB"),
            (buffer("1KB").err(), "150KB"),
            (cell("1B").err(), "256B"),
            (transport("cubic").err(), "does not react to marks"),
            (transport("dctpc").err(), "did you mean `dctcp`"),
        ] {
            let said = refused.unwrap_or_default();
            assert!(said.contains(instead), "{said:?} without {instead:?}");
        }
    }
}
