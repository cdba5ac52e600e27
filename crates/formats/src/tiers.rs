// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds in a graph the topology of a scenario: a star, a dumbbell, a leaf-spine fabric, or three
//! tiers. Hosts get new numbers, rack by rack.

use std::collections::{BTreeMap, BTreeSet};

use cemark_wire::{Picos, Rate};

use crate::exact;
use crate::fault::{Fallible, Fault};
use crate::graph::{Graph, Wire};

/// Rate and delay of all links of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Picos,
}

/// Three tiers of switches: pods of edge and aggregation switches below core switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clos {
    /// Pods.
    pub pods: u32,
    /// Edge switches of a pod.
    pub edges: u32,
    /// Aggregation switches of a pod, each joined to every edge switch of it.
    pub aggs: u32,
    /// Core switches above an aggregation switch; those of its namesakes in other pods are the
    /// same.
    pub cores: u32,
    /// Hosts of an edge switch.
    pub hosts: u32,
    /// Links of hosts.
    pub host: Line,
    /// Links within a pod.
    pub pod: Line,
    /// Links to the core.
    pub core: Line,
}

/// A topology that a scenario can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fabric {
    /// One switch.
    Star {
        /// Its hosts.
        hosts: u32,
        /// Their links.
        host: Line,
    },
    /// Two switches.
    Dumbbell {
        /// Hosts of the first.
        left: u32,
        /// Hosts of the second.
        right: u32,
        /// Their links.
        host: Line,
        /// The link between the switches.
        middle: Line,
    },
    /// Two tiers, each leaf joined to each spine.
    LeafSpine {
        /// Leaf switches.
        leaves: u32,
        /// Spine switches.
        spines: u32,
        /// Hosts of a leaf.
        hosts: u32,
        /// Their links.
        host: Line,
        /// The links between the tiers.
        up: Line,
    },
    /// Three tiers.
    Clos(Clos),
}

/// A graph as a topology of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laid {
    /// The topology.
    pub fabric: Fabric,
    /// The node that each of its hosts is in the file.
    pub hosts: Vec<u32>,
}

/// What a graph is made of.
struct Parts<'a> {
    graph: &'a Graph,
    near: Vec<Vec<(usize, u32)>>,
    /// Hosts of each switch that has any.
    racks: BTreeMap<u32, Vec<u32>>,
    host: Line,
}

impl Laid {
    /// Recognises the topology of a graph, or names the first line that does not fit one.
    pub fn of(graph: &Graph) -> Fallible<Laid> {
        graph.check()?;
        let parts = Parts::new(graph)?;
        match (graph.switches.len(), parts.racks.len()) {
            (1, _) => Ok(parts.star()),
            (2, 2) => parts.dumbbell(),
            _ => parts.fabric(),
        }
    }
}

fn same<'a>(wires: impl IntoIterator<Item = &'a Wire>, what: &str) -> Fallible<Option<Line>> {
    let mut first: Option<&Wire> = None;
    for wire in wires {
        let known = *first.get_or_insert(wire);
        if (known.rate, known.delay) != (wire.rate, wire.delay) {
            return Err(Fault::at(
                wire.line,
                format!(
                    "{what} differ: {} and {} here, {} and {} in line {}",
                    exact::rate(wire.rate.0),
                    exact::time(wire.delay.0),
                    exact::rate(known.rate.0),
                    exact::time(known.delay.0),
                    known.line
                ),
                "a scenario has one rate and one delay for each tier of links: make them equal",
            ));
        }
    }
    Ok(first.map(|wire| Line {
        rate: wire.rate,
        delay: wire.delay,
    }))
}

impl<'a> Parts<'a> {
    fn new(graph: &'a Graph) -> Fallible<Parts<'a>> {
        let near = graph.neighbours();
        let mut racks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut wires = Vec::new();
        for host in graph.hosts() {
            let (wire, switch) = match near[host as usize][..] {
                [one] => one,
                [] => {
                    return Err(Fault::whole(
                        format!("node {host} is no switch and has no link"),
                        "join it to a switch, or count fewer nodes and links in the first line",
                    ));
                }
                [_, (second, _), ..] => {
                    return Err(Fault::at(
                        graph.wires[second].line,
                        format!("host {host} has {} links", near[host as usize].len()),
                        "hosts of a scenario have one link: remove the others",
                    ));
                }
            };
            let wire = &graph.wires[wire];
            if !graph.switches.contains(&switch) {
                return Err(Fault::at(
                    wire.line,
                    format!("a link between two hosts, {host} and {switch}"),
                    "a host is joined to a switch: list the switches in the second line",
                ));
            }
            racks.entry(switch).or_default().push(host);
            wires.push(wire);
        }
        let host = same(wires, "links of hosts")?.ok_or_else(|| {
            Fault::whole(
                "there is no host",
                "some nodes must not be in the list of switches",
            )
        })?;
        Ok(Parts {
            graph,
            near,
            racks,
            host,
        })
    }

    fn star(&self) -> Laid {
        let hosts: Vec<u32> = self.racks.values().flatten().copied().collect();
        Laid {
            fabric: Fabric::Star {
                hosts: hosts.len() as u32,
                host: self.host,
            },
            hosts,
        }
    }

    /// The links between switches.
    fn inner(&self) -> impl Iterator<Item = &'a Wire> + '_ {
        let switch = |node| self.graph.switches.contains(&node);
        self.graph
            .wires
            .iter()
            .filter(move |wire| switch(wire.a) && switch(wire.b))
    }

    fn dumbbell(&self) -> Fallible<Laid> {
        let middle = same(self.inner(), "links")?
            .ok_or_else(|| Fault::whole("the two switches are not joined", "add their link"))?;
        let mut racks: Vec<&Vec<u32>> = self.racks.values().collect();
        racks.sort();
        Ok(Laid {
            fabric: Fabric::Dumbbell {
                left: racks[0].len() as u32,
                right: racks[1].len() as u32,
                host: self.host,
                middle,
            },
            hosts: racks.into_iter().flatten().copied().collect(),
        })
    }

    /// The switches that a switch is joined to.
    fn switches_of(&self, node: u32) -> BTreeSet<u32> {
        let near = self.near[node as usize].iter();
        near.map(|&(_, far)| far)
            .filter(|far| self.graph.switches.contains(far))
            .collect()
    }

    fn fabric(&self) -> Fallible<Laid> {
        let edge = |node: u32| self.racks.contains_key(&node);
        let middle: BTreeSet<u32> = self
            .racks
            .keys()
            .flat_map(|&edge| self.switches_of(edge))
            .collect();
        let tier = |node: u32| match (edge(node), middle.contains(&node)) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for wire in self.inner() {
            match (
                tier(wire.a).min(tier(wire.b)),
                tier(wire.a).max(tier(wire.b)),
            ) {
                (0, 1) => first.push(wire),
                (1, 2) => second.push(wire),
                (level, _) => return Err(across(wire, level)),
            }
        }
        let hosts = self.hosts_of_a_rack()?;
        let lone = self.graph.switches.iter();
        if let Some(lone) = lone
            .into_iter()
            .find(|&&s| self.near[s as usize].is_empty())
        {
            return Err(Fault::whole(
                format!("switch {lone} has no link"),
                "join it, or count it off in the first line and remove it from the second",
            ));
        }
        let (Some(up), core) = (
            same(first, "links between the first and second tier of switches")?,
            same(
                second,
                "links between the second and third tier of switches",
            )?,
        ) else {
            return Err(Fault::whole(
                "switches with hosts are not joined to each other",
                "add the links of a second tier of switches",
            ));
        };
        match core {
            None => self.leaf_spine(&middle, hosts, up),
            Some(core) => self.clos(&middle, hosts, up, core),
        }
    }

    fn hosts_of_a_rack(&self) -> Fallible<u32> {
        let mut sizes = self.racks.iter().map(|(&switch, rack)| (switch, rack));
        let (first, rack) = sizes.next().expect("there is a host");
        match sizes.find(|(_, other)| other.len() != rack.len()) {
            None => Ok(rack.len() as u32),
            Some((switch, other)) => Err(Fault::at(
                other
                    .last()
                    .and_then(|&host| self.near[host as usize].first())
                    .map_or(1, |&(wire, _)| self.graph.wires[wire].line),
                format!(
                    "switch {switch} has {} hosts, and switch {first} has {}",
                    other.len(),
                    rack.len()
                ),
                "racks of a scenario are equal: add hosts that send nothing to the smaller ones",
            )),
        }
    }

    /// Switches by their smallest host, and the hosts in that order.
    fn in_order(&self, edges: &[u32]) -> Vec<u32> {
        let mut racks: Vec<&Vec<u32>> = edges.iter().map(|edge| &self.racks[edge]).collect();
        racks.sort();
        racks.into_iter().flatten().copied().collect()
    }

    fn leaf_spine(&self, spines: &BTreeSet<u32>, hosts: u32, up: Line) -> Fallible<Laid> {
        let leaves: Vec<u32> = self.racks.keys().copied().collect();
        for &leaf in &leaves {
            if let Some(spine) = spines.difference(&self.switches_of(leaf)).next() {
                return Err(Fault::whole(
                    format!("switches {leaf} and {spine} are not joined"),
                    "in a leaf-spine fabric each leaf is joined to each spine: add the link",
                ));
            }
        }
        Ok(Laid {
            fabric: Fabric::LeafSpine {
                leaves: leaves.len() as u32,
                spines: spines.len() as u32,
                hosts,
                host: self.host,
                up,
            },
            hosts: self.in_order(&leaves),
        })
    }

    fn clos(&self, middle: &BTreeSet<u32>, hosts: u32, pod: Line, core: Line) -> Fallible<Laid> {
        let pods = self.pods(middle)?;
        let (edges, aggs) = (pods[0].0.len(), pods[0].1.len());
        // The sets of core switches above the aggregation switches of the first pod.
        let above = |agg: u32| -> BTreeSet<u32> {
            let all = self.switches_of(agg).into_iter();
            all.filter(|s| !self.racks.contains_key(s)).collect()
        };
        let planes: BTreeSet<BTreeSet<u32>> = pods[0].1.iter().map(|&agg| above(agg)).collect();
        let cores = planes.first().map_or(0, BTreeSet::len);
        let total: usize = planes.iter().map(BTreeSet::len).sum();
        let distinct: BTreeSet<u32> = planes.iter().flatten().copied().collect();
        let equal = planes.iter().all(|plane| plane.len() == cores);
        if planes.len() != aggs || !equal || distinct.len() != total || cores == 0 {
            return Err(Fault::whole(
                "core switches are not divided evenly among the aggregation switches of a pod",
                "each aggregation switch of a pod has core switches of its own, as many as the \
                 others",
            ));
        }
        for (_, others) in &pods[1..] {
            let theirs: BTreeSet<BTreeSet<u32>> = others.iter().map(|&agg| above(agg)).collect();
            if theirs != planes {
                return Err(Fault::whole(
                    format!(
                        "the pods of switches {} and {} are joined to the core in different ways",
                        pods[0].1[0], others[0]
                    ),
                    "each core switch has one link to each pod",
                ));
            }
        }
        let order = pods.iter().flat_map(|(edges, _)| self.in_order(edges));
        Ok(Laid {
            fabric: Fabric::Clos(Clos {
                pods: pods.len() as u32,
                edges: edges as u32,
                aggs: aggs as u32,
                cores: cores as u32,
                hosts,
                host: self.host,
                pod,
                core,
            }),
            hosts: order.collect(),
        })
    }

    /// Edge and aggregation switches of every pod, in the order of their smallest hosts.
    fn pods(&self, middle: &BTreeSet<u32>) -> Fallible<Vec<(Vec<u32>, Vec<u32>)>> {
        let mut pods: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for &edge in self.racks.keys() {
            let above: Vec<u32> = self.switches_of(edge).into_iter().collect();
            match pods.iter_mut().find(|(_, aggs)| *aggs == above) {
                Some((edges, _)) => edges.push(edge),
                None => {
                    let taken = pods.iter().find_map(|(edges, aggs)| {
                        let agg = aggs.iter().find(|agg| above.contains(agg))?;
                        Some((edges[0], *agg))
                    });
                    if let Some((other, agg)) = taken {
                        return Err(Fault::whole(
                            format!(
                                "switches {other} and {edge} share switch {agg} of the second \
                                 tier, and not the others"
                            ),
                            "in a pod each edge switch is joined to each aggregation switch",
                        ));
                    }
                    pods.push((vec![edge], above));
                }
            }
        }
        pods.sort_by_key(|(edges, _)| self.in_order(edges));
        let (edges, aggs) = (pods[0].0.len(), pods[0].1.len());
        let odd = pods
            .iter()
            .find(|p| (p.0.len(), p.1.len()) != (edges, aggs));
        if let Some((other, _)) = odd {
            return Err(Fault::whole(
                format!(
                    "the pods of switches {} and {} have different numbers of switches",
                    pods[0].0[0], other[0]
                ),
                "pods of a scenario are equal",
            ));
        }
        if pods.len() < 2 || middle.len() != pods.len() * aggs {
            return Err(Fault::whole(
                "there is one pod, and core switches above it",
                "remove the core switches: then it is a leaf-spine fabric",
            ));
        }
        Ok(pods)
    }
}

/// A link that joins switches of one tier, or skips a tier.
fn across(wire: &Wire, level: u32) -> Fault {
    let tier = ["first", "second", "third"][level as usize];
    Fault::at(
        wire.line,
        format!(
            "switches {} and {} are both in the {tier} tier, and joined",
            wire.a, wire.b
        ),
        "a scenario has stars, dumbbells (two switches), leaf-spine fabrics and three tiers, whose \
         links join neighbouring tiers only; `two-sites` and `ring` are written by hand \
         (docs/scenarios.md)",
    )
}
