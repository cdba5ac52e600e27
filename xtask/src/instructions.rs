// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions that a packet-hop takes, counted by callgrind: the same number on a busy machine as
//! on a quiet one, so that CI can hold it to a bound.
//!
//! Runs short forms of benches, since a program is fifty times as slow under callgrind. What the
//! program does before it simulates is part of the count: of `leafspine-128` about one instruction
//! in eight.

use std::fs;
use std::path::Path;
use std::process::Command;

const FILE: &str = "bench/instructions.tsv";
const HEAD: &str = "workload\tmax_time\tinstructions_per_packet_hop";
/// By how much a count may exceed the recorded one: a compiler or a small feature takes a few
/// percent.
const MORE: f64 = 1.10;

/// A line of the file: a workload and its instructions per packet-hop.
struct Row {
    name: String,
    /// How long the short form simulates, as in a scenario.
    time: String,
    recorded: f64,
}

/// Counts, and compares with the file; `write` records the counts instead.
pub(crate) fn run(write: bool) -> Result<(), String> {
    let rows = read(&fs::read_to_string(FILE).map_err(|e| format!("{FILE}: {e}"))?)?;
    let found = Command::new("valgrind").arg("--version").output();
    if !found.is_ok_and(|o| o.status.success()) {
        return Err("valgrind is needed: apt-get install valgrind".to_owned());
    }
    let program = build()?;
    let scratch = std::env::temp_dir().join(format!("cemark-instructions-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    let counted: Result<Vec<f64>, String> = rows
        .iter()
        .map(|row| {
            let count = count(&program, row, &scratch)?;
            let (name, recorded) = (&row.name, row.recorded);
            let against = 100.0 * (count / recorded - 1.0);
            println!("{name:16} {count:7.1} instructions a packet-hop, {against:+.1} %");
            Ok(count)
        })
        .collect();
    let _ = fs::remove_dir_all(&scratch);
    let counted = counted?;
    if write {
        return fs::write(FILE, text(&rows, &counted)).map_err(|e| format!("{FILE}: {e}"));
    }
    judge(&rows, &counted)
}

fn build() -> Result<String, String> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--package", "cemark"])
        .status()
        .map_err(|e| format!("cargo build: {e}"))?;
    if !status.success() {
        return Err(format!("cargo build --release: {status}"));
    }
    let folder = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    Ok(format!("{folder}/release/cemark"))
}

fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(format!("{FILE}: the first line is not `{HEAD}`"));
    }
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, time, count] = cells.as_slice() else {
            return Err(format!("{FILE}: three cells a line, not `{line}`"));
        };
        let recorded = count
            .parse()
            .map_err(|_| format!("{FILE}: {name}: `{count}` is not a number"))?;
        Ok(Row {
            name: (*name).to_owned(),
            time: (*time).to_owned(),
            recorded,
        })
    };
    lines.map(row).collect()
}

fn text(rows: &[Row], counted: &[f64]) -> String {
    let mut text = format!("{HEAD}\n");
    for (row, count) in rows.iter().zip(counted) {
        text += &format!("{}\t{}\t{count:.1}\n", row.name, row.time);
    }
    text
}

fn judge(rows: &[Row], counted: &[f64]) -> Result<(), String> {
    let over = rows.iter().zip(counted);
    let over: Vec<String> = over
        .filter(|(row, count)| **count > MORE * row.recorded)
        .map(|(row, count)| format!("{} takes {count:.1}, not {:.1}", row.name, row.recorded))
        .collect();
    if over.is_empty() {
        return Ok(());
    }
    Err(format!(
        "instructions a packet-hop, more than 10 % above {FILE}: {}\nIf that has to be so, run \
         `cargo xtask instructions write`, and say why in the commit",
        over.join("; ")
    ))
}

/// The scenario with another duration; `None` where it states none.
fn short(scenario: &str, time: &str) -> Option<String> {
    let old = scenario.lines().find(|l| l.starts_with("max-time"))?;
    Some(scenario.replacen(old, &format!("max-time = \"{time}\""), 1))
}

/// Instructions a packet-hop of one short run.
fn count(program: &str, row: &Row, scratch: &Path) -> Result<f64, String> {
    let path = format!("scenarios/bench/{}.toml", row.name);
    let scenario = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let file = scratch.join(format!("{}.toml", row.name));
    let scenario =
        short(&scenario, &row.time).ok_or_else(|| format!("{path}: no line with max-time"))?;
    fs::write(&file, scenario).map_err(|e| format!("{}: {e}", file.display()))?;
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args([program, "bench", "--one"])
        .arg(&file)
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
    let (answer, said) = (
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    let wrong = |what: &str| format!("{}: {what}\n{said}", row.name);
    if !out.status.success() {
        return Err(wrong("the run failed"));
    }
    let instructions = said
        .lines()
        .find_map(|l| l.split("Collected :").nth(1)?.trim().parse::<u64>().ok())
        .ok_or_else(|| wrong("callgrind printed no count"))?;
    let json: serde_json::Value =
        serde_json::from_str(&answer).map_err(|e| wrong(&e.to_string()))?;
    let hops = json["packet_hops"].as_u64().filter(|hops| *hops > 0);
    let hops = hops.ok_or_else(|| wrong("no packet-hops"))?;
    Ok(instructions as f64 / hops as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_above_the_bound_is_refused_by_name() {
        let rows = read(&format!("{HEAD}\nfast\t1ms\t400.0\nslow\t1ms\t900.0\n")).unwrap();
        assert_eq!(judge(&rows, &[439.0, 989.0]), Ok(()));
        let why = judge(&rows, &[441.0, 989.0]).unwrap_err();
        assert!(why.contains("fast takes 441.0, not 400.0") && !why.contains("slow"));
        assert_eq!(
            text(&rows, &[1.04, 2.0]),
            format!("{HEAD}\nfast\t1ms\t1.0\nslow\t1ms\t2.0\n")
        );
        assert!(read("").is_err() && read(&format!("{HEAD}\na\tb\n")).is_err());
    }

    #[test]
    fn a_short_form_differs_in_its_duration_only() {
        let with = "title = \"a\"\nmax-time = \"50ms\"\nseeds = [1]\n";
        let wanted = "title = \"a\"\nmax-time = \"1ms\"\nseeds = [1]\n";
        assert_eq!(short(with, "1ms").as_deref(), Some(wanted));
        assert_eq!(short("seeds = [1]\n", "1ms"), None);
    }
}
