// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts that use RDMA: the two ends of a queue pair, and how its packets are handled on arrival.

use cemark_transport::rdma::{CNP, Rdma, Requester, Responder};
use cemark_transport::{Ack, Config, Segment};
use cemark_wire::{Fields, Flags, NONE, Nanos, Packet, Rate};

use crate::engine::Sim;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};

/// Both ends of a queue pair.
pub(crate) struct QueuePair {
    pub requester: Requester,
    pub responder: Responder,
    rdma: Rdma,
}

impl QueuePair {
    /// An idle pair whose requester has a link of rate `line`.
    pub fn new(rdma: &Rdma, line: Rate) -> QueuePair {
        QueuePair {
            requester: Requester::new(rdma, line),
            responder: Responder::new(),
            rdma: *rdma,
        }
    }

    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        self.requester.poll_transmit(cfg, &self.rdma, now)
    }

    pub fn on_timeout(&mut self, cfg: &Config, now: Nanos) {
        self.requester.on_timeout(cfg, &self.rdma, now);
    }
}

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
        let c = &mut self.conns.list[ConnId::of(&p)];
        let Some(pair) = &mut c.pair else { return };
        let segment = Segment {
            seq: p.seq,
            len: p.len(),
            flags: p.flags(),
            ecn: p.ecn(),
            ts: p.ts,
        };
        let cfg = &self.cfg.transport;
        let replies = pair.responder.on_data(cfg, &pair.rdma, now, &segment);
        let complete = pair.responder.delivered() >= c.end;
        let class = c.class;
        let cnp_class = pair.rdma.cnp_class.unwrap_or(class);
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
        let c = &mut self.conns.list[ConnId::of(&p)];
        let Some(pair) = &mut c.pair else { return };
        let ack = Ack {
            cum: p.seq,
            flags: p.flags(),
            ts_echo: p.ts,
            sacks: u8::from(beyond.is_some()),
        };
        pair.requester
            .on_ack(&self.cfg.transport, &pair.rdma, now, &ack, beyond);
        self.ready(host, ConnId::of(&p));
    }
}
