// SPDX-License-Identifier: MIT OR Apache-2.0
//! An idle network gives exactly the RTT that the links add up to.

use cemark_sim::topology::{FatTree, LeafSpine, Star, Topology};
use cemark_sim::workload::{ClassMap, Kind, Probe, Workload};
use cemark_wire::{Picos, Rate};

use super::Row;
use super::fabrics::{many_to_one, step};

pub(super) fn rows() -> Vec<Row> {
    let (ten, hundred, us) = (Rate::gbps(10), Rate::gbps(100), Picos::from_micros(10));
    // (name, topology, from, to, picoseconds a byte takes over all links of one way)
    let cases = [
        (
            "star",
            Topology::from(Star {
                hosts: 3,
                rate: ten,
                delay: us,
            }),
            0,
            2,
            2 * 800,
        ),
        (
            "leaf-spine 10/40G",
            Topology::from(LeafSpine {
                leaves: 2,
                spines: 2,
                hosts_per_leaf: 2,
                host_rate: ten,
                uplink_rate: Rate::gbps(40),
                host_delay: us,
                uplink_delay: Picos::from_nanos(777),
            }),
            0,
            3,
            2 * 800 + 2 * 200,
        ),
        (
            "fat-tree 100G",
            Topology::from(FatTree {
                k: 4,
                hosts_per_edge: 2,
                host_rate: hundred,
                pod_rate: hundred,
                core_rate: Rate::gbps(400),
                host_delay: us,
                fabric_delay: us,
            }),
            0,
            15,
            4 * 80 + 2 * 20,
        ),
    ];
    cases
        .into_iter()
        .map(|(name, topology, src, dst, byte_ps)| {
            let mut cfg = many_to_one(1, 5, step(65));
            let expected = 2 * topology.propagation(src, dst).0 + 2 * 64 * byte_ps;
            cfg.topology = topology;
            cfg.workloads = vec![Workload {
                name: "ping".into(),
                kind: Kind::Probe(Probe {
                    src,
                    dst,
                    at: Picos::from_micros(3),
                    every: Picos::from_micros(500),
                    count: 5,
                }),
                class: ClassMap::Fixed(0),
                persistent: false,
                transport: None,
            }];
            let out = cemark_sim::run(&cfg);
            let worst = out
                .probes
                .iter()
                .map(|p| p.rtt.0.abs_diff(expected))
                .max()
                .filter(|_| out.probes.len() == 5);
            Row {
                name: format!("idle RTT, {name}"),
                what: "picoseconds between measured and sum of the links",
                measured: worst.map_or(f64::NAN, |w| w as f64),
                low: 0.0,
                high: 0.0,
                theory: Some(0.0),
            }
        })
        .collect()
}
