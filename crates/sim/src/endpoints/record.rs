// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of flows.

use cemark_wire::Picos;

use super::Endpoints;
use super::conn::Counts;
use crate::config::Fct;
use crate::ids::{ConnId, HostId, LinkId};
use crate::network::{Core, Network};
use crate::outcome::FlowRecord;
use crate::topology::{Link, Route};
use crate::workload::Flow;

impl Endpoints {
    /// Record of a flow that `conn` carries. The counts of an end that is not here are zero.
    pub fn record<Q>(&self, core: &Core<Q>, conn: ConnId, f: &Flow, ended: bool) -> FlowRecord {
        let net = &core.net;
        let routes = Self::whole_routes(net, conn, f);
        let c = &self.conns.list[conn];
        let marks = c.rx.as_ref().map_or(0, |rx| rx.marks());
        let counts = c.tx.as_ref().map_or_else(Counts::default, |tx| tx.gained());
        FlowRecord {
            id: f.id,
            workload: f.workload,
            query: f.query,
            class: f.class,
            src: net.fabric.host_of(f.src),
            dst: net.fabric.host_of(f.dst),
            bytes: f.bytes,
            start: f.start,
            // From the tick at which it really started: a start between two ticks is rounded.
            fct: ended.then(|| {
                let clock = core.agenda.clock;
                let since = clock.picos(core.agenda.now - clock.ticks(f.start));
                match self.cfg.measure.fct {
                    Fct::Client => {
                        let request = self.transport_of(f).ack_bytes;
                        since + small_way(net, &routes[1], request)
                    }
                    _ => since,
                }
            }),
            ideal: self.ideal(net, &routes, f),
            extra: f.extra,
            marks,
            retransmits: counts.retransmits,
            timeouts: counts.timeouts,
        }
    }

    /// The routes of the flow's data and acknowledgements. Where a proxy splits the flow, those of
    /// another connection of its hosts.
    fn whole_routes(net: &Network, conn: ConnId, f: &Flow) -> [Route; 2] {
        let routes = *net.rows.routes(conn);
        match (routes[0][0], routes[0].contains(&net.fabric.to_nic(f.dst))) {
            (first, true) if first == HostId(f.src).nic() => routes,
            _ => [(f.src, f.dst), (f.dst, f.src)].map(|(a, b)| net.fabric.route(a, b, 0)),
        }
    }

    /// Completion time in an empty network with an open window: every packet as soon as its link is
    /// free of the one before, and the propagation.
    fn ideal(&self, net: &Network, routes: &[Route; 2], f: &Flow) -> Picos {
        if f.bytes == u64::MAX {
            return Picos::ZERO;
        }
        let t = self.transport_of(f);
        let mss = u64::from(t.mss);
        let header = u64::from(t.header_bytes);
        let full = f.bytes.div_ceil(mss).max(1) - 1;
        let last = f.bytes - full * mss + header;
        // When the last full packet and the last packet of all have been sent on each link, without
        // the propagation that both share.
        let (mut full_left, mut slowest, mut left, mut propagation) = (0, 0, 0, 0);
        for link in links_of(net, &routes[0]) {
            let byte = link.rate.picos_per_byte().0;
            if full > 0 {
                let packet = (mss + header) * byte;
                full_left += packet + (full - 1) * packet.saturating_sub(slowest);
                slowest = slowest.max(packet);
            }
            left = left.max(full_left) + last * byte;
            propagation += link.delay.0;
        }
        let there = Picos(left + propagation) + f.extra;
        match self.cfg.measure.fct {
            Fct::LastByte => there,
            Fct::LastAck | Fct::Client => there + small_way(net, &routes[1], t.ack_bytes),
            Fct::Closed => {
                let back = small_way(net, &routes[1], t.ack_bytes);
                there + back + small_way(net, &routes[0], t.ack_bytes) + f.extra + back
            }
        }
    }

    fn transport_of(&self, f: &Flow) -> &cemark_transport::Config {
        let group = self.groups[usize::from(f.workload)];
        &self.transports[usize::from(group)].cfg
    }
}

/// How long a packet without payload takes through the empty network.
fn small_way(net: &Network, route: &Route, bytes: u16) -> Picos {
    let bytes = u64::from(bytes);
    let of_link = |link: &Link| bytes * link.rate.picos_per_byte().0 + link.delay.0;
    Picos(links_of(net, route).map(of_link).sum())
}

/// The links of a route.
fn links_of<'a>(net: &'a Network, route: &Route) -> impl Iterator<Item = &'a Link> {
    let links = route.iter().take_while(|&&l| l != LinkId::NONE);
    links.map(|&l| &net.fabric.links()[l])
}
