// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every topology of the registry must keep, the next one included.

use std::collections::BTreeSet;

use cemark_param::Kind;

use super::*;
use crate::ids::LinkId;

const D: Picos = Picos::from_micros(1);

/// Every kind with the examples of its keys, and forms whose rates and sides differ.
fn topologies() -> Vec<Topology> {
    let examples = Topology::ALL
        .iter()
        .map(|&spec| Topology::build(spec, &Values::defaults(spec)).expect("examples are valid"));
    let (slow, fast) = (Rate::gbps(10), Rate::gbps(40));
    let others: [Topology; 5] = [
        Dumbbell {
            left: 2,
            right: 3,
            host_rate: fast,
            middle_rate: slow,
            host_delay: D,
            middle_delay: Picos(3 * D.0),
        }
        .into(),
        TwoSites {
            left: 2,
            right: 3,
            paths: 3,
            host_rate: slow,
            edge_rate: fast,
            wan_rate: slow,
            host_delay: D,
            edge_delay: Picos(2 * D.0),
            wan_delay: Picos(3_000 * D.0),
        }
        .into(),
        FatTree {
            k: 4,
            hosts_per_edge: 3,
            host_rate: slow,
            pod_rate: fast,
            core_rate: Rate::gbps(5),
            host_delay: D,
            fabric_delay: Picos(2 * D.0),
        }
        .into(),
        Ring {
            switches: 5,
            hosts_per_switch: 2,
            rate: slow,
            delay: D,
        }
        .into(),
        Clos {
            pods: 3,
            edges: 2,
            aggs: 3,
            cores: 2,
            hosts: 2,
            host_rate: slow,
            pod_rate: fast,
            core_rate: Rate::gbps(5),
            host_delay: D,
            pod_delay: Picos(2 * D.0),
            core_delay: Picos(7 * D.0),
        }
        .into(),
    ];
    examples.chain(others).collect()
}

/// Follows every route: each link starts at the node where the one before ended, from sender to
/// receiver. What the shape says of the way without laying it out
/// (links, propagation, bottleneck) is what the links add up to.
#[test]
fn every_route_is_a_chain_of_links() {
    for t in topologies() {
        let f = Fabric::new(&t);
        assert_eq!(
            f.links().len(),
            2 * t.hosts() as usize + t.shape().cables().len()
        );
        for src in 0..t.hosts() {
            for dst in (0..t.hosts()).filter(|&d| d != src) {
                for hash in 0..9 {
                    let route = f.route(src, dst, hash);
                    let route = route.iter().take_while(|&&l| l != LinkId::NONE);
                    let links: Vec<&Link> = route.map(|&l| &f.links()[l]).collect();
                    let mut at = NodeId(src);
                    for link in &links {
                        assert_eq!(at, link.from, "{t:?} {src}->{dst} hash {hash}");
                        at = link.to;
                    }
                    assert_eq!(at, NodeId(dst));
                    assert_eq!(links.len() as u32, t.links(src, dst));
                    let delay: u64 = links.iter().map(|l| l.delay.0).sum();
                    assert_eq!(Picos(delay), t.propagation(src, dst));
                    let slowest = links.iter().map(|l| l.rate).min();
                    assert_eq!(slowest, Some(t.bottleneck(src, dst)), "{t:?} {src}->{dst}");
                }
            }
        }
        let all = f.links().iter().map(|l| l.rate).min();
        assert_eq!(all, Some(t.slowest()), "{t:?}");
    }
}

/// The ways of the tiers are those of the pairs, in the same proportions.
#[test]
fn tiers_list_the_ways_of_all_pairs() {
    for t in topologies() {
        let tiers = t.shape().tiers();
        for (i, tier) in tiers.iter().enumerate() {
            let further = tiers.get(i + 1);
            let mut counts = vec![0; tier.ways.len()];
            for src in 0..t.hosts() {
                for dst in 0..t.hosts() {
                    let within = further.is_none_or(|f| !f.level.crossed(&t, src, dst));
                    if src != dst && tier.level.crossed(&t, src, dst) && within {
                        let way = t.shape().way(src, dst);
                        let at = tier.ways.iter().position(|w| *w == way);
                        counts[at.unwrap_or_else(|| panic!("{t:?}: {way:?} is in no tier"))] += 1;
                    }
                }
            }
            // A way that is listed twice is twice as frequent.
            let all: usize = counts.iter().sum();
            for (way, count) in tier
                .ways
                .iter()
                .zip(&counts)
                .filter(|(_, count)| **count > 0)
            {
                let listed = tier.ways.iter().filter(|w| *w == way).count();
                assert_eq!(count * tier.ways.len(), listed * all, "{t:?}: {way:?}");
            }
            let found = tier.ways.iter().zip(&counts);
            let missing =
                found.filter(|(w, n)| **n == 0 && tier.ways.iter().filter(|o| o == w).count() == 1);
            assert_eq!(missing.count(), 0, "{t:?}: a way that no pair takes");
        }
    }
}

/// Each direction of a cable has its counterpart: pause frames travel on it.
#[test]
fn every_link_has_one_back() {
    for t in topologies() {
        let f = Fabric::new(&t);
        let names: BTreeSet<&str> = f.links().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names.len(), f.links().len(), "two links of one name: {t:?}");
        for (i, link) in (0..).map(LinkId).zip(f.links()) {
            let back = &f.links()[link.reverse];
            assert_eq!(
                (back.from, back.to),
                (link.to, link.from),
                "{t:?}: {}",
                link.name
            );
            assert_eq!(back.reverse, i, "{t:?}: {}", link.name);
            let (from, to) = link.name.split_once("->").expect("two ends");
            assert_eq!(back.name, format!("{to}->{from}"));
        }
    }
}

/// The links of a route between switches, by the name of each far end.
fn over(t: &Topology, src: u32, dst: u32, hash: u64) -> Vec<String> {
    let fabric = Fabric::new(t);
    let route = fabric.route(src, dst, hash);
    let links = route.iter().take_while(|&&l| l != LinkId::NONE);
    let far = |l: &LinkId| {
        let (_, far) = fabric.links()[*l].name.split_once("->").expect("two ends");
        far.to_owned()
    };
    links.map(far).collect()
}

/// ECMP keeps the results of runs: the hash modulo the number of equal-cost links chooses at the
/// first switch, the quotient at the second.
#[test]
fn the_hash_chooses_among_links_of_equal_cost() {
    let of = |name: &str| {
        let mut all = topologies().into_iter();
        all.find(|t| t.spec().name == name).expect("an example")
    };
    let Topology::FatTree(tree) = of("fat-tree") else {
        panic!("a fat tree");
    };
    let (half, hosts) = (u64::from(tree.k / 2), tree.hosts() as u32);
    for hash in [0, 1, 5, 1 << 40, u64::MAX] {
        let (agg, core) = (hash % half, hash / half % half);
        let route = over(&tree.into(), 0, hosts - 1, hash);
        let last = u64::from(tree.k - 1) * half + agg;
        assert_eq!(route[1], format!("agg{agg}"));
        assert_eq!(route[2], format!("core{}", agg * half + core));
        assert_eq!(route[3], format!("agg{last}"));
    }
    let Topology::LeafSpine(two) = of("leaf-spine") else {
        panic!("leaves and spines");
    };
    let hosts = two.hosts() as u32;
    for hash in [0, 3, u64::MAX] {
        let route = over(&two.into(), 0, hosts - 1, hash);
        assert_eq!(route[1], format!("spine{}", hash % u64::from(two.spines)));
    }
}

#[test]
fn names_are_unique_and_keys_are_explained() {
    let names: BTreeSet<&str> = Topology::ALL.iter().map(|s| s.name).collect();
    assert_eq!(names.len(), Topology::ALL.len());
    for spec in Topology::ALL {
        let keys: BTreeSet<&str> = spec.keys.iter().map(|k| k.name).collect();
        assert_eq!(keys.len(), spec.keys.len(), "{}", spec.name);
        assert!(keys.contains("rate") && keys.contains("delay"));
        assert!(spec.doc.ends_with('.') && spec.keys.iter().all(|k| !k.doc.is_empty()));
    }
}

#[test]
fn the_largest_numbers_are_refused_before_links_are_made() {
    for &spec in Topology::ALL {
        let largest = Values::read(spec, |key, default| match key.kind {
            Kind::Count => Ok::<u64, ()>(match key.name.contains("hosts") {
                true => key.min,
                false => key.max,
            }),
            _ => Ok(default.unwrap_or(1)),
        });
        if let Ok(topology) = Topology::build(spec, &largest.unwrap()) {
            let links = topology.shape().cables().len() as u64;
            assert!(links <= MOST_LINKS, "{}: {links}", spec.name);
        }
    }
}

#[test]
fn a_fat_tree_of_odd_switches_is_refused() {
    let spec = *Topology::ALL.iter().find(|s| s.name == "fat-tree").unwrap();
    let odd = Values::read(spec, |key, default| match key.name {
        "k" => Ok::<u64, ()>(5),
        _ => default.ok_or(()),
    });
    let mistake = Topology::build(spec, &odd.unwrap()).unwrap_err();
    assert_eq!(mistake.key, "k");
}

#[test]
fn a_hash_spreads_over_all_cores() {
    let mut all = topologies().into_iter();
    let t = all.find(|t| matches!(t, Topology::FatTree(_))).unwrap();
    let f = Fabric::new(&t);
    let cores: BTreeSet<LinkId> = (0..16).map(|h| f.route(0, t.hosts() - 1, h)[3]).collect();
    assert_eq!(cores.len(), 4);
}
