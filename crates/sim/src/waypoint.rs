// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links whose far end is more than a host or a plain switch. Their ports carry a tag of their own, so that all other links pay nothing.

use cemark_wire::Packet;

use crate::engine::Sim;
use crate::events::EventQueue;
use crate::faults::Faulty;

/// The first tag of a waypoint. Hosts have smaller ones; `u32::MAX` is a plain switch.
pub(crate) const FIRST: u32 = 1 << 31;

/// What happens at the far end of one link.
#[derive(Clone, Debug)]
pub(crate) struct Waypoint {
    pub link: u32,
    /// The host there, or `u32::MAX` for a switch.
    pub host: u32,
    pub fault: Option<Faulty>,
}

/// The waypoints of a configuration.
pub(crate) fn waypoints(cfg: &crate::Config, links: &[crate::topology::Link]) -> Vec<Waypoint> {
    let mut all: Vec<Waypoint> = Vec::new();
    for fault in &cfg.faults {
        all.push(Waypoint {
            link: fault.link,
            host: links[fault.link as usize].host.unwrap_or(u32::MAX),
            fault: Some(Faulty::new(*fault, cfg.seed)),
        });
    }
    all
}

impl<Q: EventQueue> Sim<Q> {
    /// A packet is at the far end of a link with a tag of its own.
    #[cold]
    pub fn at_waypoint(&mut self, tag: u32, mut packet: Packet) {
        let way = &mut self.waypoints[(tag - FIRST) as usize];
        let host = way.host;
        if way.fault.as_mut().is_some_and(|f| f.takes(&mut packet)) {
            self.dropped(packet);
            return;
        }
        self.arrive(host, packet);
    }
}
