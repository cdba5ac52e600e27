// SPDX-License-Identifier: MIT OR Apache-2.0
//! The links of a fabric as the estimate sees them: numbered by a formula, with their rates and
//! without anything else.

use cemark_sim::config::Config;
use cemark_sim::topology::Topology;
use cemark_sim::workload::{Kind, LongFlows, Pairs};

/// Links of one way; no route has more.
pub(super) const MOST: usize = 6;

/// A way through the fabric.
#[derive(Clone, Copy, Default)]
pub(super) struct Way {
    links: [u32; MOST],
    n: u8,
}

impl Way {
    fn push(&mut self, link: u32) {
        if usize::from(self.n) < MOST {
            self.links[usize::from(self.n)] = link;
            self.n += 1;
        }
    }

    pub(super) fn links(&self) -> &[u32] {
        &self.links[..usize::from(self.n)]
    }
}

/// Rates of all links, payload bytes a second.
pub(super) struct Paths<'a> {
    topology: &'a Topology,
    pub(super) rates: Vec<f64>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        let t = &config.transport;
        // Where hosts send to each other, acknowledgements take their part of the same links.
        let acks = match config.workloads.iter().any(|w| mutual(&w.kind)) {
            true => f64::from(t.ack_bytes) / f64::from(t.ack_every.max(1)),
            false => 0.0,
        };
        let mss = f64::from(t.mss);
        let payload = mss / (mss + f64::from(t.header_bytes) + acks);
        let topology = &config.topology;
        let hosts = 2 * topology.hosts() as usize;
        let mut rates = vec![topology.host_rate().0 as f64; hosts];
        let mut add =
            |n: u32, rate: u64| rates.extend(std::iter::repeat_n(rate as f64, n as usize));
        match *topology {
            Topology::Star { .. } => {}
            Topology::Dumbbell { middle_rate, .. } => add(2, middle_rate.0),
            Topology::TwoSites {
                paths,
                edge_rate,
                wan_rate,
                ..
            } => add(2 * paths, edge_rate.min(wan_rate).0),
            Topology::LeafSpine {
                leaves,
                spines,
                uplink_rate,
                ..
            } => add(2 * leaves * spines, uplink_rate.0),
            Topology::FatTree {
                k,
                pod_rate,
                core_rate,
                ..
            } => {
                add(2 * k * (k / 2) * (k / 2), pod_rate.0);
                add(2 * k * (k / 2) * (k / 2), core_rate.0);
            }
            Topology::Ring { switches, rate, .. } => add(switches, rate.0),
        }
        for rate in &mut rates {
            *rate *= payload / 8.0;
        }
        Paths { topology, rates }
    }

    /// From one host to another; `hash` chooses among equal ways, as in the simulator.
    pub(super) fn way(&self, src: u32, dst: u32, hash: u64) -> Way {
        let t = self.topology;
        let hosts = t.hosts();
        let first = 2 * hosts;
        let mut way = Way::default();
        way.push(src);
        way.push(hosts + dst);
        let (from, to) = (t.rack(src), t.rack(dst));
        if from == to {
            return way;
        }
        let pick = |n: u32, hash: u64| (hash % u64::from(n.max(1))) as u32;
        match *t {
            Topology::Star { .. } => {}
            Topology::Dumbbell { .. } => way.push(first + from),
            Topology::TwoSites { paths, .. } => way.push(first + from * paths + pick(paths, hash)),
            Topology::LeafSpine { leaves, spines, .. } => {
                let spine = pick(spines, hash);
                way.push(first + from * spines + spine);
                way.push(first + (leaves + to) * spines + spine);
            }
            Topology::FatTree { k, .. } => {
                let half = k / 2;
                let (edges, middle) = (k * half, pick(half, hash));
                way.push(first + from * half + middle);
                way.push(first + (edges + to) * half + middle);
                let core = first + 2 * edges * half;
                let (pod, other) = (t.pod(src), t.pod(dst));
                if pod != other {
                    let up = middle * half + pick(half, hash / u64::from(half.max(1)));
                    way.push(core + pod * half * half + up);
                    way.push(core + (k + other) * half * half + up);
                }
            }
            Topology::Ring { switches, .. } => {
                let mut at = from;
                while at != to && usize::from(way.n) < MOST {
                    way.push(first + at);
                    at = (at + 1) % switches;
                }
            }
        }
        way
    }
}

fn mutual(kind: &Kind) -> bool {
    match kind {
        Kind::Poisson { pairs, .. } => !matches!(pairs, Pairs::ToOne(_)),
        Kind::Long { flows, .. } => matches!(flows, LongFlows::Permutation { .. }),
        _ => false,
    }
}

/// Links of the fabric, both directions counted, and those that leave switches.
pub(super) fn links(topology: &Topology) -> (f64, f64) {
    let hosts = f64::from(topology.hosts());
    let both = |n: u32, m: u32| 2.0 * f64::from(n) * f64::from(m);
    let between = match *topology {
        Topology::Star { .. } => 0.0,
        Topology::Dumbbell { .. } => 2.0,
        // Each site's switch, its edge router on each path, and the other way round.
        Topology::TwoSites { paths, .. } => 6.0 * f64::from(paths),
        Topology::LeafSpine { leaves, spines, .. } => both(leaves, spines),
        Topology::FatTree { k, .. } => 2.0 * both(k * (k / 2), k / 2),
        Topology::Ring { switches, .. } => f64::from(switches),
    };
    (2.0 * hosts + between, hosts + between)
}
