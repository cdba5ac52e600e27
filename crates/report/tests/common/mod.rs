// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan and its outcomes written by hand: two loads, three schemes, three seeds, and flows whose
//! times follow a rule that a test can state ("the second scheme takes 20 % off short flows").
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use cemark_report::{Finished, Metric, metrics};
use cemark_scenario::{Plan, Point, Published};
use cemark_sim::config::MarkerChoice;
use cemark_sim::config::TracePorts;
use cemark_sim::outcome::{FlowRecord, PortReport, PortTrace, QueueSample, Spread, Totals};
use cemark_sim::topology::Star;
use cemark_sim::{Config, Outcome};
use cemark_wire::{Nanos, Picos, Rate};

pub const SCHEMES: [&str; 3] = ["DCTCP-RED-Tail", "ECN#", "CoDel"];

/// Factors on the completion times of (short, medium, large) flows under a scheme.
pub type Factors = [f64; 3];

pub const FACTORS: [Factors; 3] = [[1.0, 1.0, 1.0], [0.8, 0.9, 1.0], [1.3, 1.1, 1.1]];

pub fn config(seed: u64) -> Config {
    let star = Star {
        hosts: 8,
        rate: Rate::gbps(10),
        delay: Picos::from_micros(2),
    };
    let end = Picos::from_micros(10_000_000);
    let mut config = Config::new(star, Vec::new(), MarkerChoice::None, end);
    config.switch.buffer_bytes = 600_000;
    config.measure.trace = TracePorts::Hottest;
    config.measure.until = Picos::from_micros(1_000_000);
    config.seed = seed;
    config
}

pub fn plan(loads: &[&str], seeds: &[u64]) -> Plan {
    let mut points = Vec::new();
    for load in loads {
        for scheme in SCHEMES {
            for seed in seeds {
                points.push(Point {
                    axes: BTreeMap::from([("workload.load".to_owned(), (*load).to_owned())]),
                    scheme: scheme.to_owned(),
                    load: load.parse().ok(),
                    seed: *seed,
                    config: config(*seed),
                    cost: 1e6,
                    tail: 0.0,
                    samples: 1e3,
                    seconds: 1.0,
                    peak_bytes: 1e6,
                    kept_bytes: 1e4,
                    digest: 1000 + points.len() as u64,
                    simulation: 2000 + points.len() as u64,
                });
            }
        }
    }
    Plan {
        name: "two-loads".to_owned(),
        title: "Three schemes at two loads".to_owned(),
        description: "Flows by rule.".to_owned(),
        schemes: SCHEMES.map(str::to_owned).to_vec(),
        baseline: 0,
        axes: vec!["workload.load".to_owned()],
        precision: None,
        points,
        published: vec![
            published("0.90", "ECN#", "short.mean", -23.4, "ECN# Fig 9b"),
            published("0.9", "ECN#", "short.p99", -37.3, "ECN# Fig 9c"),
        ],
        next: Some("cemark run two-loads --set workload.load=0.95".to_owned()),
        workloads: vec!["web search".to_owned()],
        digest: 0xfeed_beef_0102_0304,
        warnings: Vec::new(),
        presets: Vec::new(),
        parameters: Vec::new(),
        retunes: Vec::new(),
        dscps: BTreeMap::new(),
        markers: Vec::new(),
        source: "title = \"Three schemes\"\n".to_owned(),
    }
}

pub fn published(load: &str, scheme: &str, metric: &str, percent: f64, source: &str) -> Published {
    Published {
        axes: BTreeMap::from([("workload.load".to_owned(), load.to_owned())]),
        scheme: scheme.to_owned(),
        metric: metric.to_owned(),
        percent,
        source: source.to_owned(),
    }
}

/// A pseudorandom number in 0..1 that does not depend on the scheme.
fn noise(seed: u64, id: u64) -> f64 {
    let mut z = (seed << 32 | id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// 300 flows of each class; every flow's time is 2 x ideal x noise x the scheme's factor, which
/// itself wobbles with the seed.
pub fn outcome(point: &Point, factors: Factors) -> Outcome {
    let seed = point.seed;
    let load = point.load.unwrap_or(0.5);
    let flows: Vec<FlowRecord> = (0..900)
        .map(|id| {
            let class = (id % 3) as usize;
            let bytes = [20_000, 1_000_000, 20_000_000][class] + id;
            let ideal = bytes * 800 + 80_000_000;
            let wobble = 1.0 + (factors[class] - 1.0) * 0.05 * (noise(seed, 77) - 0.5);
            let fct = ideal as f64 * (1.0 + load * 4.0 * noise(seed, id)) * factors[class] * wobble;
            FlowRecord {
                id,
                workload: 0,
                query: None,
                class: 0,
                src: (id % 7) as u32,
                dst: 7,
                bytes,
                start: Picos(id * 1_000_003),
                fct: Some(Picos(fct as u64)),
                ideal: Picos(ideal),
                extra: Picos::ZERO,
                marks: (id % 5) as u32,
                retransmits: 0,
                timeouts: 0,
            }
        })
        .collect();
    let queue = 30_000.0 * load * factors[0] * (1.0 + 0.02 * noise(seed, 5));
    let spread = |x: f64| Spread {
        count: 1000,
        mean: x,
        p50: x * 0.8,
        p99: x * 3.0,
        max: x * 5.0,
        min: 0.0,
    };
    let port = |i: u32, share: f64| PortReport {
        name: format!("switch0->host{i}"),
        rate: Rate::gbps(10),
        packets: 100_000,
        bytes: 150_000_000,
        marks: 812,
        drops: 3,
        utilisation: load * share,
        queue: spread(queue * share),
        sojourn: spread(queue * share * 0.8),
    };
    Outcome {
        totals: Totals {
            sent: 900_000,
            delivered: 899_990,
            made: 0,
            gone: 0,
            in_flight: 0,
            marks: BTreeMap::from([("instant", 9000 + seed), ("persistent", 312)]),
            drops: BTreeMap::from([("tail", if factors[0] > 1.0 { 120 } else { 0 })]),
            timeouts: u64::from(factors[0] > 1.0) * 7,
            retransmits: 10,
            goodput_bytes: flows.iter().map(|f| f.bytes).sum(),
        },
        ports: vec![port(6, 0.5), port(7, 1.0)],
        traces: vec![PortTrace {
            name: "switch0->host7".to_owned(),
            port: 1,
            samples: (0..2000)
                .map(|i| {
                    let bytes = (queue * (0.5 + noise(seed, i / 9))) as u32;
                    QueueSample {
                        at: Picos::from_micros(i * 10),
                        bytes,
                        wait: Nanos(u64::from(bytes) * 4 / 5),
                    }
                })
                .collect(),
        }],
        end: Picos::from_micros(1_000_000),
        packet_hops: 2_000_000,
        events: 3_000_000,
        digest: seed.wrapping_mul(0x1234_5678_9abc)
            ^ flows.iter().fold(0, |a, f| a ^ f.fct.map_or(0, |t| t.0)),
        flows,
        ..Outcome::default()
    }
}

/// The metric of this name.
pub fn metric(key: &str) -> &'static Metric {
    metrics::find(key).expect("a metric")
}

/// Every point of the plan, finished.
pub fn finished(plan: &Plan, factors: [Factors; 3]) -> Vec<Finished> {
    plan.points
        .iter()
        .map(|p| {
            let scheme = SCHEMES
                .iter()
                .position(|s| *s == p.scheme)
                .expect("a known scheme");
            Finished::new(p, outcome(p, factors[scheme]), 0.25)
        })
        .collect()
}

/// An empty directory that goes away with the value.
pub struct Scratch(pub std::path::PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cemark-report-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
