// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that process packets in bunches: interrupt coalescing, and GRO, which acknowledges a bunch
//! as one segment.

use cemark_transport::{Ack, Acks};
use cemark_wire::{Flags, Packet};

use super::Endpoints;
use super::conn::{Sink, Source};
use crate::agenda::{Agenda, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, EndId, HostId};
use crate::network::Core;

/// Most payload that GRO answers as one (Linux, `GRO_LEGACY_MAX_SIZE`).
const MOST_BYTES: u64 = 65_536;

/// An answer that waits for the rest of its bunch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    at: EndId,
    ack: Ack,
    bytes: u64,
}

/// Treatment of a packet at the NIC of a host that handles packets in bunches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The packet waits for the interrupt of its host, or for a full bunch.
    Waits,
    /// The packet waits, and the host handles all waiting packets.
    Full,
    /// The packet does not wait: the end of a proxy's connection is at a router, which does not
    /// coalesce, and the adapter handles packets of queue pairs.
    Alone,
}

impl Endpoints {
    /// A packet waits in the NIC of its host.
    pub fn hold(
        &mut self,
        agenda: &mut Agenda<impl EventQueue>,
        host: HostId,
        packet: Packet,
    ) -> Hold {
        if host.0 >= self.cfg.topology.fabric().nics() || self.is_of_pair(&packet) {
            return Hold::Alone;
        }
        let h = &mut self.hosts[host];
        h.received.push(packet);
        if h.received.len() >= self.cfg.offload.coalesce_packets as usize {
            return Hold::Full;
        }
        if !h.interrupt_armed {
            h.interrupt_armed = true;
            let at = agenda.now + agenda.ticks(self.cfg.offload.coalesce.into());
            agenda.insert(at, kind::INTERRUPT | host.0);
        }
        Hold::Waits
    }

    /// Whether a packet that has reached its host is of a queue pair.
    fn is_of_pair(&self, packet: &Packet) -> bool {
        let conn = &self.conns.list[ConnId::of(packet)];
        match packet.flags().has(Flags::ACK) {
            true => matches!(&conn.tx, Some(tx) if matches!(tx.source, Source::Rdma(_))),
            false => matches!(&conn.rx, Some(rx) if matches!(rx.sink, Sink::Rdma(_))),
        }
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

    /// A host has handled its bunch, and sends the answers that waited for its end.
    pub fn end_bunch<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        host: HostId,
        mut packets: Vec<Packet>,
    ) {
        self.gathers = false;
        packets.clear();
        self.hosts[host].received = packets;
        for i in 0..self.answers.len() {
            let held = self.answers[i];
            self.send_held(core, held);
        }
        self.answers.clear();
    }

    /// Keeps an ACK until the bunch is over. It replaces an earlier ACK of the same connection that
    /// acknowledged less.
    #[cold]
    pub fn answer_later<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        at: EndId,
        bytes: u64,
        acks: Acks,
    ) {
        let ack = match acks {
            Acks::None => return,
            // SACK blocks are read from the receiver when the ACK is sent, so an ACK with blocks is
            // sent now.
            Acks::One(ack) if ack.sacks == 0 && !ack.flags.has(Flags::SYN) => ack,
            other => {
                self.release_answer(core, at);
                return self.answer(core, at, other);
            }
        };
        let same = self.answers.iter_mut().find(|h| h.at == at);
        match same {
            Some(held) if held.ack.flags == ack.flags && held.bytes + bytes <= MOST_BYTES => {
                held.bytes += bytes;
                // The bunch carries the timestamp of its first segment.
                held.ack.cum = ack.cum;
            }
            Some(held) => {
                let before = std::mem::replace(&mut held.ack, ack);
                held.bytes = bytes;
                self.send_ack(core, at, before);
            }
            None => {
                // It keeps the connection, as a packet would.
                core.net.rows.hold(at.conn);
                self.answers.push(Held { at, ack, bytes });
            }
        }
    }

    fn send_held<Q: EventQueue>(&mut self, core: &mut Core<Q>, held: Held) {
        self.send_ack(core, held.at, held.ack);
        self.release(&mut core.net, held.at.conn);
    }

    fn release_answer<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId) {
        if let Some(i) = self.answers.iter().position(|h| h.at == at) {
            let held = self.answers.remove(i);
            self.send_held(core, held);
        }
    }
}
