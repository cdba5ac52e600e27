// SPDX-License-Identifier: MIT OR Apache-2.0
//! One simulation divided into shards, which may run on several threads, with the digest of the
//! undivided one.
//!
//! A shard has the hosts of some leaves, their switches' ports, and the ports of spines that lead
//! to these leaves. Every shard knows all flows and all connections; it sends for its own hosts and
//! receives for them, so of a connection one shard uses the sender and one the receiver. A packet
//! changes the shard where it has crossed the link from its leaf to a spine. Its arrival is known
//! when it joins the port of that link, one window ahead at least: a window is the link's delay and
//! the time of the shortest packet. So all shards simulate one window, exchange packets, and go on
//! from the earliest event of all.
//!
//! A run ends in the event in which the last measured flow does. No window in which that may happen
//! is simulated side by side: the shards' events are then taken one after the other in their common
//! order, by one thread.

mod barrier;
mod merge;
mod part;
mod work;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::Progress;
use crate::config::{Config, Edge};
use crate::engine::Sim;
use crate::events::{EventQueue, PartWheel};
use crate::outcome::Outcome;
use crate::topology::{LeafSpine, Topology};
use crate::workload::Kind;

use barrier::Barrier;
pub(crate) use part::Part;
use work::Exchange;

/// Most flows of a point whose connections keep their numbers, which costs about a kilobyte each.
const MOST_FLOWS: u64 = 1 << 16;

/// Simulates one point in `shards` parts on `threads` threads; both are lowered to what the point
/// allows. `report` is called from time to time and abandons the run by returning false.
///
/// The outcome, but for its count of events, is that of [`run`](crate::run).
pub fn run(
    cfg: &Config,
    shards: u32,
    threads: u32,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    let fabric = match &cfg.topology {
        Topology::LeafSpine(fabric) if shards.min(fabric.leaves) > 1 => fabric,
        _ => return crate::run_with_progress(cfg, report),
    };
    let first = Sim::<PartWheel>::new(cfg, &[]);
    let window = window(&first, fabric);
    if obstacle(&first).is_some() || window == 0 {
        return crate::run_with_progress(cfg, report);
    }
    let shards = shards.min(fabric.leaves) as usize;
    let threads = (threads.max(1) as usize).min(shards);
    let others = (1..shards).map(|_| Sim::new(cfg, &[]));
    let sims: Vec<_> = std::iter::once(first).chain(others).collect();
    let total = sims[0].awaited;
    let end = sims[0].clock.ticks(cfg.max_time);
    let sims = sims.into_iter().enumerate().map(|(me, mut sim)| {
        sim.join(Part::new(me, shards, fabric, sim.ports.len()));
        Mutex::new(sim)
    });
    let exchange = Exchange {
        sims: sims.collect(),
        mail: (0..shards * shards).map(|_| Mutex::default()).collect(),
        next: (0..shards).map(|_| AtomicU64::new(0)).collect(),
        goes_on: (0..shards).map(|_| AtomicBool::new(false)).collect(),
        hops: (0..shards).map(|_| AtomicU64::new(0)).collect(),
        barrier: Barrier::new(threads),
        stopped: AtomicBool::new(false),
        abandoned: AtomicBool::new(false),
        threads,
        total,
        window,
        end,
    };
    std::thread::scope(|scope| {
        for k in 1..threads {
            let exchange = &exchange;
            scope.spawn(move || exchange.work(k, &mut |_| true));
        }
        exchange.work(0, report);
    });
    exchange.into_outcome()
}

/// Why a point cannot be divided, if it cannot.
fn obstacle<Q: EventQueue>(sim: &Sim<Q>) -> Option<&'static str> {
    let fused = sim.ports.iter().all(cemark_switch::Port::is_fused);
    if fused {
        obstacle_but_queues(sim)
    } else {
        Some("ports have queues")
    }
}

/// The same whatever the form of the ports. Where there is none, connections keep their
/// numbers, so that their order is the same under both forms of a port.
pub(crate) fn obstacle_but_queues<Q: EventQueue>(sim: &Sim<Q>) -> Option<&'static str> {
    let cfg = &sim.cfg;
    let fresh = cfg.workloads.iter().all(|w| {
        let plain = match &w.kind {
            Kind::Probe { .. } => false,
            Kind::Poisson { flows, .. } => *flows > 0,
            _ => true,
        };
        plain && !w.persistent
    });
    let other = cfg.transport.rdma.is_some()
        || cfg.switch.pfc.is_some()
        || !cfg.faults.is_empty()
        || !matches!(cfg.edge, Edge::Plain);
    if !matches!(cfg.topology, Topology::LeafSpine(_)) {
        Some("not a leaf-spine fabric")
    } else if !fresh {
        Some("connections persist, or a workload is a probe")
    } else if cfg.measure.fct.is_of_sender() {
        Some("senders end the flows")
    } else if sim.traffic.ahead() > MOST_FLOWS {
        Some("too many flows")
    } else {
        other.then_some("queue pairs, pauses, faults or middleboxes")
    }
}

/// Ticks from the arrival of a packet at the port of a link to a spine to its arrival there, at
/// least.
fn window<Q: EventQueue>(sim: &Sim<Q>, fabric: &LeafSpine) -> u64 {
    let t = &sim.cfg.transport;
    let bytes = u64::from(t.header_bytes.min(t.ack_bytes));
    let byte = fabric.uplink_rate.picos_per_byte().0 / sim.clock.tick_ps();
    sim.clock.ticks(fabric.uplink_delay) + bytes * byte
}
