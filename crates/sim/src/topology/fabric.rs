// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topology laid out as links (one port each) and routes.
//!
//! Links 0..hosts are the hosts' NICs; the rest are switch ports. A route is the list of links from
//! a host's NIC to the receiver; equal-cost choices are made by the flow's hash, once for its life.

use cemark_wire::{Picos, Rate};

use super::Topology;

/// More links than any route has.
pub const MAX_LINKS: usize = 6;

/// The links from a sender's NIC to the receiver; `u32::MAX` behind the last.
pub type Route = [u32; MAX_LINKS];

/// One direction of a cable, with the port that feeds it.
#[derive(Clone, Debug)]
pub struct Link {
    /// For people: `leaf0->spine3`.
    pub name: String,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Picos,
    /// The host at its far end, if it is a host.
    pub host: Option<u32>,
}

impl Link {
    /// The host or switch whose port this is, by its name.
    pub fn switch(&self) -> &str {
        self.name.split_once("->").map_or("", |(from, _)| from)
    }

    /// The host or switch at its far end, by its name.
    pub fn far(&self) -> &str {
        self.name.split_once("->").map_or("", |(_, to)| to)
    }
}

/// All links of a topology.
#[derive(Clone, Debug)]
pub struct Fabric {
    topology: Topology,
    links: Vec<Link>,
}

impl Fabric {
    /// Lays the topology out.
    pub fn new(topology: &Topology) -> Fabric {
        let mut b = Builder { links: Vec::new() };
        let t = topology.clone();
        let hosts = t.hosts();
        let (host_rate, host_delay) = match t {
            Topology::Star { rate, delay, .. } | Topology::Ring { rate, delay, .. } => {
                (rate, delay)
            }
            Topology::Dumbbell {
                host_rate,
                host_delay,
                ..
            }
            | Topology::TwoSites {
                host_rate,
                host_delay,
                ..
            }
            | Topology::LeafSpine {
                host_rate,
                host_delay,
                ..
            }
            | Topology::FatTree {
                host_rate,
                host_delay,
                ..
            } => (host_rate, host_delay),
        };
        let edge = match t {
            Topology::Star { .. } | Topology::Dumbbell { .. } | Topology::Ring { .. } => "switch",
            Topology::LeafSpine { .. } => "leaf",
            Topology::FatTree { .. } | Topology::TwoSites { .. } => "edge",
        };
        for h in 0..hosts {
            b.link(
                format!("host{h}->{edge}{}", t.rack(h)),
                host_rate,
                host_delay,
                None,
            );
        }
        for h in 0..hosts {
            b.link(
                format!("{edge}{}->host{h}", t.rack(h)),
                host_rate,
                host_delay,
                Some(h),
            );
        }
        match t {
            Topology::Star { .. } => {}
            Topology::Dumbbell {
                middle_rate,
                middle_delay,
                ..
            } => {
                b.link("switch0->switch1".into(), middle_rate, middle_delay, None);
                b.link("switch1->switch0".into(), middle_rate, middle_delay, None);
            }
            Topology::TwoSites {
                paths,
                edge_rate,
                edge_delay,
                wan_rate,
                wan_delay,
                ..
            } => {
                for site in 0..2 {
                    for p in 0..paths {
                        let way = [
                            format!("edge{site}"),
                            format!("wan{site}.{p}"),
                            format!("wan{}.{p}", 1 - site),
                            format!("edge{}", 1 - site),
                        ];
                        for (hop, ends) in way.windows(2).enumerate() {
                            let (rate, delay) = match hop {
                                1 => (wan_rate, wan_delay),
                                _ => (edge_rate, edge_delay),
                            };
                            b.link(format!("{}->{}", ends[0], ends[1]), rate, delay, None);
                        }
                    }
                }
            }
            Topology::Ring {
                switches,
                rate,
                delay,
                ..
            } => {
                // The way that packets take, then the way back that only pause frames take.
                for s in 0..switches {
                    b.link(
                        format!("switch{s}->switch{}", (s + 1) % switches),
                        rate,
                        delay,
                        None,
                    );
                }
                for s in 0..switches {
                    b.link(
                        format!("switch{}->switch{s}", (s + 1) % switches),
                        rate,
                        delay,
                        None,
                    );
                }
            }
            Topology::LeafSpine {
                leaves,
                spines,
                uplink_rate,
                uplink_delay,
                ..
            } => {
                for l in 0..leaves {
                    for s in 0..spines {
                        b.link(
                            format!("leaf{l}->spine{s}"),
                            uplink_rate,
                            uplink_delay,
                            None,
                        );
                    }
                }
                for s in 0..spines {
                    for l in 0..leaves {
                        b.link(
                            format!("spine{s}->leaf{l}"),
                            uplink_rate,
                            uplink_delay,
                            None,
                        );
                    }
                }
            }
            Topology::FatTree {
                k,
                pod_rate,
                core_rate,
                fabric_delay,
                ..
            } => {
                let h = k / 2;
                // In this order: edge up, aggregation down, aggregation up, core down. Aggregation
                // switch a of every pod is joined to cores a*h..(a+1)*h.
                for e in 0..k * h {
                    for a in 0..h {
                        b.link(
                            format!("edge{e}->agg{}", e / h * h + a),
                            pod_rate,
                            fabric_delay,
                            None,
                        );
                    }
                }
                for g in 0..k * h {
                    for e in 0..h {
                        b.link(
                            format!("agg{g}->edge{}", g / h * h + e),
                            pod_rate,
                            fabric_delay,
                            None,
                        );
                    }
                }
                for g in 0..k * h {
                    for c in 0..h {
                        b.link(
                            format!("agg{g}->core{}", g % h * h + c),
                            core_rate,
                            fabric_delay,
                            None,
                        );
                    }
                }
                for c in 0..h * h {
                    for p in 0..k {
                        b.link(
                            format!("core{c}->agg{}", p * h + c / h),
                            core_rate,
                            fabric_delay,
                            None,
                        );
                    }
                }
            }
        }
        Fabric {
            topology: t,
            links: b.links,
        }
    }

    /// All links; the first [`Topology::hosts`] are NICs.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The port that faces a host.
    pub fn to_host(&self, host: u32) -> u32 {
        self.topology.hosts() + host
    }

    /// The three links from the edge router of `site` to the other over path `p` of
    /// [`Topology::TwoSites`].
    pub fn between(&self, site: u32, p: u32) -> [u32; 3] {
        let paths = match self.topology {
            Topology::TwoSites { paths, .. } => paths,
            _ => 1,
        };
        let first = 2 * self.topology.hosts() + 3 * (site * paths + p);
        [first, first + 1, first + 2]
    }

    /// The way from `src` to `dst` for a flow with this hash.
    pub fn route(&self, src: u32, dst: u32, hash: u64) -> Route {
        let t = &self.topology;
        let n = t.hosts();
        let (from, to) = (t.rack(src), t.rack(dst));
        let mut links = vec![src];
        if from != to {
            match *t {
                Topology::Star { .. } => {}
                Topology::Dumbbell { .. } => links.push(2 * n + from),
                Topology::TwoSites { paths, .. } => {
                    let p = (hash % u64::from(paths)) as u32;
                    links.extend(self.between(from, p));
                }
                Topology::Ring { switches, .. } => {
                    links.extend((0..t.round(src, dst)).map(|i| 2 * n + (from + i) % switches));
                }
                Topology::LeafSpine { leaves, spines, .. } => {
                    let s = (hash % u64::from(spines)) as u32;
                    links.push(2 * n + from * spines + s);
                    links.push(2 * n + leaves * spines + s * leaves + to);
                }
                Topology::FatTree { k, .. } => {
                    let h = k / 2;
                    let tier = k * h * h; // links of one tier in one direction
                    let a = (hash % u64::from(h)) as u32;
                    let (from_agg, to_agg) = (t.pod(src) * h + a, t.pod(dst) * h + a);
                    links.push(2 * n + from * h + a);
                    if from_agg != to_agg {
                        let c = (hash / u64::from(h) % u64::from(h)) as u32;
                        links.push(2 * n + 2 * tier + from_agg * h + c);
                        links.push(2 * n + 3 * tier + (a * h + c) * k + t.pod(dst));
                    }
                    links.push(2 * n + tier + to_agg * h + to % h);
                }
            }
        }
        links.push(n + dst);
        let mut route = [u32::MAX; MAX_LINKS];
        route[..links.len()].copy_from_slice(&links);
        route
    }
}

struct Builder {
    links: Vec<Link>,
}

impl Builder {
    fn link(&mut self, name: String, rate: Rate, delay: Picos, host: Option<u32>) {
        self.links.push(Link {
            name,
            rate,
            delay,
            host,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Rate = Rate::gbps(10);
    const D: Picos = Picos::from_micros(1);

    fn topologies() -> Vec<Topology> {
        vec![
            Topology::Star {
                hosts: 5,
                rate: R,
                delay: D,
            },
            Topology::Dumbbell {
                left: 2,
                right: 3,
                host_rate: R,
                middle_rate: R,
                host_delay: D,
                middle_delay: D,
            },
            Topology::TwoSites {
                left: 2,
                right: 3,
                paths: 3,
                host_rate: R,
                edge_rate: R,
                wan_rate: R,
                host_delay: D,
                edge_delay: D,
                wan_delay: Picos::from_micros(3_000),
            },
            Topology::LeafSpine {
                leaves: 3,
                spines: 2,
                hosts_per_leaf: 4,
                host_rate: R,
                uplink_rate: R,
                host_delay: D,
                uplink_delay: D,
            },
            Topology::FatTree {
                k: 4,
                hosts_per_edge: 3,
                host_rate: R,
                pod_rate: R,
                core_rate: R,
                host_delay: D,
                fabric_delay: D,
            },
            Topology::Ring {
                switches: 5,
                hosts_per_switch: 2,
                rate: R,
                delay: D,
            },
        ]
    }

    /// Follows every route by the names of the links: each starts where the one before ended, from
    /// sender to receiver.
    #[test]
    fn every_route_is_a_chain_of_links() {
        for t in topologies() {
            let f = Fabric::new(&t);
            for src in 0..t.hosts() {
                for dst in (0..t.hosts()).filter(|&d| d != src) {
                    for hash in 0..9 {
                        let route = f.route(src, dst, hash);
                        let mut at = format!("host{src}");
                        let mut crossed = 0;
                        for &l in route.iter().take_while(|&&l| l != u32::MAX) {
                            let (from, to) = f.links()[l as usize].name.split_once("->").unwrap();
                            assert_eq!(at, from, "{t:?} {src}->{dst} hash {hash}");
                            at = to.to_string();
                            crossed += 1;
                        }
                        assert_eq!(at, format!("host{dst}"));
                        assert_eq!(crossed, t.links(src, dst));
                    }
                }
            }
        }
    }

    #[test]
    fn a_hash_spreads_over_all_cores() {
        let t = topologies()
            .into_iter()
            .find(|t| matches!(t, Topology::FatTree { .. }))
            .unwrap();
        let f = Fabric::new(&t);
        let cores: std::collections::BTreeSet<u32> =
            (0..16).map(|h| f.route(0, t.hosts() - 1, h)[3]).collect();
        assert_eq!(cores.len(), 4);
    }
}
