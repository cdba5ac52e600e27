// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edge routers of two sites: on which links their middleboxes are, and how their steps are
//! carried out.
//!
//! Each path between the sites has its own pair of routers in each direction, with its own stalled
//! queue. The router ACKs of a pair travel with the traffic of the other direction.

use std::collections::BTreeMap;

use std::mem::swap;

use cemark_edge::{Actions, Far, Middlebox, Near, SHIM, Step};
use cemark_switch::NEVER;
use cemark_wire::{Flags, NONE, Nanos, Packet, Picos};

use super::Middleboxes;
use super::dupacks::{DupAcks, Passage};
use crate::agenda::{Agenda, kind};
use crate::config::{Config, Edge};
use crate::endpoints::Endpoints;
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::network::Core;
use crate::topology::{Fabric, MAX_LINKS};
use crate::workload::Flow;

/// Both routers of one path in one direction.
pub(crate) struct RouterPair {
    near: Near,
    far: Far,
    /// The connection of its router ACKs.
    conn: ConnId,
    /// The first link from the near router on.
    egress: LinkId,
    /// Ticks of the earliest pending event of each router.
    armed: [u64; 2],
}

/// Which part of an edge is at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The edge router, on the side of its hosts: packets to the other site pass the near router of
    /// their path.
    Entry,
    /// An edge router with a proxy, on either side.
    Proxy,
    /// The edge router, on the side of the WAN: the far router of a pair, and router ACKs for the
    /// near router of another pair.
    Across {
        /// The pair whose far router is here.
        pair: u32,
        /// The pair of the other direction, whose near router is here.
        other: u32,
    },
}

/// Where the middleboxes of a configuration are: (link, place).
pub(crate) fn places(cfg: &Config, fabric: &Fabric) -> Vec<(LinkId, Place)> {
    let (Some(sites), &Edge::Dcib { outside, .. }) = (cfg.topology.two_sites(), &cfg.edge) else {
        return Vec::new();
    };
    let (left, paths) = (sites.left, sites.paths);
    let inside = (0..cfg.topology.hosts()).filter(|&h| h >= left || h < left - outside);
    let mut all: Vec<(LinkId, Place)> = inside.map(|host| (LinkId(host), Place::Entry)).collect();
    for site in 0..2 {
        for p in 0..paths {
            let place = Place::Across {
                pair: site * paths + p,
                other: (1 - site) * paths + p,
            };
            all.push((fabric.inner(sites.between(site, p)[2]), place));
        }
    }
    all
}

/// Side of a pair: index into [`RouterPair::armed`].
const NEAR: usize = 0;
const FAR: usize = 1;

impl Middleboxes {
    /// Builds the routers, before the first event.
    pub fn prime<Q: EventQueue>(&mut self, core: &mut Core<Q>, ends: &mut Endpoints) {
        let Edge::Dcib { config, filter, .. } = self.cfg.edge else {
            return;
        };
        let Some(sites) = self.cfg.topology.two_sites().cloned() else {
            return;
        };
        for site in 0..2 {
            for p in 0..sites.paths {
                let back = sites.between(1 - site, p).map(|i| core.net.fabric.inner(i));
                let conn = router_conn(core, ends, sites.left, back);
                self.edges.push(RouterPair {
                    near: Near::new(config),
                    far: Far::new(config, conn.0),
                    conn,
                    egress: core.net.fabric.inner(sites.between(site, p)[0]),
                    armed: [NEVER; 2],
                });
            }
        }
        self.filter = filter.map(|hold| DupAcks::new(core.agenda.ticks(hold)));
        ends.conns.lists_ended = self.filter.is_some();
    }

    /// A packet is at a place of DCIB's routers.
    pub fn at_edge<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        ends: &mut Endpoints,
        place: Place,
        packet: Packet,
    ) {
        let (p, side) = match place {
            // There a packet is passed to the proxies' connections.
            Place::Proxy => return,
            Place::Entry => {
                let to = core.net.rows.next_link(&packet);
                match self.edges.iter().position(|pair| pair.egress == to) {
                    None => return core.offer(to, &packet),
                    Some(p) => (p, NEAR),
                }
            }
            Place::Across { pair, other } => {
                let other = other as usize;
                match ConnId::of(&packet) == self.edges[other].conn {
                    true => (other, NEAR),
                    false => (pair as usize, FAR),
                }
            }
        };
        let now = core.nanos();
        self.act(core, ends, p, side, |middlebox, actions| {
            middlebox.on_packet(now, packet, actions);
        });
    }

    /// The timer of a router is due.
    pub fn wake<Q: EventQueue>(&mut self, core: &mut Core<Q>, ends: &mut Endpoints, what: u32) {
        let (p, side) = (what as usize / 2, what as usize % 2);
        if self.edges[p].armed[side] != core.agenda.now {
            return;
        }
        self.edges[p].armed[side] = NEVER;
        let now = core.nanos();
        self.act(core, ends, p, side, |middlebox, actions| {
            middlebox.wake(now, actions);
        });
    }

    /// A router acts, its steps are carried out, and its timer is armed. It knows when the port of
    /// the near router will be idle, and has the headers that packets carry.
    fn act<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        ends: &mut Endpoints,
        p: usize,
        side: usize,
        act: impl FnOnce(&mut dyn Middlebox, &mut Actions),
    ) {
        let pair = &mut self.edges[p];
        let (now, clock) = (core.agenda.now, core.agenda.clock);
        let idle = now + core.net.port_mut(pair.egress).backlog_ticks(now);
        // Rounded up: a wake-up at that time must find it idle.
        let up = clock.picos(idle).0.div_ceil(1000);
        self.actions.free_at = Nanos(up);
        swap(&mut core.net.headers, &mut self.actions.headers);
        match side {
            NEAR => act(&mut pair.near, &mut self.actions),
            _ => act(&mut pair.far, &mut self.actions),
        }
        swap(&mut core.net.headers, &mut self.actions.headers);
        self.follow_steps(core, ends, side);
        self.arm(&mut core.agenda, p, side);
    }

    /// A packet from the other site, after its far router.
    fn filtered<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        ends: &mut Endpoints,
        mut packet: Packet,
    ) {
        // Not the answers to pings, and not router ACKs, which are sent from here.
        let acks = packet.flags().0 & (Flags::ACK.0 | Flags::PROBE.0 | SHIM.0) == Flags::ACK.0;
        if let Some(filter) = self.filter.as_mut().filter(|_| acks) {
            ends.retire_cleared(&mut core.net);
            for ended in ends.conns.ended.drain(..) {
                filter.forget(ended);
            }
            match filter.judge(core.agenda.now, ConnId::of(&packet), packet.seq) {
                Passage::Whole => {}
                Passage::Bare => {
                    if packet.aux != NONE {
                        core.net.sacks.take(packet.aux);
                        packet.aux = NONE;
                    }
                }
                Passage::Never => {
                    self.actions.discard(packet);
                    return self.follow_steps(core, ends, NEAR);
                }
            }
        }
        core.forward(packet);
    }

    /// Carries out the steps of a router on this side.
    fn follow_steps<Q: EventQueue>(
        &mut self,
        core: &mut Core<Q>,
        ends: &mut Endpoints,
        side: usize,
    ) {
        let mut steps = std::mem::take(&mut self.steps);
        self.actions.drain_into(&mut steps);
        for step in steps.drain(..) {
            match step {
                Step::Send(packet) if side == FAR => self.filtered(core, ends, packet),
                Step::Send(packet) => core.forward(packet),
                Step::Kept(packet) => core.net.rows.hold(ConnId::of(&packet)),
                Step::Gone(packet) => core.net.lose(packet),
            }
        }
        self.steps = steps;
    }

    /// Inserts an event for the timer of a router. An event that comes too early re-arms itself.
    fn arm<Q: EventQueue>(&mut self, agenda: &mut Agenda<Q>, p: usize, side: usize) {
        let pair = &mut self.edges[p];
        let wake = match side {
            NEAR => pair.near.next_wake(),
            _ => pair.far.next_wake(),
        };
        let Some(wake) = wake else { return };
        let at = agenda.clock.ticks_up(wake).max(agenda.now + 1);
        if at < pair.armed[side] {
            pair.armed[side] = at;
            let event = kind::EDGE | (2 * p + side) as u32;
            agenda.insert(at, event);
        }
    }

    /// Counters of the routers by name, all paths together.
    pub(super) fn edge_counts(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        if self.edges.is_empty() {
            return all;
        }
        let mut add = |name: &str, n: u64| *all.entry(name.to_owned()).or_default() += n;
        for pair in &self.edges {
            let (near, far) = (pair.near.stats(), pair.far.stats());
            for (name, n) in [
                ("selected", near.selected),
                ("stalled_full", near.full),
                ("probes", near.probes),
                ("resent", near.resent),
                ("flushed", near.flushed),
                ("sent_idle", near.idle),
                ("acks_unmatched", near.unmatched),
                ("off", u64::from(near.off)),
                ("router_acks", far.acks),
                ("twice", far.twice),
                ("late", far.late),
                ("given_up", far.given_up),
                ("marks_taken", far.marks_taken),
            ] {
                add(name, n);
            }
        }
        add("rewrites", self.actions.tally.rewrites);
        if let Some(filter) = &self.filter {
            add("dupacks_dropped", filter.dropped());
            add("filter_records", filter.records() as u64);
        }
        let most = |f: fn(&RouterPair) -> u64| self.edges.iter().map(f).max().unwrap_or(0);
        add("stalled_peak_bytes", most(|p| p.near.stats().peak_bytes));
        add("held_peak_bytes", most(|p| p.far.stats().peak_bytes));
        all
    }
}

/// A connection that belongs to no host, whose ACKs take these three links from edge to edge. It
/// never ends.
fn router_conn<Q: EventQueue>(
    core: &mut Core<Q>,
    ends: &mut Endpoints,
    left: u32,
    links: [LinkId; 3],
) -> ConnId {
    let flow = Flow {
        id: u64::MAX - (1 << 20) - u64::from(links[0].0),
        start: Picos::ZERO,
        src: 0,
        dst: left,
        bytes: 0,
        workload: 0,
        class: 0,
        measured: false,
        query: None,
        extra: Picos::ZERO,
    };
    let conn = ConnId(core.net.rows.len());
    ends.open(core, conn, flow, flow.id);
    let mut routes = [[LinkId::NONE; MAX_LINKS]; 2];
    routes[1][..3].copy_from_slice(&links);
    core.net.rows.set_routes(conn, routes);
    conn
}
