// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three tiers of switches with k ports each.

use super::{
    Cable, Groups, Level, Line, MOST_HOSTS, Mistake, Path, Shape, Switch, Tier, TopologySpec, Way,
};
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

    fn pod_line(&self) -> Line {
        Line {
            rate: self.pod_rate,
            delay: self.fabric_delay,
        }
    }

    fn core_line(&self) -> Line {
        Line {
            rate: self.core_rate,
            delay: self.fabric_delay,
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
            delay: Picos(4 * self.fabric_delay.0),
            slowest: self.pod_rate.min(self.core_rate),
        }
    }
}

impl Shape for FatTree {
    fn mistake(&self) -> Option<Mistake> {
        (!self.k.is_multiple_of(2)).then_some(Mistake {
            key: "k",
            message: "a fat tree needs switches with an even number of ports",
            help: "write k = 4, 8, 12, ...",
        })
    }

    fn hosts(&self) -> u64 {
        u64::from(self.k * self.half()) * u64::from(self.hosts_per_edge)
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
        host / self.hosts_per_edge
    }

    fn pod(&self, host: u32) -> u32 {
        host / (self.hosts_per_edge * self.half())
    }

    /// In this order: edge up, aggregation down, aggregation up, core down. Aggregation switch `a`
    /// of every pod is joined to cores a*h..(a+1)*h, where h is k/2.
    fn cables(&self) -> Vec<Cable> {
        let (k, h) = (self.k, self.half());
        let mut all = Vec::with_capacity(4 * (k * h * h) as usize);
        let mut cable = |from: (&'static str, u32), to: (&'static str, u32), line: Line| {
            all.push(Cable {
                from: Switch::new(from.0, from.1),
                to: Switch::new(to.0, to.1),
                line,
            });
        };
        for e in 0..k * h {
            for a in 0..h {
                cable(("edge", e), ("agg", e / h * h + a), self.pod_line());
            }
        }
        for g in 0..k * h {
            for e in 0..h {
                cable(("agg", g), ("edge", g / h * h + e), self.pod_line());
            }
        }
        for g in 0..k * h {
            for c in 0..h {
                cable(("agg", g), ("core", g % h * h + c), self.core_line());
            }
        }
        for c in 0..h * h {
            for p in 0..k {
                cable(("core", c), ("agg", p * h + c / h), self.core_line());
            }
        }
        all
    }

    fn path(&self, src: u32, dst: u32, hash: u64) -> Path {
        let (k, h) = (self.k, self.half());
        let tier = k * h * h; // links of one tier in one direction
        let (from, to) = (self.rack(src), self.rack(dst));
        let a = (hash % u64::from(h)) as u32;
        let (from_agg, to_agg) = (self.pod(src) * h + a, self.pod(dst) * h + a);
        let (up, down) = (from * h + a, tier + to_agg * h + to % h);
        if from_agg == to_agg {
            return Path::of([up, down]);
        }
        let c = (hash / u64::from(h) % u64::from(h)) as u32;
        Path::of([
            up,
            2 * tier + from_agg * h + c,
            3 * tier + (a * h + c) * k + self.pod(dst),
            down,
        ])
    }

    fn way(&self, src: u32, dst: u32) -> Way {
        if self.pod(src) == self.pod(dst) {
            self.within()
        } else {
            self.across()
        }
    }

    fn tiers(&self) -> Vec<Tier> {
        let h = self.half();
        vec![
            Tier {
                level: Level::Racks,
                name: "edge uplinks",
                groups: Groups::Of(self.hosts_per_edge),
                exits: (h, self.pod_rate),
                sides: self.k * h,
                ways: vec![self.within()],
            },
            Tier {
                level: Level::Pods,
                name: "core links",
                groups: Groups::Of(self.hosts_per_edge * h),
                exits: (h * h, self.core_rate),
                sides: self.k,
                ways: vec![self.across()],
            },
        ]
    }
}
