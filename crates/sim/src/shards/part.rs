// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one shard holds, and what a simulation does differently because it is one.

use std::collections::VecDeque;
use std::sync::Arc;

use cemark_switch::Port;
use cemark_wire::{NONE, Packet};

use super::division::Division;
use crate::endpoints::conn::{Announced, Counts};
use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::network::waypoint::CROSSING;
use crate::workload::Flow;

/// SACK blocks: how many, and which.
type Blocks = (usize, [(u64, u64); 3]);

/// What one shard sends to another.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// A packet that changes the shard.
    Packet(Arrival),
    /// A pause frame: when it arrives, and its event.
    Pause(u64, u32),
    /// A connection that persists: number, flow that opened it, name.
    Opened(Box<(ConnId, Flow, u64)>),
    /// The next flow of a connection that persists.
    Announced(Box<(ConnId, Announced)>),
}

/// A packet that arrives over a link of another shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When it does.
    at: u64,
    link: LinkId,
    packet: Packet,
    blocks: Option<Blocks>,
}

/// The order of events: tick and event.
pub(super) type When = (u64, u32);

/// When a sender's counters changed, and to what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub conn: ConnId,
    pub when: When,
    pub counts: Counts,
}

/// See the module's text.
pub(crate) struct Part {
    pub(super) me: u32,
    division: Arc<Division>,
    /// By link: the tag of its port in the undivided simulation.
    tags: Vec<u32>,
    /// Links of this shard whose ports have queues and whose packets may change the shard: what
    /// they have begun to send is told at the end of a window.
    tells: Vec<LinkId>,
    /// When the next of these ports begins to send.
    begins: u64,
    /// By shard: what is for it.
    pub(super) outbox: Vec<Vec<Message>>,
    /// By link of another shard: packets on it that come to this one.
    inbound: Vec<VecDeque<Arrival>>,
    /// The event being handled.
    event: u32,
    /// The counters of each connection's sender when last noted.
    noted: Vec<Counts>,
    pub(super) changes: Vec<Change>,
    /// Measured flows that ended here, in the order of `Metrics::flows`: connection, and when.
    pub(super) ends: Vec<(ConnId, When)>,
    /// When each of `Metrics::probe_answers` came.
    pub(super) answers: Vec<When>,
    /// Measured flows of this shard's hosts that may have much to send.
    sending: Vec<ConnId>,
}

impl Part {
    /// Shard `me` of a divided simulation.
    pub fn new(me: usize, division: &Arc<Division>) -> Part {
        Part {
            me: me as u32,
            tags: Vec::new(),
            tells: Vec::new(),
            begins: u64::MAX,
            outbox: vec![Vec::new(); division.shards],
            inbound: Vec::new(),
            event: 0,
            noted: Vec::new(),
            changes: Vec::new(),
            ends: Vec::new(),
            answers: Vec::new(),
            sending: Vec::new(),
            division: Arc::clone(division),
        }
    }

    /// Whether the shard has the port of a link.
    #[inline]
    pub fn owns(&self, link: LinkId) -> bool {
        self.division.of(link) == self.me
    }

    pub fn owns_host(&self, host: HostId) -> bool {
        self.owns(host.nic())
    }

    /// The first shard does what is done once for all.
    pub fn is_first(&self) -> bool {
        self.me == 0
    }

    fn now(&self, tick: u64) -> When {
        (tick, self.event)
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

    /// Marks the ports whose packets may change the shard, before the first event.
    pub(crate) fn mark_crossings(&mut self) {
        let Some(part) = &mut self.part else { return };
        part.inbound = vec![VecDeque::new(); self.ports.len()];
        for (port, l) in self.ports.iter_mut().zip(0..) {
            let tag = match port {
                Port::Fused(port) => &mut port.tag,
                Port::Explicit(port) => &mut port.tag,
            };
            part.tags.push(*tag);
            if part.division.crosses(LinkId(l)) {
                *tag = CROSSING;
                if part.division.of(LinkId(l)) == part.me && !port.is_fused() {
                    part.tells.push(LinkId(l));
                }
            }
        }
    }

    /// Whether an event is the arrival of a packet from another shard.
    pub(super) fn enters(&self, event: u32) -> bool {
        event < kind::SERVE && !self.part().owns(LinkId(event))
    }

    /// Whether the port of a link is here; that of every link is, where nothing is divided.
    pub(crate) fn has_port(&self, l: LinkId) -> bool {
        self.part.as_ref().is_none_or(|part| part.owns(l))
    }

    /// When something happens here that another shard may have to know in time: the next event, or
    /// a departure that has no event of its own.
    pub(super) fn next_tick(&self) -> u64 {
        let event = self.events.peek().map_or(u64::MAX, |(at, _)| at);
        event.min(self.part().begins)
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

    /// A packet has joined the fused port of link `l`, so that its arrival is known: if that is in
    /// another shard, this is told.
    #[inline]
    pub(crate) fn tell(&mut self, l: LinkId) {
        if !self.part().division.crosses(l) {
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
    pub(super) fn tell_begun(&mut self, until: u64) {
        let mut begins = u64::MAX;
        for i in 0..self.part().tells.len() {
            let l = self.part().tells[i];
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
        self.part_mut().begins = begins;
        self.free_gone();
    }

    /// A packet will arrive over link `l` at tick `at`, perhaps in another shard.
    fn send_over(&mut self, l: LinkId, at: u64, packet: Packet) {
        let next = Self::next_link(&self.conns, &packet);
        let part = self.part();
        let to = part.division.behind(l, next);
        if to == part.me {
            return;
        }
        let blocks = (packet.aux != NONE).then(|| self.sacks.read(packet.aux));
        let arrival = Arrival {
            at,
            link: l,
            packet,
            blocks,
        };
        self.part_mut().outbox[to as usize].push(Message::Packet(arrival));
    }

    /// A pause frame arrives at tick `at` at the port of link `l`.
    pub(crate) fn send_frame(&mut self, l: LinkId, at: u64, event: u32) {
        let part = self.part_mut();
        let to = part.division.of(l);
        if to == part.me {
            self.events.insert(at, event);
        } else {
            part.outbox[to as usize].push(Message::Pause(at, event));
        }
    }

    /// A packet has crossed a link behind which it may be in another shard.
    pub(crate) fn leave(&mut self, l: LinkId, packet: Packet) {
        let next = Self::next_link(&self.conns, &packet);
        let part = self.part();
        if part.division.behind(l, next) == part.me {
            self.arrive(part.tags[l.place()], packet);
        } else if packet.aux != NONE {
            self.sacks.take(packet.aux);
        }
    }

    /// A packet from another shard arrives over link `l`.
    fn enter(&mut self, l: LinkId) {
        let part = self.part_mut();
        let tag = part.tags[l.place()];
        let waiting = &mut part.inbound[l.place()];
        let arrival = waiting.pop_front().expect("an event has its packet");
        let next = waiting.front().map(|m| m.at);
        debug_assert_eq!(arrival.at, self.now, "not the tick of this delivery");
        if let Some(at) = next {
            self.events.insert_delivery(at, l.0);
        }
        let mut packet = arrival.packet;
        if let Some((n, blocks)) = arrival.blocks {
            packet.aux = self.sacks.store(n, blocks);
        }
        self.arrive(tag, packet);
    }

    /// Takes what another shard has sent.
    pub(super) fn receive(&mut self, messages: &mut Vec<Message>) {
        for message in messages.drain(..) {
            let arrival = match message {
                Message::Packet(arrival) => arrival,
                Message::Pause(at, event) => {
                    self.events.insert(at, event);
                    continue;
                }
                Message::Opened(opened) => {
                    let (conn, flow, name) = *opened;
                    self.open(conn, flow, name);
                    continue;
                }
                Message::Announced(announced) => {
                    let (conn, announced) = *announced;
                    self.announce(conn, announced);
                    continue;
                }
            };
            let waiting = &mut self.part_mut().inbound[arrival.link.place()];
            let first = waiting.is_empty();
            waiting.push_back(arrival);
            if first {
                self.events.insert_delivery(arrival.at, arrival.link.0);
            }
        }
    }

    /// A flow starts at a host of this shard.
    pub(crate) fn note_start(&mut self, flow: &Flow, conn: ConnId) {
        if flow.measured {
            self.part_mut().sending.push(conn);
        }
    }

    /// Tells all other shards of a connection that persists.
    pub(crate) fn tell_opened(&mut self, conn: ConnId, flow: Flow, name: u64) {
        let part = self.part_mut();
        let me = part.me as usize;
        for (_, outbox) in part
            .outbox
            .iter_mut()
            .enumerate()
            .filter(|(to, _)| *to != me)
        {
            outbox.push(Message::Opened(Box::new((conn, flow, name))));
        }
    }

    /// Tells the shard of the receiver of the next flow. Returns whether it is another shard.
    pub(crate) fn tell_announced(&mut self, conn: ConnId, announced: Announced) -> bool {
        let part = self.part_mut();
        let to = part.division.of(HostId(announced.flow.dst).nic());
        if to != part.me {
            let message = Message::Announced(Box::new((conn, announced)));
            part.outbox[to as usize].push(message);
        }
        to != part.me
    }

    /// Notes when the sender of a connection retransmits or times out: what of it counts is known
    /// only when the flow has ended, in the receiver's shard.
    pub(crate) fn note_sender(&mut self, conn: ConnId) {
        let counts = self.conns.list[conn].tx().source.counts();
        let now = self.now;
        let part = self.part_mut();
        let i = conn.0 as usize;
        if i >= part.noted.len() {
            part.noted.resize(i + 1, Counts::default());
        }
        if part.noted[i] == counts {
            return;
        }
        part.noted[i] = counts;
        let when = part.now(now);
        part.changes.push(Change { conn, when, counts });
    }

    /// Notes when a measured flow has ended.
    pub(crate) fn note_end(&mut self, conn: ConnId) {
        let now = self.now;
        let part = self.part_mut();
        let when = part.now(now);
        part.ends.push((conn, when));
    }

    /// Notes when the answer to a probe came.
    pub(crate) fn note_answer(&mut self) {
        let now = self.now;
        let part = self.part_mut();
        let when = part.now(now);
        part.answers.push(when);
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
            let tx = c.tx();
            let byte = self.fabric.links()[c.src.nic()].rate.picos_per_byte().0;
            let most = span * clock.tick_ps() / byte + u64::from(u16::MAX);
            if tx.flow.measured && tx.begin + tx.flow.bytes > tx.source.sent() + most {
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
