// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three tiers of switches with k ports each: a [`Clos`] with k pods and k / 2 of all else.

use super::{Clos, MOST_HOSTS, Mistake, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "fat-tree",
    doc: "Three tiers of switches with k ports each: k pods, k^3 / 4 hosts at full size.",
    keys: FatTree::PARAMS,
};

/// Hosts on an edge switch of a network without oversubscription.
const HALF: Absent = Absent::Formula {
    text: "k / 2",
    of: |v| v.get(0) / 2,
};

config! {
    /// Three tiers of k-port switches: k pods, k^3/4 hosts at full size.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct FatTree {
        /// Ports of a switch, an even number.
        k: u32 = count(4, 2..=64; Absent::Needed),
        /// Hosts on an edge switch; more than k / 2 is oversubscribed.
        hosts_per_edge as "hosts-per-edge": u32 = count(2, 1..=MOST_HOSTS; HALF),
        /// Rate of the host links.
        host_rate as "rate": Rate = rate(10_000_000_000),
        /// Rate from edge to aggregation switches.
        pod_rate as "pod-rate": Rate = rate(0; Absent::As("rate")),
        /// Rate from aggregation to core switches.
        core_rate as "core-rate": Rate = rate(0; Absent::As("rate")),
        /// Propagation delay of a host link.
        host_delay as "delay": Picos = delay(10_000_000),
        /// Propagation delay of every link but the host links.
        fabric_delay as "fabric-delay": Picos = delay(0; Absent::As("delay")),
    }
}

impl FatTree {
    /// Switches of a tier in one pod, and links up from each of them.
    fn half(&self) -> u32 {
        self.k / 2
    }

    /// This fabric as numbers of pods and switches.
    fn clos(&self) -> Clos {
        Clos {
            pods: self.k,
            edges: self.half(),
            aggs: self.half(),
            cores: self.half(),
            hosts: self.hosts_per_edge,
            host_rate: self.host_rate,
            pod_rate: self.pod_rate,
            core_rate: self.core_rate,
            host_delay: self.host_delay,
            pod_delay: self.fabric_delay,
            core_delay: self.fabric_delay,
        }
    }
}

impl Shape for FatTree {
    fn mistake(&self) -> Option<Mistake> {
        (!self.k.is_multiple_of(2)).then_some(Mistake {
            key: "k",
            message: "a fat tree needs switches with an even number of ports".to_owned(),
            help: "write k = 4, 8, 12, ...".to_owned(),
        })
    }

    fn hosts(&self) -> u64 {
        self.clos().hosts()
    }

    fn wiring(&self) -> Wiring {
        self.clos().wiring()
    }
}
