// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much work a point will be, in packet-hops (one packet, data or ACK, over one link), CPU
//! seconds and memory.
//!
//! The point's own flows are drawn and flow as fluids ([`fluid`]); of very many only a part, which
//! represents the rest. Points that differ in nothing that matters here, as schemes of one cell do,
//! share an estimate.

mod coarse;
mod fluid;
mod memory;
mod paths;
mod sender;

use std::collections::BTreeMap;

use cemark_sim::Config;
use cemark_sim::config::{Edge, Policy};
use cemark_sim::workload::load::flows_per_second;
use cemark_sim::workload::{Kind, LongFlows, Workload};
use cemark_wire::hash::Fnv1a;

use fluid::Found;
use sender::seconds;

pub(crate) use memory::{BASE, LEAST, of_shards};

/// Flows of a point that are drawn; of more, this part represents all.
const DRAWN: f64 = 20_000.0;
/// Up to this number of flows their draw matters, and each seed has an estimate of its own.
const FEW: f64 = 2_000.0;
/// Hosts of which that is not asked: the estimate itself takes long enough.
const MANY: u32 = 500;
/// Flows of a list that are drawn.
const MOST_LISTED: usize = 1_000_000;
/// What the estimates of a plan may take together, in flows times steps: less than a second. Then
/// closed forms take over.
const EFFORT: u64 = 15_000_000;

/// What a point will cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Packet-hops.
    pub(crate) hops: f64,
    /// Packet-hops after the last measured flow has started; 0 where the estimate does not tell.
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

/// The estimates of one plan.
#[derive(Default)]
pub(crate) struct Costs {
    known: BTreeMap<String, Found>,
    effort: u64,
}

impl Costs {
    /// That of one point.
    pub(crate) fn of(&mut self, config: &Config) -> Cost {
        let mut found = self.found(config);
        let probes = config
            .workloads
            .iter()
            .map(|w| probes(&w.kind, config, found.end));
        let tail = match found.before > 0.0 {
            true => found.after,
            false => 0.0,
        };
        found.after += probes.sum::<f64>();
        Cost {
            hops: found.before + found.after,
            tail,
            samples: memory::samples_of_ports(config, &found),
            seconds: found.end,
            peak_bytes: memory::peak(config, &found),
            kept_bytes: memory::kept(config, &found),
        }
    }

    fn found(&mut self, config: &Config) -> Found {
        let flows = flows(config);
        let mut key = format!(
            "{:?}{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
            config.topology,
            config.rtt,
            config.workloads.iter().map(shown).collect::<Vec<_>>(),
            config.transport,
            config.offload,
            config.faults,
            config.edge,
            config.max_time
        );
        if flows <= FEW && config.topology.hosts() <= MANY && self.effort < EFFORT / 2 {
            key.push_str(&config.seed.to_string());
        }
        if let Some(found) = self.known.get(&key) {
            return *found;
        }
        let (links, ports) = paths::links(&config.topology);
        let found = if self.effort < EFFORT && drawable(config) {
            part(config, flows)
        } else {
            closed(config, ports)
        };
        let found = Found {
            links,
            ports,
            ..found
        };
        self.effort += found.effort + 1000;
        self.known.insert(key, found);
        found
    }
}

/// A text that differs between workloads: of a list of flows, which may have millions, a hash.
fn shown(workload: &Workload) -> String {
    let Kind::List(lines) = &workload.kind else {
        return format!("{workload:?}");
    };
    let mut digest = Fnv1a::new();
    for line in lines {
        let (class, rtt) = (
            line.class.map_or(256, u64::from),
            line.rtt.map_or(u64::MAX, |t| t.0),
        );
        let ends = u64::from(line.src) << 32 | u64::from(line.dst);
        for number in [line.start.0, ends, line.bytes, class, rtt] {
            digest.write(&number.to_le_bytes());
        }
    }
    let (class, control) = (&workload.class, &workload.control);
    let kept = workload.persistent;
    format!(
        "{}{class:?}{control:?}{kept}{:x}",
        lines.len(),
        digest.finish()
    )
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
    if config.transport.rdma.is_some() {
        nanos += 25.0; // every packet waits for its pace
    } else if config.transport.is_paced() {
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

/// What a packet-hop costs in a fabric of this size, as a multiple of a small one: what it touches
/// is no longer in the caches, and there is more to lay out. `cemark bench` with the fabrics of the
/// table in docs/speed.md measured 1.80 for 1,024 hosts, 3.37 for 3,456 and 5.33 for 11,664 with
/// FIFO ports on an Intel Xeon (`bench/proof/bench.log`), and 1.38, 2.73 and 5.77 on an AMD EPYC
/// before large fabrics prefetched. Queue pairs with pauses grew as much there, 5.5 for 10,000
/// (`dcqcn-128-pfc` against `examples/roce-10000.toml`, both 2026-11-22: 141 and 772 ns).
fn growth(hosts: u32) -> f64 {
    1.0 + f64::from(hosts.saturating_sub(300)) / 2_500.0
}

/// Flows that start before the last measured one has, endless ones not counted.
fn flows(config: &Config) -> f64 {
    let of = |kind: &Kind| match kind {
        Kind::Poisson { .. } => arrivals(kind, config).map_or(0.0, |(n, _)| n),
        Kind::Incast {
            senders, repeat, ..
        } => f64::from(*senders) * f64::from(*repeat),
        Kind::List(lines) => lines.len() as f64,
        Kind::Long { .. } | Kind::Probe { .. } => 0.0,
    };
    config.workloads.iter().map(|w| of(&w.kind)).sum()
}

/// Flows of a Poisson workload, as many of warm-up and measurement as arrive at all, and the
/// seconds that they take to.
fn arrivals(kind: &Kind, config: &Config) -> Option<(f64, f64)> {
    let Kind::Poisson {
        sizes,
        load,
        pairs,
        flows,
        warmup,
        ..
    } = kind
    else {
        return None;
    };
    let rate = flows_per_second(&config.topology, pairs, sizes.mean(), *load);
    let asked = *flows as f64 + *warmup as f64;
    let n = asked.min(rate * seconds(config.max_time));
    Some((n, n / rate))
}

/// When the last flow that is awaited starts, about; the end of the run where none is.
fn last(config: &Config) -> f64 {
    let end = seconds(config.max_time);
    let of = |kind: &Kind| match kind {
        Kind::Poisson { .. } => arrivals(kind, config).map(|(_, seconds)| seconds),
        Kind::Incast {
            at, repeat, every, ..
        } => Some(seconds(*at) + seconds(*every) * f64::from(repeat.saturating_sub(1))),
        Kind::List(lines) => lines.iter().map(|l| seconds(l.start)).reduce(f64::max),
        Kind::Long { .. } | Kind::Probe { .. } => None,
    };
    let all = config.workloads.iter().filter_map(|w| of(&w.kind));
    all.reduce(f64::max).map_or(end, |last| last.min(end))
}

/// Whether the flows that exist from the start are few enough to be drawn.
fn drawable(config: &Config) -> bool {
    let hosts = config.topology.hosts();
    config.workloads.iter().all(|w| match &w.kind {
        Kind::Incast { senders, .. } => f64::from(*senders) <= 5.0 * DRAWN,
        // All of them may start at once.
        Kind::List(lines) => lines.len() <= MOST_LISTED,
        Kind::Long { flows, .. } => match flows {
            LongFlows::Permutation { per_host } => {
                u64::from(hosts) * u64::from(*per_host) <= 200_000
            }
            LongFlows::ToOne { count, .. } => *count <= 200_000,
            LongFlows::Pairs(_) => true,
        },
        _ => true,
    })
}

/// The point itself, or one with a part of its flows.
fn part(config: &Config, flows: f64) -> Found {
    let all = last(config);
    if flows <= DRAWN {
        return fluid::flow(config, all);
    }
    let share = DRAWN / flows;
    let some = |n: u64| (n as f64 * share).ceil() as u64;
    let mut smaller = config.clone();
    for w in &mut smaller.workloads {
        let arrive = arrivals(&w.kind, config);
        match &mut w.kind {
            Kind::Poisson { flows, warmup, .. } => {
                let most = arrive.map_or(0.0, |(n, _)| n) as u64;
                *warmup = some((*warmup).min(most));
                *flows = some((*flows).min(most.saturating_sub(*warmup))).max(1);
            }
            Kind::Incast { repeat, .. } => *repeat = some(u64::from(*repeat)) as u32,
            _ => {}
        }
    }
    let few = last(&smaller);
    let mut found = fluid::flow(&smaller, few);
    found.before *= all / few.max(1e-12);
    // What the end of the run leaves of the time after them.
    let (after, room) = (found.end - few, seconds(config.max_time) - all);
    if after > room {
        found.after *= room / after;
    }
    found.end = all + after.min(room);
    found
}

fn closed(config: &Config, ports: f64) -> Found {
    Found {
        after: coarse::packet_hops(config),
        end: seconds(config.max_time),
        flows: flows(config).min(1e5),
        full: ports / 2.0,
        ..Found::default()
    }
}

/// Packet-hops of pings until the end, there and back.
fn probes(kind: &Kind, config: &Config, end: f64) -> f64 {
    let Kind::Probe {
        src,
        dst,
        at,
        every,
        count,
    } = kind
    else {
        return 0.0;
    };
    let time = (end - seconds(*at)).max(0.0);
    let sent = (*count as f64).min(time / seconds(*every).max(1e-12) + 1.0);
    2.0 * sent * f64::from(config.topology.links(*src, *dst))
}
