// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches in a ring.

use super::{Line, MOST_HOSTS, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "ring",
    doc: "Switches in a ring, all packets in one direction, to study deadlocks of pauses.",
    keys: Ring::PARAMS,
};

config! {
    /// Switches in a ring, 3 to 7 of them. Every packet travels in the same direction, so that
    /// buffers can wait for each other in a circle: the topology shows deadlocks of pauses.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Ring {
        /// Switches of the ring.
        switches: u32 = count(3, 3..=7; Absent::Needed),
        /// Hosts on a switch.
        hosts_per_switch as "hosts-per-switch": u32 = count(1, 1..=MOST_HOSTS),
        /// Rate of the host links.
        rate: Rate = rate(10_000_000_000),
        /// Propagation delay of a host link.
        delay: Picos = delay(10_000_000),
    }
}

impl Shape for Ring {
    fn hosts(&self) -> u64 {
        u64::from(self.switches) * u64::from(self.hosts_per_switch)
    }

    /// The direction that packets take, then the direction that only pause frames take.
    fn wiring(&self) -> Wiring {
        let line = Line {
            rate: self.rate,
            delay: self.delay,
        };
        let racks = (0..self.switches).map(|_| self.hosts_per_switch);
        let mut wiring = Wiring::of_racks("switch", racks, line).alike();
        wiring.tier("ring links");
        let next = |s| (s + 1) % self.switches;
        (0..self.switches).for_each(|s| wiring.cable(s, next(s), line));
        (0..self.switches).for_each(|s| wiring.unrouted(next(s), s, line));
        wiring
    }
}
