// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two switches joined by one link.

use super::{Cable, Groups, Level, Line, MOST_HOSTS, Shape, Switch, Tier, TopologySpec, Way};
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

impl Dumbbell {
    fn middle(&self) -> Line {
        Line {
            rate: self.middle_rate,
            delay: self.middle_delay,
        }
    }
}

impl Shape for Dumbbell {
    fn hosts(&self) -> u64 {
        u64::from(self.left) + u64::from(self.right)
    }

    fn host_line(&self) -> Line {
        Line {
            rate: self.host_rate,
            delay: self.host_delay,
        }
    }

    fn edge_name(&self) -> &'static str {
        "switch"
    }

    fn rack(&self, host: u32) -> u32 {
        u32::from(host >= self.left)
    }

    fn cables(&self) -> Vec<Cable> {
        let across = |from: u32| Cable {
            from: Switch::new("switch", from),
            to: Switch::new("switch", 1 - from),
            line: self.middle(),
            routed: true,
        };
        vec![across(0), across(1)]
    }

    fn way(&self, _: u32, _: u32) -> Way {
        Way::over(1, self.middle())
    }

    fn tiers(&self) -> Vec<Tier> {
        vec![Tier {
            level: Level::Racks,
            name: "middle link",
            groups: Groups::Two(self.left, self.right),
            exits: (1, self.middle_rate),
            // Each direction carries half of what all hosts send to each other.
            sides: 2,
            ways: vec![Way::over(1, self.middle())],
        }]
    }
}
