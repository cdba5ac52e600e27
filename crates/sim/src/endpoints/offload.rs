// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that process packets in bunches: interrupt coalescing, and GRO, which acknowledges a bunch
//! as one segment.

use cemark_transport::{Ack, Acks};
use cemark_wire::{Flags, Nanos, Packet};

use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};

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

impl<Q: EventQueue> Sim<Q> {
    /// A packet waits in the NIC of its host.
    #[cold]
    pub fn hold(&mut self, host: HostId, packet: Packet) {
        if host.0 >= self.cfg.topology.hosts() {
            // The ends of a proxy's connections are at a router, which does not coalesce.
            return self.handle(host, packet);
        }
        let h = &mut self.hosts[host];
        h.received.push(packet);
        if h.received.len() >= self.cfg.offload.coalesce_packets as usize {
            self.handle_held(host);
        } else if !h.interrupt_armed {
            h.interrupt_armed = true;
            let span = self.clock.ticks(self.cfg.offload.coalesce.into());
            self.events
                .insert(self.now + span, kind::INTERRUPT | host.0);
        }
    }

    /// The interrupt of a host. If the count of packets ended the wait before, it finds fewer
    /// packets, or none.
    pub fn interrupt(&mut self, host: HostId) {
        self.hosts[host].interrupt_armed = false;
        self.handle_held(host);
    }

    #[cold]
    fn handle_held(&mut self, host: HostId) {
        let mut packets = std::mem::take(&mut self.hosts[host].received);
        self.gathers = self.cfg.offload.gro;
        for &packet in &packets {
            self.handle(host, packet);
        }
        self.gathers = false;
        packets.clear();
        self.hosts[host].received = packets;
        for i in 0..self.answers.len() {
            let held = self.answers[i];
            self.send_held(host, held);
        }
        self.answers.clear();
    }

    /// Handles a packet that has waited, through `arrive` again, so that the code behind it is
    /// inlined only once. The flags are cleared meanwhile, so that the packet waits neither for
    /// others nor for its flow's extra delay a second time.
    fn handle(&mut self, host: HostId, packet: Packet) {
        let late = std::mem::take(&mut self.late_extras);
        self.bunches = false;
        self.arrive(host.0, packet);
        self.bunches = true;
        self.late_extras = late;
    }

    /// Packets that wait in NICs.
    pub fn held(&self) -> u64 {
        self.hosts.iter().map(|h| h.received.len() as u64).sum()
    }

    /// Keeps an ACK until the bunch is over. It replaces an earlier ACK of the same connection that
    /// acknowledged less.
    #[cold]
    pub fn answer_later(&mut self, host: HostId, conn: ConnId, bytes: u64, acks: Acks) {
        let ack = match acks {
            Acks::None => return,
            // SACK blocks are read from the receiver when the ACK is sent, so an ACK with blocks is
            // sent now.
            Acks::One(ack) if ack.sacks == 0 && !ack.flags.has(Flags::SYN) => ack,
            other => {
                self.release_answer(host, conn);
                return self.answer(host, conn, other);
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
                self.send_ack(host, conn, before);
            }
            None => {
                // It keeps the connection, as a packet would.
                let c = &mut self.conns.list[conn];
                c.in_fabric = c.in_fabric.wrapping_add(1);
                self.answers.push(Held { conn, ack, bytes });
            }
        }
    }

    fn send_held(&mut self, host: HostId, held: Held) {
        self.send_ack(host, held.conn, held.ack);
        self.release(held.conn);
    }

    fn release_answer(&mut self, host: HostId, conn: ConnId) {
        if let Some(i) = self.answers.iter().position(|h| h.conn == conn) {
            let held = self.answers.remove(i);
            self.send_held(host, held);
        }
    }
}
