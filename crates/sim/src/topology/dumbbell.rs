// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two switches joined by one link.

use super::{Line, MOST_HOSTS, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "dumbbell",
    doc: "Two switches with hosts, joined by one link.",
    keys: Dumbbell::PARAMS,
};

config! {
    /// Two switches joined by one link; hosts 0..left on the first, the rest on the second.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Dumbbell {
        /// Hosts on the first switch.
        left: u32 = count(8, 1..=MOST_HOSTS; Absent::Needed),
        /// Hosts on the second switch.
        right: u32 = count(8, 1..=MOST_HOSTS; Absent::Needed),
        /// Rate of the host links.
        host_rate as "rate": Rate = rate(10_000_000_000),
        /// Rate of the link between the switches.
        middle_rate as "middle-rate": Rate = rate(0; Absent::As("rate")),
        /// Propagation delay of a host link.
        host_delay as "delay": Picos = delay(10_000_000),
        /// Propagation delay of the link between them.
        middle_delay as "middle-delay": Picos = delay(0; Absent::As("delay")),
    }
}

impl Shape for Dumbbell {
    fn hosts(&self) -> u64 {
        u64::from(self.left) + u64::from(self.right)
    }

    fn wiring(&self) -> Wiring {
        let host = Line {
            rate: self.host_rate,
            delay: self.host_delay,
        };
        let middle = Line {
            rate: self.middle_rate,
            delay: self.middle_delay,
        };
        let mut wiring = Wiring::of_racks("switch", [self.left, self.right], host);
        wiring.tier("middle link");
        wiring.cable(0, 1, middle);
        wiring.cable(1, 0, middle);
        wiring
    }
}
