// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links whose far end is more than a host or a plain switch. Their ports have a tag of their own,
//! so that all other links are not slowed down.

use cemark_wire::Packet;

use super::faults::Faulty;
use super::tap::Tap;
use super::{Core, Network, Reached};
use crate::config::Config;
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::topology::Fabric;

/// The tag of a link whose far end is a plain switch. That of a link to a host is the host's
/// number.
pub(crate) const SWITCH: u32 = u32::MAX;
/// The tag of the first waypoint. Hosts have smaller ones.
pub(crate) const FIRST: u32 = 1 << 31;

/// The tag of a link between shards of a divided simulation.
pub(crate) const CROSSING: u32 = u32::MAX - 1;
/// The tag of a link of another shard whose far end is a plain switch that pauses its senders.
pub(crate) const STAMPING: u32 = u32::MAX - 2;

/// Stages at the far end of one link, in this order.
#[derive(Clone, Debug)]
pub(crate) struct Waypoint {
    pub link: LinkId,
    /// The tag that the link would have without anything in between: its host, or [`SWITCH`].
    pub tag: u32,
    pub fault: Option<Faulty>,
    /// The place of a middlebox, by its number.
    pub place: Option<u32>,
    /// Recorder of the link's packets, as they arrive.
    pub tap: Option<usize>,
}

/// The waypoints of a configuration. `places`: the links behind which middleboxes have a place.
pub(crate) fn waypoints(
    cfg: &Config,
    fabric: &Fabric,
    taps: &[Tap],
    places: &[LinkId],
) -> Vec<Waypoint> {
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
    let places: Vec<usize> = places.iter().map(|&link| at(link)).collect();
    let tapped: Vec<usize> = taps.iter().map(|tap| at(tap.link)).collect();
    for (n, i) in tapped.into_iter().enumerate() {
        all[i].tap = Some(n);
    }
    let full = cfg.full_packet().min(u16::MAX.into()) as u16;
    for (i, fault) in faults.into_iter().zip(&cfg.faults) {
        all[i].fault = Some(Faulty::new(*fault, full, cfg.seed));
    }
    for (place, i) in (0..).zip(places) {
        all[i].place = Some(place);
    }
    all
}

impl<Q: EventQueue> Core<Q> {
    /// A packet is at the far end of a link with a tag of its own.
    #[cold]
    pub(super) fn at_waypoint(&mut self, tag: u32, mut packet: Packet) -> Option<Reached> {
        let way = &mut self.net.waypoints[(tag - FIRST) as usize];
        let (tag, place, tap) = (way.tag, way.place, way.tap);
        if way.fault.as_mut().is_some_and(|f| f.takes(&mut packet)) {
            self.net.lose(packet);
            return None;
        }
        if let Some(tap) = tap {
            self.net.see(self.agenda.picos(), tap, &packet);
        }
        match place {
            None => self.arrive(tag, packet),
            // The extra delay comes before what is at the first switch.
            Some(_) if self.serves_extra(&packet) => None,
            Some(place) => Some(Reached::Middlebox(place, packet)),
        }
    }
}

impl Network {
    /// The place of a middlebox at the first switch of a connection, where its data have waited for
    /// their extra delay.
    #[inline]
    pub(super) fn place_behind(&self, conn: ConnId) -> Option<u32> {
        if self.waypoints.is_empty() {
            return None;
        }
        let nic = self.rows.routes(conn)[0][0];
        self.waypoints.iter().find(|w| w.link == nic)?.place
    }
}
