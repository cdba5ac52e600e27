// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections are opened, given flows, and are idle or closed when these are complete.

use super::Endpoints;
use super::conn::{Announced, ReceiverEnd, SenderEnd};
use crate::config::Fct;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::network::rows::Row;
use crate::network::{Core, Network};
use crate::scramble::hash;
use crate::workload::{ClassMap, Flow, path, path_back};

impl Endpoints {
    /// Makes connection `conn` known, which `flow` opens: its routes through the fabric, and those
    /// of its ends whose hosts are here; nothing where none of its packets ever is here. A fresh
    /// connection is named by its flow, one that persists by its pair and number, and waits for its
    /// first flow.
    pub fn open<Q: EventQueue>(&mut self, core: &mut Core<Q>, conn: ConnId, flow: Flow, name: u64) {
        let net = &mut core.net;
        let seed = self.cfg.seed;
        let (src, dst) = (HostId(flow.src), HostId(flow.dst));
        let pair = u64::from(flow.src) << 32 | u64::from(flow.dst);
        let hash_seed = hash(seed, pair, name, 1);
        let there = path(seed, flow.src, flow.dst, name);
        let back = path_back(seed, flow.src, flow.dst, name);
        let routes = [
            net.fabric.route(flow.src, flow.dst, there),
            net.fabric.route(flow.dst, flow.src, back),
        ];
        if !net.has_some_of(&routes) {
            net.rows.reach(conn);
            return;
        }
        let workload = &self.cfg.workloads[usize::from(flow.workload)];
        let group = self.groups[usize::from(flow.workload)];
        let transport = &self.transports[usize::from(group)];
        let tx = net.owns(src.nic()).then(|| {
            let line = net.fabric.links()[src.nic()].rate;
            Box::new(SenderEnd::new(transport, line, flow, group))
        });
        let rx = net.owns(dst.nic()).then(|| {
            let mut rx = ReceiverEnd::new(transport, flow);
            if !workload.persistent && !self.sender_ends {
                rx.end = flow.bytes;
            }
            Box::new(rx)
        });
        let extra = core.agenda.ticks(flow.extra);
        net.rows
            .put(conn, Row::new(hash_seed, extra, src, dst, group), routes);
        let ends = self.conns.at_mut(conn);
        (ends.tx, ends.rx) = (tx, rx);
    }

    /// A connection for a flow that is to use one that persists: one of its pair that is idle, as
    /// far as the sender knows, or a new one, whose name is returned too. A new one takes draws and
    /// path from its pair and number, because which flow uses which connection depends on the
    /// scheme.
    pub fn claim<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        flow: Flow,
    ) -> (ConnId, Option<u64>) {
        let (src, dst) = (HostId(flow.src), HostId(flow.dst));
        let group = self.groups[usize::from(flow.workload)];
        let (conn, new) = match self.conns.take_idle(src, dst, group) {
            Some(conn) => (conn, None),
            None => {
                let conn = self.conns.of_flow(flow.id);
                let name = self.conns.opened_for(src, dst) | 1 << 63;
                self.open(core, conn, flow, name);
                self.conns.list[conn].tx_mut().persistent = true;
                (conn, Some(name))
            }
        };
        core.net.rows.of_mut(conn).extra = core.agenda.ticks(flow.extra);
        let tx = self.conns.list[conn].tx_mut();
        tx.before = tx.source.counts();
        (tx.class, tx.flow) = (flow.class, flow);
        (conn, new)
    }

    /// The sender of a connection gets the bytes of a flow. Returns what the receiver has to learn
    /// of it before anything arrives, on a connection that persists.
    pub fn give(&mut self, conn: ConnId, flow: Flow) -> Option<Announced> {
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
        tx.persistent.then_some(Announced {
            flow,
            begin: tx.begin,
            last: end,
            end: if self.sender_ends { u64::MAX } else { end },
        })
    }

    /// The receiver of a persistent connection learns of its next flow.
    pub fn announce(&mut self, conn: ConnId, announced: Announced) {
        self.conns.list[conn].rx_mut().next = Some(Box::new(announced));
    }

    /// The sender of `conn` has the acknowledgement that it waits for: it may say when the flow is
    /// complete, and a connection that persists is idle then. Returns whether the flow is complete.
    #[cold]
    pub(super) fn acknowledged(&mut self, conn: ConnId) -> bool {
        let tx = self.conns.list[conn].tx_mut();
        if tx.acked_end == u64::MAX {
            return false;
        }
        if self.cfg.measure.fct == Fct::Closed && !tx.closing {
            // A FIN has a sequence number of its own.
            tx.closing = true;
            tx.acked_end = tx.source.write(1);
            return false;
        }
        tx.acked_end = u64::MAX;
        if tx.persistent {
            self.conns.put_idle(conn);
        }
        self.sender_ends
    }

    /// The flow that is complete on a connection.
    pub fn completed(&self, conn: ConnId) -> Flow {
        let ends = &self.conns.list[conn];
        match self.sender_ends {
            true => ends.tx().flow,
            false => ends.rx().flow,
        }
    }

    /// The flow of a connection is complete; `stays`: its receiver is read from later. Drops its
    /// ends if nothing refers to them.
    pub fn close(&mut self, net: &Network, conn: ConnId, stays: bool) {
        if let Some(rx) = &mut self.conns.list[conn].rx {
            rx.end = u64::MAX;
            if stays {
                rx.flow.measured = false;
            } else {
                rx.open = false;
            }
        }
        self.maybe_retire(net, conn);
    }
}
