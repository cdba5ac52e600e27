// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two tiers: every leaf is joined to every spine.

use super::{Line, MOST_HOSTS, MOST_LINKS, Mistake, Shape, TopologySpec, Wiring};
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

impl Shape for LeafSpine {
    fn mistake(&self) -> Option<Mistake> {
        let links = 2 * u64::from(self.leaves) * u64::from(self.spines);
        (links > MOST_LINKS).then_some(Mistake {
            key: "spines",
            message: "this fabric has more than a million links between switches".to_owned(),
            help: "links are 2 x leaves x spines: write fewer".to_owned(),
        })
    }

    fn hosts(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.hosts_per_leaf)
    }

    /// The links up, leaf by leaf, then the links down, spine by spine.
    fn wiring(&self) -> Wiring {
        let host = Line {
            rate: self.host_rate,
            delay: self.host_delay,
        };
        let uplink = Line {
            rate: self.uplink_rate,
            delay: self.uplink_delay,
        };
        let racks = (0..self.leaves).map(|_| self.hosts_per_leaf);
        let mut wiring = Wiring::of_racks("leaf", racks, host).alike();
        let spine = wiring.switches("spine", self.spines);
        wiring.tier("leaf uplinks");
        for leaf in 0..self.leaves {
            for s in 0..self.spines {
                wiring.cable(leaf, spine + s, uplink);
            }
        }
        for s in 0..self.spines {
            for leaf in 0..self.leaves {
                wiring.cable(spine + s, leaf, uplink);
            }
        }
        wiring
    }
}
