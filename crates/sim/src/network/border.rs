// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the network of one shard ends: packets and pause frames that go to other shards, and those
//! that come from them.
//!
//! A link *crosses* if its packets may be for another shard than that of its port. What a fused
//! port has accepted and what a port with queues has begun to send will arrive at a known tick,
//! behind the end of the window; at that end it is told to the shard where it arrives. There the
//! packet waits in a *gate*, a port that sends nothing and only holds what is on the wire. So an
//! arrival costs no more than it does where nothing is divided.

use std::collections::BTreeSet;
use std::mem::swap;
use std::sync::Arc;

use cemark_switch::Port;
use cemark_wire::{NONE, Packet};

use super::waypoint::{CROSSING, STAMPING, SWITCH};
use super::{Core, Network, Reached};
use crate::agenda::kind;
use crate::division::Division;
use crate::events::EventQueue;
use crate::ids::LinkId;

/// SACK blocks: how many, and which.
type Blocks = (usize, [(u64, u64); 3]);

/// Packets and pause frames of one window from the network of one shard to that of another.
#[derive(Debug, Default)]
pub(crate) struct Parcels {
    /// Packets, in order of arrival within each link.
    packets: Vec<Arrival>,
    /// SACK blocks of the `packets` that have any, in their order. Few ACKs have blocks, and blocks
    /// are larger than a packet.
    blocks: Vec<Blocks>,
    /// Pause frames: when each arrives, and its event.
    frames: Vec<(u64, u32)>,
}

impl Parcels {
    /// Packets and frames.
    pub fn len(&self) -> usize {
        self.packets.len() + self.frames.len()
    }
}

/// A packet that will arrive over a link.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// When it does.
    at: u64,
    packet: Packet,
    link: LinkId,
}

/// A fused port whose packets may change the shard.
#[derive(Clone, Copy, Debug)]
struct Teller {
    link: LinkId,
    /// Packets that it had accepted when they were last told, modulo 2^32.
    told: u32,
}

/// See the module's text.
pub(crate) struct Border {
    pub me: u32,
    pub division: Arc<Division>,
    /// The fused ports of this shard whose links cross.
    fused: Vec<Teller>,
    /// The links of this shard that cross and whose ports have queues.
    queued: Vec<LinkId>,
    /// By link: the tag of its port in the undivided simulation.
    tags: Vec<u32>,
    /// When the next port of `queued` begins to send.
    pub begins: u64,
    /// By shard: what is for it.
    pub parcels: Vec<Parcels>,
    /// Packets that fused ports have just accepted.
    fresh: Vec<Arrival>,
    /// By link: packets that are on their way over it and in no port, at the end of a run.
    coming: Vec<u64>,
}

impl Border {
    /// The border of shard `me`.
    pub fn new(me: u32, division: &Arc<Division>) -> Border {
        Border {
            me,
            fused: Vec::new(),
            queued: Vec::new(),
            tags: Vec::new(),
            begins: u64::MAX,
            parcels: (0..division.shards).map(|_| Parcels::default()).collect(),
            fresh: Vec::new(),
            coming: Vec::new(),
            division: Arc::clone(division),
        }
    }

    /// Whether the shard has the port of a link.
    #[inline]
    pub fn owns(&self, link: LinkId) -> bool {
        self.division.of(link) == self.me
    }
}

impl<Q: EventQueue> Core<Q> {
    /// Tells other shards at the end of a window, before tick `until`, what will arrive there.
    pub fn tell(&mut self, until: u64) {
        self.tell_accepted(until);
        self.net.tell_begun(until);
    }

    /// Tells what fused ports have accepted.
    fn tell_accepted(&mut self, until: u64) {
        let border = self.net.border.as_mut().expect("a shard has its border");
        let mut fresh = std::mem::take(&mut border.fresh);
        for teller in &mut border.fused {
            let link = teller.link;
            let Port::Fused(port) = &mut self.net.ports[link] else {
                continue;
            };
            if port.accepted() == teller.told {
                continue;
            }
            // Nothing that was accepted in a window arrives before its end.
            let since = port.since(teller.told, until - 1);
            fresh.extend(since.map(|(at, &packet)| Arrival { at, packet, link }));
            teller.told = port.accepted();
            port.forget_begun(until - 1);
        }
        for &arrival in &fresh {
            let to = self.net.shard_of(&arrival);
            if to == self.net.border().me {
                self.expect(&arrival);
            } else {
                let packet = &arrival.packet;
                let blocks = (packet.aux != NONE).then(|| self.net.sacks.take(packet.aux));
                self.net.send_over(to, arrival, blocks);
            }
        }
        fresh.clear();
        self.net.border_mut().fresh = fresh;
    }

    /// A packet comes to this shard, behind all that come over its link already.
    #[inline]
    fn expect(&mut self, arrival: &Arrival) {
        let gate = self.net.gates[arrival.link.place()];
        let Port::Fused(gate) = &mut self.net.ports[gate] else {
            unreachable!("a gate sends nothing")
        };
        if gate.put_on_wire(arrival.at, &arrival.packet) {
            self.agenda
                .events
                .insert_delivery(arrival.at, arrival.link.0);
        }
    }

    /// A pause frame arrives at tick `at` at the port of link `l`.
    pub(super) fn send_frame(&mut self, l: LinkId, at: u64, event: u32) {
        let border = self.net.border_mut();
        let to = border.division.of(l);
        if to == border.me {
            self.agenda.insert(at, event);
        } else {
            border.parcels[to as usize].frames.push((at, event));
        }
    }

    /// A packet from a port with queues has crossed a link behind which it may be in another shard.
    pub(super) fn leave(&mut self, l: LinkId, packet: Packet) -> Option<Reached> {
        let next = self.net.rows.next_link(&packet);
        let border = self.net.border();
        if border.division.behind(l, next) == border.me {
            return self.arrive(border.tags[l.place()], packet);
        }
        if packet.aux != NONE {
            self.net.sacks.take(packet.aux);
        }
        // It is counted where it arrives.
        self.net.hops -= 1;
        None
    }

    /// Takes what another shard has sent.
    pub fn receive(&mut self, parcels: &mut Parcels) {
        for (at, event) in parcels.frames.drain(..) {
            self.agenda.insert(at, event);
        }
        let mut blocks = parcels.blocks.drain(..);
        for mut arrival in parcels.packets.drain(..) {
            if arrival.packet.aux != NONE {
                let (n, blocks) = blocks.next().expect("a packet has its blocks");
                arrival.packet.aux = self.net.sacks.store(n, blocks);
            }
            self.expect(&arrival);
        }
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

    /// Marks the ports whose packets may change the shard, and makes gates, before the first event.
    /// `gate`: a port that sends nothing.
    pub fn mark_crossings(&mut self, gate: impl Fn() -> Port) {
        let Some(border) = &mut self.border else {
            return;
        };
        let links = self.ports.len();
        self.gates = (0..links as u32).map(LinkId).collect();
        for l in 0..links {
            let link = LinkId(l as u32);
            let tag = self.ports[l].tag();
            border.tags.push(tag);
            let (own, crosses) = (border.owns(link), border.division.crosses(link));
            if own && !crosses {
                continue;
            }
            // A packet takes the mark of its ingress where it enters a switch that pauses.
            let arrives = match (tag, &self.pfc) {
                (SWITCH, Some(_)) => STAMPING,
                _ => tag,
            };
            if !own {
                self.ports[l] = gate();
                self.ports[l].set_tag(arrives);
                continue;
            }
            if self.ports[l].is_fused() {
                border.fused.push(Teller { link, told: 0 });
                self.gates[l] = LinkId(self.ports.len() as u32);
                self.ports.push(gate());
                self.ports[self.gates[l]].set_tag(arrives);
            } else {
                border.queued.push(link);
            }
            self.ports[l].set_tag(CROSSING);
        }
    }

    /// Tells what ports with queues have begun to send, which arrives here by their own events.
    fn tell_begun(&mut self, until: u64) {
        let mut begins = u64::MAX;
        for i in 0..self.border().queued.len() {
            let link = self.border().queued[i];
            self.ports[link].catch_up(until - 1, &mut self.pools, &mut self.gone);
            while let Port::Explicit(port) = &mut self.ports[link]
                && let Some((at, packet)) = port.begun(until - 1)
            {
                let arrival = Arrival { at, packet, link };
                let to = self.shard_of(&arrival);
                if to != self.border().me {
                    let blocks = (packet.aux != NONE).then(|| self.sacks.read(packet.aux));
                    self.send_over(to, arrival, blocks);
                }
            }
            if let Port::Explicit(port) = &self.ports[link] {
                begins = begins.min(port.begins());
            }
        }
        self.border_mut().begins = begins;
        self.free_gone();
    }

    /// The shard where a packet arrives.
    #[inline]
    fn shard_of(&self, arrival: &Arrival) -> u32 {
        let next = self.rows.next_link(&arrival.packet);
        self.border().division.behind(arrival.link, next)
    }

    #[inline]
    fn send_over(&mut self, to: u32, arrival: Arrival, blocks: Option<Blocks>) {
        let parcels = &mut self.border_mut().parcels[to as usize];
        parcels.blocks.extend(blocks);
        parcels.packets.push(arrival);
    }

    /// Whether an event is the arrival of a packet from another shard.
    pub fn enters(&self, event: u32) -> bool {
        event < kind::SERVE && !self.border().owns(LinkId(event))
    }

    /// Exchanges the ports of another shard, and their buffers, for those that are here in their
    /// places.
    pub fn lend(&mut self, other: &mut Network) {
        let mut pools = BTreeSet::new();
        let own = |l: &usize| other.border().owns(LinkId(*l as u32));
        let own: Vec<usize> = (0..self.fabric.links().len()).filter(own).collect();
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
        let theirs = &other.border().coming;
        for (mine, theirs) in self.border_mut().coming.iter_mut().zip(theirs) {
            *mine += theirs;
        }
        for (mine, theirs) in self.waypoints.iter_mut().zip(&other.waypoints) {
            if let (Some(mine), Some(theirs)) = (&mut mine.fault, &theirs.fault) {
                mine.absorb(theirs);
            }
        }
        self.delayed.absorb(&other.delayed);
        self.rows.absorb(&other.rows);
        self.sent += other.sent;
        self.hops += other.hops;
    }

    /// Counts the packets on the way over links that cross, before shards are put together.
    pub fn count_coming(&mut self) {
        let links = self.fabric.links().len();
        let mut coming = vec![0; links];
        let border = self.border.as_mut().expect("a shard has its border");
        for arrival in border.parcels.iter().flat_map(|p| &p.packets) {
            coming[arrival.link.place()] += 1;
        }
        for l in (0..links).filter(|&l| !border.owns(LinkId(l as u32))) {
            coming[l] += self.ports[l].held();
        }
        for teller in &border.fused {
            let l = teller.link.place();
            coming[l] += self.ports[self.gates[l]].held();
            if let Port::Fused(port) = &self.ports[l] {
                coming[l] += u64::from(port.accepted().wrapping_sub(teller.told));
            }
        }
        border.coming = coming;
    }

    /// Packets that are queued or on a wire. What a fused port has told is counted where it
    /// arrives; what a port with queues has told, it still has.
    pub(super) fn on_links(&self) -> u64 {
        let Some(border) = &self.border else {
            return self.ports.iter().map(Port::held).sum();
        };
        let of = |(l, port): (usize, &Port)| {
            let told = port.is_fused() && border.division.crosses(LinkId(l as u32));
            if told { border.coming[l] } else { port.held() }
        };
        self.ports().iter().enumerate().map(of).sum()
    }
}
