// SPDX-License-Identifier: MIT OR Apache-2.0
//! The meaning of a load: offered payload bits on the most loaded tier over that tier's capacity.
//!
//! ECN#'s fabric is 2:1 oversubscribed, so 0.8 of its host links would be 1.4 of its uplinks; the
//! tier that fills first is the reference, and [`most_loaded`] says which it is.
//!
//! Shares follow from the paths of all pairs of hosts. Where all racks see the same fabric, the
//! paths to one rack stand for the paths to all.

use std::collections::BTreeMap;

use super::pattern::Pairs;
use crate::scramble::hash;
use crate::topology::{Fabric, Topology, Way};

/// A set of links that play the same part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The links between hosts and their first switches.
    Hosts,
    /// The inner links of a fabric without tiers.
    Racks,
    /// The inner links of the tier of this number.
    Inner(u8),
}

/// A tier under one pattern of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct TierLoad {
    /// Which links.
    pub tier: Tier,
    /// For people: `leaf uplinks`, or the busiest link of a fabric without tiers.
    pub name: String,
    /// Expected share of the offered bits that crosses it, 0..1.
    pub share: f64,
    /// Bits per second across it that fill its busiest link.
    pub capacity: f64,
}

impl Tier {
    /// Whether packets from `src` to `dst` cross the tier.
    pub fn crossed(self, topology: &Topology, src: u32, dst: u32) -> bool {
        let fabric = topology.fabric();
        // Hosts with several NICs cross the tier by the first of them.
        self.between(fabric, topology.rack(src), topology.rack(dst))
    }

    /// Whether packets between two racks cross the tier.
    fn between(self, fabric: &Fabric, from: u32, to: u32) -> bool {
        let tier = |link| fabric.tier(link);
        match self {
            Tier::Hosts => true,
            Tier::Racks => from != to,
            Tier::Inner(wanted) => fabric.between(from, to, 0).any(|l| tier(l) == wanted),
        }
    }
}

/// Calls `each` with the groups of senders and receivers of a pattern, as places in
/// [`Fabric::groups`], and the pairs of different hosts, each counted as the square of
/// [`Fabric::whole`] and divided equally among the pairs of their NICs.
fn of_groups(fabric: &Fabric, pairs: &Pairs, mut each: impl FnMut(usize, usize, u64)) {
    let groups = fabric.groups();
    let to_one = match *pairs {
        Pairs::ToOne(to) => Some(to),
        _ => None,
    };
    // What each group has of the receivers, and what the pairs of a host with itself would be.
    let mut receiving: Vec<u64> = groups.iter().map(|g| g.weight).collect();
    let mut own: Vec<Vec<(usize, u64)>> = vec![Vec::new(); groups.len()];
    if let Some(to) = to_one {
        receiving.fill(0);
        let nics = fabric.nics_of(to);
        nics.for_each(|n| receiving[fabric.group(n)] += fabric.weight(to));
    }
    for host in 0..fabric.hosts() {
        if to_one.is_none_or(|to| to == host) {
            let nics = fabric.nics_of(host);
            for (a, b) in nics.clone().flat_map(|a| nics.clone().map(move |b| (a, b))) {
                let weight = fabric.weight(host) * fabric.weight(host);
                let (from, own) = (fabric.group(a), &mut own[fabric.group(b)]);
                match own.iter_mut().find(|(known, _)| *known == from) {
                    Some((_, sum)) => *sum += weight,
                    None => own.push((from, weight)),
                }
            }
        }
    }
    let receivers = match fabric.alike() && to_one.is_none() {
        true => 0..1,
        false => 0..groups.len(),
    };
    for to in receivers.filter(|&to| receiving[to] > 0) {
        for (from, sending) in groups.iter().enumerate() {
            if *pairs != Pairs::OtherRack || sending.rack != groups[to].rack {
                let all = receiving[to] * sending.weight;
                let own = own[to].iter().find(|(known, _)| *known == from);
                each(from, to, all - own.map_or(0, |(_, sum)| *sum));
            }
        }
    }
}

/// Number of pairs of hosts of a pattern.
fn total(fabric: &Fabric, pairs: &Pairs) -> u64 {
    let mut total = 0;
    of_groups(fabric, pairs, |_, _, n| total += n);
    total
}

/// Most paths that are looked at.
const MOST_PATHS: usize = 1 << 16;

/// The paths of a pattern's packets, each with its share of the pairs. Where equal choices have
/// unlike delays, a hash chooses for each two groups of hosts. In a fabric of hundreds of unlike
/// racks, every n-th of them receives for all.
pub fn ways(topology: &Topology, pairs: &Pairs) -> Vec<(f64, Way)> {
    let fabric = topology.fabric();
    let groups = fabric.groups();
    let step = match fabric.alike() {
        true => 1,
        false => groups.len().div_ceil((MOST_PATHS / groups.len()).max(1)),
    };
    let to_one = matches!(pairs, Pairs::ToOne(_));
    let mut all: BTreeMap<Way, u64> = BTreeMap::new();
    of_groups(fabric, pairs, |from, to, n| {
        if n > 0 && (to_one || to % step == 0) {
            let ends = [from, to].map(|g| groups[g].first);
            let way = fabric.way(ends[0], ends[1], hash(0, ends[0].into(), ends[1].into(), 0));
            *all.entry(way).or_default() += n;
        }
    });
    let total = all.values().sum::<u64>() as f64;
    let share = |(way, n): (Way, u64)| (n as f64 / total, way);
    all.into_iter().map(share).collect()
}

/// Every tier that the pattern loads: the host links, then the fabric's own.
pub fn tiers(topology: &Topology, pairs: &Pairs) -> Vec<TierLoad> {
    let fabric = topology.fabric();
    let mut all = vec![TierLoad {
        tier: Tier::Hosts,
        name: "host links".to_owned(),
        share: 1.0,
        capacity: of_hosts(fabric, pairs),
    }];
    if total(fabric, pairs) == 0 || fabric.racks() < 2 {
        return all;
    }
    match is_even(fabric, pairs) {
        true => all.extend(even(fabric, pairs).iter().map(Even::load)),
        false => all.extend(uneven(topology, pairs)),
    }
    all
}

/// Bits per second of all packets that fill a link of a host.
fn of_hosts(fabric: &Fabric, pairs: &Pairs) -> f64 {
    let groups = fabric.groups();
    let rate = |group: usize| groups[group].line.rate.0 as f64;
    if is_alike(fabric, pairs) {
        return groups.iter().map(|g| f64::from(g.nics)).sum::<f64>() * rate(0);
    }
    let all = total(fabric, pairs) as f64;
    let fills = |(nic, over): (u32, [f64; 2])| {
        let most = over.into_iter().fold(0.0, f64::max);
        rate(fabric.group(nic)) * (all / most)
    };
    let nics = (0..).zip(of_nics(fabric, pairs));
    nics.map(fills).fold(f64::INFINITY, f64::min)
}

/// Whether hosts send alike and receive alike, and have links that are alike.
fn is_alike(fabric: &Fabric, pairs: &Pairs) -> bool {
    fabric.alike() && !matches!(pairs, Pairs::ToOne(_))
}

/// By NIC: of the pairs of a pattern, what it sends and receives.
fn of_nics(fabric: &Fabric, pairs: &Pairs) -> Vec<[f64; 2]> {
    let (groups, all) = (fabric.groups(), total(fabric, pairs) as f64);
    let mut both = vec![[0; 2]; groups.len()];
    of_groups(fabric, pairs, |from, to, n| {
        both[from][0] += n;
        both[to][1] += n;
    });
    let share = |nic: u32| {
        if is_alike(fabric, pairs) {
            return [all / f64::from(fabric.nics()); 2];
        }
        let host = fabric.host_of(nic);
        let (group, weight) = (fabric.group(nic), fabric.weight(host) as f64);
        let part = |n: u64| n as f64 * weight / groups[group].weight as f64;
        let of_host = all * weight / fabric.whole() as f64;
        match *pairs {
            Pairs::ToOne(to) if host == to => [0.0, of_host],
            Pairs::ToOne(_) => [of_host / f64::from(fabric.hosts() - 1), 0.0],
            _ => both[group].map(part),
        }
    };
    (0..fabric.nics()).map(share).collect()
}

/// Whether all links of a tier carry the same.
fn is_even(fabric: &Fabric, pairs: &Pairs) -> bool {
    !fabric.tiers().is_empty() && !matches!(pairs, Pairs::ToOne(_))
}

/// A tier whose links all carry the same.
struct Even {
    tier: u8,
    name: &'static str,
    /// Number of links.
    links: u64,
    /// Bits per second of all links.
    rate: f64,
    /// Pairs of hosts whose packets cross the tier.
    pairs: u64,
    /// Links of the tier on the paths of all pairs.
    crossings: u64,
    /// Pairs of the pattern.
    total: u64,
}

impl Even {
    fn load(&self) -> TierLoad {
        let crossings = self.crossings.max(1) as f64 / self.pairs.max(1) as f64;
        TierLoad {
            tier: Tier::Inner(self.tier),
            name: self.name.to_owned(),
            share: self.pairs as f64 / self.total as f64,
            capacity: self.rate / crossings,
        }
    }
}

/// The tiers of a fabric whose links carry the same in each.
fn even(fabric: &Fabric, pairs: &Pairs) -> Vec<Even> {
    let total = total(fabric, pairs);
    let tier = |(tier, name): (u8, &&'static str)| Even {
        tier,
        name,
        links: 0,
        rate: 0.0,
        pairs: 0,
        crossings: 0,
        total,
    };
    let mut all: Vec<Even> = (0..).zip(fabric.tiers()).map(tier).collect();
    for (link, of) in fabric.inner_routed() {
        let tier = &mut all[usize::from(fabric.tier(link))];
        tier.links += 1;
        tier.rate += of.rate.0 as f64;
    }
    let groups = fabric.groups();
    of_groups(fabric, pairs, |from, to, n| {
        let mut crossed = vec![0; all.len()];
        for link in fabric.between(groups[from].rack, groups[to].rack, 0) {
            crossed[usize::from(fabric.tier(link))] += 1;
        }
        for (tier, links) in all.iter_mut().zip(crossed) {
            tier.pairs += n * u64::from(links > 0);
            tier.crossings += n * links;
        }
    });
    all
}

/// The tiers of a fabric whose links carry unlike loads: each as its busiest link. A fabric without
/// tiers is one.
fn uneven(topology: &Topology, pairs: &Pairs) -> Vec<TierLoad> {
    let fabric = topology.fabric();
    let over = by_link(topology, pairs);
    let busiest = |tier: Option<u8>| {
        let loads = fabric
            .inner_routed()
            .filter(|(link, _)| tier.is_none_or(|tier| fabric.tier(*link) == tier));
        let loads = loads.map(|(link, of)| (over[link.place()] / of.rate.0 as f64, of));
        loads.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let load = |tier: Tier, name: Option<&str>, number| {
        let (most, link) = busiest(number)?;
        let total = total(fabric, pairs) as f64;
        let mut crossing = 0;
        let groups = fabric.groups();
        of_groups(fabric, pairs, |from, to, n| {
            let racks = [from, to].map(|g| groups[g].rack);
            crossing += n * u64::from(tier.between(fabric, racks[0], racks[1]));
        });
        let share = crossing as f64 / total;
        Some(TierLoad {
            tier,
            name: name.map_or_else(|| format!("link {}", link.name), str::to_owned),
            share,
            capacity: share / most,
        })
        .filter(|tier| tier.share > 0.0)
    };
    if fabric.tiers().is_empty() {
        return load(Tier::Racks, None, None).into_iter().collect();
    }
    let tiers = (0..).zip(fabric.tiers());
    tiers
        .filter_map(|(i, name)| load(Tier::Inner(i), Some(name), Some(i)))
        .collect()
}

/// Expected share of a pattern's packets that crosses each link.
pub fn by_link(topology: &Topology, pairs: &Pairs) -> Vec<f64> {
    match pairs {
        Pairs::All => topology
            .fabric()
            .over_of_all(|| over(topology, pairs))
            .to_vec(),
        _ => over(topology, pairs),
    }
}

fn over(topology: &Topology, pairs: &Pairs) -> Vec<f64> {
    let fabric = topology.fabric();
    let all = total(fabric, pairs) as f64;
    let mut over = vec![0.0; fabric.links().len()];
    for (nic, [sent, received]) in (0..).zip(of_nics(fabric, pairs)) {
        over[nic as usize] = sent / all;
        over[fabric.to_nic(nic).place()] = received / all;
    }
    if is_even(fabric, pairs) {
        let tiers = even(fabric, pairs);
        for (link, _) in fabric.inner_routed() {
            let tier = &tiers[usize::from(fabric.tier(link))];
            over[link.place()] = tier.crossings as f64 / all / tier.links as f64;
        }
        return over;
    }
    let racks = fabric.racks() as usize;
    let mut sent = vec![vec![0; racks]; racks];
    let groups = fabric.groups();
    of_groups(fabric, pairs, |from, to, n| {
        sent[groups[to].rack as usize][groups[from].rack as usize] += n;
    });
    let inner = &mut over[2 * fabric.nics() as usize..];
    for (to, sent) in (0..).zip(sent) {
        if sent.iter().any(|n| *n > 0) {
            let shares = sent.into_iter().map(|n| n as f64 / all);
            fabric.spread(to, shares.collect(), inner);
        }
    }
    over
}

/// The tier that fills first.
pub fn most_loaded(topology: &Topology, pairs: &Pairs) -> TierLoad {
    let first = |most: TierLoad, tier: TierLoad| match tier.share / tier.capacity
        > most.share / most.capacity
    {
        true => tier,
        false => most,
    };
    let all = tiers(topology, pairs).into_iter().reduce(first);
    all.expect("hosts have links")
}

/// Flows that arrive per second at `load` when their mean size is `mean` bytes.
pub fn flows_per_second(topology: &Topology, pairs: &Pairs, mean: f64, load: f64) -> f64 {
    let tier = most_loaded(topology, pairs);
    load * tier.capacity / (8.0 * mean * tier.share)
}

/// Bits per second that a pattern offers to each link at this load of its most loaded tier, over
/// the rate of the link.
pub fn loads(topology: &Topology, pairs: &Pairs, load: f64) -> Vec<f64> {
    let most = most_loaded(topology, pairs);
    let offered = load * most.capacity / most.share;
    let links = topology.fabric().links().iter();
    let over = by_link(topology, pairs);
    links
        .zip(over)
        .map(|(link, share)| offered * share / link.rate.0 as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Cord, Dumbbell, FatTree, Graph, LeafSpine, Node, Star};
    use crate::workload::SizeTable;
    use cemark_param::Values;
    use cemark_wire::{Picos, Rate};

    fn leaf_spine(hosts_per_leaf: u32) -> Topology {
        Topology::from(LeafSpine {
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
        Topology::from(FatTree {
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
        let star = Topology::from(Star {
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
        let dumbbell = Topology::from(Dumbbell {
            left: 4,
            right: 4,
            host_rate: Rate::gbps(10),
            middle_rate: Rate::gbps(10),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        });
        assert_eq!(most_loaded(&dumbbell, &Pairs::All).name, "middle link");
        let oversubscribed = leaf_spine(16);
        let shares = loads(&oversubscribed, &Pairs::All, 0.8);
        assert!((shares[256] - 0.8).abs() < 1e-12);
        // 0.8 of 640 G over the share that leaves its rack, on 1280 G of host links.
        assert!((shares[0] - 0.8 * 640.0 / (112.0 / 127.0) / 1280.0).abs() < 1e-12);
    }

    fn unequal() -> Topology {
        Topology::from(Dumbbell {
            left: 3,
            right: 5,
            host_rate: Rate::gbps(1),
            middle_rate: Rate::gbps(1),
            host_delay: Picos::ZERO,
            middle_delay: Picos::ZERO,
        })
    }

    /// Hosts and switches of a topology as a graph without tiers.
    fn graph(topology: &Topology) -> Topology {
        let (links, hosts) = (topology.fabric().links(), topology.hosts());
        let name = |node: u32| {
            let link = links.iter().find(|l| l.from.0 == node);
            let (name, _) = link
                .and_then(|l| l.name.split_once("->"))
                .expect("two ends");
            name.to_owned()
        };
        let most = links.iter().map(|l| l.from.0).max().expect("links");
        let nodes = (0..=most).map(|node| Node {
            name: name(node),
            host: node < hosts,
        });
        let once = links.iter().zip(0..).filter(|(l, i)| *i < l.reverse.0);
        let cords = once.map(|(l, _)| Cord {
            ends: [l.from.0, l.to.0],
            rate: l.rate,
            delay: l.delay,
        });
        let graph = Graph::new(nodes.collect(), cords.collect());
        graph.expect("a fabric").into()
    }

    /// A fabric loads its links alike whether its generator or a list of its cables describes it.
    #[test]
    fn a_graph_has_the_loads_of_its_generator() {
        let fabrics = [
            leaf_spine(16),
            leaf_spine(3),
            fat_tree(10),
            fat_tree(5),
            unequal(),
        ];
        for topology in fabrics {
            let graph = graph(&topology);
            for pairs in [Pairs::All, Pairs::OtherRack, Pairs::ToOne(2)] {
                let [a, b] = [&topology, &graph].map(|t| flows_per_second(t, &pairs, 1e5, 0.7));
                assert!(
                    (a / b - 1.0).abs() < 1e-9,
                    "{topology:?} {pairs:?}: {a} {b}"
                );
                let [a, b] = [&topology, &graph].map(|t| ways(t, &pairs));
                assert_eq!(a.len(), b.len());
                for (a, b) in a.iter().zip(&b) {
                    assert!(a.1 == b.1 && (a.0 - b.0).abs() < 1e-9, "{a:?} {b:?}");
                }
                // Links have other numbers there.
                let by_name = |t: &Topology| {
                    let links = t.fabric().links().iter().map(|l| l.name.clone());
                    let loads = loads(t, &pairs, 0.7);
                    links.zip(loads).collect::<BTreeMap<String, f64>>()
                };
                let (a, b) = (by_name(&topology), by_name(&graph));
                for (name, load) in &a {
                    assert!(
                        (load - b[name]).abs() < 1e-9,
                        "{topology:?} {pairs:?} {name}"
                    );
                }
            }
        }
    }

    /// No link is offered more than the most loaded tier, which is offered the load.
    #[test]
    fn the_busiest_link_has_the_load() {
        let all = Topology::ALL
            .iter()
            .map(|spec| Topology::build(spec, &Values::defaults(*spec)).unwrap());
        for topology in all.chain([leaf_spine(3), fat_tree(5), unequal()]) {
            for pairs in [Pairs::All, Pairs::ToOne(2)] {
                let most = loads(&topology, &pairs, 0.7)
                    .into_iter()
                    .fold(0.0, f64::max);
                assert!((most - 0.7).abs() < 1e-9, "{topology:?} {pairs:?} {most}");
            }
        }
    }

    /// A host with two links sends twice as much: the load is that of each of them.
    #[test]
    fn hosts_with_several_links_fill_all_of_them() {
        let node = |name: &str| Node {
            name: name.to_owned(),
            host: name.starts_with('h'),
        };
        let cord = |host, switch, gbps| Cord {
            ends: [host, switch],
            rate: Rate::gbps(gbps),
            delay: Picos::ZERO,
        };
        let nodes = || ["h0", "h1", "h2", "a", "b"].map(node).to_vec();
        let mut cords: Vec<Cord> = (0..3)
            .flat_map(|host| [cord(host, 3, 10), cord(host, 4, 10)])
            .collect();
        cords.push(cord(3, 4, 100));
        let both = Topology::from(Graph::new(nodes(), cords.clone()).expect("a fabric"));
        let capacity = |t: &Topology, pairs: &Pairs| most_loaded(t, pairs).capacity;
        assert_eq!(capacity(&both, &Pairs::All), 60e9);
        assert_eq!(capacity(&both, &Pairs::ToOne(1)), 20e9);
        let shares = by_link(&both, &Pairs::All);
        assert!(shares[..6].iter().all(|s| (s - 1.0 / 6.0).abs() < 1e-12));
        // Half of the pairs of NICs of different hosts are at two switches.
        assert!((shares[12] + shares[13] - 0.5).abs() < 1e-12, "{shares:?}");
        // The slower link of one host fills first.
        cords[2].rate = Rate::gbps(5);
        let slow = Topology::from(Graph::new(nodes(), cords).expect("a fabric"));
        assert_eq!(capacity(&slow, &Pairs::All), 30e9);
    }

    /// Packets between two switches divide over the two cables: the slower one fills first.
    #[test]
    fn parallel_cables_share_a_load() {
        let node = |name: &str| Node {
            name: name.to_owned(),
            host: name.starts_with('h'),
        };
        let cord = |ends, gbps| Cord {
            ends,
            rate: Rate::gbps(gbps),
            delay: Picos::ZERO,
        };
        let cords = vec![
            cord([0, 2], 40),
            cord([1, 3], 40),
            cord([2, 3], 10),
            cord([2, 3], 20),
        ];
        let graph = Graph::new(["h0", "h1", "a", "b"].map(node).to_vec(), cords);
        let topology = Topology::from(graph.expect("a fabric"));
        let tier = most_loaded(&topology, &Pairs::All);
        assert!(
            tier.name.starts_with("link ") && !tier.name.contains('#'),
            "{tier:?}"
        );
        // A quarter of all packets takes the slower cable in each direction.
        assert_eq!(tier.share, 1.0);
        assert!((tier.capacity - 40e9).abs() < 1.0, "{tier:?}");
    }

    /// Each share against counting all pairs.
    #[test]
    fn shares_count_pairs() {
        let all = Topology::ALL
            .iter()
            .map(|spec| Topology::build(spec, &Values::defaults(*spec)).unwrap());
        for topology in all.chain([leaf_spine(3), fat_tree(10), unequal()]) {
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
