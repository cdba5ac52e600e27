// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that use RDMA: how packets of a queue pair are handled on arrival.

use cemark_transport::rdma::CNP;
use cemark_transport::{Ack, Segment};
use cemark_wire::{Fields, Flags, NONE, Packet};

use super::conn::{Sink, Source};
use super::{Came, Endpoints};
use crate::events::EventQueue;
use crate::ids::EndId;
use crate::network::Core;

impl Endpoints {
    /// Data of a queue pair has reached its receiver, whose connection is at its turn.
    #[inline(never)]
    pub(super) fn at_responder<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        at: EndId,
        p: &Packet,
    ) -> Came {
        let now = core.nanos();
        let rx = self.conns.list[at.conn].rx_mut();
        let cfg = &rx.transport.cfg;
        let (Sink::Rdma(responder), Some(rdma)) = (&mut rx.sink, &cfg.rdma) else {
            return Came::Nothing;
        };
        let segment = Segment::of(p);
        let replies = responder.on_data(cfg, rdma, now, &segment);
        let complete = responder.delivered() >= rx.end;
        let reply = |seq, aux, flags, class| {
            let fields = Fields {
                wire_bytes: cfg.ack_bytes,
                flags,
                class,
                ..Fields::default()
            };
            Packet::new(seq, now.0 as u32, at.conn.0, aux, fields)
        };
        if replies.cnp {
            // The time distinguishes two notifications where a marker makes a random choice.
            let class = rdma.cnp_class.unwrap_or(rx.class);
            core.transmit(at.host, reply(0, NONE, Flags::ACK.with(CNP), class));
        }
        if let Some(ack) = replies.ack {
            let aux = match replies.beyond {
                None => NONE,
                Some(range) => core.net.sacks.store(1, [range, (0, 0), (0, 0)]),
            };
            core.transmit(at.host, reply(ack.cum, aux, ack.flags, rx.class));
        }
        self.note_marks(&core.agenda, at.conn);
        self.release(&mut core.net, at.conn);
        Came::of(complete)
    }

    /// An acknowledgement or notification of a queue pair has reached its sender.
    #[inline(never)]
    pub(super) fn at_requester<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        at: EndId,
        p: &Packet,
    ) -> Came {
        let now = core.nanos();
        let beyond = (p.aux != NONE).then(|| core.net.sacks.take(p.aux).1[0]);
        let tx = self.conns.list[at.conn].tx_mut();
        let cfg = &tx.transport.cfg;
        let (Source::Rdma(requester), Some(rdma)) = (&mut tx.source, &cfg.rdma) else {
            return Came::Nothing;
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
        self.release(&mut core.net, at.conn);
        Came::of(complete)
    }
}
