// SPDX-License-Identifier: MIT OR Apache-2.0
//! A finished point as one Parquet file: its flows are the table, everything else is JSON in the
//! file's metadata. It is one file, so that a rename makes the whole point appear at once, and a
//! checksum covers all of it, so that damage is noticed before anything is used.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::Path;

use cemark_scenario::{Point, files};
use cemark_sim::Outcome;
use cemark_sim::outcome::FlowRecord;
use cemark_wire::Picos;
use serde::{Deserialize, Serialize};

use super::Finished;
use super::columns::{self, Reader, Table};
use super::seal::{self, Place};
use crate::summary::hex;

/// Key of the metadata entry. It changes with the meaning of what is stored: the fingerprint of a
/// point's simulator does not cover this file, so an old point would be read as a new one.
const KEY: &str = "cemark.outcome";
/// Bytes of the largest point.
const LARGEST: u64 = 16 << 30;

/// Build, scenario and point that a stored point belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// Fingerprint of the program.
    pub(crate) build: &'a str,
    /// Fingerprint of the scenario, 16 hex digits.
    pub(crate) scenario: &'a str,
    pub(crate) point: &'a Point,
}

/// State of a point's file.
pub(crate) enum Stored {
    /// There is no file.
    Missing,
    /// Whole, but of another build or another point: it is run again.
    Other,
    /// Not as it was written: it is run again, with a note.
    Damaged,
    Whole(Box<Finished>),
}

/// A point's file, apart from the flows.
#[derive(Serialize, Deserialize)]
struct Header<'a> {
    /// Fingerprint of the cemark that ran it: results of another build are not mixed in.
    build: String,
    /// Fingerprint of the scenario that it was run for, 16 hex digits.
    scenario: String,
    /// Fingerprint of the point's inputs, 16 hex digits.
    point: String,
    /// CPU seconds it took.
    cpu_seconds: f64,
    outcome: Cow<'a, Outcome>,
}

/// The file's bytes.
pub(crate) fn encode(finished: &Finished, key: Key<'_>) -> Vec<u8> {
    let header = Header {
        build: key.build.to_owned(),
        scenario: key.scenario.to_owned(),
        point: hex(key.point.digest),
        cpu_seconds: finished.summary.cpu_seconds,
        outcome: Cow::Borrowed(&finished.outcome),
    };
    let mut table = Table::default();
    let f = &finished.outcome.flows;
    table.add("id", f, |f| f.id);
    table.add("workload", f, |f| u32::from(f.workload));
    // 0: none.
    table.add("query", f, |f| f.query.map_or(0, NonZeroU32::get));
    table.add("class", f, |f| u32::from(f.class));
    table.add("src", f, |f| f.src);
    table.add("dst", f, |f| f.dst);
    table.add("bytes", f, |f| f.bytes);
    table.add("start_ps", f, |f| f.start.0);
    table.add("fct_ps", f, |f| f.fct.map(|t| t.0));
    table.add("ideal_ps", f, |f| f.ideal.0);
    table.add("extra_ps", f, |f| f.extra.0);
    table.add("marks", f, |f| f.marks);
    table.add("retransmits", f, |f| f.retransmits);
    table.add("timeouts", f, |f| f.timeouts);
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
        Some(false) | None => return Stored::Damaged,
    }
    let Some((header, file)) = header(bytes) else {
        return Stored::Other;
    };
    let is_point = header.point == hex(key.point.digest);
    if header.build != key.build || header.scenario != key.scenario || !is_point {
        return Stored::Other;
    }
    let Some(flows) = flows(&file) else {
        return Stored::Other;
    };
    let rest = header.outcome.into_owned();
    let outcome = Outcome { flows, ..rest };
    Stored::Whole(Box::new(Finished::new(
        key.point,
        outcome,
        header.cpu_seconds,
    )))
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

fn header(bytes: Vec<u8>) -> Option<(Header<'static>, Reader)> {
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
    let (timeouts, query) = (file.u32s("timeouts")?, file.u32s("query")?);
    let flows = (0..id.len())
        .map(|i| FlowRecord {
            id: id[i],
            workload: workload[i] as u16,
            query: NonZeroU32::new(query[i]),
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
