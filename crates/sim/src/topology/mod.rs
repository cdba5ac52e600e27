// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics: how hosts, switches and links are laid out.

mod fabric;

pub use fabric::{Fabric, Link, MAX_LINKS, Route};

use cemark_wire::{Picos, Rate};

/// A fabric. Hosts are counted from zero, rack by rack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Topology {
    /// All hosts on one switch.
    Star {
        /// Number of hosts.
        hosts: u32,
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Picos,
    },
    /// Two switches joined by one link; hosts 0..left on the first, the rest on the second.
    Dumbbell {
        /// Hosts on the first switch.
        left: u32,
        /// Hosts on the second switch.
        right: u32,
        /// Rate of host links.
        host_rate: Rate,
        /// Rate of the link in the middle.
        middle_rate: Rate,
        /// Propagation delay of a host link.
        host_delay: Picos,
        /// Propagation delay of the middle link.
        middle_delay: Picos,
    },
    /// Two data centres and a long way between them: hosts on an edge router each side, and from
    /// edge to edge `paths` equal ways of a short link to a WAN router, the long link, and a short
    /// link to the other edge. Hosts 0..left are at the first site.
    TwoSites {
        /// Hosts at the first site.
        left: u32,
        /// Hosts at the second site.
        right: u32,
        /// Ways between the edge routers; a flow takes one for its life.
        paths: u32,
        /// Rate of host links.
        host_rate: Rate,
        /// Rate between an edge router and a WAN router.
        edge_rate: Rate,
        /// Rate of a long link.
        wan_rate: Rate,
        /// Propagation delay of a host link.
        host_delay: Picos,
        /// Propagation delay between an edge router and a WAN router.
        edge_delay: Picos,
        /// Propagation delay of a long link.
        wan_delay: Picos,
    },
    /// Two tiers; every leaf is joined to every spine.
    LeafSpine {
        /// Leaf switches.
        leaves: u32,
        /// Spine switches.
        spines: u32,
        /// Hosts on a leaf.
        hosts_per_leaf: u32,
        /// Rate of host links.
        host_rate: Rate,
        /// Rate of leaf-spine links.
        uplink_rate: Rate,
        /// Propagation delay of a host link.
        host_delay: Picos,
        /// Propagation delay of a leaf-spine link.
        uplink_delay: Picos,
    },
    /// Three tiers of k-port switches: k pods, k^3/4 hosts at full size.
    FatTree {
        /// Ports of a switch; even.
        k: u32,
        /// Hosts on an edge switch: k/2 is non-blocking, more is oversubscribed.
        hosts_per_edge: u32,
        /// Rate of host links.
        host_rate: Rate,
        /// Rate of edge-aggregation links.
        pod_rate: Rate,
        /// Rate of aggregation-core links.
        core_rate: Rate,
        /// Propagation delay of a host link.
        host_delay: Picos,
        /// Propagation delay of every other link.
        fabric_delay: Picos,
    },
    /// Switches in a ring, 3 to 5 of them. Every packet goes round the same way, so that buffers
    /// wait for each other in a ring too: what pauses can make of that is what it is for.
    Ring {
        /// Number of switches.
        switches: u32,
        /// Hosts on a switch.
        hosts_per_switch: u32,
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Picos,
    },
}

impl Topology {
    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        match *self {
            Topology::Star { hosts, .. } => hosts,
            Topology::Dumbbell { left, right, .. } | Topology::TwoSites { left, right, .. } => {
                left + right
            }
            Topology::LeafSpine {
                leaves,
                hosts_per_leaf,
                ..
            } => leaves * hosts_per_leaf,
            Topology::FatTree {
                k, hosts_per_edge, ..
            } => k * (k / 2) * hosts_per_edge,
            Topology::Ring {
                switches,
                hosts_per_switch,
                ..
            } => switches * hosts_per_switch,
        }
    }

    /// Switches that a packet passes on its way round a ring, the first not counted; 0 elsewhere.
    pub(crate) fn round(&self, src: u32, dst: u32) -> u32 {
        match *self {
            Topology::Ring { switches, .. } => {
                (self.rack(dst) + switches - self.rack(src)) % switches
            }
            _ => 0,
        }
    }

    /// The first switch of a host.
    pub fn rack(&self, host: u32) -> u32 {
        match *self {
            Topology::Star { .. } => 0,
            Topology::Dumbbell { left, .. } | Topology::TwoSites { left, .. } => {
                u32::from(host >= left)
            }
            Topology::LeafSpine { hosts_per_leaf, .. } => host / hosts_per_leaf,
            Topology::FatTree { hosts_per_edge, .. } => host / hosts_per_edge,
            Topology::Ring {
                hosts_per_switch, ..
            } => host / hosts_per_switch,
        }
    }

    /// The pod of a host (a rack is its own pod below three tiers).
    pub fn pod(&self, host: u32) -> u32 {
        match *self {
            Topology::FatTree {
                k, hosts_per_edge, ..
            } => host / (hosts_per_edge * (k / 2)),
            _ => self.rack(host),
        }
    }

    /// Links a packet crosses from `src` to `dst`.
    pub fn links(&self, src: u32, dst: u32) -> u32 {
        if self.rack(src) == self.rack(dst) {
            2
        } else {
            match self {
                Topology::Star { .. } => 2,
                Topology::Dumbbell { .. } => 3,
                Topology::TwoSites { .. } => 5,
                Topology::LeafSpine { .. } => 4,
                Topology::FatTree { .. } if self.pod(src) == self.pod(dst) => 4,
                Topology::FatTree { .. } => 6,
                Topology::Ring { .. } => 2 + self.round(src, dst),
            }
        }
    }

    /// One-way propagation delay from `src` to `dst`, without transmission times.
    pub fn propagation(&self, src: u32, dst: u32) -> Picos {
        self.propagation_over(self.links(src, dst))
    }

    /// One-way propagation delay of a path of so many links, of which the first and the last are
    /// host links.
    pub fn propagation_over(&self, links: u32) -> Picos {
        let far = |host: Picos, fabric: Picos| {
            Picos(2 * host.0 + u64::from(links.saturating_sub(2)) * fabric.0)
        };
        match *self {
            Topology::Star { delay, .. } => Picos(2 * delay.0),
            Topology::Dumbbell {
                host_delay,
                middle_delay,
                ..
            } => far(host_delay, middle_delay),
            Topology::TwoSites { host_delay, .. } if links <= 2 => Picos(2 * host_delay.0),
            Topology::TwoSites {
                host_delay,
                edge_delay,
                wan_delay,
                ..
            } => Picos(2 * (host_delay.0 + edge_delay.0) + wan_delay.0),
            Topology::LeafSpine {
                host_delay,
                uplink_delay,
                ..
            } => far(host_delay, uplink_delay),
            Topology::FatTree {
                host_delay,
                fabric_delay,
                ..
            } => far(host_delay, fabric_delay),
            Topology::Ring { delay, .. } => far(delay, delay),
        }
    }

    /// Rate of a host's link.
    pub fn host_rate(&self) -> Rate {
        match *self {
            Topology::Star { rate, .. } | Topology::Ring { rate, .. } => rate,
            Topology::Dumbbell { host_rate, .. }
            | Topology::TwoSites { host_rate, .. }
            | Topology::LeafSpine { host_rate, .. }
            | Topology::FatTree { host_rate, .. } => host_rate,
        }
    }

    /// The slowest link between two hosts.
    pub fn bottleneck(&self, src: u32, dst: u32) -> Rate {
        let same_rack = self.rack(src) == self.rack(dst);
        match *self {
            Topology::Star { rate, .. } | Topology::Ring { rate, .. } => rate,
            _ if same_rack => self.host_rate(),
            Topology::Dumbbell {
                host_rate,
                middle_rate,
                ..
            } => host_rate.min(middle_rate),
            Topology::TwoSites {
                host_rate,
                edge_rate,
                wan_rate,
                ..
            } => host_rate.min(edge_rate).min(wan_rate),
            Topology::LeafSpine {
                host_rate,
                uplink_rate,
                ..
            } => host_rate.min(uplink_rate),
            Topology::FatTree {
                host_rate,
                pod_rate,
                core_rate,
                ..
            } => {
                if self.pod(src) == self.pod(dst) {
                    host_rate.min(pod_rate)
                } else {
                    host_rate.min(pod_rate).min(core_rate)
                }
            }
        }
    }
}
