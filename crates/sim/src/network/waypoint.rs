// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links whose far end is more than a host or a plain switch. Their ports have a tag of their own,
//! so that all other links are not slowed down.

use cemark_wire::Packet;

use crate::config::Config;
use crate::engine::Sim;
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::middleboxes::edges::{Place, places};
use crate::network::faults::Faulty;
use crate::network::tap::Tap;
use crate::topology::Fabric;

/// The tag of a link whose far end is a plain switch. That of a link to a host is the host's
/// number.
pub(crate) const SWITCH: u32 = u32::MAX;
/// The tag of the first waypoint. Hosts have smaller ones.
pub(crate) const FIRST: u32 = 1 << 31;

/// The tag of a link between shards of a divided simulation.
pub(crate) const CROSSING: u32 = u32::MAX - 1;

/// What happens at the far end of one link, in this order.
#[derive(Clone, Debug)]
pub(crate) struct Waypoint {
    pub link: LinkId,
    /// The tag that the link would have without anything in between: its host, or [`SWITCH`].
    pub tag: u32,
    pub fault: Option<Faulty>,
    pub place: Option<Place>,
    /// What records its packets, as they arrive.
    pub tap: Option<usize>,
}

/// The waypoints of a configuration.
pub(crate) fn waypoints(cfg: &Config, fabric: &Fabric, taps: &[Tap]) -> Vec<Waypoint> {
    let mut all: Vec<Waypoint> = Vec::new();
    let mut at = |link: LinkId| {
        let known = all.iter().position(|w| w.link == link);
        known.unwrap_or_else(|| {
            all.push(Waypoint {
                link,
                tag: fabric.links()[link].host.unwrap_or(SWITCH),
                fault: None,
                place: None,
                tap: None,
            });
            all.len() - 1
        })
    };
    let faults: Vec<usize> = cfg.faults.iter().map(|f| at(LinkId(f.link))).collect();
    let middleboxes: Vec<(usize, Place)> = places(cfg, fabric)
        .into_iter()
        .map(|(link, place)| (at(link), place))
        .collect();
    let proxies: Vec<(usize, Place)> = crate::middleboxes::pep::places(cfg, fabric)
        .into_iter()
        .map(|link| (at(link), Place::Proxy))
        .collect();
    let tapped: Vec<usize> = taps.iter().map(|tap| at(tap.link)).collect();
    for (n, i) in tapped.into_iter().enumerate() {
        all[i].tap = Some(n);
    }
    let full = cfg.transport.mss.saturating_add(cfg.transport.header_bytes);
    for (i, fault) in faults.into_iter().zip(&cfg.faults) {
        all[i].fault = Some(Faulty::new(*fault, full, cfg.seed));
    }
    for (i, place) in middleboxes.into_iter().chain(proxies) {
        all[i].place = Some(place);
    }
    all
}

impl<Q: EventQueue> Sim<Q> {
    /// A packet is at the far end of a link with a tag of its own.
    #[cold]
    pub fn at_waypoint(&mut self, tag: u32, mut packet: Packet) {
        let way = &mut self.waypoints[(tag - FIRST) as usize];
        let (tag, place, tap) = (way.tag, way.place, way.tap);
        if way.fault.as_mut().is_some_and(|f| f.takes(&mut packet)) {
            return self.dropped(packet);
        }
        if let Some(tap) = tap {
            self.see(tap, &packet);
        }
        match place {
            None => self.arrive(tag, packet),
            Some(Place::Entry | Place::Proxy) if self.serves_extra(&packet) => {}
            Some(Place::Proxy) => self.at_proxy(packet),
            Some(place) => self.at_edge(place, packet),
        }
    }

    /// A packet has waited for its extra delay, in a simulation with waypoints: it now reaches what
    /// is at its first switch.
    #[cold]
    pub fn after_delay(&mut self, packet: Packet) {
        let nic = self.conns.routes[ConnId::of(&packet)][0][0];
        let way = self.waypoints.iter().find(|w| w.link == nic);
        match way.and_then(|w| w.place) {
            None => self.forward(packet),
            Some(Place::Proxy) => self.at_proxy(packet),
            Some(place) => self.at_edge(place, packet),
        }
    }
}
