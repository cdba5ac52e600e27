// SPDX-License-Identifier: MIT OR Apache-2.0
//! STAND-IN, dropped at merge: the parser's signature.
use crate::{Plan, Point, Published};
use cemark_marking::{Values, catalogue};
use cemark_sim::{Config, config::*, topology::Topology, workload::RttModel};
use cemark_wire::{Picos, Rate};
use std::collections::BTreeMap;
/// Overrides.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// set
    pub set: Vec<(String, Vec<String>)>,
    /// seed
    pub seed: Option<u64>,
    /// seeds
    pub seeds: Option<u64>,
}
/// Error.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("no built-in scenario has this name: {0}")]
#[diagnostic(help("did you mean `rtt-variation`?"))]
pub struct Error(String);
impl Overrides {
    /// add
    pub fn add(&mut self, option: &str) -> Result<(), Error> {
        let (p, v) = option.split_once('=').ok_or_else(|| Error(option.to_owned()))?;
        self.set.push((p.into(), v.split(',').map(str::to_owned).collect()));
        Ok(())
    }
}
/// Builtin.
pub struct Builtin {
    /// name
    pub name: &'static str,
}
impl Builtin {
    /// title
    pub fn title(&self) -> String {
        "Which marking scheme copes with RTT variations?".into()
    }
}
/// builtins
pub fn builtins() -> impl Iterator<Item = &'static Builtin> {
    vec![Builtin { name: "rtt-variation" }].leak().iter()
}
/// load
pub fn load(name: &str, o: &Overrides) -> Result<Plan, Error> {
    if name != "rtt-variation" {
        return Err(Error(name.into()));
    }
    let loads = o.set.iter().find(|s| s.0 == "workload.load").map_or(vec!["0.5".to_owned(), "0.8".to_owned()], |s| s.1.clone());
    let pause: u64 = o.set.iter().find(|s| s.0 == "pause").map_or(0, |s| s.1[0].parse().unwrap());
    let schemes = ["DCTCP-RED-Tail", "DCTCP-RED-AVG", "CoDel", "TCN", "ECN#"];
    let names = ["threshold", "red", "codel", "tcn", "ecn_sharp"];
    let seeds: Vec<u64> = match o.seed { Some(s) => vec![s], None => (1..=o.seeds.unwrap_or(3)).collect() };
    let mut points = Vec::new();
    for load in &loads {
        for (s, n) in schemes.iter().zip(names) {
            for seed in &seeds {
                let scheme = catalogue::find(n).unwrap();
                points.push(Point {
                    axes: BTreeMap::from([("workload.load".to_owned(), load.clone())]),
                    scheme: (*s).to_owned(),
                    load: load.parse().ok(),
                    seed: *seed,
                    config: Config {
                        topology: Topology::Star { hosts: 8, rate: Rate::gbps(10), delay: Picos::from_micros(2) },
                        rtt: RttModel::Path,
                        workloads: Vec::new(),
                        transport: Default::default(),
                        nic: Nic::BackPressure { packets: 2 },
                        switch: SwitchConfig { buffer_bytes: 600_000, queues: vec![QueueConfig { quantum: 1500, weight: 1, strict: false }], scheduler: SchedulerKind::Fifo, marker: MarkerChoice::Builtin { scheme, values: Values::defaults(scheme) }, non_ect: NonEct::Forward, never_fuse: false },
                        measure: Measure { queue_interval: Picos::from_micros(10), trace: TracePorts::Hottest, from: Picos::ZERO, until: Picos::MAX, goodput_interval: Picos::ZERO },
                        seed: *seed,
                        max_time: Picos(pause),
                    },
                    cost: 1e8,
                    digest: points.len() as u64 + seed * 1000,
                });
            }
        }
    }
    let p = |load: &str, scheme: &str, metric: &str, percent| Published { axes: BTreeMap::from([("workload.load".to_owned(), load.to_owned())]), scheme: scheme.into(), metric: metric.into(), percent, source: "ECN# Fig 13b".into() };
    Ok(Plan {
        name: name.into(),
        title: "Which marking scheme copes with RTT variations?".into(),
        description: "The 128-host leaf-spine of ECN# section 5.3: 8 leaves, 8 spines, 10 Gb/s, 2:1 oversubscribed, base RTT 80 to 240 µs drawn per flow.\n\nWeb-search flows arrive as a Poisson process at two loads of the uplinks.".into(),
        schemes: schemes.map(str::to_owned).to_vec(),
        baseline: 0,
        axes: vec!["workload.load".into()],
        points,
        published: vec![p("0.8", "ECN#", "short.mean", -23.4), p("0.8", "ECN#", "short.p99", -37.3), p("0.8", "CoDel", "short.p99", 120.0)],
        next: Some("cemark run rtt-variation --set rtt.hi=400us".into()),
        workloads: vec!["web search".into()],
        digest: 0xfeed_0000_1111_2222 ^ o.set.len() as u64 ^ o.seed.unwrap_or(0),
        source: "title = \"Which <scheme>?\"\n[topology]\nkind = \"leaf-spine\"\n".into(),
    })
}
