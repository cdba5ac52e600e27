// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two switches joined by one link.

use super::{Cable, Example, Groups, Key, Level, Line, MOST_HOSTS, Mistake, Path, Shape, Switch};
use super::{Tier, TopologySpec, Values, Way};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "dumbbell",
    doc: "Two switches with hosts, joined by one link.",
    keys: &[
        Key::RATE,
        Key::DELAY,
        Key::needed("left", (1, MOST_HOSTS), SIDE, "hosts on the first switch"),
        Key::needed("right", (1, MOST_HOSTS), SIDE, "hosts on the second switch"),
        Key::rate("middle-rate", "rate of the link between the switches"),
        Key::delay("middle-delay", "propagation delay of the link between them"),
    ],
};

const SIDE: Example = Example {
    text: "8",
    value: 8,
};

/// Two switches joined by one link; hosts 0..left on the first, the rest on the second.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dumbbell {
    /// Hosts on the first switch.
    pub left: u32,
    /// Hosts on the second switch.
    pub right: u32,
    /// Rate of host links.
    pub host_rate: Rate,
    /// Rate of the link in the middle.
    pub middle_rate: Rate,
    /// Propagation delay of a host link.
    pub host_delay: Picos,
    /// Propagation delay of the middle link.
    pub middle_delay: Picos,
}

impl Dumbbell {
    pub(super) fn new(v: &Values) -> Result<Dumbbell, Mistake> {
        Ok(Dumbbell {
            left: v.count("left"),
            right: v.count("right"),
            host_rate: v.rate("rate"),
            middle_rate: v.rate("middle-rate"),
            host_delay: v.time("delay"),
            middle_delay: v.time("middle-delay"),
        })
    }

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
        };
        vec![across(0), across(1)]
    }

    fn path(&self, src: u32, _: u32, _: u64) -> Path {
        Path::of([self.rack(src)])
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
