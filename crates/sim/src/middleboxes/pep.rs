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

use super::Middleboxes;
use crate::config::{Config, Edge};
use crate::endpoints::Endpoints;
use crate::events::EventQueue;
use crate::ids::{ConnId, EndId, HostId, LinkId};
use crate::network::{Core, Network};
use crate::topology::{Fabric, MAX_LINKS, Route};
use crate::workload::Flow;

/// A flow in three connections: host to proxy, proxy to proxy, proxy to host.
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
    /// The proxies, if there are any.
    pub fn new(edge: &Edge) -> Option<Pep> {
        let &Edge::Pep { buffer } = edge else {
            return None;
        };
        Some(Pep {
            buffer,
            ..Pep::default()
        })
    }

    /// Counters of the proxies, by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        // Each flow has a receiver and a sender at each of two proxies.
        let state = 2 * (size_of::<Sender>() + size_of::<Receiver>()) as u64;
        let counts = [
            ("pep_peak_flows", self.peak_flows),
            ("pep_state_bytes", self.peak_flows * state),
            ("pep_stored_peak_bytes", self.peak_stored),
        ];
        counts.map(|(name, n)| (name.to_owned(), n)).into()
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

impl Middleboxes {
    /// Whether flows between the sites are split.
    pub fn splits(&self) -> bool {
        self.pep.is_some()
    }

    /// Whether a proxy reads from the connection, a part of a flow that has not ended.
    pub fn reads_from(&self, conn: ConnId) -> bool {
        let pep = self.pep.as_ref();
        pep.is_some_and(|pep| pep.split_of(conn).is_some())
    }

    /// The flow on the fresh connection `conn` goes through proxies if it goes to the other site.
    /// Returns the connection that ends at its receiver; the flow's bytes must not be written then.
    #[cold]
    pub fn split<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        ends: &mut Endpoints,
        conn: ConnId,
        flow: Flow,
    ) -> Option<ConnId> {
        let pep = self.pep.as_mut()?;
        pep.name(conn, None);
        let site = |host| self.cfg.topology.rack(host);
        if site(flow.src) == site(flow.dst) {
            return None;
        }
        let last = *core.net.rows.routes(conn);
        let (out, back) = (last[0], last[1]);
        let one = |link: LinkId| way(&[link]);
        let inner = Flow {
            measured: false,
            ..flow
        };
        let middle = ConnId(core.net.rows.len());
        ends.open(core, middle, inner, flow.id ^ 1 << 61);
        let end = ConnId(core.net.rows.len());
        ends.open(core, end, flow, flow.id ^ 1 << 62);
        let conns = [conn, middle, end];
        let routes = [
            [one(out[0]), one(back[4])],
            [way(&out[1..4]), way(&back[1..4])],
            [one(out[4]), one(back[0])],
        ];
        let i = pep.free.pop().unwrap_or(pep.splits.len() as u32);
        for (conn, routes) in conns.into_iter().zip(routes) {
            pep.name(conn, Some(i));
            core.net.rows.set_routes(conn, routes);
            let row = core.net.rows.of_mut(conn);
            (row.src, row.dst) = (sends_on(routes[0][0]), sends_on(routes[1][0]));
            let rx = ends.conns.list[conn].rx_mut();
            rx.flow.measured = false;
            rx.end = u64::MAX;
        }
        core.net.rows.of_mut(middle).extra = 0;
        core.net.rows.of_mut(end).extra = 0;
        let rx = ends.conns.list[end].rx_mut();
        rx.flow.measured = flow.measured;
        rx.end = flow.bytes;
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
        self.pump(core, ends, i);
        Some(end)
    }

    /// The end of a packet's connection at the proxy where the packet is, and the flow that the
    /// connection is a part of. `None` where the packet only passes.
    pub fn proxy_of(&self, net: &Network, packet: &Packet) -> Option<(HostId, Option<u32>)> {
        if net.rows.next_link(packet) != LinkId::NONE {
            return None;
        }
        let conn = ConnId::of(packet);
        // The answer is sent in the other direction.
        let way = usize::from(!packet.flags().has(Flags::ACK));
        let link = net.rows.routes(conn)[way][0];
        let split = self.pep.as_ref().and_then(|pep| pep.split_of(conn));
        Some((sends_on(link), split))
    }

    /// Passes bytes of a flow from connection to connection, as far as they have arrived and the
    /// buffers allow.
    pub fn pump<Q: EventQueue>(&mut self, core: &mut Core<Q>, ends: &mut Endpoints, i: u32) {
        let Some(pep) = self.pep.as_mut() else { return };
        let s = &mut pep.splits[i as usize];
        let of = |conn: ConnId| &ends.conns.list[conn];
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
            ends.conns.list[conn].tx_mut().source.write(bytes);
            let host = core.net.rows.of(conn).src;
            ends.ready(core, EndId { host, conn });
        }
        if done {
            for conn in conns {
                let rx = ends.conns.list[conn].rx_mut();
                (rx.open, rx.end) = (false, u64::MAX);
                ends.maybe_retire(&core.net, conn);
            }
        }
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
