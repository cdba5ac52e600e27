// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one shard holds, and what a simulation does differently because it is one.

use std::collections::VecDeque;

use cemark_switch::Port;
use cemark_wire::{NONE, Packet};

use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::network::waypoint::CROSSING;
use crate::topology::LeafSpine;
use crate::workload::Flow;

/// SACK blocks: how many, and which.
type Blocks = (usize, [(u64, u64); 3]);

/// A packet that changes the shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// When it reaches the spine.
    pub at: u64,
    /// The link from leaf to spine.
    pub link: LinkId,
    pub packet: Packet,
    pub blocks: Option<Blocks>,
}

/// When a sender's counters changed, and to what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub conn: ConnId,
    pub when: (u64, u32),
    pub retransmits: u32,
    pub timeouts: u32,
}

/// See the module's text.
pub(crate) struct Part {
    me: u32,
    /// By link: the shard that has its port. A host is in the shard of its NIC.
    owner: Vec<u32>,
    /// By link: it leads from a leaf to a spine.
    up: Vec<bool>,
    /// By shard: packets for it.
    pub(super) outbox: Vec<Vec<Message>>,
    /// By link of another shard: packets on it that come to this one.
    inbound: Vec<VecDeque<Message>>,
    /// The event being handled.
    event: u32,
    /// The counters (retransmissions, timeouts) of each connection's sender when last noted.
    noted: Vec<(u32, u32)>,
    pub(super) changes: Vec<Change>,
    /// Measured flows that ended here, in the order of `Metrics::flows`: connection, and when.
    pub(super) ends: Vec<(ConnId, (u64, u32))>,
    /// Measured flows of this shard's hosts that may have much to send.
    sending: Vec<ConnId>,
}

impl Part {
    /// Shard `me` of `shards` of a fabric with `links` links.
    pub(super) fn new(me: usize, shards: usize, fabric: &LeafSpine, links: usize) -> Part {
        let of_leaf =
            |leaf: u32| (u64::from(leaf) * shards as u64 / u64::from(fabric.leaves)) as u32;
        let hosts = fabric.leaves * fabric.hosts_per_leaf;
        let mut owner: Vec<u32> = Vec::with_capacity(links);
        // NICs, then the ports to hosts.
        for _ in 0..2 {
            owner.extend((0..hosts).map(|h| of_leaf(h / fabric.hosts_per_leaf)));
        }
        let inner = fabric.leaves * fabric.spines;
        owner.extend((0..inner).map(|i| of_leaf(i / fabric.spines)));
        owner.extend((0..inner).map(|i| of_leaf(i % fabric.leaves)));
        assert_eq!(owner.len(), links, "a link without a shard");
        let up = |l: u32| (2 * hosts..2 * hosts + inner).contains(&l);
        Part {
            me: me as u32,
            owner,
            up: (0..links as u32).map(up).collect(),
            outbox: vec![Vec::new(); shards],
            inbound: vec![VecDeque::new(); links],
            event: 0,
            noted: Vec::new(),
            changes: Vec::new(),
            ends: Vec::new(),
            sending: Vec::new(),
        }
    }

    /// Whether the shard has the port of a link.
    #[inline]
    pub(super) fn owns(&self, link: LinkId) -> bool {
        self.owner[link.place()] == self.me
    }

    pub(super) fn owns_host(&self, host: HostId) -> bool {
        self.owns(host.nic())
    }
}

impl<Q: EventQueue> Sim<Q> {
    #[inline]
    pub(super) fn part(&self) -> &Part {
        self.part.as_ref().expect("a shard has its part")
    }

    #[inline]
    pub(super) fn part_mut(&mut self) -> &mut Part {
        self.part.as_mut().expect("a shard has its part")
    }

    /// Becomes a shard, before the first event.
    pub(super) fn join(&mut self, part: Part) {
        for (port, _) in self.ports.iter_mut().zip(&part.up).filter(|(_, up)| **up) {
            if let Port::Fused(port) = port {
                port.tag = CROSSING;
            }
        }
        self.part = Some(Box::new(part));
    }

    /// Handles an event of this shard.
    #[inline]
    pub(super) fn step(&mut self, now: u64, event: u32) {
        debug_assert!(now >= self.now, "an event before the present");
        self.now = now;
        self.handled += 1;
        self.part_mut().event = event;
        if event >= kind::SERVE {
            self.handle_event(event);
        } else if self.part().owns(LinkId(event)) {
            self.deliver(LinkId(event));
        } else {
            self.enter(LinkId(event));
        }
    }

    /// Simulates up to a tick, exclusive.
    pub(super) fn run_window(&mut self, until: u64) {
        self.events.insert(until - 1, kind::WINDOW);
        while let Some((now, event)) = self.events.pop() {
            if event >= kind::WINDOW {
                return;
            }
            self.prefetch();
            self.step(now, event);
        }
    }

    /// A packet has joined the port of link `l`: if it leads to another shard, that shard is told.
    #[inline]
    pub(crate) fn tell(&mut self, l: LinkId) {
        if !self.part().up[l.place()] {
            return;
        }
        let Port::Fused(port) = &self.ports[l] else {
            return;
        };
        let Some((at, packet)) = port.newest() else {
            return;
        };
        let packet = *packet;
        let to = self.part().owner[Self::next_link(&self.conns, &packet).place()];
        if to == self.part().me {
            return;
        }
        let blocks = (packet.aux != NONE).then(|| self.sacks.read(packet.aux));
        let message = Message {
            at,
            link: l,
            packet,
            blocks,
        };
        self.part_mut().outbox[to as usize].push(message);
    }

    /// A packet has crossed a link to a spine.
    pub(crate) fn leave(&mut self, packet: Packet) {
        let next = Self::next_link(&self.conns, &packet);
        if self.part().owns(next) {
            self.offer(next, &packet);
        } else if packet.aux != NONE {
            self.sacks.take(packet.aux);
        }
    }

    /// A packet from another shard has reached its spine.
    fn enter(&mut self, l: LinkId) {
        let waiting = &mut self.part_mut().inbound[l.place()];
        let message = waiting.pop_front().expect("an event has its packet");
        let next = waiting.front().map(|m| m.at);
        debug_assert_eq!(message.at, self.now, "not the tick of this delivery");
        if let Some(at) = next {
            self.events.insert_delivery(at, l.0);
        }
        let mut packet = message.packet;
        if let Some((n, blocks)) = message.blocks {
            packet.aux = self.sacks.store(n, blocks);
        }
        self.offer(Self::next_link(&self.conns, &packet), &packet);
    }

    /// Takes packets from another shard.
    pub(super) fn receive(&mut self, messages: &mut Vec<Message>) {
        for message in messages.drain(..) {
            let waiting = &mut self.part_mut().inbound[message.link.place()];
            let first = waiting.is_empty();
            waiting.push_back(message);
            if first {
                self.events.insert_delivery(message.at, message.link.0);
            }
        }
    }

    /// A flow starts. Returns whether its sender is in this shard.
    pub(crate) fn starts(&mut self, flow: &Flow, conn: ConnId) -> bool {
        let part = self.part_mut();
        let mine = part.owns_host(HostId(flow.src));
        if mine && flow.measured {
            part.sending.push(conn);
        }
        mine
    }

    /// Notes when the sender of a connection retransmits or times out: what of it counts is known
    /// only when the flow has ended, in the receiver's shard.
    pub(crate) fn note_sender(&mut self, conn: ConnId) {
        let stats = self.conns.list[conn].sender.stats();
        let (retransmits, timeouts) = (stats.retransmits, stats.timeouts);
        let now = self.now;
        let part = self.part_mut();
        let i = conn.0 as usize;
        if i >= part.noted.len() {
            part.noted.resize(i + 1, (0, 0));
        }
        if part.noted[i] == (retransmits, timeouts) {
            return;
        }
        part.noted[i] = (retransmits, timeouts);
        let when = (now, part.event);
        part.changes.push(Change {
            conn,
            when,
            retransmits,
            timeouts,
        });
    }

    /// Notes when a measured flow has ended.
    pub(crate) fn note_end(&mut self, conn: ConnId) {
        let now = self.now;
        let part = self.part_mut();
        part.ends.push((conn, (now, part.event)));
    }

    /// Whether some measured flow surely does not end within the next `span` ticks: one with more
    /// bytes that have not left than its NIC can send in that time.
    pub(super) fn goes_on(&mut self, span: u64) -> bool {
        let clock = self.clock;
        loop {
            let Some(&conn) = self.part().sending.last() else {
                return false;
            };
            let c = &self.conns.list[conn];
            let byte = self.fabric.links()[c.src.nic()].rate.picos_per_byte().0;
            let most = span * clock.tick_ps() / byte + u64::from(u16::MAX);
            if c.begin + c.flow.bytes > c.sender.sent() + most {
                return true;
            }
            // What has not left gets less, so this is true for ever.
            self.part_mut().sending.pop();
        }
    }

    /// Whether some measured flow does not even start before a tick. All shards answer alike.
    pub(super) fn starts_later(&self, until: u64) -> bool {
        let next = self.traffic.peek().map(|at| self.clock.ticks(at));
        self.traffic.ahead() > 0 && next.is_some_and(|at| at >= until)
    }
}
