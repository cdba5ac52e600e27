// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results do not depend on the form of a port, the event core or the number of jobs, and no packet
//! is lost silently.

use cemark_sim::config::Config;
use cemark_sim::topology::{LeafSpine, Topology};
use cemark_sim::workload::{
    Arrivals, ClassMap, Kind, Pairs, Poisson, RttModel, SizeTable, Workload,
};
use cemark_wire::{Picos, Rate};
use rayon::prelude::*;

use super::Row;
use super::fabrics::{many_to_one, scheme, step};

/// A small loaded leaf-spine. Delays are multiples of the time of a byte, so that packets meet in
/// one tick.
fn fabric(seed: u64, sharp: bool) -> Config {
    let marker = if sharp {
        scheme("ecn_sharp", &[])
    } else {
        step(65)
    };
    let mut cfg = many_to_one(2, 10, marker);
    cfg.seed = seed;
    cfg.topology = Topology::from(LeafSpine {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 4,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: Picos::from_micros(10),
        uplink_delay: Picos::from_micros(10),
    });
    cfg.rtt = RttModel::Variation {
        lo: Picos::from_micros(80),
        hi: Picos::from_micros(240),
    };
    cfg.workloads = vec![Workload {
        name: "web".into(),
        kind: Kind::Poisson(Poisson {
            sizes: SizeTable::builtin("web-search").expect("a built-in table"),
            load: 0.7,
            pairs: Pairs::All,
            flows: 400,
            warmup: 50,
            hold: Picos::MAX,
            arrivals: Arrivals::default(),
        }),
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    }];
    cfg.max_time = Picos::from_micros(2_000_000);
    cfg
}

pub(super) fn rows() -> Vec<Row> {
    let count = |name: &str, what, measured: usize| Row {
        name: name.into(),
        what,
        measured: measured as f64,
        low: 0.0,
        high: 0.0,
        theory: Some(0.0),
    };
    let points: Vec<Config> = (0..4).map(|i| fabric(i, i % 2 == 1)).collect();
    let fused: Vec<_> = points.iter().map(cemark_sim::run).collect();
    let unfused = points.iter().map(|c| {
        let mut c = c.clone();
        c.switch.never_fuse = true;
        cemark_sim::run(&c)
    });
    let differing = fused
        .iter()
        .zip(unfused)
        .map(|(a, b)| a.flows.iter().zip(&b.flows).filter(|(x, y)| x != y).count())
        .sum();
    let heap = points
        .iter()
        .zip(&fused)
        .filter(|(c, o)| cemark_sim::run_on_heap(c).digest != o.digest)
        .count();
    let parallel: Vec<u64> = points
        .par_iter()
        .map(|c| cemark_sim::run(c).digest)
        .collect();
    let jobs = parallel
        .iter()
        .zip(&fused)
        .filter(|(d, o)| **d != o.digest)
        .count();
    let lost = fused
        .iter()
        .filter(|o| o.totals.sent != o.totals.delivered + o.totals.all_drops() + o.totals.in_flight)
        .count();
    vec![
        count(
            "fused and unfused ports",
            "flows that differ in four runs of 400",
            differing,
        ),
        count("wheel and heap", "runs of four whose digests differ", heap),
        count("one job and two", "runs of four whose digests differ", jobs),
        count(
            "conservation of packets",
            "runs of four with a packet unaccounted for",
            lost,
        ),
    ]
}
