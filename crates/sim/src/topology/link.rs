// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links and what is at their ends.

use std::ops::Index;

use cemark_wire::{Picos, Rate};

use crate::ids::LinkId;

/// A link: one direction of a cable, with the port that feeds it.
#[derive(Clone, Debug)]
pub struct Link {
    /// For people: `leaf0->spine3`, and `leaf0->spine3#2` for the second of parallel cables.
    pub name: String,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Picos,
    /// The NIC at its far end, if that is a host.
    pub host: Option<u32>,
    /// The NIC or switch whose port feeds it.
    pub from: NodeId,
    /// The NIC or switch at its far end.
    pub to: NodeId,
    /// The other direction of its cable.
    pub reverse: LinkId,
}

/// A NIC or a switch: the NICs in their order, then the switches, those with hosts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place of a switch among the switches; `None` for one of the `nics`.
    pub fn switch(self, nics: u32) -> Option<usize> {
        self.0.checked_sub(nics).map(|s| s as usize)
    }
}

impl Index<LinkId> for [Link] {
    type Output = Link;

    fn index(&self, id: LinkId) -> &Link {
        &self[id.place()]
    }
}
