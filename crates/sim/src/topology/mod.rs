// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics: how hosts, switches and links are laid out. A new topology is one file, its `mod` line
//! and one line in the list below; its keys in scenario files, its routes, its loads, warnings and
//! estimates follow from the wiring that its file gives.

mod clos;
mod dumbbell;
mod fabric;
mod fat_tree;
mod fib;
mod graph;
mod leaf_spine;
mod link;
mod ring;
mod shape;
mod spec;
mod star;
#[cfg(test)]
mod tests;
mod two_sites;
mod wiring;

use std::fmt;
use std::sync::{Arc, OnceLock};

use cemark_param::Values;
use cemark_wire::{Picos, Rate};

pub use fabric::{Fabric, MAX_LINKS, Route, Way, fits};
pub use graph::{Cord, Graph, MOST_NICS, MOST_RACKS, Misfit, Node, Place};
pub use link::{Link, NodeId};
pub use shape::Shape;
pub use spec::{Mistake, TopologySpec};
pub use wiring::{Line, Wiring};

/// Most hosts of a fabric.
pub const MOST_HOSTS: u32 = 65_536;

/// Most links between switches, counted one way each. Beyond it a fabric takes more memory than a
/// point has.
pub const MOST_LINKS: u64 = 1 << 20;

macro_rules! topologies {
    ($($Name:ident in $module:ident),+ $(,)?) => {
        $(pub use $module::$Name;)+

        /// The form in which a fabric is described.
        #[derive(Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum Form {
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name($Name),)+
            /// See [`Graph`].
            Graph(Graph),
        }

        $(impl From<$Name> for Topology {
            fn from(shape: $Name) -> Topology { Topology::of(Form::$Name(shape)) }
        })+

        impl Topology {
            /// Every kind of topology that has keys, in the order in which it is shown to people.
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

            /// The entry in [`ALL`](Topology::ALL), or [`Graph::SPEC`].
            pub fn spec(&self) -> &'static TopologySpec {
                match self.form() {
                    $(Form::$Name(_) => &$module::SPEC,)+
                    Form::Graph(_) => &Graph::SPEC,
                }
            }

            /// The common interface of all topologies.
            pub fn shape(&self) -> &dyn Shape {
                match self.form() {
                    $(Form::$Name(shape) => shape,)+
                    Form::Graph(graph) => graph,
                }
            }
        }

        /// The text of the form itself: `Star { hosts: 8, .. }`.
        impl fmt::Debug for Topology {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.form() {
                    $(Form::$Name(shape) => shape.fmt(f),)+
                    Form::Graph(graph) => graph.fmt(f),
                }
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

/// A fabric: the form in which it is described, and the links that follow from it, laid out when
/// they are first asked for. Clones share the links.
#[derive(Clone)]
pub struct Topology(Arc<Known>);

struct Known {
    form: Form,
    fabric: OnceLock<Arc<Fabric>>,
}

impl PartialEq for Topology {
    fn eq(&self, other: &Topology) -> bool {
        self.form() == other.form()
    }
}

impl Eq for Topology {}

#[cfg(feature = "serde")]
impl serde::Serialize for Topology {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.form().serialize(to)
    }
}

impl From<Graph> for Topology {
    fn from(graph: Graph) -> Topology {
        Topology::of(Form::Graph(graph))
    }
}

impl Topology {
    fn of(form: Form) -> Topology {
        Topology(Arc::new(Known {
            form,
            fabric: OnceLock::new(),
        }))
    }

    /// The form in which the fabric is described.
    pub fn form(&self) -> &Form {
        &self.0.form
    }

    /// The links and routes.
    pub fn fabric(&self) -> &Arc<Fabric> {
        let lay = || Arc::new(Fabric::new(&self.shape().wiring()));
        self.0.fabric.get_or_init(lay)
    }

    /// Number of hosts, at most [`MOST_HOSTS`] in a topology that was read from a file.
    pub fn hosts(&self) -> u32 {
        self.shape().hosts() as u32
    }

    /// The switch of a host's first NIC.
    pub fn rack(&self, host: u32) -> u32 {
        let fabric = self.fabric();
        fabric.rack(fabric.nics_of(host).start)
    }

    /// The path between the first NICs of two hosts.
    fn way(&self, src: u32, dst: u32) -> Way {
        let fabric = self.fabric();
        let nic = |host| fabric.nics_of(host).start;
        fabric.way(nic(src), nic(dst), 0)
    }

    /// Links a packet crosses from `src` to `dst`.
    pub fn links(&self, src: u32, dst: u32) -> u32 {
        self.way(src, dst).links
    }

    /// One-way propagation delay from `src` to `dst`, without transmission times. Where equal
    /// choices have unlike delays, the delay of the first.
    pub fn propagation(&self, src: u32, dst: u32) -> Picos {
        self.way(src, dst).delay
    }

    /// Rate of a host's link, the least where they differ.
    pub fn host_rate(&self) -> Rate {
        let fabric = self.fabric();
        let rates = fabric.links()[..fabric.nics() as usize]
            .iter()
            .map(|l| l.rate);
        rates.min().unwrap_or(Rate(0))
    }

    /// The largest bandwidth-delay product of a path between two hosts, in bytes: the rate of its
    /// slowest link, times its delay there and back and the time of a packet of `packet` bytes at
    /// every link of one way (the window of HPCC's simulator).
    pub fn bandwidth_delay(&self, packet: u32) -> u64 {
        let fabric = self.fabric();
        let product = |src: u32, dst: u32| {
            let path = || fabric.path(src, dst, 0).map(|l| &fabric.links()[l.place()]);
            let slowest = path().map(|link| link.rate.0).min().unwrap_or(0);
            let nanos: u128 = path()
                .map(|link| {
                    let bits = u128::from(packet) * 8_000_000_000;
                    2 * u128::from(link.delay.0 / 1000) + bits / u128::from(link.rate.0.max(1))
                })
                .sum();
            nanos * u128::from(slowest) / 8_000_000_000
        };
        let ends = fabric.representatives();
        let pairs = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b)));
        let most = pairs
            .filter(|(a, b)| a != b)
            .map(|(a, b)| product(a, b))
            .max();
        u64::try_from(most.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// The slowest link between two hosts.
    pub fn bottleneck(&self, src: u32, dst: u32) -> Rate {
        self.way(src, dst).slowest
    }

    /// The slowest link of all: the rate at which a threshold written as a time becomes a length.
    pub fn slowest(&self) -> Rate {
        let rates = self.fabric().routed().map(|link| link.rate);
        rates.min().unwrap_or(Rate(0))
    }

    /// Rate of its fastest link. The short links between two sites empty into the long links, and
    /// count as fast as these.
    pub fn fastest(&self) -> Rate {
        if let Some(sites) = self.two_sites() {
            return sites.host_rate.max(sites.between_rate());
        }
        let rates = self.fabric().routed().map(|link| link.rate);
        rates.max().unwrap_or(Rate(0))
    }

    /// Its two sites, if it has edge routers at which middleboxes can be.
    pub fn two_sites(&self) -> Option<&TwoSites> {
        self.shape().two_sites()
    }
}
