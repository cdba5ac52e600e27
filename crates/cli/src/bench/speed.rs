// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet-hops per CPU second and peak memory, each workload in a process of its own.

use cemark_report::pauses;
use cemark_runner::clock::Stopwatch;
use cemark_scenario::{BENCHES, Overrides};
use cemark_sim::shards;
use cpu_time::ProcessTime;
use miette::miette;
use serde::{Deserialize, Serialize};

use crate::Format;
use crate::exit::{self, Failure};

/// The workloads that differ in the size of the fabric only.
const SIZES: &[&str] = &[
    "leafspine-128",
    "fattree-432",
    "leafspine-1024",
    "fattree-3456",
    "fattree-11664",
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

/// Measurements of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    name: String,
    hosts: u32,
    /// Packets (data or ACK) that crossed a link.
    packet_hops: u64,
    cpu_seconds: f64,
    wall_seconds: f64,
    packet_hops_per_cpu_second: f64,
    peak_rss_bytes: u64,
    events: u64,
    simulated_seconds: f64,
    goodput_gbps: f64,
    marks: u64,
    drops: u64,
    /// Equal to the point's digest of `cemark run` on the same scenario.
    digest: String,
    /// How the work was spread over threads, where there are several.
    spread: Option<Spread>,
}

/// See [`shards::Spread`].
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Spread {
    shards: u32,
    windows: u64,
    alone: u64,
    packet_hops_per_window: f64,
    messages_per_window: f64,
    /// Share of their time that threads would wait for the busiest one, if all hops took the same
    /// time and the exchange none.
    waiting: f64,
}

impl Spread {
    fn of(spread: &shards::Spread, shards: u32) -> Option<Spread> {
        let windows = spread.windows as f64;
        let even = spread.hops as f64 / f64::from(shards);
        (spread.windows > 0 && shards > 1).then(|| Spread {
            shards,
            windows: spread.windows,
            alone: spread.alone,
            packet_hops_per_window: spread.hops as f64 / windows,
            messages_per_window: spread.messages as f64 / windows,
            waiting: 1.0 - even / (spread.busiest as f64).max(1.0),
        })
    }
}

/// Simulates the single point of a scenario in this process and prints its speed and memory.
pub(crate) fn one(name: &str, core: Core, threads: u32) -> Result<(), Failure> {
    let plan = cemark_scenario::load(name, &Overrides::default())?;
    let [point] = plan.points.as_slice() else {
        return Err(Failure::User(miette!(
            "a bench scenario has one point; {name} has {}",
            plan.points.len()
        )));
    };
    let (began, watch) = (ProcessTime::now(), Stopwatch::start());
    let mut spread = None;
    let out = match core {
        Core::Wheel if threads > 1 => {
            let parts = threads.min(shards::most_shards(&point.config));
            let (out, found) = shards::run_counted(&point.config, parts, threads);
            spread = Spread::of(&found, parts);
            out
        }
        Core::Wheel => cemark_sim::run(&point.config),
        Core::Heap => cemark_sim::run_on_heap(&point.config),
    };
    let (cpu_seconds, wall_seconds) = (began.elapsed().as_secs_f64(), watch.seconds());
    // A deadlock ended the run early, so its speed means nothing.
    if let Some(ring) = pauses::deadlock(point, &out) {
        let help = pauses::DEADLOCK_HELP;
        return Err(Failure::Machine(miette!(help = help, "{ring}")));
    }
    let simulated_seconds = out.end.as_secs_f64();
    let measured = Measured {
        name: name.to_owned(),
        hosts: point.config.topology.hosts(),
        packet_hops: out.packet_hops,
        cpu_seconds,
        wall_seconds,
        packet_hops_per_cpu_second: out.packet_hops as f64 / cpu_seconds,
        peak_rss_bytes: peak_rss(),
        events: out.events,
        simulated_seconds,
        goodput_gbps: out.totals.goodput_bytes as f64 * 8e-9 / simulated_seconds,
        marks: out.totals.all_marks(),
        drops: out.totals.all_drops(),
        digest: format!("{:016x}", out.digest),
        spread,
    };
    exit::answer_json(&measured)
}

/// Measures every workload asked for, each run in a process of its own, and prints the median by
/// CPU time.
pub(crate) fn all(
    names: &[String],
    runs: u32,
    (core, threads): (Core, u32),
    format: Format,
) -> Result<(), Failure> {
    let names: Vec<&str> = if names.is_empty() {
        BENCHES.iter().map(|b| b.name).collect()
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
            .map(|_| child(name, core, threads))
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
    let growth = growth(&results);
    let barrier = barrier_us(threads);
    match format {
        Format::Json => exit::answer_json(&serde_json::json!({
            "schema": 1, "core": core.name(), "runs": runs, "threads": threads,
            "results": results, "growth": growth, "barrier_us": barrier,
        })),
        Format::Table => {
            let spread = spread_table(&results);
            let barrier = match barrier {
                Some(us) => format!("a barrier of {threads} threads takes {us:.2} us\n"),
                None => String::new(),
            };
            let growth = match growth.is_empty() {
                true => String::new(),
                false => growth_table(&growth),
            };
            exit::answer(&(spread + &barrier + &growth))
        }
    }
}

/// Microseconds that this many threads take at the barrier between two windows, with nothing to do
/// in between: the median of five times 10,000. None for one thread, and where there are fewer
/// cores.
fn barrier_us(threads: u32) -> Option<f64> {
    const TIMES: u32 = 10_000;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads as usize;
    (2..=cores).contains(&threads).then(|| {
        let mut times = [0; 5].map(|_| {
            let watch = Stopwatch::start();
            shards::meet(threads, TIMES);
            watch.seconds() * 1e6 / f64::from(TIMES)
        });
        times.sort_by(f64::total_cmp);
        times[2]
    })
}

/// How the work of each divided simulation was spread over its threads; empty without any.
fn spread_table(results: &[Measured]) -> String {
    let rows = results.iter().filter_map(|m| {
        let s = m.spread.as_ref()?;
        Some(format!(
            "{:20} {:>8} {:>8.2} {:>8} {:>8} {:>12.1} {:>12.1} {:>8.0} %\n",
            m.name,
            s.shards,
            m.wall_seconds,
            s.windows,
            s.alone,
            s.packet_hops_per_window,
            s.messages_per_window,
            100.0 * s.waiting,
        ))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\nhow the work was spread over threads\n\
         {:20} {:>8} {:>8} {:>8} {:>8} {:>12} {:>12} {:>10}\n{rows}",
        "workload", "shards", "wall s", "windows", "alone", "hops/window", "messages/w.", "waiting"
    )
}

/// Cost of a larger fabric, for the same traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Growth {
    name: String,
    hosts: u32,
    cpu_ns_per_packet_hop: f64,
    /// CPU time of a packet-hop as a multiple of that of the smallest fabric.
    cost: f64,
    peak_bytes_per_host: f64,
}

/// Every size of the reference traffic (a random permutation of endless DCTCP flows at 10 Gb/s)
/// against the smallest; empty where fewer than two sizes were measured.
fn growth(results: &[Measured]) -> Vec<Growth> {
    let mut sizes: Vec<&Measured> = results
        .iter()
        .filter(|m| SIZES.contains(&m.name.as_str()))
        .collect();
    sizes.sort_by_key(|m| m.hosts);
    let nanos = |m: &Measured| 1e9 / m.packet_hops_per_cpu_second;
    let Some(smallest) = sizes.first().filter(|_| sizes.len() > 1).copied() else {
        return Vec::new();
    };
    let row = |m: &&Measured| Growth {
        name: m.name.clone(),
        hosts: m.hosts,
        cpu_ns_per_packet_hop: nanos(m),
        cost: nanos(m) / nanos(smallest),
        peak_bytes_per_host: m.peak_rss_bytes as f64 / f64::from(m.hosts),
    };
    sizes.iter().map(row).collect()
}

fn growth_table(rows: &[Growth]) -> String {
    let mut text = format!(
        "\ncost of a packet-hop as the fabric grows\n{:20} {:>10} {:>8} {:>12} {:>12}\n",
        "workload", "hosts", "CPU ns", "to smallest", "KB a host"
    );
    for row in rows {
        text += &format!(
            "{:20} {:>10} {:>8.1} {:>12.2} {:>12.1}\n",
            row.name,
            row.hosts,
            row.cpu_ns_per_packet_hop,
            row.cost,
            row.peak_bytes_per_host / 1e3,
        );
    }
    text
}

fn child(name: &str, core: Core, threads: u32) -> Result<Measured, Failure> {
    let broken = |what: String| Failure::Machine(miette!("{name}: {what}"));
    let me = crate::program::again();
    let mut me = me.ok_or_else(|| broken("cannot find this program to run it again".to_owned()))?;
    let out = me
        .args(["bench", "--one", "--core", core.name(), "--threads"])
        .args([&threads.to_string(), name])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &str, hosts: u32, speed: f64) -> Measured {
        Measured {
            name: name.to_owned(),
            hosts,
            packet_hops: 1,
            cpu_seconds: 1.0,
            packet_hops_per_cpu_second: speed,
            peak_rss_bytes: 1_000_000,
            events: 1,
            simulated_seconds: 1.0,
            goodput_gbps: 1.0,
            marks: 0,
            drops: 0,
            digest: String::new(),
            spread: None,
            wall_seconds: 1.0,
        }
    }

    #[test]
    fn growth_is_against_the_smallest_fabric_with_the_same_traffic() {
        let all = [
            measured("leafspine-1024", 1024, 10e6),
            measured("dwrr-128", 128, 1e6),
            measured("leafspine-128", 128, 20e6),
        ];
        let rows: Vec<_> = growth(&all)
            .into_iter()
            .map(|g| (g.hosts, g.cost))
            .collect();
        assert_eq!(rows, [(128, 1.0), (1024, 2.0)]);
        assert!(
            growth(&all[..2]).is_empty(),
            "one size has nothing to compare"
        );
        assert!(growth_table(&growth(&all)).contains("leafspine-1024             1024"));
    }

    #[test]
    fn waiting_is_for_the_busiest_shard() {
        let found = shards::Spread {
            windows: 10,
            alone: 1,
            messages: 50,
            hops: 1000,
            busiest: 800,
        };
        let spread = Spread::of(&found, 2).expect("it was divided");
        assert_eq!(spread.packet_hops_per_window, 100.0);
        assert_eq!(spread.messages_per_window, 5.0);
        assert_eq!(spread.waiting, 0.375, "500 of 800 hops are useful");
        assert!(Spread::of(&found, 1).is_none());
        assert_eq!(spread_table(&[measured("a", 1, 1.0)]), "");
        let mut one = measured("a", 1, 1.0);
        one.spread = Some(spread);
        assert!(spread_table(&[one]).ends_with("5.0       38 %\n"));
    }

    #[test]
    fn a_barrier_is_measured_where_each_thread_has_a_core() {
        assert_eq!(barrier_us(1), None);
        assert_eq!(barrier_us(u32::MAX), None);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(barrier_us(2).is_some(), cores > 1);
    }

    #[test]
    fn every_size_is_a_workload() {
        for name in SIZES {
            assert!(BENCHES.iter().any(|b| b.name == *name), "{name}");
        }
    }
}
