// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[node]]` and `[[link]]`: a fabric node by node and link by link, or in a file.

use std::collections::BTreeMap;

use cemark_formats::{self as formats, hpcc, htsim};
use cemark_sim::topology::{
    self, Cord, Graph, Line, MOST_HOSTS, Misfit, Node as GraphNode, Place, Topology,
};
use cemark_wire::{Picos, Rate};

use crate::error::{At, Fallible, Fault, near};
use crate::key::{Key, keys, words};
use crate::section::{Section, list, text};
use crate::sections::{Form, SectionSpec};
use crate::sizes::Tables;
use crate::tree::{Node, Table, items};

pub(crate) static NODE: SectionSpec = SectionSpec::new(
    "node",
    Form::List,
    &[NODE_KEYS],
    "Switches and hosts of a topology of kind `graph`.",
);

pub(crate) static LINK: SectionSpec = SectionSpec::new(
    "link",
    Form::List,
    &[LINK_KEYS],
    "Links between the nodes of a topology of kind `graph`.",
);

/// Most parallel cables of a `[[link]]`.
const MOST_CABLES: u64 = 64;

/// Most nodes of a graph: hosts, and as many switches.
const MOST_NODES: usize = 2 * MOST_HOSTS as usize;

/// Most cables of a graph.
const MOST_CORDS: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Switch,
    Host,
}

words! { Role:
    "switch" => Role::Switch,
    "host" => Role::Host,
}

keys! { NODE_KEYS:
    NAME: String = Key::text("name").needed("leaf0")
        .doc("its name, or the beginning of the names of `count` nodes");
    ROLE: Role = Key::choice("kind").usual("switch").doc("`switch`, or `host`: an end of flows");
    NODES: u32 = Key::count("count", 1, MOST_HOSTS as u64).follows("one node of this name")
        .doc("number of nodes, whose names are followed by 0, 1, 2, ...");
    HOSTS: u32 = Key::count("hosts", 0, MOST_HOSTS as u64).usual("0")
        .doc("for a switch: hosts with a link to it, which need no `[[node]]` and `[[link]]`");
    HOST_RATE: Rate = Key::rate("rate").follows("`rate` of `[topology]`")
        .doc("rate of the links of `hosts`");
    HOST_DELAY: Picos = Key::time("delay").follows("`delay` of `[topology]`")
        .doc("propagation delay of the links of `hosts`");
}

keys! { LINK_KEYS:
    LINK_NAME: String = Key::text("name").follows("none").doc("its name in paths (`link.up.rate`)");
    ENDS: Node = Key::own(
        "ends",
        "a list of two names of nodes",
        r#"{"type":"array","minItems":2,"maxItems":2,"items":{"type":"string"}}"#,
    )
    .needed("[\"leaf0\", \"spine0\"]")
    .doc("the two nodes; `*` is any text, and each fitting node is joined to each");
    CABLES: u32 = Key::count("count", 1, MOST_CABLES).usual("1")
        .doc("parallel cables, among which a hash of the flow chooses");
    LINK_RATE: Rate = Key::rate("rate").follows("`rate` of `[topology]`")
        .doc("rate of each cable in each direction");
    LINK_DELAY: Picos = Key::time("delay").follows("`delay` of `[topology]`")
        .doc("propagation delay, one way");
}

/// The fabric of the file's nodes and links. Links without rate or delay have the `usual` ones.
pub(crate) fn listed(root: &Table, at: At, usual: Line) -> Fallible<Topology> {
    let mut draft = Draft::default();
    for node in items(root, NODE.name) {
        draft.nodes(node, usual)?;
    }
    if draft.nodes.is_empty() {
        let message = "a graph without nodes";
        let help = "write [[node]] for each switch and [[link]] for each link, or file = \
                    \"topology.txt\" in [topology]";
        return Err(Fault::new(at, message).help(help));
    }
    for link in items(root, LINK.name) {
        draft.links(link, usual)?;
    }
    let place = |misfit: &Misfit| match misfit.place {
        Place::Node(i) => draft.nodes[i].1,
        Place::Cord(i) => draft.cords[i].1,
        Place::Whole => at,
    };
    let nodes = draft.nodes.iter().map(|(node, _)| node.clone());
    let cords = draft.cords.iter().map(|(cord, _)| *cord);
    let graph = Graph::new(nodes.collect(), cords.collect())
        .map_err(|misfit| Fault::new(place(&misfit), misfit.message).help(misfit.help))?;
    Ok(graph.into())
}

/// Refuses nodes and links that nothing reads.
pub(crate) fn none(root: &Table, why: &str, help: &str) -> Fallible<()> {
    for spec in [&NODE, &LINK] {
        if let Some(node) = items(root, spec.name).first() {
            let message = format!("{} {why}", spec.shown());
            return Err(Fault::new(node.at, message).help(help));
        }
    }
    Ok(())
}

/// Nodes and cables, each with its place in the file.
#[derive(Default)]
struct Draft {
    nodes: Vec<(GraphNode, At)>,
    cords: Vec<(Cord, At)>,
    /// The nodes that links may name.
    named: BTreeMap<String, u32>,
    hosts: u32,
}

impl Draft {
    /// Adds the nodes of a `[[node]]`, and their hosts.
    fn nodes(&mut self, node: &Node, usual: Line) -> Fallible<()> {
        let mut s = Section::under(node, &NODE)?;
        let name = s.read(&NAME)?;
        let host = s.read(&ROLE)? == Role::Host;
        let count = s.given(&NODES)?;
        let hosts = s.read(&HOSTS)?;
        let line = Line {
            rate: s.read_or(&HOST_RATE, usual.rate)?,
            delay: s.read_or(&HOST_DELAY, usual.delay)?,
        };
        if let (true, Some(node)) = (host, s.node(&HOSTS)) {
            return Err(Fault::new(node.at, "a host has no hosts")
                .help("write kind = \"switch\", or leave `hosts` out"));
        }
        let at = s.node(&NAME).map_or(node.at, |node| node.at);
        s.finish()?;
        let names = match count {
            None => vec![name],
            Some(count) => (0..count).map(|i| format!("{name}{i}")).collect(),
        };
        for name in names {
            let place = self.node(name.clone(), host, at)?;
            if self.named.insert(name.clone(), place).is_some() {
                return Err(Fault::new(at, format!("two nodes have the name `{name}`"))
                    .help("give each node a name of its own"));
            }
            for _ in 0..hosts {
                let end = self.node(format!("host{}", self.hosts), true, at)?;
                self.cord([end, place], line, at)?;
            }
        }
        Ok(())
    }

    /// Adds the cables of a `[[link]]`.
    fn links(&mut self, node: &Node, usual: Line) -> Fallible<()> {
        let mut s = Section::under(node, &LINK)?;
        // For paths.
        s.given(&LINK_NAME)?;
        let ends = s.need(&ENDS)?;
        let cables = s.read(&CABLES)?;
        let line = Line {
            rate: s.read_or(&LINK_RATE, usual.rate)?,
            delay: s.read_or(&LINK_DELAY, usual.delay)?,
        };
        s.finish()?;
        let [a, b] = list(ends)? else {
            return Err(Fault::new(ends.at, "a link has two ends").help(ENDS.spec.advice()));
        };
        let (from, to) = (self.fitting(a)?, self.fitting(b)?);
        let named = |node: &Node| text(node).is_ok_and(|name| self.named.contains_key(name));
        let one = named(a) && named(b);
        let mut joined = 0;
        for &a in &from {
            for &b in &to {
                // Two patterns that fit both nodes join them once.
                let again = a == b || (b < a && from.contains(&b) && to.contains(&a));
                if one || !again {
                    joined += 1;
                    for _ in 0..cables {
                        self.cord([a, b], line, ends.at)?;
                    }
                }
            }
        }
        match joined {
            0 => Err(Fault::new(ends.at, "this link joins no two nodes")
                .help("name two different nodes, or patterns that fit several")),
            _ => Ok(()),
        }
    }

    fn node(&mut self, name: String, host: bool, at: At) -> Fallible<u32> {
        if self.nodes.len() == MOST_NODES {
            let message = format!("more than {MOST_NODES} nodes");
            return Err(Fault::new(at, message).help("write a smaller `count` or fewer `hosts`"));
        }
        self.hosts += u32::from(host);
        self.nodes.push((GraphNode { name, host }, at));
        Ok(self.nodes.len() as u32 - 1)
    }

    fn cord(&mut self, ends: [u32; 2], line: Line, at: At) -> Fallible<()> {
        if self.cords.len() == MOST_CORDS {
            let message = format!("more than {MOST_CORDS} cables");
            return Err(Fault::new(at, message).help("write a smaller `count`, or fewer links"));
        }
        let cord = Cord {
            ends,
            rate: line.rate,
            delay: line.delay,
        };
        self.cords.push((cord, at));
        Ok(())
    }

    /// The nodes that a name or a pattern of a link fits.
    fn fitting(&self, node: &Node) -> Fallible<Vec<u32>> {
        let name = text(node)?;
        if let Some(&place) = self.named.get(name) {
            return Ok(vec![place]);
        }
        let all = self.named.iter();
        let mut fitting: Vec<u32> = all
            .filter(|(known, _)| topology::fits(known, name))
            .map(|(_, &place)| place)
            .collect();
        fitting.sort_unstable();
        match fitting.is_empty() {
            false => Ok(fitting),
            true => Err(Fault::new(node.at, format!("no node is called `{name}`"))
                .label("not known")
                .help(near(name, self.named.keys().map(String::as_str)))),
        }
    }
}

/// The fabric in a file of another simulator.
pub(crate) fn in_file(name: &str, at: At, files: &mut Tables) -> Fallible<Topology> {
    files.graph(name, |content| {
        let content = content.map_err(|why| {
            Fault::new(at, format!("the topology `{name}` cannot be read: {why}"))
                .help("a relative path starts from the scenario's folder")
        })?;
        of_text(content).map_err(|fault| {
            let line = fault.line.map_or(String::new(), |line| format!(":{line}"));
            Fault::new(at, format!("{name}{line}: {}", fault.message))
                .label("this topology")
                .help(fault.help)
        })
    })
}

/// A topology of HPCC's or htsim's form.
fn of_text(text: &str) -> formats::Fallible<Topology> {
    topology_of(&match formats::Kind::of(text)? {
        formats::Kind::HpccTopology => hpcc::topology(text)?.graph,
        formats::Kind::HtsimTopology => htsim::topo(text)?.graph,
        _ => {
            return Err(formats::Fault::whole(
                "this is no topology",
                "name HPCC's topology.txt, or a .topo of htsim",
            ));
        }
    })
}

/// The fabric of a graph of another simulator. Hosts are counted in the order of their nodes;
/// switches are called by the numbers of theirs.
///
/// # Errors
/// Nodes and cables that [`Graph::new`] refuses, with the line of the file.
pub fn topology_of(graph: &formats::Graph) -> formats::Fallible<Topology> {
    let mut hosts = 0;
    let node = |id| match graph.switches.contains(&id) {
        true => GraphNode {
            name: format!("switch{id}"),
            host: false,
        },
        false => {
            hosts += 1;
            GraphNode {
                name: format!("host{}", hosts - 1),
                host: true,
            }
        }
    };
    let nodes = (0..graph.nodes).map(node).collect();
    let cords = graph.wires.iter().map(|wire| Cord {
        ends: [wire.a, wire.b],
        rate: wire.rate,
        delay: wire.delay,
    });
    let made = Graph::new(nodes, cords.collect());
    let made = made.map_err(|misfit| match misfit.place {
        Place::Cord(i) => formats::Fault::at(graph.wires[i].line, misfit.message, misfit.help),
        _ => formats::Fault::whole(misfit.message, misfit.help),
    })?;
    Ok(made.into())
}
