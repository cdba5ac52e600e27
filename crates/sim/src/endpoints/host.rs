// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hosts: what arrives, what is sent, and how a NIC serves its connections.

use std::collections::VecDeque;

use cemark_transport::{Ack, Acks, Segment, segment_wire_bytes};
use cemark_wire::{Ecn, Fields, Flags, NONE, Nanos, Packet};

use super::conn::{SenderEnd, Sink, Source};
use super::{Came, Endpoints};
use crate::agenda::{Agenda, kind};
use crate::config::Config;
use crate::events::EventQueue;
use crate::ids::{ConnId, EndId, HostId, indexed};
use crate::network::{Core, Network};
use crate::outcome::ProbeRecord;
use crate::workload::{ClassMap, PROBE_BYTES};

/// A host, with the queue of connections that have something to send through its NIC.
#[derive(Default)]
pub(crate) struct Host {
    pub line: VecDeque<ConnId>,
    /// Connections that wait for the end of a pause.
    pub held: Vec<ConnId>,
    pub pull_armed: bool,
    /// Received packets that wait for the interrupt.
    pub received: Vec<Packet>,
    pub interrupt_armed: bool,
}

indexed!(HostId: Host);

impl Endpoints {
    /// A host takes a packet that has reached it.
    #[inline(always)]
    pub fn receive<Q: EventQueue>(&mut self, core: &mut Core<Q>, host: HostId, p: &Packet) -> Came {
        self.delivered += 1;
        let at = EndId::of(host, p);
        if p.flags().has(Flags::PROBE) {
            self.at_prober(core, at, p)
        } else if p.flags().has(Flags::ACK) {
            self.at_sender(core, at, p)
        } else {
            self.at_receiver(core, at, p)
        }
    }

    #[inline(never)]
    fn at_receiver<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> Came {
        let now = core.nanos();
        let rx = self.conns.list[at.conn].rx_mut();
        rx.turn_to(p.seq);
        let Sink::Tcp(receiver) = &mut rx.sink else {
            return self.at_responder(core, at, p);
        };
        let segment = Segment::of(p);
        let cfg = &rx.transport.cfg;
        let acks = receiver.on_data(cfg, now, &segment);
        let delays = cfg.ack_every > 1;
        let complete = receiver.delivered() >= rx.end;
        if self.gathers {
            self.answer_later(core, at, u64::from(p.len()), acks);
        } else if let Acks::One(ack) = acks {
            // The usual case of `answer`, in place.
            self.acknowledge(core, at, ack);
        } else {
            self.answer(core, at, acks);
        }
        if delays {
            self.arm_ack_timer(&mut core.agenda, at.conn);
        }
        self.note_marks(&core.agenda, at.conn);
        self.release(&mut core.net, at.conn);
        Came::of(complete)
    }

    #[inline]
    pub fn answer<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, acks: Acks) {
        match acks {
            Acks::None => {}
            Acks::One(a) => self.send_ack(core, at, a),
            Acks::Two(a, b) => {
                self.send_ack(core, at, a);
                self.send_ack(core, at, b);
            }
        }
    }

    #[inline(never)]
    pub fn send_ack<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, ack: Ack) {
        self.acknowledge(core, at, ack);
    }

    #[inline(always)]
    fn acknowledge<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, ack: Ack) {
        let rx = self.conns.list[at.conn].rx();
        let mut aux = NONE;
        if ack.sacks > 0
            && let Sink::Tcp(receiver) = &rx.sink
        {
            let mut blocks = [(0, 0); 3];
            let n = receiver.sack_blocks(&mut blocks);
            aux = core.net.sacks.store(n, blocks);
        }
        let fields = Fields {
            wire_bytes: rx.transport.cfg.ack_bytes,
            flags: ack.flags.with(Flags::ACK),
            class: rx.class,
            ecn: rx.ack_ecn,
            ..Fields::default()
        };
        let packet = Packet::new(ack.cum, ack.ts_echo, at.conn.0, aux, fields);
        core.transmit(at.host, packet);
    }

    #[inline(never)]
    fn at_sender<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> Came {
        let now = core.nanos();
        let tx = self.conns.list[at.conn].tx_mut();
        let Source::Tcp(sender) = &mut tx.source else {
            return self.at_requester(core, at, p);
        };
        let record;
        let blocks: &[(u64, u64)] = if p.aux == NONE {
            &[]
        } else {
            record = core.net.sacks.take(p.aux);
            &record.1[..record.0]
        };
        let ack = Ack {
            cum: p.seq,
            flags: p.flags(),
            ts_echo: p.ts,
            sacks: blocks.len() as u8,
        };
        let cfg = &tx.transport.cfg;
        sender.on_ack(cfg, now, &ack, blocks);
        let reached = sender.acked() >= tx.acked_end;
        self.note_sender(&core.agenda, at.conn);
        let complete = reached && self.acknowledged(at.conn);
        self.ready(core, at);
        self.release(&mut core.net, at.conn);
        Came::of(complete)
    }

    /// The connection may have something to send.
    #[inline]
    pub fn ready<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId) {
        let tx = self.conns.list[at.conn].tx_mut();
        if tx.transport.turn == 0 {
            if worth(tx, || core.nanos()) {
                match tx.transport.cfg.max_burst {
                    0 => while self.send_one(core, at) {},
                    most => self.send_burst(core, at, most),
                }
            }
            self.arm_timer(&mut core.agenda, at.conn);
            return;
        }
        if tx.in_line {
            return;
        }
        if !worth(tx, || core.nanos()) {
            self.arm_timer(&mut core.agenda, at.conn);
            return;
        }
        tx.in_line = true;
        let h = &mut self.hosts[at.host];
        h.line.push_back(at.conn);
        if !h.pull_armed {
            self.pull_when_free(core, at.host);
        }
    }

    /// At most `most` segments onto the NIC, whatever the windows allow. The window counts as used
    /// up, so that it grows although the limit keeps the sender from filling it, as in ns-3.
    #[cold]
    fn send_burst<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, most: u32) {
        let mut left = most;
        while left > 0 && self.send_one(core, at) {
            left -= 1;
        }
        if let Source::Tcp(sender) = &mut self.conns.list[at.conn].tx_mut().source {
            sender.fill_window();
        }
    }

    /// When the NIC can serve the next connection in its queue.
    #[inline]
    fn nic_free<Q: EventQueue>(&self, core: &Core<Q>, host: HostId) -> u64 {
        let port = core.net.port(host.nic());
        match port.is_fused() {
            true => port.busy_until(),
            // A NIC has real queues where it can be paused, and where ticks are very short.
            false => core.agenda.now + port.open_ticks(core.agenda.now),
        }
    }

    /// Whether the NIC may not send what a connection has; it is then kept until the pause ends.
    #[inline]
    fn held_back(&mut self, net: &Network, at: EndId) -> bool {
        let held = net.is_paused(at.host.nic(), || self.conns.list[at.conn].tx().class);
        if held {
            self.hosts[at.host].held.push(at.conn);
        }
        held
    }

    /// Connections that waited for the end of a pause are queued at the NIC again.
    pub fn resume<Q: EventQueue>(&mut self, core: &mut Core<Q>, host: HostId) {
        let h = &mut self.hosts[host];
        h.line.extend(h.held.drain(..));
        if h.line.is_empty() || h.pull_armed {
            return;
        }
        self.pull_when_free(core, host);
    }

    /// The NIC serves its line now, or when it is free.
    #[inline(always)]
    fn pull_when_free<Q: EventQueue>(&mut self, core: &mut Core<Q>, host: HostId) {
        let free = self.nic_free(core, host);
        if free <= core.agenda.now {
            self.pull(core, host);
        } else {
            self.hosts[host].pull_armed = true;
            core.agenda.insert(free, kind::PULL | host.0);
        }
    }

    /// The NIC serves the next connection in its line.
    pub fn pull<Q: EventQueue>(&mut self, core: &mut Core<Q>, host: HostId) {
        self.hosts[host].pull_armed = false;
        while let Some(conn) = self.hosts[host].line.pop_front() {
            let at = EndId { host, conn };
            if core.net.pauses() && self.held_back(&core.net, at) {
                continue;
            }
            let turn = self.conns.list[conn].tx().transport.turn;
            let mut sent = 0;
            while sent < turn && self.send_one(core, at) {
                sent += 1;
            }
            let tx = self.conns.list[conn].tx();
            let more = sent == turn && worth(tx, || core.nanos());
            self.arm_timer(&mut core.agenda, conn);
            self.conns.list[conn].tx_mut().in_line = more;
            if more {
                self.hosts[host].line.push_back(conn);
            } else if sent == 0 {
                self.maybe_retire(&core.net, conn);
                continue;
            }
            if !self.hosts[host].line.is_empty() {
                self.hosts[host].pull_armed = true;
                let free = self.nic_free(core, host);
                core.agenda.insert(free, kind::PULL | host.0);
            }
            return;
        }
    }

    /// Sends one segment onto the NIC. Returns false when the connection has none to send now.
    #[inline]
    fn send_one<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId) -> bool {
        let now = core.nanos();
        let tx = self.conns.list[at.conn].tx_mut();
        let cfg = &tx.transport.cfg;
        let Some(s) = tx.source.poll_transmit(cfg, now) else {
            return false;
        };
        let class = match tx.bounds {
            None => tx.class,
            Some(workload) => class_by_bytes(&self.cfg, workload, s.seq.saturating_sub(tx.begin)),
        };
        let wire_bytes = segment_wire_bytes(cfg, &s);
        self.note_sender(&core.agenda, at.conn);
        let fields = Fields {
            wire_bytes,
            len: s.len,
            ecn: s.ecn,
            flags: s.flags,
            class,
        };
        let packet = Packet::new(s.seq, s.ts, at.conn.0, NONE, fields);
        core.transmit(at.host, packet);
        true
    }

    /// Makes sure that an event is pending at or before the sender's deadline. Deadlines that move
    /// later cost nothing.
    #[inline]
    fn arm_timer<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, conn: ConnId) {
        let tx = self.conns.list[conn].tx_mut();
        let cfg = &tx.transport.cfg;
        if let Some(deadline) = tx.source.timeout(cfg, || agenda.nanos()) {
            agenda.arm(&mut tx.timer, deadline, kind::TIMER | conn.0);
        }
    }

    pub fn sender_timer<Q: EventQueue>(&mut self, core: &mut Core<Q>, conn: ConnId) {
        let host = core.net.rows.of(conn).src;
        let tx = self.conns.list[conn].tx_mut();
        if tx.timer.fires(core.agenda.now) {
            let cfg = &tx.transport.cfg;
            if tx.source.on_timeout(cfg, core.nanos()) {
                self.note_sender(&core.agenda, conn);
                self.ready(core, EndId { host, conn });
            }
            self.arm_timer(&mut core.agenda, conn);
        }
        // Only now: a NIC that drops the retransmission of a flow whose receiver has everything
        // would otherwise end the connection here.
        self.conns.list[conn].tx_mut().timer.pending -= 1;
        self.maybe_retire(&core.net, conn);
    }

    fn arm_ack_timer<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, conn: ConnId) {
        let rx = self.conns.list[conn].rx_mut();
        let Sink::Tcp(receiver) = &rx.sink else {
            return;
        };
        if let Some(deadline) = receiver.timeout() {
            agenda.arm(&mut rx.timer, deadline, kind::ACK_TIMER | conn.0);
        }
    }

    pub fn ack_timer<Q: EventQueue>(&mut self, core: &mut Core<Q>, conn: ConnId) {
        let now = core.nanos();
        let host = core.net.rows.of(conn).dst;
        let rx = self.conns.list[conn].rx_mut();
        if rx.timer.fires(core.agenda.now) {
            let acks = match &mut rx.sink {
                Sink::Tcp(receiver) if receiver.timeout().is_some_and(|d| d <= now) => {
                    receiver.on_timeout(now)
                }
                _ => Acks::None,
            };
            self.answer(core, EndId { host, conn }, acks);
            self.arm_ack_timer(&mut core.agenda, conn);
        }
        // Only now, as above.
        self.conns.list[conn].rx_mut().timer.pending -= 1;
        self.maybe_retire(&core.net, conn);
    }

    /// Sends a probe.
    pub fn send_probe<Q: EventQueue>(&mut self, core: &mut Core<Q>, conn: ConnId, class: u8) {
        let fields = Fields {
            wire_bytes: PROBE_BYTES,
            // ECN-capable, so that a switch that drops what it cannot mark does not lose the
            // measurement.
            ecn: Ecn::Ect0,
            flags: Flags::PROBE,
            class,
            ..Fields::default()
        };
        let packet = Packet::new(core.agenda.now, 0, conn.0, NONE, fields);
        let src = core.net.rows.of(conn).src;
        core.transmit(src, packet);
    }

    #[cold]
    fn at_prober<Q: EventQueue>(&mut self, core: &mut Core<Q>, at: EndId, p: &Packet) -> Came {
        if !p.flags().has(Flags::ACK) {
            let fields = Fields {
                wire_bytes: p.wire_bytes(),
                ecn: Ecn::Ect0,
                flags: p.flags().with(Flags::ACK),
                class: p.class(),
                ..Fields::default()
            };
            let answer = Packet::new(p.seq, p.ts, p.conn, NONE, fields);
            core.transmit(at.host, answer);
            self.release(&mut core.net, at.conn);
            return Came::Nothing;
        }
        self.release(&mut core.net, at.conn);
        Came::Answer
    }

    /// Record of the answer to a probe.
    pub fn answered<Q: EventQueue>(&self, agenda: &Agenda<Q>, answer: &Packet) -> ProbeRecord {
        ProbeRecord {
            workload: self.conns.list[ConnId::of(answer)].tx().flow.workload,
            sent: agenda.clock.picos(answer.seq),
            rtt: agenda.clock.picos(agenda.now - answer.seq),
        }
    }
}

/// Whether a connection has something to send, and under TSO enough of it.
#[inline]
fn worth(tx: &SenderEnd, now: impl Fn() -> Nanos) -> bool {
    let (source, cfg, tso) = (&tx.source, &tx.transport.cfg, tx.transport.tso);
    source.can_send(cfg, &now) && (tso == 0 || source.fills_train(cfg, tso, now))
}

/// The class of a byte of a flow under demotion by bytes sent (PIAS).
fn class_by_bytes(cfg: &Config, workload: u16, sent: u64) -> u8 {
    match &cfg.workloads[usize::from(workload)].class {
        ClassMap::ByBytesSent(bounds) => bounds.partition_point(|&b| sent >= b) as u8,
        _ => 0,
    }
}
