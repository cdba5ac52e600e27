// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every topology answers. All else about it (numbers of links, propagation, bottlenecks,
//! loads, base RTTs, estimates) follows from these answers, in code that is the same for all.

use std::fmt;

use cemark_wire::{Picos, Rate};

use super::{Mistake, Topology, TwoSites};

/// A topology: how many hosts it has, which links join its switches, and which way a packet takes.
///
/// Hosts are counted from zero, rack by rack. The links of the hosts belong to every topology in
/// the same way and are laid out by [`Fabric`](super::Fabric); a shape describes the *inner* links,
/// those between switches, which it numbers from zero in the order of [`cables`](Shape::cables).
pub trait Shape {
    /// Values of the keys that do not go together.
    fn mistake(&self) -> Option<Mistake> {
        None
    }

    /// Number of hosts. It may be larger than what a simulation takes, so that a reader can say so.
    fn hosts(&self) -> u64;

    /// Rate and delay of a host's link, in both directions.
    fn host_line(&self) -> Line;

    /// What the switches of the hosts are called: `leaf`. Their numbers are those of the racks.
    fn edge_name(&self) -> &'static str;

    /// The rack of a host: hosts of one rack share their first switch.
    fn rack(&self, host: u32) -> u32;

    /// The pod of a host. Below three tiers a rack is its own pod.
    fn pod(&self, host: u32) -> u32 {
        self.rack(host)
    }

    /// The inner links, each direction of a cable on its own. Packets take the fewest links; the
    /// order of parallel choices is the order here.
    fn cables(&self) -> Vec<Cable>;

    /// What the inner links between `src` and `dst`, which are in different racks, add up to.
    fn way(&self, src: u32, dst: u32) -> Way;

    /// The tiers of inner links, from the hosts inwards.
    fn tiers(&self) -> Vec<Tier>;

    /// The two sites of this topology, if it has edge routers at which middleboxes can be.
    fn two_sites(&self) -> Option<&TwoSites> {
        None
    }
}

/// Rate and propagation delay of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Picos,
}

/// A switch by its name: `leaf0`, or `wan0.1` where there are several of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// `leaf`.
    pub name: &'static str,
    /// Counted from zero among the switches of this name.
    pub number: u32,
    /// A second number.
    pub plane: Option<u32>,
}

impl Switch {
    /// The switch `number` of those called `name`.
    pub const fn new(name: &'static str, number: u32) -> Switch {
        Switch {
            name,
            number,
            plane: None,
        }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.number)?;
        match self.plane {
            None => Ok(()),
            Some(plane) => write!(f, ".{plane}"),
        }
    }
}

/// One direction of a cable between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The switch whose port feeds it.
    pub from: Switch,
    /// The switch at its far end.
    pub to: Switch,
    /// Rate and delay.
    pub line: Line,
    /// Whether packets take this direction. Pause frames take every cable.
    pub routed: bool,
}

/// What the inner links of a path add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Number of inner links.
    pub links: u32,
    /// Their propagation delays together.
    pub delay: Picos,
    /// Rate of the slowest of them.
    pub slowest: Rate,
}

impl Way {
    /// A way over `links` links that are all alike.
    pub const fn over(links: u32, line: Line) -> Way {
        Way {
            links,
            delay: Picos(links as u64 * line.delay.0),
            slowest: line.rate,
        }
    }
}

/// Which packets cross a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// All: the links between hosts and their first switches.
    Hosts,
    /// Those that leave their rack.
    Racks,
    /// Those that leave their pod.
    Pods,
}

/// The groups (racks or pods) between which a tier carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Groups of this many hosts each.
    Of(u32),
    /// Two groups of these sizes: hosts 0..left, and the rest.
    Two(u32, u32),
}

/// A set of inner links that play the same part. Capacities count one direction.
#[derive(Clone, Debug)]
pub struct Tier {
    /// Which packets cross it.
    pub level: Level,
    /// For people: `leaf uplinks`.
    pub name: &'static str,
    /// The groups that it joins.
    pub groups: Groups,
    /// Links that carry what leaves (or enters) one group, and the rate of each. Where groups
    /// differ, the least: a load is that of the link that fills first.
    pub exits: (u32, Rate),
    /// By how many groups' exits the capacity counts when all hosts send to each other.
    pub sides: u32,
    /// The ways of packets that cross this tier and none further in, each as likely as the others.
    /// A way that is more frequent is listed several times. Never empty.
    pub ways: Vec<Way>,
}

impl Level {
    /// Whether a packet from `src` to `dst` crosses the tiers of this level.
    pub fn crossed(self, topology: &Topology, src: u32, dst: u32) -> bool {
        match self {
            Level::Hosts => true,
            Level::Racks => topology.rack(src) != topology.rack(dst),
            Level::Pods => topology.pod(src) != topology.pod(dst),
        }
    }
}

impl Groups {
    /// Of all ordered pairs of different hosts, the share whose two hosts are in different groups.
    pub fn apart(self, hosts: u32) -> f64 {
        let hosts = f64::from(hosts);
        match self {
            Groups::Of(group) => (hosts - f64::from(group)) / (hosts - 1.0),
            Groups::Two(left, right) => {
                2.0 * f64::from(left) * f64::from(right) / (hosts * (hosts - 1.0))
            }
        }
    }

    /// Of the other hosts, the share that is in other groups than `host`.
    pub fn apart_from(self, host: u32, hosts: u32) -> f64 {
        let hosts = f64::from(hosts);
        match self {
            Groups::Of(group) => (hosts - f64::from(group)) / (hosts - 1.0),
            Groups::Two(left, right) => {
                f64::from(if host < left { right } else { left }) / (hosts - 1.0)
            }
        }
    }
}
