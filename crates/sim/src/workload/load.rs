// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a load means: offered payload bits on the most loaded tier over that tier's capacity.
//!
//! ECN#'s fabric is 2:1 oversubscribed, so 0.8 of its host links would be 1.4 of its uplinks; the
//! tier that fills first is the reference, and [`most_loaded`] says which it is.

use cemark_wire::Rate;

use super::Pairs;
use crate::topology::{Level, Topology};

/// A tier under one pattern of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TierLoad {
    /// Which packets cross it.
    pub level: Level,
    /// For people: `leaf uplinks`.
    pub name: &'static str,
    /// Expected share of the offered bits that crosses it, 0..1.
    pub share: f64,
    /// Its capacity in bits per second, one direction.
    pub capacity: f64,
}

/// Every tier that the pattern loads: the host links, then the topology's own.
pub fn tiers(topology: &Topology, pairs: &Pairs) -> Vec<TierLoad> {
    let hosts = topology.hosts();
    let inner = topology.shape().tiers();
    // A single receiver is behind one group: only that group's links carry the load.
    let capacity = |(links, rate): (u32, Rate), sides: u32| {
        let one = f64::from(links) * rate.0 as f64;
        match pairs {
            Pairs::ToOne(_) => one,
            Pairs::All | Pairs::OtherRack => one * f64::from(sides),
        }
    };
    let mut all = vec![TierLoad {
        level: Level::Hosts,
        name: "host links",
        share: 1.0,
        capacity: capacity((1, topology.host_rate()), hosts),
    }];
    for tier in &inner {
        let share = match *pairs {
            Pairs::ToOne(to) => tier.groups.apart_from(to, hosts),
            Pairs::All => tier.groups.apart(hosts),
            Pairs::OtherRack if tier.level == Level::Racks => 1.0,
            // Pairs of other racks leave the pod more often than all pairs do.
            Pairs::OtherRack => tier.groups.apart(hosts) / inner[0].groups.apart(hosts),
        };
        all.push(TierLoad {
            level: tier.level,
            name: tier.name,
            share,
            capacity: capacity(tier.exits, tier.sides),
        });
    }
    all
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
/// of a tier at load 1 of the most loaded one.
pub fn loads(topology: &Topology, pairs: &Pairs, load: f64) -> Vec<(TierLoad, f64)> {
    let most = most_loaded(topology, pairs);
    let offered = load * most.capacity / most.share;
    tiers(topology, pairs)
        .iter()
        .map(|t| (*t, offered * t.share / t.capacity))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Dumbbell, FatTree, LeafSpine, Star};
    use crate::workload::SizeTable;
    use cemark_param::Values;
    use cemark_wire::Picos;

    fn leaf_spine(hosts_per_leaf: u32) -> Topology {
        Topology::LeafSpine(LeafSpine {
            leaves: 8,
            spines: 8,
            hosts_per_leaf,
            host_rate: Rate::gbps(10),
            uplink_rate: Rate::gbps(10),
            host_delay: Picos::from_micros(10),
            uplink_delay: Picos::from_micros(10),
        })
    }

    fn fat_tree(core: u64) -> Topology {
        Topology::FatTree(FatTree {
            k: 4,
            hosts_per_edge: 2,
            host_rate: Rate::gbps(10),
            pod_rate: Rate::gbps(10),
            core_rate: Rate::gbps(core),
            host_delay: Picos::from_micros(1),
            fabric_delay: Picos::from_micros(1),
        })
    }

    /// 47.7k and 6.5k flows a second at 0.9 of the uplinks of ECN#'s fabric; 657 and 89 on
    /// one 10G bottleneck.
    #[test]
    fn flow_rates_of_the_papers() {
        let web = SizeTable::builtin("web-search").unwrap().mean();
        let mining = SizeTable::builtin("data-mining").unwrap().mean();
        let fabric = leaf_spine(16);
        assert_eq!(most_loaded(&fabric, &Pairs::All).name, "leaf uplinks");
        let rate = flows_per_second(&fabric, &Pairs::All, web, 0.9);
        assert!((rate / 47_700.0 - 1.0).abs() < 0.001, "{rate}");
        let rate = flows_per_second(&fabric, &Pairs::All, mining, 0.9);
        assert!((rate / 6_450.0 - 1.0).abs() < 0.001, "{rate}");
        let star = Topology::Star(Star {
            hosts: 8,
            rate: Rate::gbps(10),
            delay: Picos::from_micros(1),
        });
        let rate = flows_per_second(&star, &Pairs::ToOne(7), web, 0.9);
        assert!((rate - 657.0).abs() < 1.0, "{rate}");
        let rate = flows_per_second(&star, &Pairs::ToOne(7), mining, 0.9);
        assert!((rate - 89.0).abs() < 0.5, "{rate}");
    }

    #[test]
    fn the_tier_that_fills_first() {
        // Non-blocking: the host links, as in MQ-ECN.
        assert_eq!(most_loaded(&leaf_spine(8), &Pairs::All).name, "host links");
        assert_eq!(
            most_loaded(&leaf_spine(16), &Pairs::ToOne(3)).name,
            "host links"
        );
        assert_eq!(most_loaded(&fat_tree(10), &Pairs::All).name, "host links");
        assert_eq!(most_loaded(&fat_tree(5), &Pairs::All).name, "core links");
        let dumbbell = Topology::Dumbbell(Dumbbell {
            left: 4,
            right: 4,
            host_rate: Rate::gbps(10),
            middle_rate: Rate::gbps(10),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        });
        assert_eq!(most_loaded(&dumbbell, &Pairs::All).name, "middle link");
        let shares = loads(&leaf_spine(16), &Pairs::All, 0.8);
        assert!((shares[1].1 - 0.8).abs() < 1e-12);
        // 0.8 of 640 G over the share that leaves its rack, on 1280 G of host links.
        assert!((shares[0].1 - 0.8 * 640.0 / (112.0 / 127.0) / 1280.0).abs() < 1e-12);
    }

    /// The closed form of each share against counting all pairs.
    #[test]
    fn shares_count_pairs() {
        let dumbbell = Topology::Dumbbell(Dumbbell {
            left: 3,
            right: 5,
            host_rate: Rate::gbps(1),
            middle_rate: Rate::gbps(1),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        });
        let all = Topology::ALL
            .iter()
            .map(|spec| Topology::build(spec, &Values::defaults(*spec)).unwrap());
        for topology in all.chain([leaf_spine(3), fat_tree(10), dumbbell]) {
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
                            crossing += i32::from(allowed && t.level.crossed(&topology, src, dst));
                        }
                    }
                    if all == 0 {
                        continue; // A star has no other rack.
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
