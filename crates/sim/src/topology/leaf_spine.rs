// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two tiers: every leaf is joined to every spine.

use super::{Cable, Example, Groups, Key, Level, Line, MOST_HOSTS, MOST_LINKS, Mistake};
use super::{Path, Shape, Switch};
use super::{Tier, TopologySpec, Values, Way};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "leaf-spine",
    doc: "Two tiers: every leaf is joined to every spine by one link.",
    keys: &[
        Key::RATE,
        Key::DELAY,
        Key::needed("leaves", (1, 4_096), EIGHT, "leaf switches"),
        Key::needed("spines", (1, 4_096), EIGHT, "spine switches"),
        Key::needed(
            "hosts-per-leaf",
            (1, MOST_HOSTS),
            EIGHT,
            "hosts on a leaf switch",
        ),
        Key::rate("uplink-rate", "rate of the leaf-spine links"),
        Key::delay("uplink-delay", "propagation delay of the leaf-spine links"),
    ],
};

const EIGHT: Example = Example {
    text: "8",
    value: 8,
};

/// Two tiers; every leaf is joined to every spine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LeafSpine {
    /// Leaf switches.
    pub leaves: u32,
    /// Spine switches.
    pub spines: u32,
    /// Hosts on a leaf.
    pub hosts_per_leaf: u32,
    /// Rate of host links.
    pub host_rate: Rate,
    /// Rate of leaf-spine links.
    pub uplink_rate: Rate,
    /// Propagation delay of a host link.
    pub host_delay: Picos,
    /// Propagation delay of a leaf-spine link.
    pub uplink_delay: Picos,
}

impl LeafSpine {
    pub(super) fn new(v: &Values) -> Result<LeafSpine, Mistake> {
        let (leaves, spines) = (v.count("leaves"), v.count("spines"));
        if 2 * u64::from(leaves) * u64::from(spines) > MOST_LINKS {
            return Err(Mistake {
                key: "spines",
                message: "this fabric has more than a million links between switches",
                help: "links are 2 x leaves x spines: write fewer",
            });
        }
        Ok(LeafSpine {
            leaves,
            spines,
            hosts_per_leaf: v.count("hosts-per-leaf"),
            host_rate: v.rate("rate"),
            uplink_rate: v.rate("uplink-rate"),
            host_delay: v.time("delay"),
            uplink_delay: v.time("uplink-delay"),
        })
    }

    fn uplink(&self) -> Line {
        Line {
            rate: self.uplink_rate,
            delay: self.uplink_delay,
        }
    }
}

impl Shape for LeafSpine {
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
        };
        let up =
            (0..self.leaves).flat_map(|l| (0..self.spines).map(move |s| cable(leaf(l), spine(s))));
        let down =
            (0..self.spines).flat_map(|s| (0..self.leaves).map(move |l| cable(spine(s), leaf(l))));
        up.chain(down).collect()
    }

    fn path(&self, src: u32, dst: u32, hash: u64) -> Path {
        let (from, to) = (self.rack(src), self.rack(dst));
        let spine = (hash % u64::from(self.spines)) as u32;
        Path::of([
            from * self.spines + spine,
            self.leaves * self.spines + spine * self.leaves + to,
        ])
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
