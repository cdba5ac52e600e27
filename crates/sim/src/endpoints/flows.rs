// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows start on a connection and end when the receiver has their last byte.

use crate::scramble::hash;
use cemark_wire::Picos;

use crate::config::Fct;
use crate::endpoints::conn::{Announced, Conn, Counts, Group, ReceiverEnd, SenderEnd, Source};
use crate::engine::{Sim, kind};
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::metrics::Goodput;
use crate::outcome::FlowRecord;
use crate::workload::{ClassMap, Flow, path};

impl<Q: EventQueue> Sim<Q> {
    /// Puts the start of the next flow into the event list.
    pub fn arm_flow(&mut self) {
        if let Some(at) = self.traffic.peek() {
            self.events
                .insert(self.clock.ticks(at).max(self.now), kind::FLOW);
        }
    }

    /// Starts the flow that is due.
    pub fn next_flow(&mut self) {
        let Some(flow) = self.traffic.pop() else {
            return;
        };
        self.arm_flow();
        if self.cfg.workloads[usize::from(flow.workload)].persistent {
            self.start_on_persistent(flow);
        } else {
            self.start_on_fresh(flow);
        }
    }

    /// Starts a flow on a connection of its own. It takes its random draws and its path from the
    /// flow, so that both are the same under every scheme.
    fn start_on_fresh(&mut self, flow: Flow) {
        let conn = match self.pep {
            None => self.conns.of_flow(flow.id),
            Some(_) => self.conns.next(),
        };
        self.open(conn, flow, flow.id);
        let split = self.pep.is_some().then(|| self.split(conn, flow)).flatten();
        let last = split.unwrap_or(conn);
        if flow.bytes == u64::MAX && self.conns.list[last].rx.is_some() {
            self.watch_goodput(last);
        }
        if split.is_none() && self.conns.list[conn].tx.is_some() {
            self.send_flow(conn, flow);
        }
    }

    /// Starts a flow on a connection of its pair that is idle, as far as the sender knows, or on a
    /// new one. A new one takes draws and path from its pair and number, because which flow uses
    /// which connection depends on the scheme.
    fn start_on_persistent(&mut self, flow: Flow) {
        let (src, dst) = (HostId(flow.src), HostId(flow.dst));
        if !self.has_port(src.nic()) {
            return;
        }
        let group = self.group(flow.workload);
        let conn = self.conns.take_idle(src, dst, group).unwrap_or_else(|| {
            let conn = self.conns.of_flow(flow.id);
            let name = self.conns.opened_for(src, dst) | 1 << 63;
            self.open(conn, flow, name);
            if Q::SHARDED {
                self.tell_opened(conn, flow, name);
            }
            let tx = self.conns.list[conn].tx_mut();
            (tx.persistent, tx.group) = (true, group);
            conn
        });
        let extra = self.clock.ticks(flow.extra);
        let c = &mut self.conns.list[conn];
        c.extra = extra;
        let tx = c.tx_mut();
        tx.before = tx.source.counts();
        (tx.class, tx.flow) = (flow.class, flow);
        self.send_flow(conn, flow);
    }

    /// The sender of a connection gets the bytes of a flow, and sends what it may.
    fn send_flow(&mut self, conn: ConnId, flow: Flow) {
        let by_bytes = matches!(
            self.cfg.workloads[usize::from(flow.workload)].class,
            ClassMap::ByBytesSent(_)
        );
        let tx = self.conns.list[conn].tx_mut();
        tx.bounds = by_bytes.then_some(flow.workload);
        let end = tx.source.write(flow.bytes);
        tx.begin = match flow.bytes {
            u64::MAX => 0,
            bytes => end - bytes,
        };
        if self.sender_ends || tx.persistent {
            tx.acked_end = end;
        }
        if tx.persistent {
            let announced = Announced {
                flow,
                begin: tx.begin,
                end: if self.sender_ends { u64::MAX } else { end },
            };
            if !Q::SHARDED || !self.tell_announced(conn, announced) {
                self.announce(conn, announced);
            }
        }
        if Q::SHARDED {
            self.note_start(&flow, conn);
        }
        self.ready(HostId(flow.src), conn);
    }

    /// The receiver of a persistent connection learns of its next flow, before anything of it
    /// arrives.
    pub fn announce(&mut self, conn: ConnId, announced: Announced) {
        self.conns.list[conn].rx_mut().next = Some(Box::new(announced));
        if announced.flow.bytes == u64::MAX {
            self.watch_goodput(conn);
        }
    }

    /// Records the goodput of an endless flow from now on.
    fn watch_goodput(&mut self, conn: ConnId) {
        let before = self.conns.list[conn].rx().sink.delivered();
        // A flow that starts after the measurement delivers nothing in it, and no later event
        // would record that.
        let over = self.clock.picos(self.now) >= self.cfg.measure.until;
        self.metrics.goodput.push(Goodput {
            conn,
            at_from: before,
            at_until: over.then_some(before),
            last: before,
            // One that starts later delivered nothing in the intervals before.
            intervals: vec![0; self.metrics.all_goodput.len()],
        });
    }

    /// Which workloads share idle connections with this one: those with the same controller.
    fn group(&self, workload: u16) -> Group {
        let all = &self.cfg.workloads;
        let control = &all[usize::from(workload)].control;
        match control {
            None => 0,
            Some(_) => (1u16..)
                .zip(all)
                .find(|(_, w)| w.control == *control)
                .map_or(0, |(group, _)| group),
        }
    }

    /// Makes connection `conn` known, which `flow` opens: its routes through the fabric, and those
    /// of its ends whose hosts are here. One that persists waits for its first flow.
    pub fn open(&mut self, conn: ConnId, flow: Flow, name: u64) {
        let seed = self.cfg.seed;
        let (src, dst) = (HostId(flow.src), HostId(flow.dst));
        let pair = u64::from(flow.src) << 32 | u64::from(flow.dst);
        let hash_seed = hash(seed, pair, name, 1);
        let routes = [
            self.fabric
                .route(flow.src, flow.dst, path(seed, flow.src, flow.dst, name)),
            self.fabric
                .route(flow.dst, flow.src, hash(seed, pair, name, 3)),
        ];
        let workload = &self.cfg.workloads[usize::from(flow.workload)];
        let common = &self.cfg.transport;
        let own = workload.control.as_ref().map(|own| common.under(own));
        let cfg = own.as_ref().unwrap_or(common);
        let tx = self.has_port(src.nic()).then(|| {
            let line = self.fabric.links()[src.nic()].rate;
            Box::new(SenderEnd::new(Source::new(cfg, line), flow))
        });
        let rx = self.has_port(dst.nic()).then(|| {
            let mut rx = ReceiverEnd::new(cfg, flow);
            if !workload.persistent && !self.sender_ends {
                rx.end = flow.bytes;
            }
            Box::new(rx)
        });
        let extra = self.clock.ticks(flow.extra);
        let row = Conn {
            tx,
            rx,
            hash_seed,
            extra,
            src,
            dst,
            in_fabric: 0,
        };
        self.conns.put(conn, row, routes);
    }

    /// The sender of `conn` has the acknowledgement that it waits for: it may say when the flow is
    /// complete, and a connection that persists is idle then.
    #[cold]
    pub fn acknowledged(&mut self, conn: ConnId) {
        let tx = self.conns.list[conn].tx_mut();
        if tx.acked_end == u64::MAX {
            return;
        }
        if self.cfg.measure.fct == Fct::Closed && !tx.closing {
            // A FIN has a sequence number of its own.
            tx.closing = true;
            tx.acked_end = tx.source.write(1);
            return;
        }
        tx.acked_end = u64::MAX;
        let persistent = tx.persistent;
        if self.sender_ends {
            self.flow_ended(conn);
        }
        if persistent {
            self.conns.put_idle(conn);
        }
    }

    /// The flow that the receiver of `conn` has is complete.
    #[cold]
    pub fn flow_ended(&mut self, conn: ConnId) {
        let c = &self.conns.list[conn];
        let flow = c.rx().flow;
        if flow.measured {
            let record = self.flow_record(c, &flow, true);
            self.metrics.flows.push(record);
            if Q::SHARDED {
                self.note_end(conn);
            }
            self.awaited -= 1;
            if self.awaited == 0 {
                self.stop = true;
            }
        }
        let rx = self.conns.list[conn].rx_mut();
        rx.end = u64::MAX;
        if self.pep.as_ref().is_some_and(|pep| pep.counts_with(conn)) {
            // The proxies read from the connection until no byte is left in them, and end it then.
            rx.flow.measured = false;
        } else {
            rx.open = false;
        }
    }

    /// What is recorded of a flow that `c` carries. What its sender counted is zero where that is
    /// not here.
    pub fn flow_record(&self, c: &Conn, f: &Flow, ended: bool) -> FlowRecord {
        let rx = c.rx();
        let marks = match &rx.next {
            Some(_) => 0,
            None => rx.sink.ce_packets() - rx.before,
        };
        let counts = c.tx.as_ref().map_or_else(Counts::default, |tx| tx.gained());
        FlowRecord {
            id: f.id,
            workload: f.workload,
            class: f.class,
            src: f.src,
            dst: f.dst,
            bytes: f.bytes,
            start: f.start,
            // From the tick at which it really started: a start between two ticks is rounded.
            fct: ended.then(|| {
                let since = self.clock.picos(self.now - self.clock.ticks(f.start));
                match self.cfg.measure.fct {
                    Fct::Client => since + self.small_way(f.dst, f.src),
                    _ => since,
                }
            }),
            ideal: self.ideal(f),
            extra: f.extra,
            marks,
            retransmits: counts.retransmits,
            timeouts: counts.timeouts,
        }
    }

    /// Completion time in an empty network with an open window: every packet as soon as its link is
    /// free of the one before, and the propagation.
    fn ideal(&self, f: &Flow) -> Picos {
        if f.bytes == u64::MAX {
            return Picos::ZERO;
        }
        let t = &self.cfg.transport;
        let mss = u64::from(t.mss);
        let header = u64::from(t.header_bytes);
        let full = f.bytes.div_ceil(mss).max(1) - 1;
        let last = f.bytes - full * mss + header;
        // When the last full packet and the last packet of all have been sent on each link, without
        // the propagation that both share.
        let (mut full_left, mut slowest, mut left) = (0, 0, 0);
        let route = self.fabric.route(f.src, f.dst, 0);
        for &l in route.iter().take_while(|&&l| l != LinkId::NONE) {
            let byte = self.fabric.links()[l].rate.picos_per_byte().0;
            if full > 0 {
                let packet = (mss + header) * byte;
                full_left += packet + (full - 1) * packet.saturating_sub(slowest);
                slowest = slowest.max(packet);
            }
            left = left.max(full_left) + last * byte;
        }
        let there = Picos(left) + self.cfg.topology.propagation(f.src, f.dst) + f.extra;
        match self.cfg.measure.fct {
            Fct::LastByte => there,
            Fct::LastAck | Fct::Client => there + self.small_way(f.dst, f.src),
            Fct::Closed => {
                let back = self.small_way(f.dst, f.src);
                there + back + self.small_way(f.src, f.dst) + f.extra + back
            }
        }
    }

    /// How long a packet without payload takes through the empty network.
    fn small_way(&self, src: u32, dst: u32) -> Picos {
        let bytes = u64::from(self.cfg.transport.ack_bytes);
        let route = self.fabric.route(src, dst, 0);
        let links = route.iter().take_while(|&&l| l != LinkId::NONE);
        let sent: u64 = links
            .map(|&l| bytes * self.fabric.links()[l].rate.picos_per_byte().0)
            .sum();
        Picos(sent) + self.cfg.topology.propagation(src, dst)
    }
}
