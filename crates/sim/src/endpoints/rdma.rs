// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that use RDMA: how packets of a queue pair are handled on arrival.

use cemark_transport::rdma::CNP;
use cemark_transport::{Ack, Segment};
use cemark_wire::{Fields, Flags, NONE, Nanos, Packet};

use crate::endpoints::conn::{Sink, Source};
use crate::engine::Sim;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};

impl<Q: EventQueue> Sim<Q> {
    /// A packet of a queue pair has reached the host it is for.
    #[inline]
    pub fn at_pair(&mut self, host: HostId, p: Packet) {
        if p.flags().has(Flags::ACK) {
            self.at_requester(host, p)
        } else {
            self.at_responder(host, p)
        }
        self.release(ConnId::of(&p));
    }

    #[inline]
    fn at_responder(&mut self, host: HostId, p: Packet) {
        let now = self.nanos();
        let cfg = &self.cfg.transport;
        let rx = self.conns.list[ConnId::of(&p)].rx_mut();
        rx.turn_to(p.seq);
        let (Sink::Rdma(responder), Some(rdma)) = (&mut rx.sink, &cfg.rdma) else {
            return;
        };
        let segment = Segment {
            seq: p.seq,
            len: p.len(),
            flags: p.flags(),
            ecn: p.ecn(),
            ts: p.ts,
        };
        let replies = responder.on_data(cfg, rdma, now, &segment);
        let complete = responder.delivered() >= rx.end;
        let class = rx.class;
        let cnp_class = rdma.cnp_class.unwrap_or(class);
        if replies.cnp {
            // The time distinguishes two notifications where a marker makes a random choice.
            let packet = self.reply(
                0,
                now,
                ConnId::of(&p),
                NONE,
                Flags::ACK.with(CNP),
                cnp_class,
            );
            self.transmit(host, packet);
        }
        if let Some(ack) = replies.ack {
            let aux = match replies.beyond {
                None => NONE,
                Some(range) => self.sacks.store(1, [range, (0, 0), (0, 0)]),
            };
            let packet = self.reply(ack.cum, now, ConnId::of(&p), aux, ack.flags, class);
            self.transmit(host, packet);
        }
        if complete {
            self.flow_ended(ConnId::of(&p));
        }
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
            wire_bytes: self.cfg.transport.ack_bytes,
            flags,
            class,
            ..Fields::default()
        };
        Packet::new(seq, now.0 as u32, conn.0, aux, fields)
    }

    #[inline]
    fn at_requester(&mut self, host: HostId, p: Packet) {
        let now = self.nanos();
        let beyond = (p.aux != NONE).then(|| self.sacks.take(p.aux).1[0]);
        let cfg = &self.cfg.transport;
        let tx = self.conns.list[ConnId::of(&p)].tx_mut();
        let (Source::Rdma(requester), Some(rdma)) = (&mut tx.source, &cfg.rdma) else {
            return;
        };
        let ack = Ack {
            cum: p.seq,
            flags: p.flags(),
            ts_echo: p.ts,
            sacks: u8::from(beyond.is_some()),
        };
        requester.on_ack(cfg, rdma, now, &ack, beyond);
        if requester.acked() >= tx.acked_end {
            self.acknowledged(ConnId::of(&p));
        }
        self.ready(host, ConnId::of(&p));
    }
}
