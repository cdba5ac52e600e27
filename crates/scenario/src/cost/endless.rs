// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endless flows: the rate of the links that they fill, for the time of the run.

use std::collections::BTreeMap;

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::tiers;
use cemark_sim::workload::{LongFlows, Pairs, Sending};
use cemark_sim::{Config, LinkId};
use cemark_transport::Config as Transport;
use cemark_wire::Picos;

use super::Found;
use super::flows::links;
use super::sender::{self, seconds};

/// Share of its links that endless flows keep beside flows that end.
const KEPT: f64 = 0.25;
/// Share of its rate to which the first cuts of DCQCN bring a flow.
const CUT: f64 = 0.125;
/// Links that are full at the same time, of each flow of a permutation: memory that was measured.
const FULL: f64 = 0.75;

/// The endless flows of a point.
pub(super) struct Endless<'a> {
    /// Transport of the first of them.
    transport: &'a Transport,
    /// Flows of permutations.
    permuted: f64,
    /// Sender and receiver of other flows, those to one receiver once for each sender.
    pairs: Vec<(u32, u32)>,
    /// Number of these flows by receiver.
    into: BTreeMap<u32, f64>,
    /// Start of the first flow.
    at: f64,
}

impl<'a> Endless<'a> {
    pub(super) fn of(config: &'a Config) -> Self {
        let hosts = config.topology.hosts();
        let mut all = Endless {
            transport: &config.transport,
            permuted: 0.0,
            pairs: Vec::new(),
            into: BTreeMap::new(),
            at: f64::INFINITY,
        };
        for workload in &config.workloads {
            let Sending::Endless { at, flows } = workload.kind.facts(&config.topology).sending
            else {
                continue;
            };
            if all.at == f64::INFINITY {
                all.transport = config.transport_of(workload);
            }
            all.at = all.at.min(seconds(at));
            match flows {
                LongFlows::Permutation { per_host } => {
                    all.permuted += f64::from(hosts) * f64::from(*per_host);
                }
                LongFlows::ToOne { count, receiver } => {
                    *all.into.entry(*receiver).or_default() += f64::from(*count);
                    let senders = (0..hosts).filter(|host| host != receiver);
                    let pairs = senders.take(*count as usize).map(|src| (src, *receiver));
                    all.pairs.extend(pairs);
                }
                LongFlows::Pairs(pairs) => {
                    for pair in pairs {
                        *all.into.entry(pair.1).or_default() += 1.0;
                    }
                    all.pairs.extend(pairs);
                }
            }
        }
        all
    }

    /// Flows to this host.
    pub(super) fn into(&self, host: u32) -> f64 {
        self.into.get(&host).copied().unwrap_or(0.0)
    }

    /// Adds these flows beside the bytes of flows that end; `before`: share of the time until the
    /// last measured flow has started.
    pub(super) fn add(&self, config: &Config, bytes: f64, before: f64, found: &mut Found) {
        let topology = &config.topology;
        let time = (found.end - self.at).max(0.0);
        let hops = |flows: f64, rate: f64, links: f64| {
            if flows == 0.0 || time == 0.0 {
                return 0.0;
            }
            let rate = limited(config, self.transport, rate, flows, time);
            let sent = (rate * time - bytes).max(KEPT * rate * time);
            let acks = sender::acks(config, self.transport, sent / flows / time);
            sent / f64::from(self.transport.mss) * (1.0 + acks) * links
        };
        let paths = self.pairs.iter().map(|pair| topology.links(pair.0, pair.1));
        let paths = paths.map(f64::from).sum::<f64>() / self.pairs.len().max(1) as f64;
        let paired = self.into.values().sum::<f64>();
        let filled = filled(topology, &self.pairs);
        let permuted = hashed(topology, self.permuted);
        let hops = hops(self.permuted, permuted, links(topology, &Pairs::All))
            + hops(paired, filled, paths);
        found.hops += hops;
        found.tail += hops * (1.0 - before);
        found.flows += self.permuted + paired;
        found.full += FULL * self.permuted + filled / topology.host_rate().0 as f64;
    }
}

/// Payload bytes a second of all flows, whose links carry `rate` bits a second.
fn limited(config: &Config, t: &Transport, rate: f64, flows: f64, time: f64) -> f64 {
    let topology = &config.topology;
    let round = 2.0 * seconds(topology.propagation(0, topology.hosts() - 1));
    let share = rate / 8.0 / flows * sender::payload(t);
    let mut each = share.min(sender::most(config, t, round));
    if let Some(rdma) = &t.rdma {
        // From the first cuts the rate climbs in steps.
        let steps = time / seconds(Picos::from(rdma.dcqcn.rate_timer)).max(1e-9);
        let climbed = 0.5 * steps * rdma.dcqcn.rate_ai.0 as f64 / 8.0;
        each = each.min(CUT * share + climbed);
    }
    each * flows
}

/// Bits a second of a permutation of this many flows. Paths are drawn, so that some links of a tier
/// have several flows and others none: of a capacity C, offered x C, C (1 - exp(-x)) is used.
fn hashed(topology: &Topology, flows: f64) -> f64 {
    let hosts = f64::from(topology.hosts());
    let mut rate = topology.host_rate().0 as f64 * flows.min(hosts);
    for tier in &tiers(topology, &Pairs::All)[1..] {
        let offered = (rate * tier.share / tier.capacity).max(1e-9);
        let passes = (1.0 - (-offered).exp()) / offered;
        rate *= 1.0 - tier.share * (1.0 - passes);
    }
    rate
}

/// Bits a second that these pairs can fill: each pair has its part of the fullest link of its path.
fn filled(topology: &Topology, pairs: &[(u32, u32)]) -> f64 {
    let fabric = topology.fabric();
    let paths: Vec<Vec<LinkId>> = (0..)
        .zip(pairs)
        .map(|(i, &(src, dst))| {
            let [src, dst] = fabric.ends(src, dst, i);
            fabric.path(src, dst, i).collect()
        })
        .collect();
    let mut flows: BTreeMap<LinkId, f64> = BTreeMap::new();
    for &link in paths.iter().flatten() {
        *flows.entry(link).or_default() += 1.0;
    }
    let part = |link: &LinkId| fabric.links()[link.place()].rate.0 as f64 / flows[link];
    let least = |path: &Vec<LinkId>| path.iter().map(part).fold(f64::INFINITY, f64::min);
    paths.iter().map(least).sum()
}
