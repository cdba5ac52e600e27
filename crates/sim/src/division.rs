// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which shard has which host and which port.
//!
//! Hosts are dealt out rack by rack, or one by one where there are fewer racks than shards. A
//! switch whose ports have nothing in common is divided as well: a port that leads towards hosts is
//! in the shard of those hosts, so that what arrives there most often stays in one shard. A switch
//! whose ports share a buffer, and one at the far end of a link with a fault, stays whole.

use cemark_switch::{Clock, PAUSE_BYTES};

use crate::config::Config;

use crate::ids::{HostId, LinkId};
use crate::topology::{Fabric, Link};
use crate::workload::{Kind, PROBE_BYTES};

/// No host.
const NONE: u32 = u32::MAX;

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Division {
    pub shards: usize,
    /// By link: the shard that has its port. A host is in the shard of its NIC.
    owner: Vec<u32>,
    /// By link: the host at its far end.
    host: Vec<u32>,
    /// By link: packets that arrive over it may belong to another shard than its port.
    crosses: Vec<bool>,
    /// Ticks from when a port begins to send a packet to its arrival in another shard, at least.
    pub window: u64,
}

/// A switch of the fabric.
struct Switch {
    /// Links to the nearest hosts, counted from one.
    level: u32,
    /// Its ports are in one shard.
    whole: bool,
    owner: u32,
    /// The places of its ports among the links.
    ports: Vec<usize>,
}

/// Most shards that a point can be divided into.
pub(crate) fn most(cfg: &Config) -> u32 {
    let hosts = cfg.topology.fabric().nics();
    if whole_racks(cfg) { racks(cfg) } else { hosts }
}

fn racks(cfg: &Config) -> u32 {
    cfg.topology.fabric().racks()
}

/// Whether hosts of a rack have to stay together. A connection that carries one flow after the
/// other has a new extra delay with each, which is applied at the first switch, and the sender
/// alone knows it.
fn whole_racks(cfg: &Config) -> bool {
    cfg.draws_rtts() && cfg.workloads.iter().any(|w| w.persistent)
}

impl Division {
    /// Divides the fabric of a point into at most [`most`] shards.
    pub fn new(cfg: &Config, fabric: &Fabric, clock: Clock, shards: u32) -> Division {
        let links = fabric.links();
        let shards = shards.clamp(1, most(cfg));
        let (hosts, racks) = (cfg.topology.fabric().nics(), racks(cfg));
        let deal = |i: u32, of: u32| (u64::from(i) * u64::from(shards) / u64::from(of)) as u32;
        let of_host = |h: u32| match racks >= shards {
            true => deal(fabric.rack(h), racks),
            false => deal(h, hosts),
        };
        let switches = switches(cfg, links, shards, &of_host);
        let far_owner = |l: &Link| l.to.switch(hosts).map(|s| &switches[s]);
        let owner_of = |(i, link): (usize, &Link)| match (link.from.switch(hosts), link.host) {
            // A NIC.
            (None, _) => of_host(i as u32),
            (Some(s), _) if switches[s].whole => switches[s].owner,
            (Some(_), Some(host)) => of_host(host),
            (Some(s), None) => match far_owner(link) {
                Some(far) if far.level < switches[s].level => far.owner,
                _ => switches[s].owner,
            },
        };
        let owner: Vec<u32> = links.iter().enumerate().map(owner_of).collect();
        let crosses = |(i, link): (usize, &Link)| match link.host {
            Some(host) => of_host(host) != owner[i],
            None => {
                far_owner(link).is_none_or(|far| far.ports.iter().any(|&p| owner[p] != owner[i]))
            }
        };
        let crosses: Vec<bool> = links.iter().enumerate().map(crosses).collect();
        let bytes = shortest_packet(cfg);
        let span = |(link, _): (&Link, &bool)| {
            clock.ticks(link.delay) + bytes * (link.rate.picos_per_byte().0 / clock.tick_ps())
        };
        let window = links.iter().zip(&crosses).filter(|(_, c)| **c).map(span);
        Division {
            shards: shards as usize,
            host: links.iter().map(|l| l.host.unwrap_or(NONE)).collect(),
            window: window.min().unwrap_or(u64::MAX),
            owner,
            crosses,
        }
    }

    /// The shard that has the port of a link.
    #[inline]
    pub fn of(&self, link: LinkId) -> u32 {
        self.owner[link.place()]
    }

    /// Whether packets that arrive over a link may belong to another shard than its port.
    #[inline]
    pub fn crosses(&self, link: LinkId) -> bool {
        self.crosses[link.place()]
    }

    /// The shard that handles a packet at the far end of `link`, from where it takes `next`, if
    /// that is a link.
    #[inline]
    pub fn behind(&self, link: LinkId, next: LinkId) -> u32 {
        match self.host[link.place()] {
            NONE => self.of(next),
            host => self.of(HostId(host).nic()),
        }
    }
}

/// The switches of a fabric.
fn switches(
    cfg: &Config,
    links: &[Link],
    shards: u32,
    of_host: &impl Fn(u32) -> u32,
) -> Vec<Switch> {
    let hosts = cfg.topology.fabric().nics();
    let pooled = cfg.switch.pfc.is_some() || cfg.switch.buffering.policy.is_shared();
    let feeds = links.iter().map(|link| link.from.switch(hosts));
    let count = feeds.clone().flatten().max().map_or(0, |s| s + 1);
    let switch = |s: usize| Switch {
        level: u32::MAX,
        whole: pooled,
        owner: s as u32 % shards,
        ports: Vec::new(),
    };
    let mut all: Vec<Switch> = (0..count).map(switch).collect();
    for (i, s) in feeds.enumerate() {
        if let Some(s) = s {
            all[s].ports.push(i);
        }
    }
    for fault in &cfg.faults {
        if let Some(s) = links[fault.link as usize].to.switch(hosts) {
            all[s].whole = true;
        }
    }
    // From the hosts inwards: a switch belongs to those below it, if all of these are in one shard.
    let mut level = 1;
    let first = |s: &Switch| s.ports.iter().find_map(|&p| links[p].host);
    for s in &mut all {
        if let Some(host) = first(s) {
            (s.level, s.owner) = (1, of_host(host));
        }
    }
    while all.iter().any(|s| s.level == level) {
        for s in (0..all.len())
            .filter(|&s| all[s].level > level)
            .collect::<Vec<_>>()
        {
            let far = all[s]
                .ports
                .iter()
                .filter_map(|&p| links[p].to.switch(hosts));
            let far = far.map(|f| &all[f]);
            let below: Vec<u32> = far.filter(|f| f.level == level).map(|f| f.owner).collect();
            let Some(&one) = below.first() else { continue };
            all[s].level = level + 1;
            all[s].owner = match below.iter().all(|&o| o == one) {
                true => one,
                false => below[s % below.len()],
            };
        }
        level += 1;
    }
    all
}

/// Bytes of the shortest packet, or pause frame, on a link.
fn shortest_packet(cfg: &Config) -> u64 {
    let small = |t: &cemark_transport::Config| u64::from(t.header_bytes.min(t.ack_bytes));
    let probes = cfg
        .workloads
        .iter()
        .any(|w| matches!(w.kind, Kind::Probe(_)));
    let probe = probes.then_some(u64::from(PROBE_BYTES));
    let pause = cfg.switch.pfc.is_some().then_some(u64::from(PAUSE_BYTES));
    let usual = cfg.transports().into_iter().map(small);
    let usual = usual.min().unwrap_or(u64::MAX);
    usual
        .min(probe.unwrap_or(usual))
        .min(pause.unwrap_or(usual))
}
