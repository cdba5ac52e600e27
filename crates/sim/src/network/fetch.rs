// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prefetches of what a delivery will read, each step of which reads what the one before it has
//! fetched ([`crate::lookahead`]).

use cemark_switch::Port;
use cemark_wire::Packet;
use prefetch_index::prefetch_index;

use super::{Network, waypoint};
use crate::events::EventQueue;
use crate::ids::ConnId;

impl Network {
    /// The port that has the packets on link `l`: of a shard, its place where the link ends.
    #[inline(always)]
    fn place_of<Q: EventQueue>(&self, l: u32) -> Option<usize> {
        match Q::SHARDED {
            true => self.gates.get(l as usize).map(|gate| gate.place()),
            false => Some(l as usize),
        }
    }

    #[inline(always)]
    fn port_of<Q: EventQueue>(&self, l: u32) -> Option<&Port> {
        self.place_of::<Q>(l).and_then(|i| self.ports.get(i))
    }

    /// Prefetches the packet of the next delivery, which is usually not in the first-level cache.
    #[inline(always)]
    pub fn prefetch<Q: EventQueue>(&self, upcoming: Option<u32>) {
        let port = upcoming.and_then(|l| self.port_of::<Q>(l));
        if let Some(port) = port {
            port.prefetch_head();
        }
    }

    /// Prefetches the port that the packets of link `l` leave.
    #[inline]
    pub fn prefetch_port<Q: EventQueue>(&self, l: u32) {
        if let Some(i) = self.place_of::<Q>(l) {
            prefetch_index(&self.ports[..], i);
        }
    }

    /// Prefetches the next packet of link `l`.
    #[inline]
    pub fn prefetch_packet<Q: EventQueue>(&self, l: u32) {
        if let Some(port) = self.port_of::<Q>(l) {
            port.prefetch_head();
            port.prefetch_second();
        }
    }

    /// Prefetches where the next packet of link `l` goes. Returns its connection where that is a
    /// host.
    #[inline]
    pub fn prefetch_row<Q: EventQueue>(&self, l: u32) -> Option<ConnId> {
        let port = self.port_of::<Q>(l)?;
        let conn = ConnId::of(port.front()?);
        if port.tag() == waypoint::SWITCH {
            self.rows.prefetch_route(conn);
            return None;
        }
        self.rows.prefetch(conn);
        Some(conn)
    }

    /// Prefetches the port that the next packet of link `l` joins. Returns the packet where that is
    /// at its host.
    #[inline]
    pub fn prefetch_next<Q: EventQueue>(&self, l: u32) -> Option<Packet> {
        let port = self.port_of::<Q>(l)?;
        let packet = *port.front()?;
        match port.tag() {
            waypoint::SWITCH => {
                let to = self.rows.next_link(&packet);
                prefetch_index(&self.ports[..], to.place());
                None
            }
            // A host answers on the link with its number.
            tag => {
                prefetch_index(&self.ports[..], tag as usize);
                Some(packet)
            }
        }
    }

    /// Prefetches the place that the next packet of link `l` takes in the port that it joins.
    #[inline]
    pub fn prefetch_slot<Q: EventQueue>(&self, l: u32) {
        let Some(port) = self.port_of::<Q>(l) else {
            return;
        };
        let to = match (port.tag(), port.front()) {
            (waypoint::SWITCH, Some(packet)) => self.rows.next_link(packet).place(),
            (tag, _) => tag as usize,
        };
        if let Some(next) = self.ports.get(to) {
            next.prefetch_tail();
        }
    }
}
