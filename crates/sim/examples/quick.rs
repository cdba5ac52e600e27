// SPDX-License-Identifier: MIT OR Apache-2.0
#![allow(missing_docs, clippy::all)]
#[path = "../tests/common/mod.rs"]
mod common;
use cemark_sim::topology::Topology;
use cemark_wire::*;
use common::*;
fn main() {
    let ms: u64 = std::env::args().nth(1).map_or(50, |s| s.parse().unwrap());
    let mut c = config(
        vec![permutation()],
        scheme(&std::env::args().nth(2).unwrap_or("threshold".into()), &[]),
    );
    c.topology = Topology::LeafSpine {
        leaves: 16,
        spines: 8,
        hosts_per_leaf: 8,
        host_rate: Rate::gbps(10),
        uplink_rate: Rate::gbps(10),
        host_delay: us(10),
        uplink_delay: us(10),
    };
    c.max_time = us(ms * 1000);
    c.measure.queue_interval = Picos::ZERO;
    c.switch.never_fuse = std::env::args().nth(3).is_some();
    let t = std::time::Instant::now();
    let o = cemark_sim::run(&c);
    let s = t.elapsed().as_secs_f64();
    println!(
        "hops {} events {} ev/hop {:.2} {:.2} M/s  marks {} drops {} goodput {:.1} G digest {:x} timeouts {}",
        o.packet_hops,
        o.events,
        o.events as f64 / o.packet_hops as f64,
        o.packet_hops as f64 / s / 1e6,
        o.totals.all_marks(),
        o.totals.all_drops(),
        o.totals.goodput_bytes as f64 * 8e-9 / o.end.as_secs_f64(),
        o.digest,
        o.totals.timeouts
    );
    if std::env::var("HEAP").is_ok() {
        println!("{}", cemark_sim::run_on_heap(&c).digest == o.digest);
    }
}
