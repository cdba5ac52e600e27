// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows start on a connection and end when the receiver has their last byte.

use crate::scramble::hash;
use cemark_wire::Picos;

use crate::config::Fct;
use crate::endpoints::conn::{Conn, Group};
use crate::endpoints::rdma::QueuePair;
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
        let conn = self.connection_for(flow);
        let extra = self.clock.ticks(flow.extra);
        let bounded = matches!(
            self.cfg.workloads[usize::from(flow.workload)].class,
            ClassMap::ByBytesSent(_)
        );
        let c = &mut self.conns.list[conn];
        c.idle = false;
        c.flow = flow;
        c.class = flow.class;
        c.extra = extra;
        c.before = c.tally();
        c.bounds = bounded.then_some(flow.workload);
        let mut last = conn;
        let split = self.pep.is_some().then(|| self.split(conn, flow)).flatten();
        match split {
            Some(end) => last = end,
            None => {
                let c = &mut self.conns.list[conn];
                c.end = c.write(flow.bytes);
                c.begin = if flow.bytes == u64::MAX {
                    0
                } else {
                    c.end - flow.bytes
                };
                if self.sender_ends {
                    c.acked_end = std::mem::replace(&mut c.end, u64::MAX);
                }
            }
        }
        if flow.bytes == u64::MAX {
            let before = self.conns.list[last].delivered();
            // A flow that starts after the measurement delivers nothing in it, and no later event
            // would record that.
            let over = self.clock.picos(self.now) >= self.cfg.measure.until;
            self.metrics.goodput.push(Goodput {
                conn: last,
                at_from: before,
                at_until: over.then_some(before),
                last: before,
                // One that starts later delivered nothing in the intervals before.
                intervals: vec![0; self.metrics.all_goodput.len()],
            });
        }
        if Q::SHARDED && !self.starts(&flow, conn) {
            return;
        }
        if last == conn {
            self.ready(HostId(flow.src), conn);
        }
    }

    fn connection_for(&mut self, flow: Flow) -> ConnId {
        let persistent = self.cfg.workloads[usize::from(flow.workload)].persistent;
        let group = self.group(flow.workload);
        if persistent
            && let Some(idle) = self
                .conns
                .take_idle(HostId(flow.src), HostId(flow.dst), group)
        {
            return idle;
        }
        // Fresh connections take their random draws and their path from the flow, so that both are
        // the same under every scheme. A persistent connection takes them from its pair and number,
        // because which flow uses which connection depends on the scheme.
        let name = if persistent {
            self.conns.opened_for(HostId(flow.src), HostId(flow.dst)) | 1 << 63
        } else {
            flow.id
        };
        let conn = self.open(flow, name);
        self.conns.list[conn].persistent = persistent;
        self.conns.list[conn].group = group;
        conn
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

    /// A connection for `flow` with its routes through the fabric.
    pub fn open(&mut self, flow: Flow, name: u64) -> ConnId {
        let seed = self.cfg.seed;
        let pair = u64::from(flow.src) << 32 | u64::from(flow.dst);
        let hash_seed = hash(seed, pair, name, 1);
        let routes = [
            self.fabric
                .route(flow.src, flow.dst, path(seed, flow.src, flow.dst, name)),
            self.fabric
                .route(flow.dst, flow.src, hash(seed, pair, name, 3)),
        ];
        let extra = self.clock.ticks(flow.extra);
        let common = &self.cfg.transport;
        let conn = match &self.cfg.workloads[usize::from(flow.workload)].control {
            None => self.conns.open(common, flow, extra, hash_seed, routes),
            Some(own) => {
                let cfg = common.under(own);
                self.conns.open(&cfg, flow, extra, hash_seed, routes)
            }
        };
        if let Some(rdma) = &self.cfg.transport.rdma {
            let line = self.fabric.links()[HostId(flow.src).nic()].rate;
            self.conns.list[conn].pair = Some(Box::new(QueuePair::new(rdma, line)));
        }
        conn
    }

    /// The sender of `conn` has an acknowledgement, and says when the flow is complete.
    #[cold]
    pub fn acknowledged(&mut self, conn: ConnId) {
        let c = &mut self.conns.list[conn];
        if c.acked_end == u64::MAX || c.sender.acked() < c.acked_end {
            return;
        }
        if self.cfg.measure.fct == Fct::Closed && !c.closing {
            // A FIN has a sequence number of its own.
            c.closing = true;
            c.acked_end = c.write(1);
            return;
        }
        c.acked_end = u64::MAX;
        self.flow_ended(conn);
    }

    /// The receiver holds the last byte of the flow on `conn`.
    #[cold]
    pub fn flow_ended(&mut self, conn: ConnId) {
        let c = &self.conns.list[conn];
        if c.flow.measured {
            let record = self.flow_record(c, true);
            self.metrics.flows.push(record);
            if Q::SHARDED {
                self.note_end(conn);
            }
            self.awaited -= 1;
            if self.awaited == 0 {
                self.stop = true;
            }
        }
        if self.pep.as_ref().is_some_and(|pep| pep.counts_with(conn)) {
            // The proxies read from the connection until no byte is left in them, and end it then.
            let c = &mut self.conns.list[conn];
            c.end = u64::MAX;
            c.flow.measured = false;
            return;
        }
        self.conns.ended(conn);
    }

    /// What is recorded of the flow that `c` carries.
    pub fn flow_record(&self, c: &Conn, ended: bool) -> FlowRecord {
        let f = &c.flow;
        let t = c.tally();
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
            marks: t.marks - c.before.marks,
            retransmits: t.retransmits - c.before.retransmits,
            timeouts: t.timeouts - c.before.timeouts,
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
