// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory a point takes: counted from what the simulator keeps of each link, connection,
//! packet and flow.

use cemark_sim::Config;
use cemark_sim::config::{Policy, TracePorts};
use cemark_sim::workload::{Facts, LongFlows, Sending};

use super::Found;
use super::flows::Arrivals;
use super::sender::seconds;

/// The program itself, before it simulates, and what its allocator takes at once: pages of 2 MB,
/// where the system has them.
pub(crate) const BASE: f64 = 12e6;
/// Memory of the smallest `cemark run`: the program reads its own file, of some 45 MB, for the
/// fingerprint in the manifest.
pub(crate) const LEAST: f64 = 50e6;

/// A link: its port, its ring, its name.
const LINK: f64 = 1_100.0;
/// A switch port whose queue is sampled: two histograms, each with a page of bins or two. And where
/// its link is full: the pages that a long queue fills.
const SAMPLED: f64 = 400.0;
const SAMPLED_FULL: f64 = 2_000.0;
/// A sample of a trace.
const SAMPLE: f64 = 24.0;
/// A sample of a shared buffer that a traced port uses.
const OF_BUFFER: f64 = 16.0;
/// Samples of a thinned trace.
const THIN: f64 = 2_048.0;
/// A connection: both ends, its ways, its timers.
const CONNECTION: f64 = 2_000.0;
/// A connection that has ended and keeps its number: 60,000 flows of 1 KB took 47.7 MB, and 66,000
/// whose numbers are used again 32.3 (`cemark bench`, 2026-11-22).
const ENDED: f64 = 350.0;
/// A packet in a ring whose width is a power of two, or in a sender's record.
const PACKET: f64 = 64.0;
/// A packet in the record of a sender that samples its delivery rate.
const PACED: f64 = 250.0;
/// A measured flow: its record. And while its block is drawn.
const FLOW: f64 = 104.0;
const DRAFT: f64 = 120.0;
/// A port in an outcome.
const PORT: f64 = 320.0;

/// Memory of a point in shards, as a multiple of its memory as a whole: a port is in one shard, but
/// every shard has a row of each flow and connection, and rows take at most half of the memory in a
/// fabric.
pub(crate) fn of_shards(shards: usize) -> f64 {
    0.5 + 0.5 * shards.max(1) as f64
}

/// Most that the point holds while it runs.
pub(super) fn peak(config: &Config, found: &Found) -> f64 {
    let ports = ports(config);
    let links = ports + f64::from(config.topology.hosts());
    let queues = config.switch.queues.len() as f64;
    let mut bytes = links * LINK + ports * (queues - 1.0) * 400.0;
    if config.measure.queue_interval.0 > 0 {
        bytes += ports * SAMPLED + found.full.min(ports) * SAMPLED_FULL + traces(config, found);
    }
    let open = found.flows + standing(config);
    let ended = (started(config) - open).max(0.0);
    bytes + open * CONNECTION + ended * ENDED + packets(config, found) + drafts(config)
}

/// Fresh connections that a point opens in all and keeps: none where their numbers are used again,
/// as in all points that cannot be divided among threads.
fn started(config: &Config) -> f64 {
    let kept = cemark_sim::shards::obstacle(config).is_none();
    if kept && !config.workloads.iter().any(|w| w.persistent) {
        let flows = |facts: Facts<'_>| match &facts.sending {
            Sending::Arrivals(of) => Arrivals::of(&facts, of, config).flows,
            _ => facts.measured as f64,
        };
        facts(config).map(flows).sum()
    } else {
        0.0
    }
}

/// Memory of the point's outcome.
pub(super) fn kept(config: &Config, found: &Found) -> f64 {
    let traced = match config.measure.trace {
        TracePorts::Hottest => 2.0 * samples(config, found).min(THIN) * SAMPLE,
        _ => traces(config, found),
    };
    all_measured(config) * FLOW + ports(config) * PORT + traced
}

/// Samples of all ports together.
pub(super) fn samples_of_ports(config: &Config, found: &Found) -> f64 {
    match config.measure.queue_interval.0 {
        0 => 0.0,
        _ => ports(config) * samples(config, found),
    }
}

fn samples(config: &Config, found: &Found) -> f64 {
    let m = &config.measure;
    let time = seconds(m.until).min(found.end) - seconds(m.from);
    time.max(0.0) / seconds(m.queue_interval).max(1e-12)
}

fn traces(config: &Config, found: &Found) -> f64 {
    let n = samples(config, found);
    match &config.measure.trace {
        TracePorts::None => 0.0,
        // Of every port until it is known which.
        TracePorts::Hottest => ports(config) * n.min(THIN) * SAMPLE * 1.5,
        TracePorts::ToHosts(ports) | TracePorts::Ports(ports) => {
            let shared = config.switch.buffering.policy.is_shared();
            let each = if shared { SAMPLE + OF_BUFFER } else { SAMPLE };
            ports.len() as f64 * n * each * 1.5
        }
    }
}

/// Packets on their way and in queues, and those that senders remember: what the ways of full links
/// hold, and their buffers, of which senders with a window that answer marks leave half.
fn packets(config: &Config, found: &Found) -> f64 {
    let wire = f64::from(config.full_packet());
    let s = &config.switch;
    let pool = f64::from(s.buffering.pool_bytes.max(s.buffer_bytes));
    let buffer = match s.buffering.policy {
        Policy::Port | Policy::Static => f64::from(s.buffer_bytes),
        // Few ports of a switch are full at the same time; more where none may drop.
        _ if s.pfc.is_some() => pool / 6.0,
        _ => pool / 8.0,
    };
    let topology = &config.topology;
    let rate = topology.bottleneck(0, topology.hosts() - 1).0 as f64 / 8.0;
    let on_wire = rate * 2.0 * seconds(topology.propagation(0, topology.hosts() - 1));
    let gentle =
        config.queue_pairs().is_empty() && config.controls().iter().all(|c| c.ecn_capable());
    let filled = if gentle { 0.5 * buffer } else { buffer };
    let each = (filled + on_wire) / wire;
    let held = found.full.max(1.0) * each;
    let paced = config.transports().into_iter().any(|t| t.is_paced());
    held * if paced { PACED } else { PACKET }
}

/// Flows that are drawn at once.
fn drafts(config: &Config) -> f64 {
    let drawn = facts(config).map(|facts| facts.drawn as f64 * DRAFT);
    all_measured(config).min(f64::from(1 << 24)) * FLOW + drawn.sum::<f64>()
}

/// Ports of switches, one for each link that leaves a switch.
pub(super) fn ports(config: &Config) -> f64 {
    let topology = &config.topology;
    topology.fabric().links().len() as f64 - f64::from(topology.fabric().nics())
}

fn facts(config: &Config) -> impl Iterator<Item = Facts<'_>> {
    let workloads = config.workloads.iter();
    workloads.map(|w| w.kind.facts(&config.topology))
}

fn all_measured(config: &Config) -> f64 {
    facts(config).map(|facts| facts.measured as f64).sum()
}

/// Connections that stay: of persistent workloads one a pair and flow, at most.
fn standing(config: &Config) -> f64 {
    let hosts = f64::from(config.topology.hosts());
    let of = |facts: Facts<'_>| match facts.sending {
        Sending::Arrivals(_) => (facts.measured as f64).min(hosts * (hosts - 1.0)),
        Sending::Bursts(bursts) => bursts.map(|burst| burst.flows).max().unwrap_or(0).into(),
        Sending::Endless {
            flows: LongFlows::Pairs(pairs),
            ..
        } => pairs.len() as f64,
        Sending::Endless { .. } | Sending::Pings(_) => 0.0,
    };
    let persistent = config.workloads.iter().filter(|w| w.persistent);
    persistent.map(|w| of(w.kind.facts(&config.topology))).sum()
}
