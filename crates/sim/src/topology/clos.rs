// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three tiers of switches in any numbers: a fat tree with fewer pods, more cores, or other rates.

use super::{Line, MOST_HOSTS, MOST_LINKS, Mistake, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "clos",
    doc: "Three tiers of switches in any numbers: pods of edge and aggregation switches, and core \
          switches above each aggregation switch.",
    keys: Clos::PARAMS,
};

config! {
    /// Three tiers of switches.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Clos {
        /// Groups of edge and aggregation switches.
        pods: u32 = count(3, 2..=4_096; Absent::Needed),
        /// Edge switches of a pod.
        edges as "edges-per-pod": u32 = count(2, 1..=4_096; Absent::Needed),
        /// Aggregation switches of a pod, each joined to every edge switch of it.
        aggs as "aggs-per-pod": u32 = count(2, 1..=4_096; Absent::Needed),
        /// Core switches above an aggregation switch; those above its namesakes in other pods are
        /// the same.
        cores as "cores-per-agg": u32 = count(2, 1..=4_096; Absent::Needed),
        /// Hosts on an edge switch.
        hosts as "hosts-per-edge": u32 = count(2, 1..=MOST_HOSTS; Absent::As("aggs-per-pod")),
        /// Rate of the host links.
        host_rate as "rate": Rate = rate(10_000_000_000),
        /// Rate from edge to aggregation switches.
        pod_rate as "pod-rate": Rate = rate(0; Absent::As("rate")),
        /// Rate from aggregation to core switches.
        core_rate as "core-rate": Rate = rate(0; Absent::As("rate")),
        /// Propagation delay of a host link.
        host_delay as "delay": Picos = delay(10_000_000),
        /// Propagation delay within a pod.
        pod_delay as "pod-delay": Picos = delay(0; Absent::As("delay")),
        /// Propagation delay to the core switches.
        core_delay as "core-delay": Picos = delay(0; Absent::As("pod-delay")),
    }
}

impl Shape for Clos {
    fn mistake(&self) -> Option<Mistake> {
        let cables = u64::from(self.pods)
            * u64::from(self.aggs)
            * (u64::from(self.edges) + u64::from(self.cores));
        (2 * cables > MOST_LINKS).then_some(Mistake {
            key: "pods",
            message: "this fabric has more than a million links between switches".to_owned(),
            help: "links are 2 x pods x aggs-per-pod x (edges-per-pod + cores-per-agg): write \
                   fewer"
                .to_owned(),
        })
    }

    fn hosts(&self) -> u64 {
        u64::from(self.pods) * u64::from(self.edges) * u64::from(self.hosts)
    }

    /// In this order: edge up, aggregation down, aggregation up, core down. Aggregation switch `a`
    /// of every pod is joined to cores a*c..(a+1)*c, where c is `cores`.
    fn wiring(&self) -> Wiring {
        let (pods, edges, aggs, cores) = (self.pods, self.edges, self.aggs, self.cores);
        let [host, pod, up] = [
            (self.host_rate, self.host_delay),
            (self.pod_rate, self.pod_delay),
            (self.core_rate, self.core_delay),
        ]
        .map(|(rate, delay)| Line { rate, delay });
        let racks = (0..pods * edges).map(|_| self.hosts);
        let mut wiring = Wiring::of_racks("edge", racks, host).alike();
        let agg = wiring.switches("agg", pods * aggs);
        let core = wiring.switches("core", aggs * cores);
        wiring.tier("edge uplinks");
        for e in 0..pods * edges {
            for a in 0..aggs {
                wiring.cable(e, agg + e / edges * aggs + a, pod);
            }
        }
        for g in 0..pods * aggs {
            for e in 0..edges {
                wiring.cable(agg + g, g / aggs * edges + e, pod);
            }
        }
        wiring.tier("core links");
        for g in 0..pods * aggs {
            for c in 0..cores {
                wiring.cable(agg + g, core + g % aggs * cores + c, up);
            }
        }
        for c in 0..aggs * cores {
            for p in 0..pods {
                wiring.cable(core + c, agg + p * aggs + c / cores, up);
            }
        }
        wiring
    }
}
