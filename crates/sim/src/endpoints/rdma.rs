// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that use RDMA: how packets of a queue pair are handled on arrival.

use cemark_transport::rdma::CNP;
use cemark_transport::{Ack, Segment};
use cemark_wire::{Fields, Flags, NONE, Nanos, Packet};

use super::conn::{Sink, Source};
use super::{Came, Endpoints};
use crate::events::EventQueue;
use crate::ids::{ConnId, EndId};
use crate::network::Core;

impl Endpoints {
    /// A packet of a queue pair has reached the host it is for.
    #[inline(never)]
    pub fn at_pair<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> Came {
        let complete = if p.flags().has(Flags::ACK) {
            self.at_requester(core, at, p)
        } else {
            self.at_responder(core, at, p)
        };
        self.release(&mut core.net, at.conn);
        Came::of(complete)
    }

    #[inline]
    fn at_responder<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> bool {
        let now = core.nanos();
        let cfg = &self.transport;
        let rx = self.conns.list[at.conn].rx_mut();
        rx.turn_to(p.seq);
        let (Sink::Rdma(responder), Some(rdma)) = (&mut rx.sink, &cfg.rdma) else {
            return false;
        };
        let segment = Segment::of(p);
        let replies = responder.on_data(cfg, rdma, now, &segment);
        let complete = responder.delivered() >= rx.end;
        let class = rx.class;
        let cnp_class = rdma.cnp_class.unwrap_or(class);
        if replies.cnp {
            // The time distinguishes two notifications where a marker makes a random choice.
            let packet = self.reply(0, now, at.conn, NONE, Flags::ACK.with(CNP), cnp_class);
            core.transmit(at.host, packet);
        }
        if let Some(ack) = replies.ack {
            let aux = match replies.beyond {
                None => NONE,
                Some(range) => core.net.sacks.store(1, [range, (0, 0), (0, 0)]),
            };
            let packet = self.reply(ack.cum, now, at.conn, aux, ack.flags, class);
            core.transmit(at.host, packet);
        }
        self.note_marks(&core.agenda, at.conn);
        complete
    }

    #[inline]
    fn reply(
        &self,
        seq: u64,
        now: Nanos,
        conn: ConnId,
        aux: u32,
        flags: Flags,
        class: u8,
    ) -> Packet {
        let fields = Fields {
            wire_bytes: self.transport.ack_bytes,
            flags,
            class,
            ..Fields::default()
        };
        Packet::new(seq, now.0 as u32, conn.0, aux, fields)
    }

    #[inline]
    fn at_requester<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> bool {
        let now = core.nanos();
        let beyond = (p.aux != NONE).then(|| core.net.sacks.take(p.aux).1[0]);
        let cfg = &self.transport;
        let tx = self.conns.list[at.conn].tx_mut();
        let (Source::Rdma(requester), Some(rdma)) = (&mut tx.source, &cfg.rdma) else {
            return false;
        };
        let ack = Ack {
            cum: p.seq,
            flags: p.flags(),
            ts_echo: p.ts,
            sacks: u8::from(beyond.is_some()),
        };
        requester.on_ack(cfg, rdma, now, &ack, beyond);
        let reached = requester.acked() >= tx.acked_end;
        let complete = reached && self.acknowledged(at.conn);
        self.ready(core, at);
        complete
    }
}
