// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-hops per CPU second and peak memory, each workload in a process of its own.

use cemark_report::pauses;
use cemark_scenario::Overrides;
use cpu_time::ProcessTime;
use miette::miette;
use serde::{Deserialize, Serialize};

use crate::Format;
use crate::exit::{self, Failure};

/// Reference workloads: built-in scenarios under `scenarios/bench/`.
const NAMES: &[&str] = &[
    "leafspine-128",
    "leafspine-128-100g",
    "incast-128",
    "fattree-432",
    "leafspine-1024",
    "websearch-128",
    "dwrr-128",
    "wide-15",
    "dcqcn-128",
    "dcqcn-128-pfc",
];

/// The event core a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Core {
    /// A timing wheel with one slot per tick
    Wheel,
    /// A 4-ary heap
    Heap,
}

impl Core {
    fn name(self) -> &'static str {
        match self {
            Core::Wheel => "wheel",
            Core::Heap => "heap",
        }
    }
}

/// One workload, measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    name: String,
    /// Packets (data or ACK) that crossed a link.
    packet_hops: u64,
    cpu_seconds: f64,
    packet_hops_per_cpu_second: f64,
    peak_rss_bytes: u64,
    events: u64,
    simulated_seconds: f64,
    goodput_gbps: f64,
    marks: u64,
    drops: u64,
    /// Equal to the point's digest of `cemark run` on the same scenario.
    digest: String,
}

/// Simulates the single point of a scenario in this process and prints its speed and memory.
pub(crate) fn one(name: &str, core: Core) -> Result<(), Failure> {
    let plan = cemark_scenario::load(name, &Overrides::default())?;
    let [point] = plan.points.as_slice() else {
        return Err(Failure::User(miette!(
            "a bench scenario has one point; {name} has {}",
            plan.points.len()
        )));
    };
    let began = ProcessTime::now();
    let out = match core {
        Core::Wheel => cemark_sim::run(&point.config),
        Core::Heap => cemark_sim::run_on_heap(&point.config),
    };
    let cpu_seconds = began.elapsed().as_secs_f64();
    // A deadlock ended the run early, so its speed means nothing.
    if let Some(ring) = pauses::deadlock(point, &out) {
        let help = pauses::DEADLOCK_HELP;
        return Err(Failure::Machine(miette!(help = help, "{ring}")));
    }
    let simulated_seconds = out.end.as_secs_f64();
    let measured = Measured {
        name: name.to_owned(),
        packet_hops: out.packet_hops,
        cpu_seconds,
        packet_hops_per_cpu_second: out.packet_hops as f64 / cpu_seconds,
        peak_rss_bytes: peak_rss(),
        events: out.events,
        simulated_seconds,
        goodput_gbps: out.totals.goodput_bytes as f64 * 8e-9 / simulated_seconds,
        marks: out.totals.all_marks(),
        drops: out.totals.all_drops(),
        digest: format!("{:016x}", out.digest),
    };
    exit::answer_json(&measured)
}

/// Measures every workload asked for, each run in a process of its own, and prints the median by
/// CPU time.
pub(crate) fn all(names: &[String], runs: u32, core: Core, format: Format) -> Result<(), Failure> {
    let names: Vec<&str> = if names.is_empty() {
        NAMES.to_vec()
    } else {
        names.iter().map(String::as_str).collect()
    };
    let mut results = Vec::new();
    if format == Format::Table {
        exit::answer(&format!(
            "{:20} {:>10} {:>8} {:>12} {:>8} {:>10} {:>9} {:>8}  digest\n",
            "workload", "M hops", "CPU s", "M hops/CPU s", "peak MB", "goodput", "marks", "drops"
        ))?;
    }
    for name in names {
        let mut got = (0..runs)
            .map(|_| child(name, core))
            .collect::<Result<Vec<_>, Failure>>()?;
        got.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
        let m = got.swap_remove(got.len() / 2);
        if format == Format::Table {
            exit::answer(&format!(
                "{:20} {:>10.1} {:>8.2} {:>12.2} {:>8.1} {:>8.1} G {:>9} {:>8}  {}\n",
                m.name,
                m.packet_hops as f64 / 1e6,
                m.cpu_seconds,
                m.packet_hops_per_cpu_second / 1e6,
                m.peak_rss_bytes as f64 / 1e6,
                m.goodput_gbps,
                m.marks,
                m.drops,
                m.digest,
            ))?;
        }
        results.push(m);
    }
    if format == Format::Json {
        exit::answer_json(&serde_json::json!({
            "schema": 1, "core": core.name(), "runs": runs, "results": results,
        }))?;
    }
    Ok(())
}

fn child(name: &str, core: Core) -> Result<Measured, Failure> {
    let broken = |what: String| Failure::Machine(miette!("{name}: {what}"));
    let me = crate::program::again();
    let mut me = me.ok_or_else(|| broken("cannot find this program to run it again".to_owned()))?;
    let out = me
        .args(["bench", "--one", "--core", core.name(), name])
        .output()
        .map_err(|e| broken(e.to_string()))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        return Err(if out.status.code() == Some(i32::from(exit::USER)) {
            Failure::User(miette!("{said}"))
        } else {
            broken(said)
        });
    }
    serde_json::from_slice(&out.stdout).map_err(|e| broken(format!("unreadable answer: {e}")))
}

/// The largest resident set of this process so far, as Linux counts it.
fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|l| {
        l.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<u64>()
            .ok()
    });
    kib.unwrap_or(0) * 1024
}
