// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts and their connections: what sends, what receives, when flows start and end.
//!
//! Of the network they know where they transmit, and a connection's row; nothing here uses
//! `middleboxes` or the shard. What has come of a packet beyond its connection is returned
//! ([`Came`]).

pub(crate) mod conn;
mod flows;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod offload;
mod rdma;
mod record;

use std::sync::Arc;

use crate::agenda::Agenda;
use crate::config::{Config, Nic};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::network::Network;
use conn::{Conn, Conns, Counts, Group};
use history::Histories;
use host::Host;
use offload::Held;

/// Consequence of a packet at its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// Nothing that concerns others.
    Nothing,
    /// The flow of its connection is complete.
    Complete,
    /// The packet is the answer to a probe.
    Answer,
}

impl Came {
    #[inline]
    fn of(complete: bool) -> Came {
        match complete {
            true => Came::Complete,
            false => Came::Nothing,
        }
    }
}

/// How the connections of a group send and receive.
#[derive(Debug)]
pub(crate) struct Transport {
    pub cfg: cemark_transport::Config,
    /// Packets that a connection may put into the NIC before the next connection is served; 0:
    /// everything that the window allows.
    turn: u32,
    /// Largest train of a connection in bytes; 0: segment by segment.
    tso: u32,
}

impl Transport {
    fn new(of: &Config, cfg: &cemark_transport::Config) -> Transport {
        // A sender that is paced segment by segment does not wait for a train, and the adapter of
        // a queue pair makes none.
        let alone = cfg.is_paced() && cfg.pace_train == 0 || cfg.rdma.is_some();
        let tso = if alone { 0 } else { of.offload.tso };
        // A queue pair has no window and always has something to send, so the NIC serves queue
        // pairs in turn.
        let turn = turn_of(of.nic, tso, cfg.mss).max(u32::from(cfg.rdma.is_some()));
        Transport {
            cfg: cfg.clone(),
            turn,
            tso,
        }
    }
}

/// See the module's text.
pub(crate) struct Endpoints {
    cfg: Arc<Config>,
    /// By group of connections: how they send and receive.
    transports: Vec<Arc<Transport>>,
    /// By workload: the group of its connections.
    groups: Vec<Group>,
    hosts: Vec<Host>,
    pub conns: Conns,
    /// The sender says when a flow is complete, not the receiver.
    sender_ends: bool,
    /// Hosts handle what they receive in bunches.
    pub bunches: bool,
    /// A bunch is being handled whose answers are gathered (GRO).
    gathers: bool,
    /// Answers that wait for the end of the bunch.
    answers: Vec<Held>,
    /// Packets that hosts have taken.
    pub delivered: u64,
    /// Counter histories of connections' ends, in a divided simulation.
    pub histories: Histories,
}

impl Endpoints {
    /// The hosts of a configuration, without connections.
    pub fn new(cfg: &Arc<Config>) -> Endpoints {
        let (own, groups) = cfg.grouped();
        Endpoints {
            groups,
            transports: own
                .into_iter()
                .map(|t| Arc::new(Transport::new(cfg, t)))
                .collect(),
            hosts: (0..cfg.topology.fabric().nics())
                .map(|_| Host::default())
                .collect(),
            conns: Conns::default(),
            sender_ends: cfg.measure.fct.is_of_sender(),
            bunches: cfg.offload.coalesce.0 > 0,
            gathers: false,
            answers: Vec::new(),
            delivered: 0,
            histories: Histories::default(),
            cfg: Arc::clone(cfg),
        }
    }

    /// Makes room for ends of connections on other links than NICs.
    pub fn reach(&mut self, links: usize) {
        self.hosts.resize_with(links, Host::default);
    }

    /// Whether senders end flows.
    pub fn sender_ends(&self) -> bool {
        self.sender_ends
    }

    /// Whether a link is that of a host, or of another end of connections.
    pub fn sends_on(&self, link: crate::LinkId) -> bool {
        link.place() < self.hosts.len()
    }

    /// A packet of a connection has left the network, or its flow or an event of it is over: its
    /// ends go if nothing refers to them any more.
    #[inline]
    pub fn maybe_retire(&mut self, net: &Network, conn: ConnId) {
        if net.rows.is_clear(conn) {
            self.conns.maybe_retire(conn);
        }
    }

    /// Does the same for connections whose last packet in the network was lost.
    #[cold]
    pub fn retire_cleared(&mut self, net: &mut Network) {
        while let Some(conn) = net.next_cleared() {
            self.maybe_retire(net, conn);
        }
    }

    /// A packet of a connection has left the network.
    #[inline]
    fn release(&mut self, net: &mut Network, conn: ConnId) {
        if net.rows.release(conn) {
            self.conns.maybe_retire(conn);
        }
    }

    /// Packets that wait in NICs.
    pub fn held(&self) -> u64 {
        self.hosts.iter().map(|h| h.received.len() as u64).sum()
    }

    /// Payload bytes that have arrived, each counted once, all flows.
    pub fn all_arrived(&self) -> u64 {
        let here = self.conns.list.iter().filter_map(|c| c.rx.as_ref());
        self.conns.retired.delivered + here.map(|rx| rx.sink.arrived()).sum::<u64>()
    }

    /// Notes what a sender has counted, where its receiver may be in another shard.
    #[inline]
    fn note_sender<Q: EventQueue>(&mut self, agenda: &Agenda<Q>, conn: ConnId) {
        if Q::SHARDED && !self.sender_ends {
            let counts = self.conns.list[conn].tx().source.counts();
            self.histories.senders.note(agenda.when(), conn, counts);
        }
    }

    /// Notes how many packets of a flow came with CE, where its sender may be in another shard and
    /// end it from now on: the receiver has all of it.
    #[inline]
    fn note_marks<Q: EventQueue>(&mut self, agenda: &Agenda<Q>, conn: ConnId) {
        if Q::SHARDED && self.sender_ends {
            let rx = self.conns.list[conn].rx();
            if rx.sink.delivered() >= rx.last {
                let marks = rx.marks();
                self.histories.marks.note(agenda.when(), conn, marks);
            }
        }
    }

    /// Takes what another shard has, at the end of a run. `owns`: whether a host is there.
    pub fn absorb(&mut self, other: Endpoints, owns: impl Fn(HostId) -> bool) {
        for (h, theirs) in (0..).map(HostId).zip(other.hosts) {
            if owns(h) {
                self.hosts[h] = theirs;
            }
        }
        for (i, theirs) in (0..).map(ConnId).zip(other.conns.list) {
            let mine = self.conns.at_mut(i);
            mine.tx = mine.tx.take().or(theirs.tx);
            mine.rx = mine.rx.take().or(theirs.rx);
        }
        self.delivered += other.delivered;
        self.conns.retired.absorb(other.conns.retired);
        self.histories.senders.absorb(other.histories.senders);
        self.histories.marks.absorb(other.histories.marks);
    }

    /// Retransmissions and timeouts of all senders.
    pub fn counted(&self) -> (u64, u64) {
        let retired = self.conns.retired;
        let senders = self.conns.list.iter().filter_map(|c: &Conn| c.tx.as_ref());
        let all = senders.map(|tx| tx.source.counts());
        all.fold((retired.retransmits, retired.timeouts), |sum, c: Counts| {
            (
                sum.0 + u64::from(c.retransmits),
                sum.1 + u64::from(c.timeouts),
            )
        })
    }
}

/// Packets that a connection may send before the NIC serves the next one, for trains of `tso`
/// bytes.
fn turn_of(nic: Nic, tso: u32, mss: u16) -> u32 {
    match nic {
        Nic::BackPressure { packets } => packets.max(tso / u32::from(mss)).max(1),
        Nic::Fifo | Nic::Limited { .. } | Nic::SwitchPort => 0,
    }
}
