// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a load means: offered payload bits on the most loaded tier over that tier's capacity.
//!
//! ECN#'s fabric is 2:1 oversubscribed, so 0.8 of its host links would be 1.4 of its uplinks; the
//! tier that fills first is the reference, and [`most_loaded`] says which it is.

use cemark_wire::Rate;

use super::Pairs;
use crate::topology::Topology;

/// A set of links that play the same part. Capacities count one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Between hosts and their first switch.
    Host,
    /// The middle link of a dumbbell, the long ways between two sites, or the links of a ring.
    Middle,
    /// Between a rack and the tier above it.
    Rack,
    /// Between the pods of a fat tree and its core.
    Core,
}

/// A tier under one pattern of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TierLoad {
    /// Which.
    pub tier: Tier,
    /// Expected share of the offered bits that crosses it, 0..1.
    pub share: f64,
    /// Its capacity in bits per second, one direction.
    pub capacity: f64,
}

impl Tier {
    /// Whether a packet from `src` to `dst` crosses this tier.
    pub fn crossed(self, topology: &Topology, src: u32, dst: u32) -> bool {
        match self {
            Tier::Host => true,
            Tier::Middle | Tier::Rack => topology.rack(src) != topology.rack(dst),
            Tier::Core => topology.pod(src) != topology.pod(dst),
        }
    }

    /// For people: `leaf uplinks`.
    pub fn name(self, topology: &Topology) -> &'static str {
        match (self, topology) {
            (Tier::Host, _) => "host links",
            (Tier::Middle, Topology::TwoSites { .. }) => "long links",
            (Tier::Middle, Topology::Ring { .. }) => "ring links",
            (Tier::Middle, _) => "middle link",
            (Tier::Rack, Topology::LeafSpine { .. }) => "leaf uplinks",
            (Tier::Rack, _) => "edge uplinks",
            (Tier::Core, _) => "core links",
        }
    }
}

/// Every tier that the pattern loads.
pub fn tiers(topology: &Topology, pairs: &Pairs) -> Vec<TierLoad> {
    let hosts = f64::from(topology.hosts());
    let to_one = matches!(pairs, Pairs::ToOne(_));
    let times = |n: u32, rate: Rate| f64::from(n) * rate.0 as f64;
    let own = |receiver: u32, all: u32| {
        if to_one {
            f64::from(receiver)
        } else {
            f64::from(all)
        }
    };
    let mut out = vec![TierLoad {
        tier: Tier::Host,
        share: 1.0,
        capacity: times(1, topology.host_rate()) * own(1, topology.hosts()),
    }];
    let mut add = |tier, share, capacity| {
        out.push(TierLoad {
            tier,
            share,
            capacity,
        })
    };
    match *topology {
        Topology::Star { .. } => {}
        Topology::Dumbbell { left, right, .. } | Topology::TwoSites { left, right, .. } => {
            let share = match *pairs {
                Pairs::ToOne(to) => f64::from(if to < left { right } else { left }) / (hosts - 1.0),
                Pairs::OtherRack => 1.0,
                Pairs::All => 2.0 * f64::from(left) * f64::from(right) / (hosts * (hosts - 1.0)),
            };
            // Both directions carry their half; a single receiver loads one.
            let middle = match *topology {
                Topology::TwoSites {
                    paths,
                    edge_rate,
                    wan_rate,
                    ..
                } => times(paths, edge_rate.min(wan_rate)),
                Topology::Dumbbell { middle_rate, .. } => times(1, middle_rate),
                _ => unreachable!("the arm's two kinds"),
            };
            add(Tier::Middle, share, middle * own(1, 2));
        }
        Topology::Ring {
            hosts_per_switch,
            rate,
            ..
        } => {
            let share = outside(hosts, f64::from(hosts_per_switch), pairs);
            // A flow that leaves its rack crosses half of the ring's links in the mean; all of one
            // receiver's come in by one.
            add(Tier::Middle, share, times(1, rate) * own(1, 2));
        }
        Topology::LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            uplink_rate,
            ..
        } => {
            let share = outside(hosts, f64::from(hosts_per_leaf), pairs);
            add(
                Tier::Rack,
                share,
                times(spines, uplink_rate) * own(1, leaves),
            );
        }
        Topology::FatTree {
            k,
            hosts_per_edge,
            pod_rate,
            core_rate,
            ..
        } => {
            let half = k / 2;
            let edge = f64::from(hosts_per_edge);
            add(
                Tier::Rack,
                outside(hosts, edge, pairs),
                times(half, pod_rate) * own(1, k * half),
            );
            // Pairs of other racks leave the pod more often than all pairs do.
            let beyond = (hosts - edge * f64::from(half)) / (hosts - 1.0);
            let share = match pairs {
                Pairs::OtherRack => beyond / outside(hosts, edge, &Pairs::All),
                _ => beyond,
            };
            add(
                Tier::Core,
                share,
                times(half, core_rate) * f64::from(half) * own(1, k),
            );
        }
    }
    out
}

/// Chance that a packet leaves a group of `group` hosts.
fn outside(hosts: f64, group: f64, pairs: &Pairs) -> f64 {
    match pairs {
        Pairs::OtherRack => 1.0,
        Pairs::All | Pairs::ToOne(_) => (hosts - group) / (hosts - 1.0),
    }
}

/// The tier that fills first.
pub fn most_loaded(topology: &Topology, pairs: &Pairs) -> TierLoad {
    let all = tiers(topology, pairs);
    let mut most = all[0];
    for tier in all {
        if tier.share / tier.capacity > most.share / most.capacity {
            most = tier;
        }
    }
    most
}

/// Flows that arrive per second at `load` when their mean size is `mean` bytes.
pub fn flows_per_second(topology: &Topology, pairs: &Pairs, mean: f64, load: f64) -> f64 {
    let tier = most_loaded(topology, pairs);
    load * tier.capacity / (8.0 * mean * tier.share)
}

/// How often the bits of one tier's capacity are offered to each other tier: the busiest direction
/// of a tier at load 1 of the most loaded one, as (tier, load).
pub fn loads(topology: &Topology, pairs: &Pairs, load: f64) -> Vec<(Tier, f64)> {
    let most = most_loaded(topology, pairs);
    let offered = load * most.capacity / most.share;
    tiers(topology, pairs)
        .iter()
        .map(|t| (t.tier, offered * t.share / t.capacity))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::SizeTable;
    use cemark_wire::Picos;

    fn leaf_spine(hosts_per_leaf: u32) -> Topology {
        Topology::LeafSpine {
            leaves: 8,
            spines: 8,
            hosts_per_leaf,
            host_rate: Rate::gbps(10),
            uplink_rate: Rate::gbps(10),
            host_delay: Picos::from_micros(10),
            uplink_delay: Picos::from_micros(10),
        }
    }

    fn fat_tree(core: u64) -> Topology {
        Topology::FatTree {
            k: 4,
            hosts_per_edge: 2,
            host_rate: Rate::gbps(10),
            pod_rate: Rate::gbps(10),
            core_rate: Rate::gbps(core),
            host_delay: Picos::from_micros(1),
            fabric_delay: Picos::from_micros(1),
        }
    }

    /// Spec D: 47.7k and 6.5k flows a second at 0.9 of the uplinks of ECN#'s fabric; 657 and 89 on
    /// one 10G bottleneck.
    #[test]
    fn flow_rates_of_the_papers() {
        let web = SizeTable::builtin("web-search").unwrap().mean();
        let mining = SizeTable::builtin("data-mining").unwrap().mean();
        let fabric = leaf_spine(16);
        assert_eq!(most_loaded(&fabric, &Pairs::All).tier, Tier::Rack);
        let rate = flows_per_second(&fabric, &Pairs::All, web, 0.9);
        assert!((rate / 47_700.0 - 1.0).abs() < 0.001, "{rate}");
        let rate = flows_per_second(&fabric, &Pairs::All, mining, 0.9);
        assert!((rate / 6_450.0 - 1.0).abs() < 0.001, "{rate}");
        let star = Topology::Star {
            hosts: 8,
            rate: Rate::gbps(10),
            delay: Picos::from_micros(1),
        };
        let rate = flows_per_second(&star, &Pairs::ToOne(7), web, 0.9);
        assert!((rate - 657.0).abs() < 1.0, "{rate}");
        let rate = flows_per_second(&star, &Pairs::ToOne(7), mining, 0.9);
        assert!((rate - 89.0).abs() < 0.5, "{rate}");
    }

    #[test]
    fn the_tier_that_fills_first() {
        // Non-blocking: the host links, as in MQ-ECN.
        assert_eq!(most_loaded(&leaf_spine(8), &Pairs::All).tier, Tier::Host);
        assert_eq!(
            most_loaded(&leaf_spine(16), &Pairs::ToOne(3)).tier,
            Tier::Host
        );
        assert_eq!(most_loaded(&fat_tree(10), &Pairs::All).tier, Tier::Host);
        assert_eq!(most_loaded(&fat_tree(5), &Pairs::All).tier, Tier::Core);
        let dumbbell = Topology::Dumbbell {
            left: 4,
            right: 4,
            host_rate: Rate::gbps(10),
            middle_rate: Rate::gbps(10),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        };
        assert_eq!(most_loaded(&dumbbell, &Pairs::All).tier, Tier::Middle);
        assert_eq!(Tier::Middle.name(&dumbbell), "middle link");
        let shares = loads(&leaf_spine(16), &Pairs::All, 0.8);
        assert!((shares[1].1 - 0.8).abs() < 1e-12);
        // 0.8 of 640 G over the share that leaves its rack, on 1280 G of host links.
        assert!((shares[0].1 - 0.8 * 640.0 / (112.0 / 127.0) / 1280.0).abs() < 1e-12);
    }

    /// The closed form of each share against counting all pairs.
    #[test]
    fn shares_count_pairs() {
        let dumbbell = Topology::Dumbbell {
            left: 3,
            right: 5,
            host_rate: Rate::gbps(1),
            middle_rate: Rate::gbps(1),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        };
        for topology in [leaf_spine(3), fat_tree(10), dumbbell] {
            for pairs in [Pairs::All, Pairs::OtherRack, Pairs::ToOne(2)] {
                for t in tiers(&topology, &pairs) {
                    let (mut all, mut crossing) = (0, 0);
                    for src in 0..topology.hosts() {
                        for dst in 0..topology.hosts() {
                            let allowed = src != dst
                                && match pairs {
                                    Pairs::All => true,
                                    Pairs::OtherRack => topology.rack(src) != topology.rack(dst),
                                    Pairs::ToOne(to) => dst == to,
                                };
                            all += i32::from(allowed);
                            crossing += i32::from(allowed && t.tier.crossed(&topology, src, dst));
                        }
                    }
                    let counted = f64::from(crossing) / f64::from(all);
                    assert!(
                        (t.share - counted).abs() < 1e-12,
                        "{topology:?} {pairs:?} {t:?} {counted}"
                    );
                }
            }
        }
    }
}
