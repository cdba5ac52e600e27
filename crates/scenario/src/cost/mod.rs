// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a point in packet-hops (one packet, data or ACK, over one link), CPU seconds and memory:
//! closed forms of its flows ([`flows`], [`endless`]).

mod endless;
mod flows;
mod memory;
mod sender;

use cemark_sim::Config;
use cemark_sim::config::{Edge, Policy};

pub(crate) use memory::{BASE, LEAST, of_shards};

/// Cost of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Packet-hops.
    pub(crate) hops: f64,
    /// Packet-hops after the last measured flow has started.
    pub(crate) tail: f64,
    /// Samples of queues, of all ports.
    pub(crate) samples: f64,
    /// Simulated seconds.
    pub(crate) seconds: f64,
    /// Most memory while it runs, beyond that of the program.
    pub(crate) peak_bytes: f64,
    /// Memory of its outcome, which stays until the end.
    pub(crate) kept_bytes: f64,
}

/// Traffic of a point, from which its cost follows.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Packet-hops, and those after the last measured flow has started.
    hops: f64,
    tail: f64,
    /// Simulated seconds.
    end: f64,
    /// Flows under way at the same time.
    flows: f64,
    /// Links that are full at the same time.
    full: f64,
}

/// Estimates a point.
pub(crate) fn of(config: &Config) -> Cost {
    let found = flows::found(config);
    Cost {
        hops: found.hops,
        tail: found.tail,
        samples: memory::samples_of_ports(config, &found),
        seconds: found.end,
        peak_bytes: memory::peak(config, &found),
        kept_bytes: memory::kept(config, &found),
    }
}

/// Nanoseconds of a sample of a port's queue.
const SAMPLE: f64 = 20.0;

/// CPU seconds that the packet-hops and the samples of queues of a point take: nanoseconds a
/// packet-hop by what makes it dear, on a core of the machines of `bench/`.
pub(crate) fn cpu_seconds(config: &Config, hops: f64, samples: f64) -> f64 {
    let s = &config.switch;
    let mut nanos: f64 = 60.0;
    if s.queues.len() > 1 || s.never_fuse || s.buffering.policy != Policy::Port {
        nanos += 50.0; // explicit queues, two events a hop
    }
    let paced = |t: &cemark_transport::Config| t.rdma.is_none() && t.is_paced();
    if !config.queue_pairs().is_empty() {
        nanos += 25.0; // every packet waits for its pace
    } else if config.transports().into_iter().any(paced) {
        nanos += 30.0;
    }
    if s.pfc.is_some() {
        nanos += 85.0; // meters
    }
    match config.edge {
        Edge::Plain => {}
        Edge::Dcib { .. } | Edge::Pep { .. } => nanos += 60.0,
    }
    (hops * nanos + samples * SAMPLE) * growth(config.topology.hosts()) * 1e-9
}

/// Cost of a packet-hop in a fabric of this size, as a multiple of its cost in a small one: the
/// state of a large fabric does not fit the caches, and there is more to lay out. `cemark bench`
/// with the fabrics of the table in docs/speed.md measured 1.80 for 1,024 hosts, 3.37 for 3,456 and
/// 5.33 for 11,664 with FIFO ports on an Intel Xeon (`bench/proof/bench.log`), and 1.38, 2.73 and
/// 5.77 on an AMD EPYC without the prefetching of large fabrics. Queue pairs with pauses grew as
/// much there, 5.5 for 10,000 (`dcqcn-128-pfc` against `examples/roce-10000.toml`, both 2026-11-22:
/// 141 and 772 ns).
fn growth(hosts: u32) -> f64 {
    1.0 + f64::from(hosts.saturating_sub(300)) / 2_500.0
}
