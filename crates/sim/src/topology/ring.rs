// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches in a ring.

use super::{Cable, Groups, Level, Line, MOST_HOSTS, Shape, Switch, Tier, TopologySpec, Way};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "ring",
    doc: "Switches in a ring, all packets in one direction, to study deadlocks of pauses.",
    keys: Ring::PARAMS,
};

config! {
    /// Switches in a ring, 3 to 5 of them. Every packet travels in the same direction, so that
    /// buffers can wait for each other in a circle: the topology shows deadlocks of pauses.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Ring {
        /// Switches of the ring.
        switches: u32 = count(3, 3..=5; Absent::Needed),
        /// Hosts on a switch.
        hosts_per_switch as "hosts-per-switch": u32 = count(1, 1..=MOST_HOSTS),
        /// Rate of the host links.
        rate: Rate = rate(10_000_000_000),
        /// Propagation delay of a host link.
        delay: Picos = delay(10_000_000),
    }
}

impl Ring {
    /// Ring links from `src` to `dst`.
    fn steps(&self, src: u32, dst: u32) -> u32 {
        (self.rack(dst) + self.switches - self.rack(src)) % self.switches
    }
}

impl Shape for Ring {
    fn hosts(&self) -> u64 {
        u64::from(self.switches) * u64::from(self.hosts_per_switch)
    }

    fn host_line(&self) -> Line {
        Line {
            rate: self.rate,
            delay: self.delay,
        }
    }

    fn edge_name(&self) -> &'static str {
        "switch"
    }

    fn rack(&self, host: u32) -> u32 {
        host / self.hosts_per_switch
    }

    /// The direction that packets take, then the one that only pause frames take.
    fn cables(&self) -> Vec<Cable> {
        let switch = |s: u32| Switch::new("switch", s % self.switches);
        let cable = |from, to, routed| Cable {
            from: switch(from),
            to: switch(to),
            line: self.host_line(),
            routed,
        };
        let forward = (0..self.switches).map(|s| cable(s, s + 1, true));
        let back = (0..self.switches).map(|s| cable(s + 1, s, false));
        forward.chain(back).collect()
    }

    fn way(&self, src: u32, dst: u32) -> Way {
        Way::over(self.steps(src, dst), self.host_line())
    }

    fn tiers(&self) -> Vec<Tier> {
        vec![Tier {
            level: Level::Racks,
            name: "ring links",
            groups: Groups::Of(self.hosts_per_switch),
            exits: (1, self.rate),
            // A packet that leaves its rack crosses half of the ring's links on average, so all of
            // them together carry what two links out of one group would. A single receiver is
            // reached over one link.
            sides: 2,
            ways: (1..self.switches)
                .map(|n| Way::over(n, self.host_line()))
                .collect(),
        }]
    }
}
