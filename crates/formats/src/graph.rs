// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts, switches and cables as a file lists them.

use std::collections::BTreeSet;

use cemark_wire::{Picos, Rate};

/// A cable between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Its line in the file, counted from one.
    pub line: usize,
    /// Node at one end.
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
}
