// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network between hosts: links, the ports that feed them and what is at their far ends.
//!
//! The network knows nothing of senders and receivers: nothing here uses `endpoints`, `middleboxes`
//! or the shard. Packets that leave it are returned ([`Reached`]); of a connection it has a
//! [`Row`](rows::Row).

mod border;
mod faults;
mod fetch;
mod links;
pub(crate) mod meters;
pub(crate) mod pfc;
pub(crate) mod pool;
pub(crate) mod ports;
pub(crate) mod rows;
pub(crate) mod tap;
pub(crate) mod waypoint;

use std::sync::Arc;

use cemark_edge::Headers;
use cemark_switch::{Pool, Port};
use cemark_wire::{Flags, Nanos, Packet};

pub(crate) use border::{Border, Parcels};

use crate::agenda::Agenda;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId, indexed};
use crate::topology::{Fabric, Route};
use pfc::Lossless;
use pool::{Delayed, Sacks};
use rows::Rows;
use tap::Taps;
use waypoint::Waypoint;

indexed!(LinkId: Port);

/// A network with its time and its events: what the parts of a shard above the network are passed.
pub(crate) struct Core<Q> {
    pub agenda: Agenda<Q>,
    pub net: Network,
}

impl<Q: EventQueue> Core<Q> {
    #[inline]
    pub fn nanos(&self) -> Nanos {
        self.agenda.nanos()
    }
}

/// A packet that the network hands over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reached {
    /// The packet has reached the host that it is for.
    Host(HostId, Packet),
    /// The packet has reached the place of a middlebox with this number.
    Middlebox(u32, Packet),
}

/// Shares of the measured time in which a link was sending and was paused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    pub busy: f64,
    pub paused: f64,
    /// By queue; empty where no switch pauses.
    pub queues: Vec<f64>,
}

/// See the module's text.
pub(crate) struct Network {
    pub fabric: Arc<Fabric>,
    pub rows: Rows,
    /// Ports of all links, NICs first; then the gates of a shard.
    ports: Vec<Port>,
    /// By link, in a shard: the place among `ports` where its packets arrive from.
    gates: Vec<LinkId>,
    /// Buffers, which ports of a switch may share.
    pools: Vec<Pool>,
    /// Packets that wait for their flow's extra delay.
    delayed: Delayed,
    /// SACK blocks of ACKs. `headers`: headers of packets between two edges.
    pub sacks: Sacks,
    pub headers: Headers,
    /// Far ends of links that are more than a host or a plain switch.
    waypoints: Vec<Waypoint>,
    /// Recorders of the packets of chosen links.
    pub taps: Taps,
    /// Switches pause their senders.
    pfc: Option<Box<Lossless>>,
    /// Some flow may have an extra delay behind its sender's NIC,
    extras: bool,
    /// or before its receiver, where switches pause their senders: the last link is never paused.
    late_extras: bool,
    /// Packets with one of these flags wait for no extra delay.
    prompt: Flags,
    /// Packets that hosts have sent.
    pub sent: u64,
    pub hops: u64,
    /// Packets that ports have discarded and that are not counted as lost yet.
    gone: Vec<Packet>,
    /// Connections of which a packet was lost when there was no other.
    cleared: Vec<ConnId>,
    /// Where this network ends because others have the rest.
    pub border: Option<Box<Border>>,
}

impl Network {
    /// Ports of all links, without gates.
    pub fn ports(&self) -> &[Port] {
        &self.ports[..self.fabric.links().len()]
    }

    pub fn ports_mut(&mut self) -> &mut [Port] {
        &mut self.ports[..self.fabric.links().len()]
    }

    /// Ports of all links, at the end of a run. Any later access to a port panics.
    pub fn take_ports(&mut self) -> Vec<Port> {
        let mut ports = std::mem::take(&mut self.ports);
        ports.truncate(self.fabric.links().len());
        ports
    }

    pub fn port(&self, link: LinkId) -> &Port {
        &self.ports[link]
    }

    pub fn port_mut(&mut self, link: LinkId) -> &mut Port {
        &mut self.ports[link]
    }

    /// Whether the port of a link is here; that of every link is, where nothing is divided.
    pub fn owns(&self, link: LinkId) -> bool {
        self.border.as_ref().is_none_or(|border| border.owns(link))
    }

    /// Whether packets on these routes are ever here.
    pub fn has_some_of(&self, routes: &[Route; 2]) -> bool {
        let mut links = routes.iter().flatten();
        links.any(|&l| l != LinkId::NONE && self.owns(l))
    }

    /// Buffers of all switches, and of NICs.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Whether switches pause their senders.
    #[inline]
    pub fn pauses(&self) -> bool {
        self.pfc.is_some()
    }

    /// Packets that are queued, on a wire, or wait for an extra delay.
    pub fn in_flight(&self) -> u64 {
        self.on_links() + self.delayed.live()
    }

    /// Packets that an artificial fault of a link took.
    pub fn lost_on(&self, link: LinkId) -> u64 {
        let way = self.waypoints.iter().find(|w| w.link == link);
        way.and_then(|w| w.fault.as_ref())
            .map_or(0, |f| u64::from(f.lost))
    }

    /// A connection of which a packet was lost when there was no other: its ends may go.
    #[inline]
    pub fn next_cleared(&mut self) -> Option<ConnId> {
        self.cleared.pop()
    }

    /// Whether [`Network::next_cleared`] has something to say.
    #[inline]
    pub fn has_cleared(&self) -> bool {
        !self.cleared.is_empty()
    }
}
