// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fabric given node by node and link by link.

use std::collections::BTreeSet;

use cemark_param::{Values, config};
use cemark_wire::{Picos, Rate};

use super::fib::UNREACHED;
use super::wiring::{Line, Nic, Wiring};
use super::{Fabric, MAX_LINKS, MOST_HOSTS, MOST_LINKS, Shape, TopologySpec};

/// Most switches with hosts of a graph: loads and base RTTs are computed from each to each.
pub const MOST_RACKS: usize = 2_048;

/// Most links of a host.
pub const MOST_NICS: usize = 8;

/// Most links of a graph times its switches with hosts.
const MOST_WORK: u64 = 1 << 28;

config! {
    /// Keys of a graph.
    pub struct Usual {
        /// Rate of links that say none.
        rate: Rate = rate(10_000_000_000),
        /// Propagation delay of links that say none.
        delay: Picos = delay(10_000_000),
    }
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Node {
    /// The node's part of the names of links: `leaf0` in `leaf0->spine3`.
    pub name: String,
    /// Whether it is a host. Hosts are counted from zero, in the order of the nodes.
    pub host: bool,
}

/// A cable between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cord {
    /// The two nodes, by their places.
    pub ends: [u32; 2],
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Picos,
}

impl Cord {
    fn line(&self) -> Line {
        Line {
            rate: self.rate,
            delay: self.delay,
        }
    }
}

/// Nodes and cables that make a fabric. Packets take the fewest links; a flow's hash chooses among
/// equal ones, in the order of the cables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Graph {
    nodes: Vec<Node>,
    cords: Vec<Cord>,
}

/// The node or cable at which nodes and cables make no fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The node of this number.
    Node(usize),
    /// The cable of this number.
    Cord(usize),
    /// All of them.
    Whole,
}

/// Why nodes and cables make no fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Where.
    pub place: Place,
    /// The sentence of the error.
    pub message: String,
    /// The advice of the error.
    pub help: String,
}

impl Misfit {
    fn new(place: Place, message: String, help: impl Into<String>) -> Misfit {
        Misfit {
            place,
            message,
            help: help.into(),
        }
    }
}

impl Graph {
    /// The word of a graph in scenario files, and the keys beside its nodes and links.
    pub const SPEC: TopologySpec = TopologySpec {
        name: "graph",
        doc: "Any hosts, switches and cables: a list of nodes and links, or a file.",
        keys: Usual::PARAMS,
    };

    /// Rate and delay of links that have none of their own, by the values of the keys.
    pub fn usual(values: &Values) -> Line {
        let Usual { rate, delay } = Usual::from(values);
        Line { rate, delay }
    }

    /// A graph of these nodes and cables.
    ///
    /// # Errors
    /// Names that repeat, a cable to a node that is not there, to its own node or between two
    /// hosts, a host without a cable or with more than [`MOST_NICS`], hosts between which there is
    /// no path or a path of more than [`MAX_LINKS`] links, fewer than 2 or more than
    /// [`MOST_HOSTS`] hosts, and more switches or cables than can be computed.
    pub fn new(nodes: Vec<Node>, cords: Vec<Cord>) -> Result<Graph, Misfit> {
        let graph = Graph { nodes, cords };
        graph.names()?;
        graph.cables()?;
        graph.numbers()?;
        graph.paths()?;
        Ok(graph)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The cables.
    pub fn cords(&self) -> &[Cord] {
        &self.cords
    }

    fn names(&self) -> Result<(), Misfit> {
        let mut seen = BTreeSet::new();
        let twice = self.nodes.iter().position(|node| !seen.insert(&node.name));
        match twice {
            None => Ok(()),
            Some(i) => Err(Misfit::new(
                Place::Node(i),
                format!("two nodes have the name `{}`", self.nodes[i].name),
                "give each node a name of its own",
            )),
        }
    }

    fn cables(&self) -> Result<(), Misfit> {
        let mut cables_of = vec![0; self.nodes.len()];
        for (i, cord) in self.cords.iter().enumerate() {
            let at = |message, help: &str| Err(Misfit::new(Place::Cord(i), message, help));
            let [a, b] = cord.ends.map(|end| self.nodes.get(end as usize));
            let (Some(a), Some(b)) = (a, b) else {
                let lost = cord.ends.into_iter().max().unwrap_or(0);
                return at(
                    format!("there is no node {lost}"),
                    "nodes are counted from zero",
                );
            };
            if cord.ends[0] == cord.ends[1] {
                return at(
                    format!("a link from `{}` to itself", a.name),
                    "a link joins two nodes: remove this link, or name another node",
                );
            }
            if a.host && b.host {
                return at(
                    format!("a link between two hosts, `{}` and `{}`", a.name, b.name),
                    "hosts pass on no packets of others: join each to a switch",
                );
            }
            for end in cord.ends.map(|end| end as usize) {
                cables_of[end] += 1;
                if self.nodes[end].host && cables_of[end] > MOST_NICS {
                    return at(
                        format!("a ninth link of host `{}`", self.nodes[end].name),
                        "a host has at most 8 links: remove the others, or make each port a host",
                    );
                }
            }
        }
        let lone = |i: &usize| self.nodes[*i].host && cables_of[*i] == 0;
        match (0..self.nodes.len()).find(lone) {
            None => Ok(()),
            Some(i) => Err(Misfit::new(
                Place::Node(i),
                format!("host `{}` has no link", self.nodes[i].name),
                "join it to a switch, or remove it",
            )),
        }
    }

    fn numbers(&self) -> Result<(), Misfit> {
        let hosts = self.hosts();
        let whole = |message, help| Err(Misfit::new(Place::Whole, message, help));
        if !(2..=u64::from(MOST_HOSTS)).contains(&hosts) {
            return whole(
                match hosts {
                    1 => "this fabric has 1 host".to_owned(),
                    n => format!("this fabric has {n} hosts"),
                },
                format!("a fabric has 2 to {MOST_HOSTS} hosts"),
            );
        }
        let host = |end: u32| self.nodes[end as usize].host;
        let inner = self
            .cords
            .iter()
            .filter(|cord| !cord.ends.into_iter().any(host));
        let links = 2 * inner.count() as u64;
        let racks = self.racks().len();
        if links > MOST_LINKS || racks > MOST_RACKS || links * racks as u64 > MOST_WORK {
            return whole(
                format!("{racks} switches with hosts and {links} links between switches"),
                format!(
                    "at most {MOST_RACKS} switches have hosts, at most {MOST_LINKS} links join \
                     switches, and the product of both numbers is at most {MOST_WORK}"
                ),
            );
        }
        Ok(())
    }

    /// The switches that have hosts, by their places among the nodes, in the order of their first
    /// hosts.
    fn racks(&self) -> Vec<u32> {
        let mut seen = BTreeSet::new();
        let racks = self.nics().into_iter().map(|(_, switch, _)| switch);
        racks.filter(|&switch| seen.insert(switch)).collect()
    }

    /// The cables of hosts, host by host: host, switch and cable.
    fn nics(&self) -> Vec<(u32, u32, Line)> {
        let host = |end: u32| self.nodes[end as usize].host;
        let mut nics: Vec<(u32, u32, Line)> = Vec::new();
        for cord in &self.cords {
            let line = cord.line();
            match cord.ends {
                [a, b] if host(a) => nics.push((a, b, line)),
                [a, b] if host(b) => nics.push((b, a, line)),
                _ => {}
            }
        }
        nics.sort_by_key(|(host, ..)| *host);
        nics
    }

    fn paths(&self) -> Result<(), Misfit> {
        let fabric = Fabric::new(&self.wiring());
        let racks = self.racks();
        let name = |rack: usize| &self.nodes[racks[rack] as usize].name;
        for to in 0..racks.len() {
            let distances = &fabric.fib.distances(to)[..racks.len()];
            if let Some(from) = distances.iter().position(|&d| d == UNREACHED) {
                return Err(Misfit::new(
                    Place::Node(racks[from] as usize),
                    format!(
                        "there is no path between `{}` and `{}`",
                        name(to),
                        name(from)
                    ),
                    "join the parts of the fabric by links between switches",
                ));
            }
            let far = distances
                .iter()
                .position(|&d| usize::from(d) + 2 > MAX_LINKS);
            if let Some(from) = far {
                return Err(Misfit::new(
                    Place::Node(racks[from] as usize),
                    format!(
                        "packets between hosts of `{}` and `{}` cross {} links",
                        name(to),
                        name(from),
                        distances[from] + 2
                    ),
                    format!(
                        "a path has at most {MAX_LINKS} links, the links of its two hosts among \
                         them"
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl Shape for Graph {
    fn hosts(&self) -> u64 {
        self.nodes.iter().filter(|node| node.host).count() as u64
    }

    fn wiring(&self) -> Wiring {
        let mut wiring = Wiring::default();
        let mut numbers = vec![0; self.nodes.len()];
        let racks = self.racks();
        let rest = (0..self.nodes.len() as u32).filter(|&n| !self.nodes[n as usize].host);
        let have: BTreeSet<u32> = racks.iter().copied().collect();
        let rest = rest.filter(|n| !have.contains(n));
        for switch in racks.iter().copied().chain(rest) {
            let name = self.nodes[switch as usize].name.clone();
            numbers[switch as usize] = wiring.switch(name);
        }
        for node in self.nodes.iter().filter(|node| node.host) {
            wiring.hosts.push(node.name.clone());
        }
        let nics = self.nics();
        let mut host = 0;
        for (i, &(node, switch, line)) in nics.iter().enumerate() {
            host += u32::from(i > 0 && nics[i - 1].0 != node);
            wiring.nics.push(Nic {
                host,
                switch: numbers[switch as usize],
                line,
            });
        }
        for cord in &self.cords {
            if !cord
                .ends
                .into_iter()
                .any(|end| self.nodes[end as usize].host)
            {
                let [a, b] = cord.ends.map(|end| numbers[end as usize]);
                wiring.cable(a, b, cord.line());
                wiring.cable(b, a, cord.line());
            }
        }
        wiring
    }
}
