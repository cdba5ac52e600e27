// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two tiers: every leaf is joined to every spine.

use super::{
    Cable, Groups, Level, Line, MOST_HOSTS, MOST_LINKS, Mistake, Shape, Switch, Tier, TopologySpec,
    Way,
};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "leaf-spine",
    doc: "Two tiers: every leaf is joined to every spine by one link.",
    keys: LeafSpine::PARAMS,
};

config! {
    /// Two tiers; every leaf is joined to every spine.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct LeafSpine {
        /// Leaf switches.
        leaves: u32 = count(8, 1..=4_096; Absent::Needed),
        /// Spine switches.
        spines: u32 = count(8, 1..=4_096; Absent::Needed),
        /// Hosts on a leaf switch.
        hosts_per_leaf as "hosts-per-leaf": u32 = count(8, 1..=MOST_HOSTS; Absent::Needed),
        /// Rate of the host links.
        host_rate as "rate": Rate = rate(10_000_000_000),
        /// Rate of the leaf-spine links.
        uplink_rate as "uplink-rate": Rate = rate(0; Absent::As("rate")),
        /// Propagation delay of a host link.
        host_delay as "delay": Picos = delay(10_000_000),
        /// Propagation delay of the leaf-spine links.
        uplink_delay as "uplink-delay": Picos = delay(0; Absent::As("delay")),
    }
}

impl LeafSpine {
    fn uplink(&self) -> Line {
        Line {
            rate: self.uplink_rate,
            delay: self.uplink_delay,
        }
    }
}

impl Shape for LeafSpine {
    fn mistake(&self) -> Option<Mistake> {
        let links = 2 * u64::from(self.leaves) * u64::from(self.spines);
        (links > MOST_LINKS).then_some(Mistake {
            key: "spines",
            message: "this fabric has more than a million links between switches",
            help: "links are 2 x leaves x spines: write fewer",
        })
    }

    fn hosts(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.hosts_per_leaf)
    }

    fn host_line(&self) -> Line {
        Line {
            rate: self.host_rate,
            delay: self.host_delay,
        }
    }

    fn edge_name(&self) -> &'static str {
        "leaf"
    }

    fn rack(&self, host: u32) -> u32 {
        host / self.hosts_per_leaf
    }

    fn cables(&self) -> Vec<Cable> {
        let leaf = |l| Switch::new("leaf", l);
        let spine = |s| Switch::new("spine", s);
        let cable = |from, to| Cable {
            from,
            to,
            line: self.uplink(),
            routed: true,
        };
        let up =
            (0..self.leaves).flat_map(|l| (0..self.spines).map(move |s| cable(leaf(l), spine(s))));
        let down =
            (0..self.spines).flat_map(|s| (0..self.leaves).map(move |l| cable(spine(s), leaf(l))));
        up.chain(down).collect()
    }

    fn way(&self, _: u32, _: u32) -> Way {
        Way::over(2, self.uplink())
    }

    fn tiers(&self) -> Vec<Tier> {
        vec![Tier {
            level: Level::Racks,
            name: "leaf uplinks",
            groups: Groups::Of(self.hosts_per_leaf),
            exits: (self.spines, self.uplink_rate),
            sides: self.leaves,
            ways: vec![Way::over(2, self.uplink())],
        }]
    }
}
