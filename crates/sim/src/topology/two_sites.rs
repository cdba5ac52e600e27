// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two data centres and long links between them.

use super::{Line, MOST_HOSTS, Shape, TopologySpec, Wiring};
use cemark_param::{Absent, config};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "two-sites",
    doc: "Two data centres, each with one edge router, and long links between them.",
    keys: TwoSites::PARAMS,
};

/// Inner links of one path in one direction.
const HOPS: u32 = 3;

config! {
    /// Two data centres and long links between them: hosts on an edge router at each site, and from
    /// edge to edge `paths` equal paths of a short link to a WAN router, the long link, and a short
    /// link to the other edge. Hosts 0..left are at the first site.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct TwoSites {
        /// Hosts at the first site.
        left: u32 = count(8, 1..=MOST_HOSTS; Absent::Needed),
        /// Hosts at the second site.
        right: u32 = count(8, 1..=MOST_HOSTS; Absent::Needed),
        /// Equal paths between the edge routers; a flow takes one for its life.
        paths: u32 = count(1, 1..=64),
        /// Rate of the host links.
        host_rate as "rate": Rate = rate(10_000_000_000),
        /// Rate between an edge router and a WAN router.
        edge_rate as "edge-rate": Rate = rate(0; Absent::As("rate")),
        /// Rate of a long link.
        wan_rate as "wan-rate": Rate = rate(0; Absent::As("rate")),
        /// Propagation delay of a host link.
        host_delay as "delay": Picos = delay(10_000_000),
        /// Propagation delay between an edge router and a WAN router.
        edge_delay as "edge-delay": Picos = delay(0; Absent::As("delay")),
        /// Propagation delay of a long link, one way: 5 us a kilometre.
        wan_delay as "wan-delay": Picos = delay(3_000_000_000; Absent::Needed),
    }
}

impl TwoSites {
    /// Rate of the slowest link between the edge routers.
    pub fn between_rate(&self) -> Rate {
        self.edge_rate.min(self.wan_rate)
    }

    /// Propagation delay from one edge router to the other.
    pub fn between_delay(&self) -> Picos {
        Picos(2 * self.edge_delay.0 + self.wan_delay.0)
    }

    /// The inner links from the edge router of `site` to the other over path `p`.
    pub fn between(&self, site: u32, p: u32) -> [u32; HOPS as usize] {
        let first = HOPS * (site * self.paths + p);
        [first, first + 1, first + 2]
    }
}

impl Shape for TwoSites {
    fn hosts(&self) -> u64 {
        u64::from(self.left) + u64::from(self.right)
    }

    fn wiring(&self) -> Wiring {
        let [host, edge, long] = [
            (self.host_rate, self.host_delay),
            (self.edge_rate, self.edge_delay),
            (self.wan_rate, self.wan_delay),
        ]
        .map(|(rate, delay)| Line { rate, delay });
        let mut wiring = Wiring::of_racks("edge", [self.left, self.right], host);
        let wan = |site: u32, p: u32| 2 * (1 + p) + site;
        for p in 0..self.paths {
            for site in 0..2 {
                let number = wiring.switch(format!("wan{site}.{p}"));
                debug_assert_eq!(number, wan(site, p));
            }
        }
        let (across, near) = (wiring.tier("long links"), wiring.tier("edge links"));
        for site in 0..2 {
            for p in 0..self.paths {
                let stops = [site, wan(site, p), wan(1 - site, p), 1 - site];
                for ((ends, line), tier) in stops
                    .windows(2)
                    .zip([edge, long, edge])
                    .zip([near, across, near])
                {
                    wiring.add(ends[0], ends[1], line, tier, true);
                }
            }
        }
        wiring
    }

    fn two_sites(&self) -> Option<&TwoSites> {
        Some(self)
    }
}
