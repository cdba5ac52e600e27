// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is recorded of a flow.

use cemark_wire::Picos;

use super::Endpoints;
use super::conn::Counts;
use crate::agenda::Agenda;
use crate::config::Fct;
use crate::ids::{ConnId, LinkId};
use crate::network::Network;
use crate::outcome::FlowRecord;
use crate::workload::Flow;

impl Endpoints {
    /// What is recorded of a flow that `conn` carries. What an end counted is zero where that
    /// is not here.
    pub fn record<Q>(
        &self,
        agenda: &Agenda<Q>,
        net: &Network,
        conn: ConnId,
        f: &Flow,
        ended: bool,
    ) -> FlowRecord {
        let c = &self.conns.list[conn];
        let marks = c.rx.as_ref().map_or(0, |rx| rx.marks());
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
                let clock = agenda.clock;
                let since = clock.picos(agenda.now - clock.ticks(f.start));
                match self.cfg.measure.fct {
                    Fct::Client => since + self.small_way(net, f.dst, f.src),
                    _ => since,
                }
            }),
            ideal: self.ideal(net, f),
            extra: f.extra,
            marks,
            retransmits: counts.retransmits,
            timeouts: counts.timeouts,
        }
    }

    /// Completion time in an empty network with an open window: every packet as soon as its link is
    /// free of the one before, and the propagation.
    fn ideal(&self, net: &Network, f: &Flow) -> Picos {
        if f.bytes == u64::MAX {
            return Picos::ZERO;
        }
        let t = &self.transport;
        let mss = u64::from(t.mss);
        let header = u64::from(t.header_bytes);
        let full = f.bytes.div_ceil(mss).max(1) - 1;
        let last = f.bytes - full * mss + header;
        // When the last full packet and the last packet of all have been sent on each link, without
        // the propagation that both share.
        let (mut full_left, mut slowest, mut left) = (0, 0, 0);
        let route = net.fabric.route(f.src, f.dst, 0);
        for &l in route.iter().take_while(|&&l| l != LinkId::NONE) {
            let byte = net.fabric.links()[l].rate.picos_per_byte().0;
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
            Fct::LastAck | Fct::Client => there + self.small_way(net, f.dst, f.src),
            Fct::Closed => {
                let back = self.small_way(net, f.dst, f.src);
                there + back + self.small_way(net, f.src, f.dst) + f.extra + back
            }
        }
    }

    /// How long a packet without payload takes through the empty network.
    fn small_way(&self, net: &Network, src: u32, dst: u32) -> Picos {
        let bytes = u64::from(self.transport.ack_bytes);
        let route = net.fabric.route(src, dst, 0);
        let links = route.iter().take_while(|&&l| l != LinkId::NONE);
        let sent: u64 = links
            .map(|&l| bytes * net.fabric.links()[l].rate.picos_per_byte().0)
            .sum();
        Picos(sent) + self.cfg.topology.propagation(src, dst)
    }
}
