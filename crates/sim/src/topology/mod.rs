// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics: how hosts, switches and links are laid out. A new topology is one file, its `mod` line
//! and one line in the list below; its keys in scenario files, its routes, its loads, warnings and
//! estimates follow from what its file declares.

mod clos;
mod dumbbell;
mod fabric;
mod fat_tree;
mod fib;
mod leaf_spine;
mod ring;
mod shape;
mod spec;
mod star;
#[cfg(test)]
mod tests;
mod two_sites;

use std::fmt;

use cemark_param::Values;
use cemark_wire::{Picos, Rate};

pub use fabric::{Fabric, Link, MAX_LINKS, NodeId, Route};
pub use shape::{Cable, Groups, Level, Line, Shape, Switch, Tier, Way};
pub use spec::{Mistake, TopologySpec};

/// Most hosts of a fabric.
pub const MOST_HOSTS: u32 = 65_536;

/// Most links between switches, counted one way each. Beyond it a fabric takes more memory than a
/// point has.
pub const MOST_LINKS: u64 = 1 << 20;

macro_rules! topologies {
    ($($Name:ident in $module:ident),+ $(,)?) => {
        $(pub use $module::$Name;)+

        /// A fabric. Hosts are counted from zero, rack by rack.
        #[derive(Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum Topology {
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name($Name)),+
        }

        $(impl From<$Name> for Topology {
            fn from(shape: $Name) -> Topology { Topology::$Name(shape) }
        })+

        impl Topology {
            /// Every kind of topology, in the order in which it is shown to people.
            pub const ALL: &'static [&'static TopologySpec] = &[$(&$module::SPEC),+];

            /// The topology of the kind `spec`, an entry of [`ALL`](Topology::ALL), with these
            /// values. Panics on a `spec` of another origin.
            pub fn build(spec: &TopologySpec, values: &Values) -> Result<Topology, Mistake> {
                $(if spec.name == $module::SPEC.name {
                    let shape = $Name::from(values);
                    return match shape.mistake() {
                        None => Ok(shape.into()),
                        Some(mistake) => Err(mistake),
                    };
                })+
                panic!("{} is not in the list of topologies", spec.name)
            }

            /// Its entry in [`ALL`](Topology::ALL).
            pub fn spec(&self) -> &'static TopologySpec {
                match self { $(Topology::$Name(_) => &$module::SPEC),+ }
            }

            /// What all topologies can be asked.
            pub fn shape(&self) -> &dyn Shape {
                match self { $(Topology::$Name(shape) => shape),+ }
            }
        }

        /// The text of the shape itself: `Star { hosts: 8, .. }`.
        impl fmt::Debug for Topology {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Topology::$Name(shape) => shape.fmt(f)),+ }
            }
        }
    };
}

topologies! {
    Star in star,
    Dumbbell in dumbbell,
    LeafSpine in leaf_spine,
    FatTree in fat_tree,
    TwoSites in two_sites,
    Ring in ring,
    Clos in clos,
}

impl Topology {
    /// Number of hosts, at most [`MOST_HOSTS`] in a topology that was read from a file.
    pub fn hosts(&self) -> u32 {
        self.shape().hosts() as u32
    }

    /// The first switch of a host.
    pub fn rack(&self, host: u32) -> u32 {
        self.shape().rack(host)
    }

    /// The pod of a host (a rack is its own pod below three tiers).
    pub fn pod(&self, host: u32) -> u32 {
        self.shape().pod(host)
    }

    /// The inner links between two hosts; `None` within a rack.
    fn way(&self, src: u32, dst: u32) -> Option<Way> {
        let shape = self.shape();
        (shape.rack(src) != shape.rack(dst)).then(|| shape.way(src, dst))
    }

    /// Links a packet crosses from `src` to `dst`.
    pub fn links(&self, src: u32, dst: u32) -> u32 {
        2 + self.way(src, dst).map_or(0, |way| way.links)
    }

    /// One-way propagation delay from `src` to `dst`, without transmission times.
    pub fn propagation(&self, src: u32, dst: u32) -> Picos {
        let inner = self.way(src, dst).map_or(Picos::ZERO, |way| way.delay);
        self.propagation_with(inner)
    }

    /// One-way propagation delay of a path whose inner links take `inner`.
    pub fn propagation_with(&self, inner: Picos) -> Picos {
        Picos(2 * self.shape().host_line().delay.0 + inner.0)
    }

    /// Rate of a host's link.
    pub fn host_rate(&self) -> Rate {
        self.shape().host_line().rate
    }

    /// The slowest link between two hosts.
    pub fn bottleneck(&self, src: u32, dst: u32) -> Rate {
        let host = self.host_rate();
        self.way(src, dst).map_or(host, |way| way.slowest.min(host))
    }

    /// The slowest link of all: the rate at which a threshold written as a time becomes a length.
    pub fn slowest(&self) -> Rate {
        let ways = self.shape().tiers().into_iter().flat_map(|tier| tier.ways);
        ways.map(|way| way.slowest)
            .fold(self.host_rate(), Rate::min)
    }

    /// Rate of its fastest link.
    pub fn fastest(&self) -> Rate {
        let tiers = self.shape().tiers().into_iter();
        let rates = tiers.flat_map(|tier| {
            let ways = tier.ways.into_iter().map(|way| way.slowest);
            ways.chain([tier.exits.1])
        });
        rates.fold(self.host_rate(), Rate::max)
    }

    /// Its two sites, if it has edge routers at which middleboxes can be.
    pub fn two_sites(&self) -> Option<&TwoSites> {
        self.shape().two_sites()
    }
}
