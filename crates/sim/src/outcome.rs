// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a simulation point.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use cemark_switch::{Counters, DropReason};
use cemark_wire::{Nanos, Picos, Rate};

/// Everything recorded in one point. Serde leaves out the flows, which are a table of their own.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// Measured flows, in order of id; those without an end are unfinished.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub flows: Vec<FlowRecord>,
    /// Endless flows, in order of id.
    pub long_flows: Vec<LongRecord>,
    /// Payload bytes of all flows together that arrived, each counted once, in each whole
    /// `Measure::goodput_interval` from `Measure::from` on.
    pub goodput: Vec<u64>,
    /// Answers to probes.
    pub probes: Vec<ProbeRecord>,
    /// Sums over the fabric.
    pub totals: Totals,
    /// Switch ports.
    pub ports: Vec<PortReport>,
    /// Counters of middleboxes at the edges of two sites, by name (docs/dcib.md): sums over the
    /// paths, and maxima of peaks. Empty without middleboxes.
    pub edges: BTreeMap<String, u64>,
    /// Ports (NICs too) that were paused by the switch at their far end.
    pub pauses: Vec<PauseReport>,
    /// The ports in a deadlock, each of which waits for the next, where the run was stopped for it.
    pub deadlock: Vec<String>,
    /// Queue lengths over time of the chosen ports.
    pub traces: Vec<PortTrace>,
    /// Occupancy over time of the shared buffers that the chosen ports use, or of the fullest.
    pub buffers: Vec<BufferTrace>,
    /// Simulated time at the end.
    pub end: Picos,
    /// Packets (data, ACKs, probes) that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Fingerprint of contents: flows and counters. Equal on every machine and for every number of
    /// jobs.
    pub digest: u64,
}

/// Record of one measured flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Its number.
    pub id: u64,
    /// Which workload.
    pub workload: u16,
    /// Number of the query that the flow answers, from 1 within its workload; `None` without one.
    pub query: Option<NonZeroU32>,
    /// Queue class.
    pub class: u8,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Start.
    pub start: Picos,
    /// From start until the receiver holds the last byte; `None` while unfinished.
    pub fct: Option<Picos>,
    /// Completion time in an empty network with an open window.
    pub ideal: Picos,
    /// Delay added behind the sender's NIC, or before the receiver.
    pub extra: Picos,
    /// Packets of its connection that arrived with CE while it ran.
    pub marks: u32,
    /// Segments sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// Record of one endless flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LongRecord {
    /// Its number.
    pub id: u64,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Queue class.
    pub class: u8,
    /// Payload bytes delivered in order between `Measure::from` and `Measure::until`. Bytes that
    /// waited behind a hole since before `from` are among them.
    pub delivered: u64,
    /// Payload bytes that arrived in that time, each counted once, in order or beyond a hole: never
    /// more than the last link carries.
    pub arrived: u64,
    /// Bytes that arrived in each whole `Measure::goodput_interval` from `Measure::from` on, zero
    /// before the flow starts.
    pub intervals: Vec<u64>,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Which workload.
    pub workload: u16,
}

/// The answer to one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "(u16, Picos, Picos)"))]
pub struct ProbeRecord {
    /// Which workload.
    pub workload: u16,
    /// When it was sent.
    pub sent: Picos,
    /// Round trip.
    pub rtt: Picos,
}

/// Sums over the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Totals {
    /// Packets that hosts put on their NIC (data, ACKs, probes).
    pub sent: u64,
    /// Packets that reached the host they were for.
    pub delivered: u64,
    /// Packets made by middleboxes at edges: copies and router ACKs.
    pub made: u64,
    /// Packets that ended in middleboxes: router ACKs, copies that were not needed, duplicates.
    pub gone: u64,
    /// Packets still in flight at the end, including copies that middleboxes keep.
    pub in_flight: u64,
    /// CE written by switches, by reason (see [`reasons`]).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "form::reasons"))]
    pub marks: BTreeMap<&'static str, u64>,
    /// Packets discarded, by reason (see [`reasons`]).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "form::reasons"))]
    pub drops: BTreeMap<&'static str, u64>,
    /// Retransmission timeouts, all flows.
    pub timeouts: u64,
    /// Segments sent again, all flows.
    pub retransmits: u64,
    /// Payload bytes that arrived, each counted once, all flows.
    pub goodput_bytes: u64,
}

/// The drops of [`Config::faults`](crate::Config::faults), in [`Totals::drops`] where there are
/// faults.
pub const ARTIFICIAL: &str = "artificial";

/// Every name that [`Outcome::edges`] may have.
pub const EDGE_COUNTS: &[&str] = &[
    "selected",
    "stalled_full",
    "probes",
    "resent",
    "flushed",
    "sent_idle",
    "acks_unmatched",
    "off",
    "router_acks",
    "twice",
    "late",
    "given_up",
    "marks_taken",
    "rewrites",
    "dupacks_dropped",
    "filter_records",
    "pep_peak_flows",
    "pep_state_bytes",
    "pep_stored_peak_bytes",
    "stalled_peak_bytes",
    "held_peak_bytes",
];

/// Every reason to mark or to drop that this build counts: the keys that [`Totals::marks`] and
/// [`Totals::drops`] may have.
pub fn reasons() -> impl Iterator<Item = &'static str> {
    let marks = Counters::WHYS.map(Counters::why_name);
    let drops = DropReason::ALL.map(DropReason::name);
    marks.into_iter().chain(drops).chain([ARTIFICIAL])
}

impl Totals {
    /// All CE written.
    pub fn all_marks(&self) -> u64 {
        self.marks.values().sum()
    }

    /// All packets discarded.
    pub fn all_drops(&self) -> u64 {
        self.drops.values().sum()
    }
}

/// Report of one switch port. Queue lengths do not count the packet being sent.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortReport {
    /// For people: `leaf3->host52`, `leaf0->spine7`.
    pub name: String,
    /// Rate of its link.
    pub rate: Rate,
    /// Packets sent. This and the next counters are of the whole run.
    pub packets: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// CE written.
    pub marks: u64,
    /// Packets discarded.
    pub drops: u64,
    /// Share of the link's time in use between `Measure::from` and `Measure::until`; zero where the
    /// run ended before.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub utilisation: f64,
    /// Queue length in bytes over the samples, which are of the same time; zero where nothing was
    /// sampled.
    pub queue: Spread,
    /// Time to drain the backlog in nanoseconds, over the same samples.
    pub sojourn: Spread,
}

/// Index of the port with the longest mean queue. Among equals, as where all queues are empty, the
/// one that sent the most bytes, because data passes it and not only acknowledgements. `None` where
/// nothing was sampled.
pub fn hottest(ports: &[PortReport]) -> Option<usize> {
    let key = |p: &PortReport| (p.queue.mean, p.bytes);
    let sampled = ports.iter().enumerate().filter(|(_, p)| p.queue.count > 0);
    let best = sampled.reduce(|best, next| {
        let longer = key(next.1).partial_cmp(&key(best.1));
        match longer {
            Some(std::cmp::Ordering::Greater) => next,
            _ => best,
        }
    });
    best.map(|(i, _)| i)
}

/// A port that was paused.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PauseReport {
    /// As in [`PortReport`]; a NIC's is `host3->leaf0`.
    pub name: String,
    /// Pauses that began in the whole run.
    pub frames: u64,
    /// Share of the time between `Measure::from` and `Measure::until` in which some queue was
    /// paused.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub share: f64,
    /// Queues of the port that were paused, in order.
    pub queues: Vec<QueuePause>,
}

/// The port that was paused longest.
pub fn most_paused(pauses: &[PauseReport]) -> Option<&PauseReport> {
    pauses.iter().max_by(|a, b| a.share.total_cmp(&b.share))
}

/// Pauses of one queue of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QueuePause {
    /// Queue class.
    pub class: u8,
    /// Pauses that began in the whole run.
    pub frames: u64,
    /// Share of the time between `Measure::from` and `Measure::until` in which it was paused.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub share: f64,
}

/// A distribution in five numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spread {
    /// How many values.
    pub count: u64,
    /// Mean.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub mean: f64,
    /// Median.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub p50: f64,
    /// 99th percentile.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub p99: f64,
    /// Largest.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub max: f64,
    /// Smallest.
    #[cfg_attr(feature = "serde", serde(serialize_with = "form::finite"))]
    pub min: f64,
}

/// Queue length over time at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PortTrace {
    /// The port's name.
    pub name: String,
    /// Index into [`Outcome::ports`].
    pub port: u32,
    /// In order of time.
    pub samples: Vec<QueueSample>,
}

/// Backlog that a packet would find at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "(Picos, u32, Nanos)"))]
pub struct QueueSample {
    /// When.
    pub at: Picos,
    /// Bytes that wait, the packet being sent not among them.
    pub bytes: u32,
    /// Time to drain the current backlog: with one queue, the sojourn of a packet that arrives now.
    pub wait: Nanos,
}

/// Occupancy over time of a buffer that the ports of a switch share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BufferTrace {
    /// The switch: `leaf0`.
    pub name: String,
    /// Bytes that the buffer can hold, headroom included.
    pub capacity: u32,
    /// In order of time.
    pub samples: Vec<BufferSample>,
}

/// Bytes in use in a shared buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "(Picos, u32)"))]
pub struct BufferSample {
    /// When.
    pub at: Picos,
    /// Bytes in use, headroom included; packets being sent are not among them.
    pub bytes: u32,
}

/// The form of a stored sample of a buffer: a list of fields without names.
impl From<BufferSample> for (Picos, u32) {
    fn from(s: BufferSample) -> Self {
        (s.at, s.bytes)
    }
}

/// The form of a stored sample: a list of fields without names, since a run has many samples.
impl From<QueueSample> for (Picos, u32, Nanos) {
    fn from(s: QueueSample) -> Self {
        (s.at, s.bytes, s.wait)
    }
}

/// The form of a stored probe: a list of fields without names, since a run has many probes.
impl From<ProbeRecord> for (u16, Picos, Picos) {
    fn from(p: ProbeRecord) -> Self {
        (p.workload, p.sent, p.rtt)
    }
}

/// Serialised forms of numbers and counters.
#[cfg(feature = "serde")]
mod form {
    use std::collections::BTreeMap;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// JSON has no NaN: a mean of nothing is written as zero, with its count beside it.
    pub(super) fn finite<S: Serializer>(x: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(if x.is_finite() { *x } else { 0.0 })
    }

    /// Counters have the reasons of this build as keys; a file with another reason is not from it.
    pub(super) fn reasons<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<&'static str, u64>, D::Error> {
        let read = BTreeMap::<String, u64>::deserialize(from)?;
        let known = |(name, count): (String, u64)| {
            let reason = super::reasons().find(|reason| *reason == name);
            let unknown = || D::Error::custom(format_args!("no reason of this build: {name}"));
            Ok((reason.ok_or_else(unknown)?, count))
        };
        read.into_iter().map(known).collect()
    }
}
