// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules for every topology of the registry, the next one included.

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
    let others: Vec<Topology> = vec![
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
    examples.chain(others).chain([unequal()]).collect()
}

/// Switches `a`, `b`, `c` in a triangle, two cables between `a` and `b`, a switch `d` without
/// hosts, and hosts in no order with links of two rates. Host `h4` has two links to `a` and one to
/// `c`.
fn unequal() -> Topology {
    let names = ["d", "b", "h0", "c", "h1", "a", "h2", "h3", "h4"];
    let node = |name: &str| Node {
        name: name.to_owned(),
        host: name.len() > 1,
    };
    let nodes: Vec<Node> = names.into_iter().map(node).collect();
    let cord = |a: &str, b: &str, gbps: u64| Cord {
        ends: [a, b].map(|name| nodes.iter().position(|n| n.name == name).unwrap() as u32),
        rate: Rate::gbps(gbps),
        delay: D,
    };
    let cords = vec![
        cord("h0", "c", 10),
        cord("a", "b", 40),
        cord("h1", "a", 10),
        cord("b", "c", 40),
        cord("b", "h2", 25),
        cord("b", "a", 40),
        cord("a", "h3", 10),
        cord("a", "c", 20),
        cord("c", "d", 100),
        cord("h4", "a", 25),
        cord("h4", "c", 25),
        cord("a", "h4", 25),
    ];
    Graph::new(nodes, cords).expect("a fabric").into()
}

/// Hosts are counted in the order of the nodes, switches in the order of their first hosts, and
/// parallel cables have names of their own.
#[test]
fn a_graph_keeps_the_order_of_its_nodes() {
    let t = unequal();
    let f = t.fabric();
    let racks: Vec<u32> = (0..t.hosts()).map(|h| t.rack(h)).collect();
    assert_eq!((racks, f.racks()), (vec![0, 1, 2, 1, 1], 3));
    let names: Vec<&str> = f.links().iter().map(|l| &l.name[..]).collect();
    assert_eq!(names[..3], ["h0->c", "h1->a", "h2->b"]);
    assert_eq!(names[4..7], ["h4->a", "h4->c", "h4->a#2"]);
    assert_eq!(names[14..18], ["a->b", "b->a", "b->c", "c->b"]);
    assert_eq!(names[18..20], ["b->a#2", "a->b#2"]);
    assert_eq!((f.nics(), f.nics_of(4), f.host_of(5)), (7, 4..7, 4));
    let used: BTreeSet<[u32; 2]> = (0..3).map(|n| f.ends(4, 0, n << 32)).collect();
    assert_eq!(used.len(), 3, "all NICs of a host are used");
    assert_eq!(
        (t.host_rate(), t.slowest()),
        (Rate::gbps(10), Rate::gbps(10))
    );
    let over: BTreeSet<LinkId> = (0..8).map(|hash| f.route(1, 2, hash)[1]).collect();
    assert_eq!(over.len(), 2, "both cables are used");
}

/// Each mistake is refused at its node or cable.
#[test]
fn graphs_that_make_no_fabric() {
    let Form::Graph(good) = unequal().form().clone() else {
        panic!("a graph");
    };
    let at = |change: &dyn Fn(&mut Vec<Node>, &mut Vec<Cord>)| {
        let (mut nodes, mut cords) = (good.nodes().to_vec(), good.cords().to_vec());
        change(&mut nodes, &mut cords);
        let misfit = Graph::new(nodes, cords).expect_err("no fabric");
        assert!(!misfit.help.is_empty());
        (misfit.place, misfit.message)
    };
    let (place, text) = at(&|nodes, _| nodes[3].name = "b".to_owned());
    assert_eq!(
        (place, &text[..]),
        (Place::Node(3), "two nodes have the name `b`")
    );
    let (place, text) = at(&|_, cords| cords[1].ends = [5, 5]);
    assert_eq!(
        (place, &text[..]),
        (Place::Cord(1), "a link from `a` to itself")
    );
    let (place, text) = at(&|_, cords| cords[3].ends[1] = 9);
    assert_eq!((place, &text[..]), (Place::Cord(3), "there is no node 9"));
    let (place, text) = at(&|_, cords| cords[0].ends = [2, 4]);
    assert_eq!(
        (place, &text[..]),
        (Place::Cord(0), "a link between two hosts, `h0` and `h1`")
    );
    let (place, text) = at(&|_, cords| cords.extend([cords[0]; MOST_NICS]));
    assert_eq!(
        (place, &text[..]),
        (Place::Cord(11 + MOST_NICS), "a ninth link of host `h0`")
    );
    let (place, text) = at(&|_, cords| cords.truncate(9));
    assert_eq!(
        (place, &text[..]),
        (Place::Node(8), "host `h4` has no link")
    );
    let (place, text) = at(&|_, cords| {
        cords.remove(7);
        cords.remove(3);
    });
    assert_eq!(
        (place, &text[..]),
        (Place::Node(5), "there is no path between `c` and `a`")
    );
    let (place, text) = at(&|nodes, cords| {
        nodes.iter_mut().for_each(|node| node.host = false);
        cords.clear();
    });
    assert_eq!(
        (place, &text[..]),
        (Place::Whole, "this fabric has 0 hosts")
    );
    let (place, text) = at(&|nodes, cords| {
        let line = |i: usize| Node {
            name: format!("n{i}"),
            host: i == 0 || i > MAX_LINKS,
        };
        *nodes = (0..MAX_LINKS + 2).map(line).collect();
        *cords = (0..=MAX_LINKS as u32)
            .map(|i| Cord {
                ends: [i, i + 1],
                ..cords[0]
            })
            .collect();
    });
    let links = MAX_LINKS + 1;
    let message = format!("packets between hosts of `n1` and `n{MAX_LINKS}` cross {links} links");
    assert_eq!((place, text), (Place::Node(MAX_LINKS), message));
}

/// Follows every route: each link starts at the node where the one before ended, from sender to
/// receiver. Links, propagation and bottleneck of a way are those of its route.
#[test]
fn every_route_is_a_chain_of_links() {
    for t in topologies() {
        let f = t.fabric();
        assert_eq!(
            f.links().len(),
            2 * f.nics() as usize + t.shape().wiring().cables.len()
        );
        for src in 0..f.nics() {
            for dst in (0..f.nics()).filter(|&d| d != src) {
                for hash in 0..9 {
                    let route = f.route(src, dst, hash);
                    let route = route.iter().take_while(|&&l| l != LinkId::NONE);
                    let links: Vec<&Link> = route.map(|&l| &f.links()[l.place()]).collect();
                    let mut at = NodeId(src);
                    for link in &links {
                        assert_eq!(at, link.from, "{t:?} {src}->{dst} hash {hash}");
                        at = link.to;
                    }
                    assert_eq!(at, NodeId(dst));
                    let way = f.way(src, dst, hash);
                    assert_eq!(links.len() as u32, way.links);
                    let delay: u64 = links.iter().map(|l| l.delay.0).sum();
                    assert_eq!(Picos(delay), way.delay);
                    let slowest = links.iter().map(|l| l.rate).min();
                    assert_eq!(slowest, Some(way.slowest), "{t:?} {src}->{dst}");
                }
            }
        }
        let rates = || f.links().iter().map(|l| l.rate);
        assert_eq!(rates().min(), Some(t.slowest()), "{t:?}");
        let between = t
            .two_sites()
            .map(|sites| Rate::max(sites.between_rate(), t.host_rate()));
        assert_eq!(between.or(rates().max()), Some(t.fastest()), "{t:?}");
    }
}

/// Each direction of a cable has its counterpart: pause frames travel on it.
#[test]
fn every_link_has_one_back() {
    for t in topologies() {
        let f = t.fabric();
        let names: BTreeSet<&str> = f.links().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names.len(), f.links().len(), "two links of one name: {t:?}");
        for (i, link) in (0..).map(LinkId).zip(f.links()) {
            let back = &f.links()[link.reverse.place()];
            assert_eq!(
                (back.from, back.to),
                (link.to, link.from),
                "{t:?}: {}",
                link.name
            );
            assert_eq!(back.reverse, i, "{t:?}: {}", link.name);
            let (ends, cable) = match link.name.split_once('#') {
                Some((ends, number)) => (ends, format!("#{number}")),
                None => (&link.name[..], String::new()),
            };
            let (from, to) = ends.split_once("->").expect("two ends");
            assert_eq!(back.name, format!("{to}->{from}{cable}"));
        }
    }
}

/// The links of a route between switches, by the name of each far end.
fn over(t: &Topology, src: u32, dst: u32, hash: u64) -> Vec<String> {
    let fabric = t.fabric();
    let route = fabric.route(src, dst, hash);
    let links = route.iter().take_while(|&&l| l != LinkId::NONE);
    let far = |l: &LinkId| {
        let (_, far) = fabric.links()[l.place()]
            .name
            .split_once("->")
            .expect("two ends");
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
    let Form::FatTree(tree) = of("fat-tree").form().clone() else {
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
    let Form::LeafSpine(two) = of("leaf-spine").form().clone() else {
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
            let links = topology.shape().wiring().cables.len() as u64;
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
    let t = all.find(|t| matches!(t.form(), Form::FatTree(_))).unwrap();
    let f = t.fabric();
    let cores: BTreeSet<LinkId> = (0..16).map(|h| f.route(0, t.hosts() - 1, h)[3]).collect();
    assert_eq!(cores.len(), 4);
}
