// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is sent and when: the same flows for every scheme that is compared.

use cemark_transport::Control;
use cemark_wire::Picos;

use crate::scramble::hash;

mod after;
pub mod load;
mod poisson;
pub mod random;
mod rtt;
mod samples;
pub mod sizes;
mod sources;
mod traffic;

/// Bytes of a probe and of its answer on the wire.
pub(crate) const PROBE_BYTES: u16 = 64;

pub use rtt::{CASES as RTT_CASES, Spread as RttSpread, rtt_quantile};
pub use samples::Samples;
pub use traffic::Traffic;

/// One source of flows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Workload {
    /// Its name in reports.
    pub name: String,
    /// What it sends and when.
    pub kind: Kind,
    /// Which queue of the ports its flows use.
    pub class: ClassMap,
    /// Whether flows reuse idle connections of the same pair (windows stay open) or open fresh
    /// ones.
    pub persistent: bool,
    /// Congestion controller of its flows; `None`: that of [`Config::transport`]. It is a
    /// controller of TCP, and one that is paced or does not slow down for losses only where that
    /// of all is.
    ///
    /// [`Config::transport`]: crate::Config::transport
    pub control: Option<Control>,
}

/// What a workload sends and when.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Kind {
    /// Poisson arrivals at a load of the most loaded tier. Sizes are stratified over the table and
    /// the realised load equals the asked one within each block of `flows`. A first block of
    /// `warmup` flows is not measured, then `flows` are, then the load is held, unmeasured, for
    /// `hold` or until the last measured flow has ended.
    Poisson {
        /// Flow sizes.
        sizes: SizeTable,
        /// Offered payload bits on the most loaded tier over its capacity, 0 < load <= 1.
        load: f64,
        /// Who sends to whom.
        pairs: Pairs,
        /// Measured flows.
        flows: u64,
        /// Flows before them.
        warmup: u64,
        /// How long flows keep arriving after the measured ones have; `Picos::MAX`: until the last
        /// of those has ended.
        hold: Picos,
        /// What few workloads ask for.
        arrivals: Arrivals,
    },
    /// `senders` hosts each send one flow to `receiver` at the same time, repeatedly.
    Incast {
        /// Flows of one query; where there are fewer other hosts, hosts send several.
        senders: u32,
        /// The host that asked.
        receiver: u32,
        /// Smallest flow in bytes.
        min_bytes: u64,
        /// Largest flow in bytes (uniform between, ends included).
        max_bytes: u64,
        /// Time of the first query.
        at: Picos,
        /// Number of queries.
        repeat: u32,
        /// Time between queries.
        every: Picos,
        /// Each flow starts up to this much later, uniform.
        jitter: Picos,
        /// The hosts that may answer, in order; empty: all but the receiver.
        from: Vec<u32>,
    },
    /// Endless flows.
    Long {
        /// Which.
        flows: LongFlows,
        /// Start of the first.
        at: Picos,
        /// Each next one starts this much later.
        stagger: Picos,
        /// Each starts up to this much later still, uniform.
        jitter: Picos,
    },
    /// Flows written out one by one, in order of start.
    List(Vec<FlowLine>),
    /// Flows written out one by one, of which some start because others have ended. A point with
    /// such a workload is not divided into shards.
    Chain {
        /// The flows. The start of a flow that waits is a delay after the last end.
        lines: Vec<FlowLine>,
        /// Who waits for whom: no flow waits for its own end, whether over others or not.
        after: Vec<After>,
    },
    /// A ping: one small packet each interval that the receiver answers at once; its round trips
    /// are recorded.
    Probe {
        /// Sender.
        src: u32,
        /// Answering host.
        dst: u32,
        /// Time of the first.
        at: Picos,
        /// Time between two.
        every: Picos,
        /// How many.
        count: u64,
    },
}

impl Kind {
    /// The flows of a list.
    pub fn lines(&self) -> Option<&[FlowLine]> {
        match self {
            Kind::List(lines) | Kind::Chain { lines, .. } => Some(lines),
            _ => None,
        }
    }

    /// Whether it only measures.
    pub(crate) fn is_probe(&self) -> bool {
        matches!(self, Kind::Probe { .. })
    }
}

/// How the flows of a Poisson workload are drawn, where that is not as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Arrivals {
    /// Sizes and starts are drawn independently, as in most simulators: the load of a run is then
    /// what its sizes happen to make it. Otherwise they are stratified and the load is exact.
    pub independent: bool,
    /// The hosts that send, in rising order; empty: all.
    pub senders: Vec<u32>,
    /// The measured flows start uniformly over this span, and there are no others; the load follows
    /// from it.
    pub span: Option<Span>,
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Span {
    /// Its begin.
    pub at: Picos,
    /// Its length.
    pub length: Picos,
}

/// Which endless flows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum LongFlows {
    /// A random permutation of all hosts without fixed points, `per_host` times.
    Permutation {
        /// Flows that each host sends.
        per_host: u32,
    },
    /// `count` flows to one host; the other hosts are the senders, one after the other.
    ToOne {
        /// Number of flows.
        count: u32,
        /// The receiver.
        receiver: u32,
    },
    /// These pairs of sender and receiver.
    Pairs(Vec<(u32, u32)>),
}

/// A flow that starts no earlier than the end of another of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct After {
    /// The flow that waits, by its place in the list.
    pub flow: u32,
    /// The flow that ends first.
    pub ended: u32,
}

/// One explicit flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FlowLine {
    /// Start.
    pub start: Picos,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Its queue, where that is not the workload's.
    pub class: Option<u8>,
    /// Its base RTT, where that is not drawn.
    pub rtt: Option<Picos>,
}

/// Who sends to whom in a Poisson workload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Pairs {
    /// Sender and receiver uniform over all pairs of different hosts.
    All,
    /// All pairs of hosts in different racks.
    OtherRack,
    /// From a uniform one of the other hosts to this one.
    ToOne(u32),
}

/// Which queue (class) of the ports a flow uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ClassMap {
    /// All in one.
    Fixed(u8),
    /// At random with these weights.
    Weighted(Vec<u32>),
    /// ((dst+1) * hosts + src + 1) mod n, as MQ-ECN's scripts do.
    ByPair(u8),
    /// src mod n.
    BySender(u8),
    /// By bytes already sent: class i until `bounds[i]` bytes of the flow have left (PIAS).
    ByBytesSent(Vec<u64>),
}

/// Base RTT of a flow, drawn once for its life. The part above its path's propagation delay is
/// added behind the sender's NIC; before the receiver where switches pause their senders.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum RttModel {
    /// What the path gives; nothing added.
    Path,
    /// The same for all.
    Fixed(Picos),
    /// `lo + (hi - lo) * min(Exp(mean 0.38), 1)`: the shape of ECN# (2x to 5x).
    Variation {
        /// Smallest base RTT.
        lo: Picos,
        /// Largest.
        hi: Picos,
    },
    /// An inverse distribution function, linear between the points (probability, RTT).
    Quantiles(Vec<(f64, Picos)>),
    /// `loc + exp(N(mu, sigma))` microseconds, never below `floor`.
    Lognormal {
        /// Shift in microseconds.
        loc: f64,
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Smallest value.
        floor: Picos,
    },
    /// One of these, uniform.
    Classes(Vec<Picos>),
    /// Of each sender: that of host i is number i, and those of hosts beyond the list begin again.
    BySender(Vec<Picos>),
    /// One of these measured values, uniform.
    Samples(Samples),
}

/// A flow-size distribution: (bytes, cumulative probability 0..1), linear between rows; a size may
/// repeat (a step).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeTable {
    /// Its name in reports.
    pub name: String,
    /// Rows in rising order.
    pub rows: Vec<(f64, f64)>,
}

/// One flow as the simulator starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its number: unique in the point, the same for every scheme.
    pub id: u64,
    /// Start.
    pub start: Picos,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes; `u64::MAX` is endless.
    pub bytes: u64,
    /// Which workload it belongs to.
    pub workload: u16,
    /// Queue class (the first, where the class depends on bytes sent).
    pub class: u8,
    /// Whether its completion is recorded and awaited.
    pub measured: bool,
    /// Delay added behind the sender's NIC (drawn RTT less the propagation of its path, both ways;
    /// never negative).
    pub extra: Picos,
}

impl Flow {
    /// The hash by which a fresh connection of this flow chooses among the NICs of its hosts, and,
    /// from NIC to NIC, among equal paths for its data.
    pub fn path(&self, seed: u64) -> u64 {
        path(seed, self.src, self.dst, self.id)
    }
}

/// The same for a connection of any name: a fresh one is called after its flow.
pub(crate) fn path(seed: u64, src: u32, dst: u32, name: u64) -> u64 {
    hash(seed, u64::from(src) << 32 | u64::from(dst), name, 2)
}

/// The hash by which a connection of this name chooses among equal paths for its acknowledgements.
pub(crate) fn path_back(seed: u64, src: u32, dst: u32, name: u64) -> u64 {
    hash(seed, u64::from(src) << 32 | u64::from(dst), name, 3)
}
