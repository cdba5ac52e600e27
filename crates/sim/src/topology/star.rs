// SPDX-License-Identifier: MIT OR Apache-2.0
//! All hosts on one switch.

use super::{Cable, Example, Key, Line, MOST_HOSTS, Mistake, Path, Shape, Tier, TopologySpec};
use super::{Values, Way};
use cemark_wire::{Picos, Rate};

/// The registry's entry.
pub const SPEC: TopologySpec = TopologySpec {
    name: "star",
    doc: "All hosts on one switch.",
    keys: &[
        Key::RATE,
        Key::DELAY,
        Key::needed(
            "hosts",
            (2, MOST_HOSTS),
            Example {
                text: "8",
                value: 8,
            },
            "hosts on the one switch",
        ),
    ],
};

/// All hosts on one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Star {
    /// Number of hosts.
    pub hosts: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Picos,
}

impl Star {
    pub(super) fn new(v: &Values) -> Result<Star, Mistake> {
        Ok(Star {
            hosts: v.count("hosts"),
            rate: v.rate("rate"),
            delay: v.time("delay"),
        })
    }
}

impl Shape for Star {
    fn hosts(&self) -> u64 {
        self.hosts.into()
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

    fn rack(&self, _: u32) -> u32 {
        0
    }

    fn cables(&self) -> Vec<Cable> {
        Vec::new()
    }

    fn path(&self, _: u32, _: u32, _: u64) -> Path {
        Path::default()
    }

    fn way(&self, _: u32, _: u32) -> Way {
        Way::over(0, self.host_line())
    }

    fn tiers(&self) -> Vec<Tier> {
        Vec::new()
    }
}
