// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three tiers of switches in any numbers: a fat tree with fewer pods, more cores, or other rates.

use super::{
    Cable, Groups, Level, Line, MOST_HOSTS, MOST_LINKS, Mistake, Shape, Switch, Tier, TopologySpec,
    Way,
};
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

impl Clos {
    /// Edge-aggregation links in one direction.
    fn pod_links(&self) -> u32 {
        self.pods * self.edges * self.aggs
    }

    /// Aggregation-core links in one direction.
    fn core_links(&self) -> u32 {
        self.pods * self.aggs * self.cores
    }

    fn pod_line(&self) -> Line {
        Line {
            rate: self.pod_rate,
            delay: self.pod_delay,
        }
    }

    fn core_line(&self) -> Line {
        Line {
            rate: self.core_rate,
            delay: self.core_delay,
        }
    }

    /// From rack to rack within a pod.
    fn within(&self) -> Way {
        Way::over(2, self.pod_line())
    }

    /// From pod to pod.
    fn across(&self) -> Way {
        Way {
            links: 4,
            delay: Picos(2 * (self.pod_delay.0 + self.core_delay.0)),
            slowest: self.pod_rate.min(self.core_rate),
        }
    }
}

impl Shape for Clos {
    fn mistake(&self) -> Option<Mistake> {
        let cables = u64::from(self.pods)
            * u64::from(self.aggs)
            * (u64::from(self.edges) + u64::from(self.cores));
        (2 * cables > MOST_LINKS).then_some(Mistake {
            key: "pods",
            message: "this fabric has more than a million links between switches",
            help: "links are 2 x pods x aggs-per-pod x (edges-per-pod + cores-per-agg): write \
                   fewer",
        })
    }

    fn hosts(&self) -> u64 {
        u64::from(self.pods) * u64::from(self.edges) * u64::from(self.hosts)
    }

    fn host_line(&self) -> Line {
        Line {
            rate: self.host_rate,
            delay: self.host_delay,
        }
    }

    fn edge_name(&self) -> &'static str {
        "edge"
    }

    fn rack(&self, host: u32) -> u32 {
        host / self.hosts
    }

    fn pod(&self, host: u32) -> u32 {
        host / (self.hosts * self.edges)
    }

    /// In this order: edge up, aggregation down, aggregation up, core down. Aggregation switch `a`
    /// of every pod is joined to cores a*c..(a+1)*c, where c is `cores`.
    fn cables(&self) -> Vec<Cable> {
        let (edges, aggs, cores) = (self.edges, self.aggs, self.cores);
        let mut all = Vec::with_capacity(2 * (self.pod_links() + self.core_links()) as usize);
        let mut cable = |from: (&'static str, u32), to: (&'static str, u32), line: Line| {
            all.push(Cable {
                from: Switch::new(from.0, from.1),
                to: Switch::new(to.0, to.1),
                line,
                routed: true,
            });
        };
        for e in 0..self.pods * edges {
            for a in 0..aggs {
                cable(("edge", e), ("agg", e / edges * aggs + a), self.pod_line());
            }
        }
        for g in 0..self.pods * aggs {
            for e in 0..edges {
                cable(("agg", g), ("edge", g / aggs * edges + e), self.pod_line());
            }
        }
        for g in 0..self.pods * aggs {
            for c in 0..cores {
                cable(("agg", g), ("core", g % aggs * cores + c), self.core_line());
            }
        }
        for c in 0..aggs * cores {
            for p in 0..self.pods {
                cable(("core", c), ("agg", p * aggs + c / cores), self.core_line());
            }
        }
        all
    }

    fn way(&self, src: u32, dst: u32) -> Way {
        if self.pod(src) == self.pod(dst) {
            self.within()
        } else {
            self.across()
        }
    }

    fn tiers(&self) -> Vec<Tier> {
        vec![
            Tier {
                level: Level::Racks,
                name: "edge uplinks",
                groups: Groups::Of(self.hosts),
                exits: (self.aggs, self.pod_rate),
                sides: self.pods * self.edges,
                ways: vec![self.within()],
            },
            Tier {
                level: Level::Pods,
                name: "core links",
                groups: Groups::Of(self.hosts * self.edges),
                exits: (self.aggs * self.cores, self.core_rate),
                sides: self.pods,
                ways: vec![self.across()],
            },
        ]
    }
}
