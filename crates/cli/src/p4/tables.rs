// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark p4 tables`: from a file of parameters such as 200us to the constants that ecn_sharp.p4
//! is compiled with, and the entries of its table `targets`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use cemark_p4::control;
use cemark_p4::control::{Interval, QUEUES, queue_key};
use cemark_scenario::{Measure, read_quantity};
use serde::{Deserialize, Serialize};

use super::{read, rounding};
use crate::Format;
use crate::exit::{Failure, answer, answer_json};

/// Arguments of `cemark p4 tables`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Parameters, as in dataplane/p4/control.toml.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The math unit cuts bits off, instead of rounding to the nearest.
    #[arg(long)]
    cut: bool,
    /// How the answer is written.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    pst_interval: String,
    ins_target: String,
    pst_target: String,
    #[serde(default)]
    pipeline: Option<String>,
    #[serde(default)]
    queue: Vec<Queue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Queue {
    port: u16,
    queue: u8,
    ins_target: String,
    pst_target: String,
}

#[derive(Serialize)]
struct Answer {
    schema: u32,
    program: &'static str,
    defines: BTreeMap<String, String>,
    table: &'static str,
    action: &'static str,
    default: Data,
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Data {
    ins: u32,
    pst: u32,
}

#[derive(Serialize)]
struct Entry {
    port: u16,
    queue: u8,
    key: u16,
    data: Data,
}

const TABLE: &str = "Egress.ecn_sharp.targets";
const ACTION: &str = "Egress.ecn_sharp.set_targets";

pub(super) fn tables(args: &Args) -> Result<(), Failure> {
    let text = read(&args.file)?;
    let wrong = |why: String| Failure::User(miette::miette!("{}: {why}", args.file.display()));
    let file: File = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let made = entries(&file, args.cut).map_err(wrong)?;
    match args.format {
        Format::Json => answer_json(&made),
        Format::Table => answer(&shown(&made)),
    }
}

/// The tables of one set of times in nanoseconds, for every port and queue.
pub(crate) fn of_values(interval: u64, ins: u64, pst: u64) -> Result<String, Failure> {
    let file = File {
        pst_interval: format!("{interval}ns"),
        ins_target: format!("{ins}ns"),
        pst_target: format!("{pst}ns"),
        pipeline: None,
        queue: Vec::new(),
    };
    let made = entries(&file, false).map_err(|why| Failure::User(miette::miette!("{why}")))?;
    Ok(shown(&made))
}

fn nanos(key: &str, text: &str) -> Result<u32, String> {
    let picos = read_quantity(text, Measure::Time).map_err(|why| format!("{key}: {why}"))?;
    let nanos = picos.div_ceil(1_000);
    match u32::try_from(nanos) {
        Ok(nanos) if nanos <= 1_000_000_000 => Ok(nanos),
        _ => Err(format!("{key} = {text}: at most 1s")),
    }
}

fn entries(file: &File, cut: bool) -> Result<Answer, String> {
    let rounding = rounding(cut);
    let interval = nanos("pst_interval", &file.pst_interval)?;
    if interval < 4_096 {
        return Err(format!(
            "pst_interval = {}: write at least 5us; a tick is 1.024 us, and a shorter interval has \
             no gaps",
            file.pst_interval
        ));
    }
    let pipeline = file
        .pipeline
        .as_deref()
        .map_or(Ok(0), |t| nanos("pipeline", t))?;
    let targets = |ins: &str, pst: &str| {
        Ok::<Data, String>(Data {
            ins: nanos("ins_target", ins)? + pipeline,
            pst: nanos("pst_target", pst)? + pipeline,
        })
    };
    let mut entries: Vec<Entry> = Vec::new();
    for q in &file.queue {
        let name = format!("port {}, queue {}", q.port, q.queue);
        let key = queue_key(q.port, q.queue).ok_or_else(|| {
            format!(
                "{name}: a pipe has ports 0 to {}, and queues 0 to {}",
                control::PORTS - 1,
                QUEUES - 1
            )
        })?;
        if entries.iter().any(|e| e.key == key) {
            return Err(format!("{name} is named twice"));
        }
        entries.push(Entry {
            port: q.port,
            queue: q.queue,
            key,
            data: targets(&q.ins_target, &q.pst_target).map_err(|e| format!("{name}: {e}"))?,
        });
    }
    Ok(Answer {
        schema: 1,
        program: "ecn_sharp.p4",
        defines: Interval::new(interval, rounding).defines(),
        table: TABLE,
        action: ACTION,
        default: targets(&file.ins_target, &file.pst_target)?,
        entries,
    })
}

fn shown(made: &Answer) -> String {
    let mut text = format!("compile {} with\n", made.program);
    for (name, value) in &made.defines {
        let _ = writeln!(text, "    -D'{name}={value}'");
    }
    let _ = writeln!(
        text,
        "table {}, action {}, nanoseconds",
        made.table, made.action
    );
    let mut line = |key: &str, data: &Data, note: &str| {
        let _ = writeln!(
            text,
            "    {key:<14} ins = {:<10} pst = {:<10} {note}",
            data.ins, data.pst
        );
    };
    line("default", &made.default, "every other queue");
    for e in &made.entries {
        let note = format!("port {}, queue {}", e.port, e.queue);
        line(&format!("queue = {}", e.key), &e.data, &note);
    }
    text.lines()
        .fold(String::new(), |all, l| all + l.trim_end() + "\n")
}
