// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts, switches and cables as a file lists them.

use std::collections::BTreeSet;

use cemark_wire::{Picos, Rate};

use crate::fault::{Fallible, Fault};

/// A cable between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Its line in the file, counted from one.
    pub line: usize,
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Picos,
}

/// A network of hosts and switches, numbered together from zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Number of nodes.
    pub nodes: u32,
    /// Which of them are switches.
    pub switches: BTreeSet<u32>,
    /// The cables.
    pub wires: Vec<Wire>,
}

impl Graph {
    /// The hosts, in order.
    pub fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes).filter(|node| !self.switches.contains(node))
    }

    /// The cables of every node, as indices of `wires` with the node at the far end.
    pub(crate) fn neighbours(&self) -> Vec<Vec<(usize, u32)>> {
        let mut all = vec![Vec::new(); self.nodes as usize];
        for (i, wire) in self.wires.iter().enumerate() {
            for (from, to) in [(wire.a, wire.b), (wire.b, wire.a)] {
                if let Some(list) = all.get_mut(from as usize) {
                    list.push((i, to));
                }
            }
        }
        all
    }

    /// Refuses cables that no topology has: to a node that does not exist, from a node to itself,
    /// or a second one between the same two nodes.
    pub(crate) fn check(&self) -> Fallible<()> {
        let mut seen = BTreeSet::new();
        for wire in &self.wires {
            let (a, b) = (wire.a.min(wire.b), wire.a.max(wire.b));
            if b >= self.nodes {
                return Err(Fault::at(
                    wire.line,
                    format!("there is no node {b}: the first line counts {}", self.nodes),
                    format!("nodes are numbered from 0 to {}", self.nodes.max(1) - 1),
                ));
            }
            if a == b {
                return Err(Fault::at(
                    wire.line,
                    format!("a link from node {a} to itself"),
                    "remove the line",
                ));
            }
            if !seen.insert((a, b)) {
                return Err(Fault::at(
                    wire.line,
                    format!("a second link between nodes {a} and {b}"),
                    "scenarios have no parallel links: write one link with the sum of the rates",
                ));
            }
        }
        Ok(())
    }
}
