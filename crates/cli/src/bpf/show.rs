// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark bpf show`: the settings of a device's program, and what it has counted.

use std::fmt::Write;

use cemark_param::Dialect;
use cemark_report::units;
use cemark_tcbpf::{Counts, Earlier, NotEct, Program, Settings};
use serde::Serialize;

use super::failed;
use crate::Format;
use crate::exit::{Failure, answer, answer_json};

/// Reasons of marks, in the order of the counters. The last is not a reason that ends in a mark.
const WHY: [&str; 5] = ["instant", "persistent", "random", "average", "tentative"];

#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    device: &'a str,
    scheme: &'static str,
    parameters: serde_json::Map<String, serde_json::Value>,
    /// Bit/s.
    rate: u64,
    limit_ns: u64,
    not_ect: &'static str,
    packets: u64,
    bytes: u64,
    marks: serde_json::Map<String, serde_json::Value>,
    spared: u64,
    dropped: u64,
    beyond_limit: u64,
    not_writable: u64,
    mean_wait_ns: u64,
    longest_wait_ns: u64,
    /// Filters and programs that see packets first and may keep them from the marker.
    earlier: Vec<String>,
}

/// `filter bpf "name" of priority 10`.
pub(super) fn earlier(one: &Earlier) -> String {
    match one {
        Earlier::Tcx { name } => format!("tcx program \"{name}\""),
        Earlier::Filter {
            priority,
            kind,
            names,
        } => {
            let names: String = names.iter().map(|n| format!(" \"{n}\"")).collect();
            format!("filter {kind}{names} of priority {priority}")
        }
    }
}

pub(super) fn show(device: &str, format: Format) -> Result<(), Failure> {
    let program = Program::on(device).map_err(failed)?;
    let counts = program.counts().map_err(failed)?;
    let first = cemark_tcbpf::earlier(device).map_err(failed)?;
    match format {
        Format::Table => {
            super::warn(device, &first);
            answer(&table(device, program.settings(), &counts))
        }
        Format::Json => {
            let earlier = first.iter().map(earlier).collect();
            answer_json(&json(device, program.settings(), &counts, earlier))
        }
    }
}

fn policy(not_ect: NotEct) -> &'static str {
    match not_ect {
        NotEct::Forward => "forward",
        NotEct::Drop => "drop",
    }
}

fn json<'a>(
    device: &'a str,
    settings: &Settings,
    counts: &Counts,
    earlier: Vec<String>,
) -> Shown<'a> {
    let scheme = settings.scheme;
    let stored = scheme.params.iter().zip(settings.values.0);
    Shown {
        schema: 1,
        device,
        scheme: scheme.name,
        parameters: stored
            .map(|(p, value)| {
                let shown = p.show(value, Dialect::Table).to_string();
                (p.name.to_owned(), shown.into())
            })
            .collect(),
        rate: settings.rate.0,
        limit_ns: settings.limit.0,
        not_ect: policy(settings.not_ect),
        packets: counts.packets,
        bytes: counts.bytes,
        marks: WHY
            .iter()
            .zip(counts.marks)
            .map(|(why, n)| ((*why).to_owned(), n.into()))
            .collect(),
        spared: counts.spared,
        dropped: counts.dropped,
        beyond_limit: counts.full,
        not_writable: counts.failed,
        mean_wait_ns: counts.mean_wait().0,
        longest_wait_ns: counts.longest,
        earlier,
    }
}

fn table(device: &str, settings: &Settings, counts: &Counts) -> String {
    let scheme = settings.scheme;
    let micros = |ns: u64| units::micros(ns as f64 / 1_000.0);
    let mut text = format!(
        "{device}: {} at {}, limit {}; not ECN-capable: {}\n",
        scheme.title,
        units::bits_per_second(settings.rate.0 as f64),
        micros(settings.limit.0),
        policy(settings.not_ect)
    );
    // Defaults are what `cemark schemes` shows.
    for (p, value) in scheme.params.iter().zip(settings.values.0) {
        let _ = writeln!(text, "  {} = {}", p.name, p.show(value, Dialect::Table));
    }
    let marks: u64 = counts.marks.iter().sum();
    let share = match counts.packets {
        0 => 0.0,
        all => marks as f64 / all as f64 * 100.0,
    };
    let reasons: Vec<String> = WHY
        .iter()
        .zip(counts.marks)
        .filter(|(_, n)| *n > 0)
        .map(|(why, n)| format!("{why} {n}"))
        .collect();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<24} {value}");
    };
    row("packets", counts.packets.to_string());
    row("bytes", counts.bytes.to_string());
    row(
        "marked",
        match marks {
            0 => "0".to_owned(),
            _ => format!("{marks} ({share:.2} %): {}", reasons.join(", ")),
        },
    );
    row("sent unmarked, Not-ECT", counts.spared.to_string());
    row("dropped", counts.dropped.to_string());
    row("beyond the limit", counts.full.to_string());
    row("not writable", counts.failed.to_string());
    row("virtual wait, mean", micros(counts.mean_wait().0));
    row("virtual wait, longest", micros(counts.longest));
    text
}
