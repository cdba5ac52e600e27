// SPDX-License-Identifier: MIT OR Apache-2.0
//! NewReno under random loss follows the square-root law.

use std::sync::Arc;

use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict, Why};
use cemark_sim::config::MarkerChoice;
use cemark_transport::Control;
use cemark_wire::{Nanos, Picos};

use super::Row;
use super::fabrics::many_to_one;

/// Discards full packets with a fixed probability and lets everything else pass.
struct RandomLoss {
    per_million: u64,
}

impl Marker for RandomLoss {
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }

    fn enqueue(&mut self, at: &At) -> Verdict {
        if at.pkt_bytes > 1000 && at.packet_hash % 1_000_000 < self.per_million {
            Verdict::Drop(Why::Random)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, _: &Values, _: &QueueSpec) {}
}

/// Throughput in segments a round trip: sqrt(3/2p) with an ACK for every segment, within 20 %.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (label, sack) in [("NewReno", false), ("NewReno with SACK", true)] {
        for per_million in [1_000u64, 3_000, 10_000] {
            let mut cfg = many_to_one(
                1,
                20_000,
                MarkerChoice::Custom(Arc::new(move |_| Box::new(RandomLoss { per_million }))),
            );
            cfg.transport.control = Control::RENO;
            cfg.transport.sack = sack;
            cfg.transport.rto_min = Nanos::from_millis(1);
            // A long delay: the window stays far below the capacity of the path, so no queue adds
            // to the round-trip time.
            cfg.topology = cemark_sim::topology::Topology::from(cemark_sim::topology::Star {
                hosts: 2,
                rate: cemark_wire::Rate::gbps(10),
                delay: Picos::from_micros(250),
            });
            cfg.measure.queue_interval = Picos::ZERO;
            let out = cemark_sim::run(&cfg);
            let seconds = (cfg.measure.until - cfg.measure.from).as_secs_f64();
            let rtt = 4.0 * 250e-6 + 2.0 * 1540.0 * 8e-10;
            let segments =
                out.long_flows[0].delivered as f64 / f64::from(cfg.transport.mss) * rtt / seconds;
            let p = per_million as f64 / 1e6;
            let law = (1.5 / p).sqrt();
            rows.push(Row {
                name: format!("{label}, loss {:.1} %", p * 100.0),
                what: "segments a round trip over sqrt(3/2p)",
                measured: segments / law,
                low: 0.8,
                high: 1.2,
                theory: Some(1.0),
            });
        }
    }
    rows
}
