// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the network of one shard ends: packets and pause frames that go to other shards, and those
//! that come from them.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::mem::swap;
use std::sync::Arc;

use cemark_switch::Port;
use cemark_wire::{NONE, Packet};

use super::waypoint::CROSSING;
use super::{Network, Reached};
use crate::agenda::{Agenda, kind};
use crate::division::Division;
use crate::events::EventQueue;
use crate::ids::LinkId;

/// SACK blocks: how many, and which.
type Blocks = (usize, [(u64, u64); 3]);

/// What goes from the network of one shard to that of another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parcel {
    /// A packet that changes the shard.
    Packet(Arrival),
    /// A pause frame: when it arrives, and its event.
    Pause(u64, u32),
}

/// A packet that arrives over a link of another shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// When it does.
    at: u64,
    link: LinkId,
    packet: Packet,
    blocks: Option<Blocks>,
}

/// See the module's text.
pub(crate) struct Border {
    pub me: u32,
    pub division: Arc<Division>,
    /// By link: the tag of its port in the undivided simulation.
    tags: Vec<u32>,
    /// Links of this shard whose ports have queues and whose packets may change the shard: what
    /// they have begun to send is told at the end of a window.
    tells: Vec<LinkId>,
    /// When the next of these ports begins to send.
    pub begins: u64,
    /// By shard: what is for it.
    pub parcels: Vec<Vec<Parcel>>,
    /// By link of another shard: packets on it that come to this one.
    inbound: Vec<VecDeque<Arrival>>,
}

impl Border {
    /// The border of shard `me`.
    pub fn new(me: u32, division: &Arc<Division>) -> Border {
        Border {
            me,
            tags: Vec::new(),
            tells: Vec::new(),
            begins: u64::MAX,
            parcels: vec![Vec::new(); division.shards],
            inbound: Vec::new(),
            division: Arc::clone(division),
        }
    }

    /// Whether the shard has the port of a link.
    #[inline]
    pub fn owns(&self, link: LinkId) -> bool {
        self.division.of(link) == self.me
    }
}

impl Network {
    #[inline]
    pub fn border(&self) -> &Border {
        self.border.as_ref().expect("a shard has its border")
    }

    #[inline]
    pub fn border_mut(&mut self) -> &mut Border {
        self.border.as_mut().expect("a shard has its border")
    }

    /// Marks the ports whose packets may change the shard, before the first event.
    pub fn mark_crossings(&mut self) {
        let Some(border) = &mut self.border else {
            return;
        };
        border.inbound = vec![VecDeque::new(); self.ports.len()];
        for (port, l) in self.ports.iter_mut().zip(0..) {
            let tag = match port {
                Port::Fused(port) => &mut port.tag,
                Port::Explicit(port) => &mut port.tag,
            };
            border.tags.push(*tag);
            if border.division.crosses(LinkId(l)) {
                *tag = CROSSING;
                if border.division.of(LinkId(l)) == border.me && !port.is_fused() {
                    border.tells.push(LinkId(l));
                }
            }
        }
    }

    /// A packet has joined the fused port of link `l`, so that its arrival is known: if that is in
    /// another shard, this is told.
    #[inline]
    pub(super) fn tell(&mut self, l: LinkId) {
        if !self.border().division.crosses(l) {
            return;
        }
        let Port::Fused(port) = &self.ports[l] else {
            return;
        };
        if let Some((at, packet)) = port.newest() {
            let packet = *packet;
            self.send_over(l, at, packet);
        }
    }

    /// Tells other shards what ports with queues have begun to send before tick `until`.
    pub fn tell_begun(&mut self, until: u64) {
        let mut begins = u64::MAX;
        for i in 0..self.border().tells.len() {
            let l = self.border().tells[i];
            self.ports[l].catch_up(until - 1, &mut self.pools, &mut self.gone);
            while let Port::Explicit(port) = &mut self.ports[l]
                && let Some((at, packet)) = port.begun(until - 1)
            {
                self.send_over(l, at, packet);
            }
            if let Port::Explicit(port) = &self.ports[l] {
                begins = begins.min(port.begins());
            }
        }
        self.border_mut().begins = begins;
        self.free_gone();
    }

    /// A packet will arrive over link `l` at tick `at`, perhaps in another shard.
    fn send_over(&mut self, l: LinkId, at: u64, packet: Packet) {
        let next = self.rows.next_link(&packet);
        let border = self.border();
        let to = border.division.behind(l, next);
        if to == border.me {
            return;
        }
        let blocks = (packet.aux != NONE).then(|| self.sacks.read(packet.aux));
        let arrival = Arrival {
            at,
            link: l,
            packet,
            blocks,
        };
        self.border_mut().parcels[to as usize].push(Parcel::Packet(arrival));
    }

    /// A pause frame arrives at tick `at` at the port of link `l`.
    pub(super) fn send_frame<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        l: LinkId,
        at: u64,
        event: u32,
    ) {
        let border = self.border_mut();
        let to = border.division.of(l);
        if to == border.me {
            agenda.events.insert(at, event);
        } else {
            border.parcels[to as usize].push(Parcel::Pause(at, event));
        }
    }

    /// A packet has crossed a link behind which it may be in another shard.
    pub(super) fn leave<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        l: LinkId,
        packet: Packet,
    ) -> Option<Reached> {
        let next = self.rows.next_link(&packet);
        let border = self.border();
        if border.division.behind(l, next) == border.me {
            return self.arrive(agenda, border.tags[l.place()], packet);
        }
        if packet.aux != NONE {
            self.sacks.take(packet.aux);
        }
        None
    }

    /// Whether an event is the arrival of a packet from another shard.
    pub fn enters(&self, event: u32) -> bool {
        event < kind::SERVE && !self.border().owns(LinkId(event))
    }

    /// A packet from another shard arrives over link `l`.
    pub fn enter<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, l: LinkId) -> Option<Reached> {
        let border = self.border_mut();
        let tag = border.tags[l.place()];
        let waiting = &mut border.inbound[l.place()];
        let arrival = waiting.pop_front().expect("an event has its packet");
        let next = waiting.front().map(|m| m.at);
        debug_assert_eq!(arrival.at, agenda.now, "not the tick of this delivery");
        if let Some(at) = next {
            agenda.events.insert_delivery(at, l.0);
        }
        let mut packet = arrival.packet;
        if let Some((n, blocks)) = arrival.blocks {
            packet.aux = self.sacks.store(n, blocks);
        }
        self.arrive(agenda, tag, packet)
    }

    /// Takes what another shard has sent.
    pub fn receive<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, parcels: &mut Vec<Parcel>) {
        let border = self.border_mut();
        for parcel in parcels.drain(..) {
            match parcel {
                Parcel::Pause(at, event) => agenda.events.insert(at, event),
                Parcel::Packet(arrival) => {
                    let waiting = &mut border.inbound[arrival.link.place()];
                    let first = waiting.is_empty();
                    waiting.push_back(arrival);
                    if first {
                        agenda.events.insert_delivery(arrival.at, arrival.link.0);
                    }
                }
            }
        }
    }

    /// Exchanges the ports of another shard, and their buffers, for those that are here in their
    /// places.
    pub fn lend(&mut self, other: &mut Network) {
        let mut pools = BTreeSet::new();
        let own = |l: &usize| other.border().owns(LinkId(*l as u32));
        let own: Vec<usize> = (0..self.ports.len()).filter(own).collect();
        for l in own {
            swap(&mut self.ports[l], &mut other.ports[l]);
            pools.extend([&self.ports[l], &other.ports[l]].map(Port::pool));
        }
        for pool in pools.into_iter().flatten() {
            swap(
                &mut self.pools[pool.place()],
                &mut other.pools[pool.place()],
            );
        }
    }

    /// Takes what another shard has, at the end of a run.
    pub fn absorb(&mut self, other: &mut Network) {
        self.lend(other);
        for (mine, theirs) in self.waypoints.iter_mut().zip(&other.waypoints) {
            if let (Some(mine), Some(theirs)) = (&mut mine.fault, &theirs.fault) {
                mine.absorb(theirs);
            }
        }
        self.delayed.absorb(&other.delayed);
        self.sent += other.sent;
        self.hops += other.hops;
    }
}
