// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a file of parameters such as 200us to the constants that `ecn_sharp.p4` is compiled with,
//! and the entries of its table `targets`.
//!
//! `cargo run -p cemark-p4 --example tables -- dataplane/p4/control.toml`. A mistake in the file
//! ends it with code 2.

use std::process::ExitCode;

use cemark_p4::Rounding;
use cemark_p4::control::{Interval, PORTS, QUEUES, queue_key};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    pst_interval: String,
    ins_target: String,
    pst_target: String,
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

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a file of parameters, such as dataplane/p4/control.toml");
        return ExitCode::from(2);
    };
    let text = std::fs::read_to_string(&path).map_err(|e| e.to_string());
    match text.and_then(|text| tables(&text)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{path}: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whole nanoseconds.
fn nanos(key: &str, text: &str) -> Result<u32, String> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[digits.len()..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        _ => 0,
    };
    let number: u64 = digits.parse().unwrap_or(u64::MAX);
    match number.checked_mul(unit).and_then(|n| u32::try_from(n).ok()) {
        Some(nanos) if unit > 0 && nanos <= 1_000_000_000 => Ok(nanos),
        _ => Err(format!(
            "{key} = \"{text}\": write a whole number of ns, us or ms up to 1000ms, such as 200us"
        )),
    }
}

fn tables(text: &str) -> Result<String, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    let interval = nanos("pst_interval", &file.pst_interval)?;
    if interval < 4_096 {
        let what = "write at least 5us: a tick is 1.024 us, and a shorter interval has no gaps";
        return Err(format!("pst_interval = \"{}\": {what}", file.pst_interval));
    }
    let pipeline = file.pipeline.as_deref().unwrap_or("0ns");
    let pipeline = nanos("pipeline", pipeline)?;
    let entry = |key: &str, ins: &str, pst: &str| {
        let ins = nanos("ins_target", ins)? + pipeline;
        let pst = nanos("pst_target", pst)? + pipeline;
        Ok::<String, String>(format!(
            "    {key}: set_targets(ins = {ins}, pst = {pst})\n"
        ))
    };
    let mut out = "compile ecn_sharp.p4 with\n".to_owned();
    for (name, value) in Interval::new(interval, Rounding::Nearest).defines() {
        out += &format!("    -D'{name}={value}'\n");
    }
    out += "entries of Egress.ecn_sharp.targets, in nanoseconds\n";
    out += &entry("default", &file.ins_target, &file.pst_target)?;
    for q in &file.queue {
        let key = queue_key(q.port, q.queue).ok_or_else(|| {
            let (port, queue) = (PORTS - 1, QUEUES - 1);
            format!(
                "port {}, queue {}: a pipe has ports 0 to {port}, queues 0 to {queue}",
                q.port, q.queue
            )
        })?;
        out += &entry(&format!("queue = {key}"), &q.ins_target, &q.pst_target)?;
    }
    Ok(out)
}
