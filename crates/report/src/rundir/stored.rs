// SPDX-License-Identifier: MIT OR Apache-2.0
//! A finished point as one Parquet file: its flows are the table, everything else is JSON in the
//! file's metadata. It is one file, so that a rename makes the whole point appear at once, and a
//! checksum covers all of it, so that damage is noticed before anything is used.

use std::collections::BTreeMap;
use std::path::Path;

use cemark_scenario::files;
use cemark_sim::Outcome;
use cemark_sim::outcome::{
    FlowRecord, LongRecord, PauseReport, PortReport, PortTrace, ProbeRecord, QueueSample, Spread,
    Totals, reasons,
};
use cemark_wire::{Nanos, Picos, Rate};
use serde::{Deserialize, Serialize};

use super::columns::{self, Column, Reader, Table};
use super::seal::{self, Place};

/// Key of the metadata entry. It changes with the meaning of what is stored: the fingerprint of a
/// point's simulator does not cover this file, so an old point would be read as a new one.
const KEY: &str = "cemark.point";
/// Bytes of the largest point.
const LARGEST: u64 = 16 << 30;

/// What a point belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// Fingerprint of the program.
    pub(crate) build: &'a str,
    /// Fingerprint of the scenario, 16 hex digits.
    pub(crate) scenario: &'a str,
    /// Fingerprint of the point's inputs, 16 hex digits.
    pub(crate) point: &'a str,
}

/// What a point's file contains.
pub(crate) enum Stored {
    /// There is no file.
    Missing,
    /// Whole, but of another build or another point: it is run again.
    Other,
    /// Not as it was written: it is run again, with a note.
    Damaged,
    /// The point, and its CPU seconds.
    Whole(Box<Outcome>, f64),
}

/// A point's file, apart from the flows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    /// Fingerprint of the cemark that ran it: results of another build are not mixed in.
    pub(crate) build: String,
    /// Fingerprint of the scenario that it was run for, 16 hex digits.
    pub(crate) scenario: String,
    /// Fingerprint of the point's inputs, 16 hex digits.
    pub(crate) point: String,
    /// CPU seconds it took.
    pub(crate) cpu_seconds: f64,
    rest: Rest,
}

#[derive(Serialize, Deserialize)]
struct Rest {
    end_ps: u64,
    packet_hops: u64,
    events: u64,
    digest: u64,
    sent: u64,
    delivered: u64,
    in_flight: u64,
    made: u64,
    gone: u64,
    marks: BTreeMap<String, u64>,
    drops: BTreeMap<String, u64>,
    timeouts: u64,
    retransmits: u64,
    goodput_bytes: u64,
    edges: BTreeMap<String, u64>,
    long_flows: Vec<Long>,
    goodput: Vec<u64>,
    /// (workload, sent, round trip)
    probes: Vec<(u16, u64, u64)>,
    ports: Vec<Port>,
    /// (name, frames, share of the time)
    pauses: Vec<(String, u64, f64)>,
    deadlock: Vec<String>,
    /// (name, port, samples)
    traces: Vec<(String, u32, Samples)>,
}

#[derive(Serialize, Deserialize)]
struct Long {
    id: u64,
    src: u32,
    dst: u32,
    class: u8,
    delivered: u64,
    arrived: u64,
    intervals: Vec<u64>,
    timeouts: u32,
    /// Zero in files of earlier versions.
    #[serde(default)]
    workload: u16,
}

#[derive(Serialize, Deserialize)]
struct Port {
    name: String,
    rate: u64,
    packets: u64,
    bytes: u64,
    marks: u64,
    drops: u64,
    utilisation: f64,
    queue: Five,
    sojourn: Five,
}

/// (time in picoseconds, bytes queued, wait in nanoseconds)
type Samples = Vec<(u64, u32, u64)>;

/// count, mean, p50, p99, max, min
type Five = (u64, f64, f64, f64, f64, f64);

/// JSON has no NaN: a mean of nothing is stored as zero, with its count beside it.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

fn five(s: &Spread) -> Five {
    (
        s.count,
        finite(s.mean),
        finite(s.p50),
        finite(s.p99),
        finite(s.max),
        finite(s.min),
    )
}

fn spread((count, mean, p50, p99, max, min): Five) -> Spread {
    Spread {
        count,
        mean,
        p50,
        p99,
        max,
        min,
    }
}

/// Counters are keyed by the reasons of this build; a file with another reason is not from it.
fn keyed(m: BTreeMap<String, u64>) -> Option<BTreeMap<&'static str, u64>> {
    m.into_iter()
        .map(|(k, v)| reasons().find(|known| *known == k).map(|known| (known, v)))
        .collect()
}

/// The file's bytes.
pub(crate) fn encode(outcome: &Outcome, key: Key<'_>, cpu_seconds: f64) -> Vec<u8> {
    let header = Header {
        build: key.build.to_owned(),
        scenario: key.scenario.to_owned(),
        point: key.point.to_owned(),
        cpu_seconds,
        rest: rest(outcome),
    };
    let mut table = Table::default();
    let f = &outcome.flows;
    table.push("id", Column::U64(f.iter().map(|f| f.id).collect()));
    table.push(
        "workload",
        Column::U32(f.iter().map(|f| u32::from(f.workload)).collect()),
    );
    table.push(
        "class",
        Column::U32(f.iter().map(|f| u32::from(f.class)).collect()),
    );
    table.push("src", Column::U32(f.iter().map(|f| f.src).collect()));
    table.push("dst", Column::U32(f.iter().map(|f| f.dst).collect()));
    table.push("bytes", Column::U64(f.iter().map(|f| f.bytes).collect()));
    table.push(
        "start_ps",
        Column::U64(f.iter().map(|f| f.start.0).collect()),
    );
    table.push(
        "fct_ps",
        Column::MaybeU64(f.iter().map(|f| f.fct.map(|t| t.0)).collect()),
    );
    table.push(
        "ideal_ps",
        Column::U64(f.iter().map(|f| f.ideal.0).collect()),
    );
    table.push(
        "extra_ps",
        Column::U64(f.iter().map(|f| f.extra.0).collect()),
    );
    table.push("marks", Column::U32(f.iter().map(|f| f.marks).collect()));
    table.push(
        "retransmits",
        Column::U32(f.iter().map(|f| f.retransmits).collect()),
    );
    table.push(
        "timeouts",
        Column::U32(f.iter().map(|f| f.timeouts).collect()),
    );
    let json = serde_json::to_string(&header).expect("a header of numbers and strings");
    // The checksum comes last, where the search for it begins.
    let metadata = [(KEY, json), (seal::PARQUET_KEY, seal::BLANK.to_owned())];
    let bytes = columns::encode([table], &metadata).expect("columns that fit their own schema");
    let mut bytes = bytes.expect("one table");
    Place::Parquet.seal(&mut bytes);
    bytes
}

/// The point in a file.
pub(crate) fn read(path: &Path, key: Key<'_>) -> Stored {
    match files::bytes(path, LARGEST) {
        Ok(bytes) => decode(bytes, key),
        Err(e) if e.is_missing() => Stored::Missing,
        Err(_) => Stored::Damaged,
    }
}

/// The point in the bytes of a file. The checksum is verified before anything else is read.
pub(crate) fn decode(mut bytes: Vec<u8>, key: Key<'_>) -> Stored {
    match Place::Parquet.holds(&mut bytes) {
        Some(true) => {}
        Some(false) => return Stored::Damaged,
        None if of_another_build(&bytes, key.build) => return Stored::Other,
        None => return Stored::Damaged,
    }
    let Some((header, file)) = header(bytes) else {
        return Stored::Other;
    };
    if header.build != key.build || header.point != key.point || header.scenario != key.scenario {
        return Stored::Other;
    }
    let cpu_seconds = header.cpu_seconds;
    // A reason that this build does not know cannot come from it.
    flows(&file)
        .and_then(|flows| outcome(flows, header.rest))
        .map_or(Stored::Other, |o| Stored::Whole(Box::new(o), cpu_seconds))
}

/// The scenario that a point's file belongs to, if the file is whole.
pub(crate) fn scenario(path: &Path) -> Option<String> {
    scenario_in(files::bytes(path, LARGEST).ok()?)
}

/// The scenario that the bytes of a point's file belong to, if they are whole.
pub(crate) fn scenario_in(mut bytes: Vec<u8>) -> Option<String> {
    match Place::Parquet.holds(&mut bytes) {
        Some(true) => header(bytes).map(|(header, _)| header.scenario),
        _ => None,
    }
}

/// Whether a file without a checksum comes from an early build, which wrote none.
fn of_another_build(bytes: &[u8], build: &str) -> bool {
    let has = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    bytes.ends_with(b"PAR1")
        && has("{\"build\":\"")
        && !has(&format!("{{\"build\":\"{build}\""))
        && !has("\"scenario\":\"")
}

fn header(bytes: Vec<u8>) -> Option<(Header, Reader)> {
    let file = Reader::new(bytes)?;
    let header = serde_json::from_str(file.metadata(KEY)?).ok()?;
    Some((header, file))
}

fn flows(file: &Reader) -> Option<Vec<FlowRecord>> {
    let (id, workload, class) = (
        file.u64s("id")?,
        file.u32s("workload")?,
        file.u32s("class")?,
    );
    let (src, dst, bytes) = (file.u32s("src")?, file.u32s("dst")?, file.u64s("bytes")?);
    let (start, fct) = (file.u64s("start_ps")?, file.maybe_u64s("fct_ps")?);
    let (ideal, extra) = (file.u64s("ideal_ps")?, file.u64s("extra_ps")?);
    let (marks, retransmits) = (file.u32s("marks")?, file.u32s("retransmits")?);
    let timeouts = file.u32s("timeouts")?;
    let flows = (0..id.len())
        .map(|i| FlowRecord {
            id: id[i],
            workload: workload[i] as u16,
            class: class[i] as u8,
            src: src[i],
            dst: dst[i],
            bytes: bytes[i],
            start: Picos(start[i]),
            fct: fct[i].map(Picos),
            ideal: Picos(ideal[i]),
            extra: Picos(extra[i]),
            marks: marks[i],
            retransmits: retransmits[i],
            timeouts: timeouts[i],
        })
        .collect();
    Some(flows)
}

fn rest(o: &Outcome) -> Rest {
    let owned =
        |m: &BTreeMap<&'static str, u64>| m.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    let t = &o.totals;
    Rest {
        end_ps: o.end.0,
        packet_hops: o.packet_hops,
        events: o.events,
        digest: o.digest,
        sent: t.sent,
        delivered: t.delivered,
        in_flight: t.in_flight,
        made: t.made,
        gone: t.gone,
        marks: owned(&t.marks),
        drops: owned(&t.drops),
        timeouts: t.timeouts,
        retransmits: t.retransmits,
        goodput_bytes: t.goodput_bytes,
        edges: o.edges.clone(),
        long_flows: o
            .long_flows
            .iter()
            .map(|l| Long {
                id: l.id,
                src: l.src,
                dst: l.dst,
                class: l.class,
                delivered: l.delivered,
                arrived: l.arrived,
                intervals: l.intervals.clone(),
                timeouts: l.timeouts,
                workload: l.workload,
            })
            .collect(),
        goodput: o.goodput.clone(),
        probes: o
            .probes
            .iter()
            .map(|p| (p.workload, p.sent.0, p.rtt.0))
            .collect(),
        ports: o
            .ports
            .iter()
            .map(|p| Port {
                name: p.name.clone(),
                rate: p.rate.0,
                packets: p.packets,
                bytes: p.bytes,
                marks: p.marks,
                drops: p.drops,
                utilisation: finite(p.utilisation),
                queue: five(&p.queue),
                sojourn: five(&p.sojourn),
            })
            .collect(),
        pauses: o
            .pauses
            .iter()
            .map(|p| (p.name.clone(), p.frames, p.share))
            .collect(),
        deadlock: o.deadlock.clone(),
        traces: o
            .traces
            .iter()
            .map(|t| {
                (
                    t.name.clone(),
                    t.port,
                    t.samples
                        .iter()
                        .map(|s| (s.at.0, s.bytes, s.wait.0))
                        .collect(),
                )
            })
            .collect(),
    }
}

fn port(p: Port) -> PortReport {
    PortReport {
        name: p.name,
        rate: Rate(p.rate),
        packets: p.packets,
        bytes: p.bytes,
        marks: p.marks,
        drops: p.drops,
        utilisation: p.utilisation,
        queue: spread(p.queue),
        sojourn: spread(p.sojourn),
    }
}

fn trace((name, port, samples): (String, u32, Samples)) -> PortTrace {
    let sample = |(at, bytes, wait)| QueueSample {
        at: Picos(at),
        bytes,
        wait: Nanos(wait),
    };
    PortTrace {
        name,
        port,
        samples: samples.into_iter().map(sample).collect(),
    }
}

fn outcome(flows: Vec<FlowRecord>, r: Rest) -> Option<Outcome> {
    Some(Outcome {
        flows,
        long_flows: r
            .long_flows
            .into_iter()
            .map(|l| LongRecord {
                id: l.id,
                src: l.src,
                dst: l.dst,
                class: l.class,
                delivered: l.delivered,
                arrived: l.arrived,
                intervals: l.intervals,
                timeouts: l.timeouts,
                workload: l.workload,
            })
            .collect(),
        edges: r.edges,
        goodput: r.goodput,
        probes: r
            .probes
            .into_iter()
            .map(|(workload, sent, rtt)| ProbeRecord {
                workload,
                sent: Picos(sent),
                rtt: Picos(rtt),
            })
            .collect(),
        totals: Totals {
            sent: r.sent,
            delivered: r.delivered,
            in_flight: r.in_flight,
            made: r.made,
            gone: r.gone,
            marks: keyed(r.marks)?,
            drops: keyed(r.drops)?,
            timeouts: r.timeouts,
            retransmits: r.retransmits,
            goodput_bytes: r.goodput_bytes,
        },
        ports: r.ports.into_iter().map(port).collect(),
        pauses: r
            .pauses
            .into_iter()
            .map(|(name, frames, share)| PauseReport {
                name,
                frames,
                share,
            })
            .collect(),
        deadlock: r.deadlock,
        traces: r.traces.into_iter().map(trace).collect(),
        end: Picos(r.end_ps),
        packet_hops: r.packet_hops,
        events: r.events,
        digest: r.digest,
    })
}
