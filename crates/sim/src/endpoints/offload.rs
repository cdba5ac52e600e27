// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that process packets in bunches: interrupt coalescing, and GRO, which acknowledges a bunch
//! as one segment.

use cemark_transport::{Ack, Acks};
use cemark_wire::{Flags, Nanos, Packet};

use super::Endpoints;
use crate::agenda::{Agenda, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::network::Network;

/// Most payload that GRO answers as one (Linux, `GRO_LEGACY_MAX_SIZE`).
const MOST_BYTES: u64 = 65_536;

/// What a host's network card and the layer above it process in bunches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Offload {
    /// Largest train in bytes that a connection hands to its NIC at once (TSO, GSO), and waits for;
    /// 0: segment by segment.
    pub tso: u32,
    /// Longest time that a packet waits in the NIC for others before the host handles them
    /// together; zero: it does not wait.
    pub coalesce: Nanos,
    /// Number of packets that ends the wait. At least one.
    pub coalesce_packets: u32,
    /// Segments of a connection that are handled together are answered together.
    pub gro: bool,
}

impl Offload {
    /// Every packet by itself.
    pub const NONE: Offload = Offload {
        tso: 0,
        coalesce: Nanos::ZERO,
        coalesce_packets: 64,
        gro: false,
    };
}

/// An answer that waits for the rest of its bunch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    conn: ConnId,
    ack: Ack,
    bytes: u64,
}

/// What becomes of a packet at the NIC of a host that handles packets in bunches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It waits.
    Waits,
    /// It waits, and the host handles all that wait.
    Full,
    /// It does not wait: the end of a proxy's connection is at a router, which does not coalesce.
    Alone,
}

impl Endpoints {
    /// A packet waits in the NIC of its host.
    pub fn hold<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        host: HostId,
        packet: Packet,
    ) -> Hold {
        if host.0 >= self.cfg.topology.fabric().nics() {
            return Hold::Alone;
        }
        let h = &mut self.hosts[host];
        h.received.push(packet);
        if h.received.len() >= self.cfg.offload.coalesce_packets as usize {
            return Hold::Full;
        }
        if !h.interrupt_armed {
            h.interrupt_armed = true;
            let span = agenda.clock.ticks(self.cfg.offload.coalesce.into());
            agenda
                .events
                .insert(agenda.now + span, kind::INTERRUPT | host.0);
        }
        Hold::Waits
    }

    /// The interrupt of a host. If the count of packets ended the wait before, it finds fewer
    /// packets, or none.
    pub fn interrupted(&mut self, host: HostId) {
        self.hosts[host].interrupt_armed = false;
    }

    /// A host begins to handle the packets that wait.
    pub fn begin_bunch(&mut self, host: HostId) -> Vec<Packet> {
        self.gathers = self.cfg.offload.gro;
        std::mem::take(&mut self.hosts[host].received)
    }

    /// It has handled them.
    pub fn end_bunch<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        net: &mut Network,
        host: HostId,
        mut packets: Vec<Packet>,
    ) {
        self.gathers = false;
        packets.clear();
        self.hosts[host].received = packets;
        for i in 0..self.answers.len() {
            let held = self.answers[i];
            self.send_held(agenda, net, host, held);
        }
        self.answers.clear();
    }

    /// Keeps an ACK until the bunch is over. It replaces an earlier ACK of the same connection that
    /// acknowledged less.
    #[cold]
    pub fn answer_later<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        net: &mut Network,
        host: HostId,
        conn: ConnId,
        bytes: u64,
        acks: Acks,
    ) {
        let ack = match acks {
            Acks::None => return,
            // SACK blocks are read from the receiver when the ACK is sent, so an ACK with blocks is
            // sent now.
            Acks::One(ack) if ack.sacks == 0 && !ack.flags.has(Flags::SYN) => ack,
            other => {
                self.release_answer(agenda, net, host, conn);
                return self.answer(agenda, net, host, conn, other);
            }
        };
        let same = self.answers.iter_mut().find(|h| h.conn == conn);
        match same {
            Some(held) if held.ack.flags == ack.flags && held.bytes + bytes <= MOST_BYTES => {
                held.bytes += bytes;
                // The bunch carries the timestamp of its first segment.
                held.ack.cum = ack.cum;
            }
            Some(held) => {
                let before = std::mem::replace(&mut held.ack, ack);
                held.bytes = bytes;
                self.send_ack(agenda, net, host, conn, before);
            }
            None => {
                // It keeps the connection, as a packet would.
                net.rows.hold(conn);
                self.answers.push(Held { conn, ack, bytes });
            }
        }
    }

    fn send_held<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        net: &mut Network,
        host: HostId,
        held: Held,
    ) {
        self.send_ack(agenda, net, host, held.conn, held.ack);
        self.release(net, held.conn);
    }

    fn release_answer<Q: EventQueue>(
        &mut self,
        agenda: &mut Agenda<Q>,
        net: &mut Network,
        host: HostId,
        conn: ConnId,
    ) {
        if let Some(i) = self.answers.iter().position(|h| h.conn == conn) {
            let held = self.answers.remove(i);
            self.send_held(agenda, net, host, held);
        }
    }
}
