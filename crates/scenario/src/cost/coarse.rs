// SPDX-License-Identifier: MIT OR Apache-2.0
//! The estimate in closed form, for plans with too many points or flows to let all of them flow
//! would be a wait of its own.

use cemark_sim::Config;
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::{flows_per_second, tiers};
use cemark_sim::workload::{Kind, LongFlows, Pairs};

/// After the last measured flow has started the load is held until it ends. The slowest is a large
/// one that shares what the load leaves of its link, a few times over: by experience (web search at
/// 0.8 and 0.9 of a leaf-spine) four times.
const SHARED: f64 = 4.0;

/// The expected packet-hops of a point. Losses, handshakes and what bounds the run from outside are
/// not counted.
pub(super) fn packet_hops(config: &Config) -> f64 {
    config.workloads.iter().map(|w| hops(&w.kind, config)).sum()
}

fn hops(kind: &Kind, config: &Config) -> f64 {
    let topology = &config.topology;
    let seconds = config.max_time.as_secs_f64();
    match kind {
        Kind::Poisson {
            sizes,
            load,
            pairs,
            flows,
            warmup,
            hold,
            ..
        } => {
            let mean = sizes.mean();
            let rate = flows_per_second(topology, pairs, mean, *load);
            let largest = sizes.quantile(1.0 - 0.5 / (*flows).max(1) as f64);
            let alone = largest * 8.0 / topology.host_rate().0 as f64;
            let drain = SHARED * alone / (1.0 - load).max(0.05);
            let held = drain.min(hold.as_secs_f64());
            let asked = (*flows + *warmup) as f64 + rate * held;
            asked.min(rate * seconds) * packets(mean, config) * links(topology, pairs)
        }
        Kind::Incast {
            senders,
            receiver,
            min_bytes,
            max_bytes,
            repeat,
            ..
        } => {
            let mean = 0.5 * (*min_bytes as f64 + *max_bytes as f64);
            let flows = f64::from(*senders) * f64::from(*repeat);
            flows * packets(mean, config) * links(topology, &Pairs::ToOne(*receiver))
        }
        Kind::List(lines) => lines
            .iter()
            .map(|l| packets(l.bytes as f64, config) * f64::from(topology.links(l.src, l.dst)))
            .sum(),
        Kind::Probe {
            src,
            dst,
            count,
            every,
            ..
        } => {
            let count = (*count as f64).min(seconds / every.as_secs_f64());
            2.0 * count * f64::from(topology.links(*src, *dst))
        }
        Kind::Long { flows, at, .. } => {
            let bytes = |rate: f64| rate / 8.0 * (seconds - at.as_secs_f64()).max(0.0);
            match flows {
                LongFlows::Permutation { .. } => {
                    let rate = fullest(topology, &Pairs::All);
                    packets(bytes(rate), config) * links(topology, &Pairs::All)
                }
                LongFlows::ToOne { receiver, .. } => {
                    let pairs = Pairs::ToOne(*receiver);
                    packets(bytes(fullest(topology, &pairs)), config) * links(topology, &pairs)
                }
                LongFlows::Pairs(list) => {
                    let hosts = topology.host_rate().0 as f64 * list.len() as f64;
                    let each = bytes(fullest_of(topology, list).min(hosts));
                    let links = list
                        .iter()
                        .map(|&(src, dst)| f64::from(topology.links(src, dst)))
                        .sum::<f64>();
                    packets(each, config) * links / list.len().max(1) as f64
                }
            }
        }
    }
}

/// Data packets and ACKs for `bytes` bytes.
fn packets(bytes: f64, config: &Config) -> f64 {
    let data = (bytes / f64::from(config.transport.mss)).max(1.0);
    data + data / f64::from(config.transport.ack_every)
}

/// Links crossed by an average packet: the two hosts' own, and what each tier that it crosses adds
/// to the way.
fn links(topology: &Topology, pairs: &Pairs) -> f64 {
    let shares = tiers(topology, pairs);
    let (mut all, mut before) = (2.0, 0.0);
    for (load, tier) in shares[1..].iter().zip(topology.shape().tiers()) {
        let links = tier.ways.iter().map(|way| f64::from(way.links));
        let mean = links.sum::<f64>() / tier.ways.len() as f64;
        all += load.share * (mean - before);
        before = mean;
    }
    all
}

/// Bits per second that these pairs can fill.
fn fullest_of(topology: &Topology, pairs: &[(u32, u32)]) -> f64 {
    let Some(sites) = topology.two_sites() else {
        return fullest(topology, &Pairs::All);
    };
    let from = |site: u32| {
        let mut racks = pairs
            .iter()
            .map(|&(src, dst)| (topology.rack(src), topology.rack(dst)));
        racks.any(|(src, dst)| src == site && dst != site)
    };
    let ways = f64::from(sites.paths) * sites.between_rate().0 as f64;
    let within = pairs
        .iter()
        .filter(|&&(src, dst)| topology.rack(src) == topology.rack(dst));
    ways * f64::from(u8::from(from(0)) + u8::from(from(1)))
        + within.count() as f64 * topology.host_rate().0 as f64
}

/// Bits per second that the fabric carries when its most loaded tier is full.
fn fullest(topology: &Topology, pairs: &Pairs) -> f64 {
    tiers(topology, pairs)
        .iter()
        .map(|t| t.capacity / t.share.max(1e-9))
        .fold(f64::INFINITY, f64::min)
}
