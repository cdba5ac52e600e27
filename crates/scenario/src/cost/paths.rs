// SPDX-License-Identifier: MIT OR Apache-2.0
//! The links of a fabric as the estimate sees them: numbered by a formula, with their rates and
//! without anything else.

use cemark_sim::config::Config;
use cemark_sim::topology::Topology;
use cemark_sim::workload::{Kind, LongFlows, Pairs};

/// Links of one path; no route has more.
pub(super) const MOST: usize = cemark_sim::topology::MAX_LINKS;

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
        let acks = if config.workloads.iter().any(|w| mutual(&w.kind)) {
            f64::from(t.ack_bytes) / f64::from(t.ack_every.max(1))
        } else {
            0.0
        };
        let mss = f64::from(t.mss);
        let payload = mss / (mss + f64::from(t.header_bytes) + acks);
        let topology = &config.topology;
        let hosts = 2 * topology.hosts() as usize;
        let mut rates = vec![topology.host_rate().0 as f64; hosts];
        match topology.two_sites() {
            Some(sites) => {
                let one = sites.between_rate().0 as f64;
                rates.resize(hosts + 2 * sites.paths as usize, one);
            }
            None => {
                let cables = topology.shape().cables();
                rates.extend(cables.iter().map(|cable| cable.line.rate.0 as f64));
            }
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
        if t.rack(src) == t.rack(dst) {
            return way;
        }
        match t.two_sites() {
            // The three links of a path between sites carry the same flows: the slowest represents
            // them, and counts once where links are full.
            Some(sites) => {
                let p = (hash % u64::from(sites.paths)) as u32;
                way.push(first + t.rack(src) * sites.paths + p);
            }
            None => {
                for &link in t.shape().path(src, dst, hash).links() {
                    way.push(first + link);
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
    let between = topology.shape().cables().len() as f64;
    (2.0 * hosts + between, hosts + between)
}
