// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workloads: what is sent and when, the same flows for every scheme that is compared. A new
//! workload is one file and one line in the list below; estimates, warnings, memory and progress
//! follow from its [`Facts`], and its keys in scenario files from its declaration.

mod class;
mod facts;
mod flow;
pub mod load;
mod pattern;
pub mod random;
mod rtt;
mod samples;
pub mod sizes;
mod traffic;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use cemark_param::{Declares, ParamSpec, Values};
use cemark_wire::Picos;

pub use crate::topology::Mistake;
use crate::topology::Topology;
pub use class::ClassMap;
pub use facts::{Arriving, Burst, Facts, Sending};
pub use flow::Flow;
pub(crate) use flow::{path, path_back};
pub use list::{After, FlowLine};
pub use pattern::{LongFlows, Pairs, Span};
pub use poisson::Arrivals;
pub(crate) use probe::PROBE_BYTES;
use random::Stream;
pub use rtt::{CASES as RTT_CASES, RttModel, Spread as RttSpread, rtt_quantile};
pub use samples::Samples;
pub use sizes::SizeTable;
pub use traffic::Traffic;

/// Most flows of a workload.
pub const MOST_FLOWS: u64 = 1_000_000_000;

macro_rules! workloads {
    ($($Name:ident in $module:ident),+ $(,)?) => {
        $(mod $module; pub use $module::$Name;)+

        /// Flows of a workload and their times.
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum Kind {
            $(#[doc = concat!("See [`", stringify!($Name), "`].")] $Name($Name),)+
            /// A workload that a program brings along.
            Own(Own),
        }

        $(impl From<$Name> for Kind {
            fn from(workload: $Name) -> Kind { Kind::$Name(workload) }
        })+

        impl Kind {
            /// Every kind of workload, in the order in which it is shown to people.
            pub const ALL: &'static [&'static WorkloadSpec] = &[$(&$module::SPEC),+];

            /// Word of the kind in scenario files and in names.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Kind::$Name(_) => $module::SPEC.name,)+
                    Kind::Own(_) => "own",
                }
            }

            /// Questions that every workload answers.
            pub fn sends(&self) -> &dyn Sends {
                match self {
                    $(Kind::$Name(workload) => workload,)+
                    Kind::Own(own) => &*own.0,
                }
            }

            /// Facts that are known before any flow is drawn.
            pub fn facts(&self, topology: &Topology) -> Facts<'_> {
                self.sends().facts(topology)
            }
        }
    };
}

workloads! {
    Poisson in poisson,
    Incast in incast,
    Long in long,
    List in list,
    Probe in probe,
}

/// A workload: flows with a name, a queue and connections.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Workload {
    /// Its name in reports.
    pub name: String,
    /// Flows and their times.
    pub kind: Kind,
    /// Which queue of the ports its flows use.
    pub class: ClassMap,
    /// Whether flows reuse idle connections of the same pair (windows stay open) or open fresh
    /// ones.
    pub persistent: bool,
    /// Transport of its flows, TCP or queue pairs; `None`: [`Config::transport`].
    ///
    /// [`Config::transport`]: crate::Config::transport
    // Results in run directories are named by this word.
    #[cfg_attr(feature = "serde", serde(rename = "control"))]
    pub transport: Option<Box<cemark_transport::Config>>,
}

/// A workload that a program brings along, in no scenario file.
#[derive(Clone, Debug)]
pub struct Own(pub Arc<dyn Sends>);

#[cfg(feature = "serde")]
impl serde::Serialize for Own {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:?}", self.0))
    }
}

/// The registry's description of one kind of workload.
#[derive(Debug)]
pub struct WorkloadSpec {
    /// Word of the kind in scenario files: `incast`.
    pub name: &'static str,
    /// Keys of the kind; `None`: some are lists or tables, and a reader of scenario files has them.
    pub declared: Option<Declared>,
}

/// The keys of a workload and what they make.
#[derive(Debug)]
pub struct Declared {
    /// The keys, in the order in which they are read and shown.
    pub keys: &'static [ParamSpec],
    /// Makes the workload.
    pub build: fn(&Values) -> Kind,
}

impl Declares for Declared {
    fn params(&self) -> &'static [ParamSpec] {
        self.keys
    }
}

/// Questions that every kind of workload answers.
pub trait Sends: fmt::Debug + Send + Sync {
    /// Values of declared keys that do not go together, or not with this fabric.
    fn mistake(&self, _: &Topology) -> Option<Mistake> {
        None
    }

    /// Facts that are known before any flow is drawn.
    fn facts(&self, topology: &Topology) -> Facts<'_>;

    /// Whether some flow brings its own base RTT ([`Draft::rtt`]).
    fn own_rtts(&self) -> bool {
        false
    }

    /// Draws the flows from the first on.
    fn source(&self, seat: &Seat<'_>) -> Box<dyn Source>;
}

/// Flows one after the other.
pub trait Source: Send {
    /// The next flow that starts at a time of its own, in order of start.
    fn next(&mut self) -> Option<Draft>;

    /// The flow at this [`place`](Draft::place) has ended at `now`. Returns the flows that start
    /// because of it, at `now` or later. Called only where [`Facts::waits`] is set.
    fn completed(&mut self, _place: u64, _now: Picos) -> Vec<Draft> {
        Vec::new()
    }
}

/// Where a workload sends: the fabric, and the randomness of its own.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
    /// The fabric.
    pub topology: &'a Topology,
    pub(crate) seed: u64,
    /// Number of the workload in its point.
    pub(crate) number: u64,
}

impl Seat<'_> {
    /// A stream of random numbers. Streams of other purposes, workloads and seeds are independent.
    pub fn stream(&self, purpose: &str) -> Stream {
        Stream::new(self.seed, purpose, self.number)
    }
}

/// A flow as its source draws it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Start.
    pub start: Picos,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes; `u64::MAX` is endless.
    pub bytes: u64,
    /// Whether its completion is recorded and awaited.
    pub measured: bool,
    /// Queue of the flow; `None`: by the workload's class.
    pub class: Option<u8>,
    /// Base RTT of the flow; `None`: drawn.
    pub rtt: Option<Picos>,
    /// Number of the flow within its workload, below [`Facts::flows`]; `None`: by the order of
    /// starts. A workload with [`Facts::waits`] needs it.
    pub place: Option<u64>,
    /// Number of the query that the flow answers, from 1 within its workload; `None` without one.
    pub query: Option<NonZeroU32>,
}

impl Draft {
    /// A measured flow.
    pub fn new(start: Picos, src: u32, dst: u32, bytes: u64) -> Draft {
        Draft {
            start,
            src,
            dst,
            bytes,
            measured: true,
            class: None,
            rtt: None,
            place: None,
            query: None,
        }
    }
}
