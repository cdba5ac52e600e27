// SPDX-License-Identifier: MIT OR Apache-2.0
//! A split-connection proxy at both edge routers: each flow between the sites is three connections,
//! of which the middle one crosses the WAN. A proxy acknowledges what it has received and stores it
//! until the next connection has it acknowledged.
//!
//! A proxy's NIC is the link that its connection sets out on. It advertises no more than its buffer
//! has room for: a connection is given bytes only as far as the next one's acknowledgements and the
//! buffer reach, which is what a receive window does.

use std::collections::BTreeMap;

use cemark_transport::{Receiver, Sender};
use cemark_wire::{Flags, Packet};

use crate::config::{Config, Edge};
use crate::engine::Sim;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId, LinkId};
use crate::topology::{Fabric, MAX_LINKS, Route};
use crate::workload::Flow;

/// One flow in three connections: host to proxy, proxy to proxy, proxy to host.
#[derive(Clone, Copy, Debug)]
struct Split {
    conns: [ConnId; 3],
    /// Bytes of the flow.
    total: u64,
    /// Bytes given to each connection so far.
    given: [u64; 3],
    /// Bytes that both proxies store of it.
    stored: u64,
}

/// The state of the proxies.
#[derive(Debug, Default)]
pub(crate) struct Pep {
    /// Bytes that a proxy stores of one flow at most.
    buffer: u64,
    splits: Vec<Split>,
    free: Vec<u32>,
    /// By connection: its split.
    of: Vec<Option<u32>>,
    stored: u64,
    peak_stored: u64,
    peak_flows: u64,
}

impl Pep {
    /// Whether the connection is a part of a flow that has not ended.
    pub fn counts_with(&self, conn: ConnId) -> bool {
        self.split_of(conn).is_some()
    }

    fn split_of(&self, conn: ConnId) -> Option<u32> {
        self.of.get(conn.0 as usize).copied().flatten()
    }

    fn name(&mut self, conn: ConnId, split: Option<u32>) {
        let i = conn.0 as usize;
        if i >= self.of.len() {
            self.of.resize(i + 1, None);
        }
        self.of[i] = split;
    }
}

/// The links whose far end is a proxy.
pub(crate) fn places(cfg: &Config, fabric: &Fabric) -> Vec<LinkId> {
    let (Some(sites), Edge::Pep { .. }) = (cfg.topology.two_sites(), &cfg.edge) else {
        return Vec::new();
    };
    let last = |site, p| fabric.inner(sites.between(site, p)[2]);
    let across = (0..2).flat_map(|site| (0..sites.paths).map(move |p| last(site, p)));
    (0..cfg.topology.hosts())
        .map(LinkId)
        .chain(across)
        .collect()
}

impl<Q: EventQueue> Sim<Q> {
    /// Sets the proxies up.
    pub fn prime_pep(&mut self) {
        if let Edge::Pep { buffer } = self.cfg.edge {
            let links = self.ports.len();
            self.hosts.resize_with(links, Default::default);
            self.pep = Some(Box::new(Pep {
                buffer,
                ..Pep::default()
            }));
        }
    }

    /// The flow on the fresh connection `conn` goes through proxies if it goes to the other site.
    /// Returns the connection that ends at its receiver; the flow's bytes must not be written then.
    #[cold]
    pub fn split(&mut self, conn: ConnId, flow: Flow) -> Option<ConnId> {
        let mut pep = self.pep.take()?;
        pep.name(conn, None);
        let site = self.cfg.topology.rack(flow.src);
        if site == self.cfg.topology.rack(flow.dst) {
            self.pep = Some(pep);
            return None;
        }
        let last = self.conns.routes[conn];
        let (out, back) = (last[0], last[1]);
        let one = |link: LinkId| way(&[link]);
        let inner = Flow {
            measured: false,
            ..flow
        };
        let (middle, end) = (self.conns.next(), ConnId(self.conns.next().0 + 1));
        self.open(middle, inner, flow.id ^ 1 << 61);
        self.open(end, flow, flow.id ^ 1 << 62);
        let conns = [conn, middle, end];
        let routes = [
            [one(out[0]), one(back[4])],
            [way(&out[1..4]), way(&back[1..4])],
            [one(out[4]), one(back[0])],
        ];
        let i = pep.free.pop().unwrap_or(pep.splits.len() as u32);
        for (conn, routes) in conns.into_iter().zip(routes) {
            pep.name(conn, Some(i));
            self.conns.routes[conn] = routes;
            let c = &mut self.conns.list[conn];
            (c.src, c.dst) = (sends_on(routes[0][0]), sends_on(routes[1][0]));
            let rx = c.rx_mut();
            rx.flow.measured = false;
            rx.end = u64::MAX;
        }
        let c = &mut self.conns.list[end];
        c.extra = 0;
        let rx = c.rx_mut();
        rx.flow.measured = flow.measured;
        rx.end = flow.bytes;
        self.conns.list[middle].extra = 0;
        let split = Split {
            conns,
            total: flow.bytes,
            given: [0; 3],
            stored: 0,
        };
        match pep.splits.get_mut(i as usize) {
            Some(slot) => *slot = split,
            None => pep.splits.push(split),
        }
        let live = (pep.splits.len() - pep.free.len()) as u64;
        pep.peak_flows = pep.peak_flows.max(live);
        self.pep = Some(pep);
        self.pump(i);
        Some(end)
    }

    /// A packet is at an edge router with a proxy.
    pub fn at_proxy(&mut self, packet: Packet) {
        if Self::next_link(&self.conns, &packet) != LinkId::NONE {
            return self.forward(packet);
        }
        let conn = ConnId::of(&packet);
        // The answer is sent in the other direction.
        let way = usize::from(!packet.flags().has(Flags::ACK));
        let link = self.conns.routes[conn][way][0];
        let split = self.pep.as_ref().and_then(|pep| pep.split_of(conn));
        self.at_host(sends_on(link), packet);
        if let Some(i) = split {
            self.pump(i);
        }
    }

    /// Passes bytes from connection to connection, as far as they have arrived and the buffers
    /// allow.
    fn pump(&mut self, i: u32) {
        let Some(pep) = self.pep.as_mut() else { return };
        let s = &mut pep.splits[i as usize];
        let of = |conn: ConnId| &self.conns.list[conn];
        let arrived = s.conns.map(|c| of(c).rx().sink.delivered());
        let acked = s.conns.map(|c| of(c).tx().source.acked());
        let room = |acked: u64| acked.saturating_add(pep.buffer);
        let may = [
            s.total.min(room(acked[1])),
            arrived[0].min(room(acked[2])),
            arrived[1],
        ];
        let more = [0, 1, 2].map(|leg| may[leg].saturating_sub(s.given[leg]));
        for (given, more) in s.given.iter_mut().zip(more) {
            *given += more;
        }
        let stored = (arrived[0] - acked[1]) + (arrived[1] - acked[2]);
        pep.stored = pep.stored - s.stored + stored;
        pep.peak_stored = pep.peak_stored.max(pep.stored);
        s.stored = stored;
        let conns = s.conns;
        // No byte of the flow is left at a proxy. Before that no slot may be reused, because all
        // three are read here.
        let done = stored == 0 && arrived[1] == s.total && acked[2] == s.total;
        if done {
            for conn in conns {
                pep.name(conn, None);
            }
            pep.free.push(i);
        }
        for (conn, bytes) in conns.into_iter().zip(more).filter(|(_, b)| *b > 0) {
            let c = &mut self.conns.list[conn];
            c.tx_mut().source.write(bytes);
            let first = c.src;
            self.ready(first, conn);
        }
        if done {
            for conn in conns {
                let rx = self.conns.list[conn].rx_mut();
                (rx.open, rx.end) = (false, u64::MAX);
                self.conns.maybe_retire(conn);
            }
        }
    }

    /// What the proxies counted.
    pub fn pep_counts(&self) -> Option<BTreeMap<String, u64>> {
        let pep = self.pep.as_ref()?;
        // Each flow has a receiver and a sender at each of two proxies.
        let state = 2 * (size_of::<Sender>() + size_of::<Receiver>()) as u64;
        let counts = [
            ("pep_peak_flows", pep.peak_flows),
            ("pep_state_bytes", pep.peak_flows * state),
            ("pep_stored_peak_bytes", pep.peak_stored),
        ];
        Some(counts.map(|(name, n)| (name.to_owned(), n)).into())
    }
}

/// The end of a connection that sends on this link.
fn sends_on(link: LinkId) -> HostId {
    HostId(link.0)
}

/// A route of these links.
fn way(links: &[LinkId]) -> Route {
    let mut route = [LinkId::NONE; MAX_LINKS];
    route[..links.len()].copy_from_slice(links);
    route
}
