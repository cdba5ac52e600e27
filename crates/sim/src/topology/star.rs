// SPDX-License-Identifier: MIT OR Apache-2.0
//! All hosts on one switch.

use super::{Line, MOST_HOSTS, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "star",
    doc: "All hosts on one switch.",
    keys: Star::PARAMS,
};

config! {
    /// All hosts on one switch.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Star {
        /// Hosts on the one switch.
        hosts: u32 = count(8, 2..=MOST_HOSTS; Absent::Needed),
        /// Rate of the host links.
        rate: Rate = rate(10_000_000_000),
        /// Propagation delay of a host link.
        delay: Picos = delay(10_000_000),
    }
}

impl Shape for Star {
    fn hosts(&self) -> u64 {
        self.hosts.into()
    }

    fn wiring(&self) -> Wiring {
        let line = Line {
            rate: self.rate,
            delay: self.delay,
        };
        Wiring::of_racks("switch", [self.hosts], line)
    }
}
