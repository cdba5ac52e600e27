// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bench/costs.tsv`: the measured cost of runs, with which a test compares the estimates of
//! `cemark check`. Runs every command of the file again.
//!
//! Rows of full figures are not run, since they take hours: their values are copied from the logs
//! in `bench/proof`.

use std::fs;
use std::process::Command;

const FILE: &str = "bench/costs.tsv";
const PROGRAM: &str = "target/release/cemark";

/// Rewrites the rows whose command begins with `wanted` (all, if it is empty).
pub(crate) fn run(wanted: &str) -> Result<(), String> {
    let text = fs::read_to_string(FILE).map_err(|e| format!("{FILE}: {e}"))?;
    let build = Command::new("cargo")
        .args(["build", "--release", "--locked"])
        .status()
        .map_err(|e| format!("cargo build: {e}"))?;
    if !build.success() {
        return Err("cargo build --release failed".into());
    }
    let scratch = std::env::temp_dir().join(format!("cemark-costs-{}", std::process::id()));
    let mut rows: Vec<String> = Vec::new();
    for (number, row) in text.lines().enumerate() {
        let command = row.split('\t').next().unwrap_or_default();
        if number == 0 || command.ends_with("--full") || !command.starts_with(wanted) {
            rows.push(row.to_owned());
            continue;
        }
        println!("{command}");
        let (hops, peak) = measure(command, &scratch.join(number.to_string()))?;
        rows.push(format!("{command}\t{hops}\t{peak}"));
    }
    let _ = fs::remove_dir_all(&scratch);
    fs::write(FILE, rows.join("\n") + "\n").map_err(|e| format!("{FILE}: {e}"))
}

/// Packet-hops and, if the command prints it, peak memory.
fn measure(command: &str, out: &std::path::Path) -> Result<(String, String), String> {
    let wrong = |what: String| format!("{PROGRAM} {command}: {what}");
    let mut program = Command::new(PROGRAM);
    program.args(command.split(' ')).args(["--format", "json"]);
    if !command.starts_with("bench") {
        program.args(["--jobs", "1", "--out"]).arg(out);
    }
    let answer = program.output().map_err(|e| wrong(e.to_string()))?;
    // A figure whose verdict differs exits with 1 but still prints its answer.
    let json: serde_json::Value = serde_json::from_slice(&answer.stdout)
        .map_err(|e| wrong(format!("{e}\n{}", String::from_utf8_lossy(&answer.stderr))))?;
    let number = |path: &str| json.pointer(path).and_then(serde_json::Value::as_u64);
    let hops = [
        "/packet_hops",
        "/cost/packet_hops",
        "/results/0/packet_hops",
    ];
    let hops = hops.iter().find_map(|p| number(p));
    let hops = hops.ok_or_else(|| wrong("prints no packet-hops".into()))?;
    let peak = number("/results/0/peak_rss_bytes").map_or("-".to_owned(), |p| p.to_string());
    Ok((hops.to_string(), peak))
}
