// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts: what arrives, what is sent, and how a NIC serves its connections.

use cemark_switch::NEVER;
use cemark_transport::{Ack, Acks, Segment, segment_wire_bytes};
use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet};

use crate::endpoints::conn::{SenderEnd, Sink, Source};
use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::outcome::ProbeRecord;
use crate::workload::{ClassMap, Kind};

/// Bytes of a probe and of its answer on the wire.
pub(crate) const PROBE_BYTES: u16 = 64;

impl<Q: EventQueue> Sim<Q> {
    #[inline]
    pub fn nanos(&self) -> Nanos {
        self.clock.nanos(self.now)
    }

    /// A packet has reached the host it is for.
    #[inline]
    pub fn at_host(&mut self, host: HostId, p: Packet) {
        if self.bunches {
            return self.hold(host, p);
        }
        self.delivered += 1;
        if p.flags().has(Flags::PROBE) {
            self.at_prober(host, p);
        } else if self.rdma {
            self.at_pair(host, p);
        } else if p.flags().has(Flags::ACK) {
            self.at_sender(host, p);
        } else {
            self.at_receiver(host, p);
        }
    }

    #[inline]
    fn at_receiver(&mut self, host: HostId, p: Packet) {
        let now = self.nanos();
        let rx = self.conns.list[ConnId::of(&p)].rx_mut();
        rx.turn_to(p.seq);
        let Sink::Tcp(receiver) = &mut rx.sink else {
            return;
        };
        let segment = Segment {
            seq: p.seq,
            len: p.len(),
            flags: p.flags(),
            ecn: p.ecn(),
            ts: p.ts,
        };
        let acks = receiver.on_data(&self.cfg.transport, now, &segment);
        let complete = receiver.delivered() >= rx.end;
        if self.gathers {
            self.answer_later(host, ConnId::of(&p), u64::from(p.len()), acks);
        } else {
            self.answer(host, ConnId::of(&p), acks);
        }
        if self.cfg.transport.ack_every > 1 {
            self.arm_ack_timer(ConnId::of(&p));
        }
        if complete {
            self.flow_ended(ConnId::of(&p));
        }
        self.release(ConnId::of(&p));
    }

    #[inline]
    pub fn answer(&mut self, host: HostId, conn: ConnId, acks: Acks) {
        match acks {
            Acks::None => {}
            Acks::One(a) => self.send_ack(host, conn, a),
            Acks::Two(a, b) => {
                self.send_ack(host, conn, a);
                self.send_ack(host, conn, b);
            }
        }
    }

    #[inline]
    pub fn send_ack(&mut self, host: HostId, conn: ConnId, ack: Ack) {
        let rx = self.conns.list[conn].rx();
        let mut aux = NONE;
        if ack.sacks > 0
            && let Sink::Tcp(receiver) = &rx.sink
        {
            let mut blocks = [(0, 0); 3];
            let n = receiver.sack_blocks(&mut blocks);
            aux = self.sacks.store(n, blocks);
        }
        let fields = Fields {
            wire_bytes: self.cfg.transport.ack_bytes,
            flags: ack.flags.with(Flags::ACK),
            class: rx.class,
            ecn: rx.ack_ecn,
            ..Fields::default()
        };
        let packet = Packet::new(ack.cum, ack.ts_echo, conn.0, aux, fields);
        self.transmit(host, packet);
    }

    #[inline]
    fn at_sender(&mut self, host: HostId, p: Packet) {
        let now = self.nanos();
        let (n, blocks) = if p.aux == NONE {
            (0, [(0, 0); 3])
        } else {
            self.sacks.take(p.aux)
        };
        let tx = self.conns.list[ConnId::of(&p)].tx_mut();
        let Source::Tcp(sender) = &mut tx.source else {
            return;
        };
        let ack = Ack {
            cum: p.seq,
            flags: p.flags(),
            ts_echo: p.ts,
            sacks: n as u8,
        };
        sender.on_ack(&self.cfg.transport, now, &ack, &blocks[..n]);
        let reached = sender.acked() >= tx.acked_end;
        if Q::SHARDED {
            self.note_sender(ConnId::of(&p));
        }
        if reached {
            self.acknowledged(ConnId::of(&p));
        }
        self.ready(host, ConnId::of(&p));
        self.release(ConnId::of(&p));
    }

    /// The connection may have something to send.
    #[inline]
    pub fn ready(&mut self, host: HostId, conn: ConnId) {
        if self.turn == 0 {
            let tx = self.conns.list[conn].tx();
            if worth(self.tso, &self.cfg, tx, || self.clock.nanos(self.now)) {
                match self.cfg.transport.max_burst {
                    0 => while self.send_one(host, conn) {},
                    most => self.send_burst(host, conn, most),
                }
            }
            self.arm_timer(conn);
            return;
        }
        let tx = self.conns.list[conn].tx_mut();
        if tx.in_line {
            return;
        }
        if !worth(self.tso, &self.cfg, tx, || self.clock.nanos(self.now)) {
            self.arm_timer(conn);
            return;
        }
        tx.in_line = true;
        let h = &mut self.hosts[host];
        h.line.push_back(conn);
        if h.pull_armed {
            return;
        }
        let free = self.nic_free(host);
        if free <= self.now {
            self.pull(host);
        } else {
            self.hosts[host].pull_armed = true;
            self.events.insert(free, kind::PULL | host.0);
        }
    }

    /// At most `most` segments onto the NIC, whatever the windows allow. The window counts as used
    /// up, so that it grows although the limit keeps the sender from filling it, as in ns-3.
    #[cold]
    fn send_burst(&mut self, host: HostId, conn: ConnId, most: u32) {
        let mut left = most;
        while left > 0 && self.send_one(host, conn) {
            left -= 1;
        }
        if let Source::Tcp(sender) = &mut self.conns.list[conn].tx_mut().source {
            sender.fill_window();
        }
    }

    /// When the NIC can serve the next connection in its queue.
    #[inline]
    pub fn nic_free(&self, host: HostId) -> u64 {
        let port = &self.ports[host.nic()];
        match self.pfc {
            None => port.busy_until(),
            // A NIC that can be paused has real queues.
            Some(_) => self.now + port.open_ticks(self.now),
        }
    }

    /// The NIC serves the next connection in its line.
    pub fn pull(&mut self, host: HostId) {
        self.hosts[host].pull_armed = false;
        while let Some(conn) = self.hosts[host].line.pop_front() {
            if self.pfc.is_some() && self.held_back(host, conn) {
                continue;
            }
            let mut sent = 0;
            while sent < self.turn && self.send_one(host, conn) {
                sent += 1;
            }
            let more = sent == self.turn
                && worth(self.tso, &self.cfg, self.conns.list[conn].tx(), || {
                    self.clock.nanos(self.now)
                });
            self.arm_timer(conn);
            self.conns.list[conn].tx_mut().in_line = more;
            if more {
                self.hosts[host].line.push_back(conn);
            } else if sent == 0 {
                self.conns.maybe_retire(conn);
                continue;
            }
            if !self.hosts[host].line.is_empty() {
                self.hosts[host].pull_armed = true;
                self.events.insert(self.nic_free(host), kind::PULL | host.0);
            }
            return;
        }
    }

    /// One segment onto the NIC; false when the connection has none to send now.
    #[inline]
    fn send_one(&mut self, host: HostId, conn: ConnId) -> bool {
        let now = self.nanos();
        let tx = self.conns.list[conn].tx_mut();
        let Some(s) = tx.source.poll_transmit(&self.cfg.transport, now) else {
            return false;
        };
        let class = match tx.bounds {
            None => tx.class,
            Some(workload) => class_by_bytes(&self.cfg, workload, s.seq.saturating_sub(tx.begin)),
        };
        if Q::SHARDED {
            self.note_sender(conn);
        }
        let fields = Fields {
            wire_bytes: segment_wire_bytes(&self.cfg.transport, &s),
            len: s.len,
            ecn: s.ecn,
            flags: s.flags,
            class,
        };
        let packet = Packet::new(s.seq, s.ts, conn.0, NONE, fields);
        self.transmit(host, packet);
        true
    }

    /// Makes sure that an event is pending at or before the sender's deadline. Deadlines that move
    /// later cost nothing.
    #[inline]
    fn arm_timer(&mut self, conn: ConnId) {
        let tx = self.conns.list[conn].tx_mut();
        let now = || self.clock.nanos(self.now);
        let Some(deadline) = tx.source.timeout(&self.cfg.transport, now) else {
            return;
        };
        // A pending event that comes too early re-arms itself; compare in nanoseconds only when
        // none is pending before it.
        if tx.timer_at != NEVER && self.clock.nanos(tx.timer_at) <= deadline {
            return;
        }
        let at = self.clock.ticks_up(deadline).max(self.now);
        tx.timer_at = at;
        tx.timers += 1;
        self.events.insert(at, kind::TIMER | conn.0);
    }

    pub fn sender_timer(&mut self, conn: ConnId) {
        let now = self.nanos();
        let c = &mut self.conns.list[conn];
        let host = c.src;
        let tx = c.tx_mut();
        if tx.timer_at == self.now {
            tx.timer_at = NEVER;
            if tx.source.on_timeout(&self.cfg.transport, now) {
                if Q::SHARDED {
                    self.note_sender(conn);
                }
                self.ready(host, conn);
            }
            self.arm_timer(conn);
        }
        // Only now: a NIC that drops the retransmission of a flow whose receiver has everything
        // would otherwise end the connection here.
        self.conns.list[conn].tx_mut().timers -= 1;
        self.conns.maybe_retire(conn);
    }

    fn arm_ack_timer(&mut self, conn: ConnId) {
        let rx = self.conns.list[conn].rx_mut();
        let Sink::Tcp(receiver) = &rx.sink else {
            return;
        };
        let Some(deadline) = receiver.timeout() else {
            return;
        };
        if rx.timer_at != NEVER && self.clock.nanos(rx.timer_at) <= deadline {
            return;
        }
        let at = self.clock.ticks_up(deadline).max(self.now);
        rx.timer_at = at;
        rx.timers += 1;
        self.events.insert(at, kind::ACK_TIMER | conn.0);
    }

    pub fn ack_timer(&mut self, conn: ConnId) {
        let now = self.nanos();
        let c = &mut self.conns.list[conn];
        let host = c.dst;
        let rx = c.rx_mut();
        if rx.timer_at == self.now {
            rx.timer_at = NEVER;
            let acks = match &mut rx.sink {
                Sink::Tcp(receiver) if receiver.timeout().is_some_and(|d| d <= now) => {
                    receiver.on_timeout(now)
                }
                _ => Acks::None,
            };
            self.answer(host, conn, acks);
            self.arm_ack_timer(conn);
        }
        // Only now, as above.
        self.conns.list[conn].rx_mut().timers -= 1;
        self.conns.maybe_retire(conn);
    }

    /// A probe of workload `w` is due.
    pub fn send_probe(&mut self, w: u32) {
        let state = &mut self.metrics.probes[w as usize];
        state.left -= 1;
        let (conn, src, class) = (state.conn, state.src, state.class);
        if state.left > 0 {
            self.events.insert(self.now + state.every, kind::PROBE | w);
        }
        let fields = Fields {
            wire_bytes: PROBE_BYTES,
            // ECN-capable, so that a switch that drops what it cannot mark does not lose the
            // measurement.
            ecn: Ecn::Ect0,
            flags: Flags::PROBE,
            class,
            ..Fields::default()
        };
        let packet = Packet::new(self.now, 0, conn.0, NONE, fields);
        self.transmit(src, packet);
    }

    fn at_prober(&mut self, host: HostId, p: Packet) {
        if p.flags().has(Flags::ACK) {
            let workload = self.conns.list[ConnId::of(&p)].tx().flow.workload;
            let (sent, rtt) = (self.clock.picos(p.seq), self.clock.picos(self.now - p.seq));
            self.metrics.probe_answers.push(ProbeRecord {
                workload,
                sent,
                rtt,
            });
            if Q::SHARDED {
                self.note_answer();
            }
        } else {
            let fields = Fields {
                wire_bytes: p.wire_bytes(),
                ecn: Ecn::Ect0,
                flags: p.flags().with(Flags::ACK),
                class: p.class(),
                ..Fields::default()
            };
            let answer = Packet::new(p.seq, p.ts, p.conn, NONE, fields);
            self.transmit(host, answer);
        }
        self.release(ConnId::of(&p));
    }
}

/// Whether a connection has something to send, and under TSO enough of it.
#[inline]
fn worth(tso: u32, cfg: &crate::Config, tx: &SenderEnd, now: impl FnOnce() -> Nanos) -> bool {
    let (source, cfg) = (&tx.source, &cfg.transport);
    source.can_send(cfg, now) && (tso == 0 || source.fills_train(cfg, tso))
}

/// The class of a byte of a flow under demotion by bytes sent (PIAS).
fn class_by_bytes(cfg: &crate::Config, workload: u16, sent: u64) -> u8 {
    match &cfg.workloads[usize::from(workload)].class {
        ClassMap::ByBytesSent(bounds) => bounds.partition_point(|&b| sent >= b) as u8,
        _ => 0,
    }
}

/// Whether a workload is a probe.
pub(crate) fn is_probe(kind: &Kind) -> bool {
    matches!(kind, Kind::Probe { .. })
}
