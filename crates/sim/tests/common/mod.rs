// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small fabrics for tests.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses its part

pub mod random;

use cemark_marking::{Values, catalogue};
use cemark_sim::config::{Config, MarkerChoice, TracePorts};
use cemark_sim::topology::{LeafSpine, Topology};
use cemark_sim::workload::{
    Arrivals, ClassMap, Kind, Long, LongFlows, Pairs, Poisson, SizeTable, Workload,
};
use cemark_wire::{Picos, Rate};
use proptest::prelude::ProptestConfig;

/// How many times as many cases random tests draw, each with three times the flows: a long search
/// (`CEMARK_TIMES`; `cargo xtask proof random`).
pub fn times() -> Option<u32> {
    let times = std::env::var("CEMARK_TIMES").ok()?;
    Some(times.parse().expect("CEMARK_TIMES is a whole number"))
}

/// A random test of `n` cases, or of [`times`] as many.
pub fn cases(n: u32) -> ProptestConfig {
    ProptestConfig::with_cases(n * times().unwrap_or(1))
}

pub fn us(n: u64) -> Picos {
    Picos::from_micros(n)
}

pub fn scheme(name: &str, params: &[(&str, u64)]) -> MarkerChoice {
    let scheme = catalogue::find(name).expect("a scheme of the catalogue");
    let values = params.iter().fold(Values::defaults(scheme), |v, (n, x)| {
        v.with(scheme, n, *x).expect("a parameter")
    });
    MarkerChoice::Builtin { scheme, values }
}

pub fn workload(kind: Kind) -> Workload {
    Workload {
        name: "w".into(),
        kind,
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    }
}

pub fn web(load: f64, flows: u64) -> Workload {
    let sizes = SizeTable::builtin("web-search").expect("a built-in table");
    workload(Kind::Poisson(Poisson {
        sizes,
        load,
        pairs: Pairs::All,
        flows,
        warmup: flows / 10,
        hold: Picos::MAX,
        arrivals: Arrivals::default(),
    }))
}

/// Traffic of [`web`], but arrivals stop soon after the measured flows have arrived: the losses of
/// some random scenarios leave too little capacity for the load, and if the load were held their
/// flows would never end.
pub fn web_that_stops(load: f64, flows: u64) -> Workload {
    let mut web = web(load, flows);
    if let Kind::Poisson(Poisson { hold, .. }) = &mut web.kind {
        *hold = us(5_000);
    }
    web
}

pub fn leaf_spine() -> Topology {
    Topology::from(LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 3,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: Picos(9_999_991),
        uplink_delay: Picos(10_000_019),
    })
}

pub fn permutation() -> Workload {
    workload(Kind::Long(Long {
        flows: LongFlows::Permutation { per_host: 1 },
        at: Picos::ZERO,
        stagger: Picos::ZERO,
        jitter: us(10),
    }))
}

pub fn config(workloads: Vec<Workload>, marker: MarkerChoice) -> Config {
    let end = us(1_000_000);
    let mut config = Config::new(leaf_spine(), workloads, marker, end);
    config.switch.buffer_bytes = 300_000;
    config.measure.queue_interval = us(20);
    config.measure.trace = TracePorts::Hottest;
    config.measure.until = end;
    config.seed = 7;
    config
}
