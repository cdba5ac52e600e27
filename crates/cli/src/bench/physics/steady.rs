// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figure 16 of ECN#: the standing queue under a threshold for the tail RTT, and under ECN#.

use cemark_sim::workload::RttModel;
use cemark_wire::Picos;

use super::Row;
use super::fabrics::{PACKET, many_to_one, scheme};

/// Two long flows, base RTT 80 to 240 us, 10 Gb/s: the published queues are 182 and 8 packets.
pub(super) fn rows() -> Vec<Row> {
    let tail = scheme("threshold", &[("k", 275_000)]);
    let sharp = scheme(
        "ecn_sharp",
        &[
            ("ins_target", 220_000),
            ("pst_target", 10_000),
            ("pst_interval", 240_000),
        ],
    );
    [
        ("DCTCP-RED-Tail", tail, 165.0, 195.0, 182.0),
        ("ECN#", sharp, 5.0, 20.0, 8.0),
    ]
    .into_iter()
    .map(|(name, marker, low, high, published)| {
        let mut cfg = many_to_one(2, 400, marker);
        cfg.topology = cemark_sim::topology::Topology::from(cemark_sim::topology::Star {
            hosts: 3,
            rate: cemark_wire::Rate::gbps(10),
            delay: Picos::from_micros(10),
        });
        cfg.rtt = RttModel::Variation {
            lo: Picos::from_micros(80),
            hi: Picos::from_micros(240),
        };
        let out = cemark_sim::run(&cfg);
        Row {
            name: format!("Fig 16 steady queue, {name}"),
            what: "mean queue in packets",
            measured: out.ports[0].queue.mean / PACKET as f64,
            low,
            high,
            theory: Some(published),
        }
    })
    .collect()
}
