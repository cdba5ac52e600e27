// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a marker may look at, and what it may answer.

use cemark_wire::{Ecn, Nanos, Rate};

/// Everything a marker may look at. `repr(C)`: C, BPF and Python see the same layout.
///
/// Counts never include the judged packet, at either hook.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The time of the decision.
    pub now: Nanos,
    /// How long the packet has waited in this queue: floor(now in ns) - floor(enqueue in ns). Zero
    /// at enqueue, unless the queue is only virtual and passes its predicted wait.
    pub sojourn: Nanos,
    /// The port's smoothed round time; zero where no scheduler of rounds runs.
    pub round: Nanos,
    /// The packet's random hash at this hop, [`crate::fixed::hash`] of (seed, flow, sequence, hop):
    /// the only source of randomness. The same for every scheme compared.
    pub packet_hash: u64,
    /// Bytes of the judged packet on the wire.
    pub pkt_bytes: u32,
    /// Wire packets in it (1, unless a GSO packet is kept whole).
    pub segs: u16,
    /// Its ECN field as it arrived.
    pub ecn: Ecn,
    /// The marker's own intent of the enqueue hook.
    pub intent: Option<Why>,
    /// Bytes in this queue.
    pub queue_bytes: u32,
    /// Packets in this queue.
    pub queue_pkts: u32,
    /// Bytes in all queues of the port.
    pub port_bytes: u32,
    /// Bytes in the service pool that the queue belongs to.
    pub pool_bytes: u32,
    /// The queue's limit now (moves under a dynamic threshold).
    pub limit_bytes: u32,
}

impl At {
    /// The judged packet of a single FIFO: all that an embedder without ports and pools has to say.
    pub const fn fifo(now: Nanos, sojourn: Nanos, backlog: u32, pkt_bytes: u32) -> Self {
        At {
            now,
            sojourn,
            round: Nanos::ZERO,
            packet_hash: 0,
            pkt_bytes,
            segs: 1,
            ecn: Ecn::Ect0,
            intent: None,
            queue_bytes: backlog,
            queue_pkts: backlog.div_ceil(1500),
            port_bytes: backlog,
            pool_bytes: backlog,
            limit_bytes: u32::MAX,
        }
    }
}

/// What a marker is told of its queue when it is built and when that changes: this is who knows the
/// link rate.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueSpec {
    /// Rate of the link.
    pub rate: Rate,
    /// Scheduling quantum in bytes.
    pub quantum: u32,
    /// What it takes of the link while all queues are busy, of `weight_sum`: its quantum where
    /// queues take turns, else its weight. A strict queue may take all.
    pub weight: u32,
    /// The sum over the port's queues that are not strict.
    pub weight_sum: u32,
    /// Whether the queue is served with strict priority.
    pub strict: bool,
    /// Largest packet on the wire.
    pub mtu: u32,
    /// Static limit of the queue in bytes.
    pub limit_bytes: u32,
}

impl QueueSpec {
    /// One FIFO of a port at `rate`: Ethernet MTU, no limit.
    pub const fn fifo(rate: Rate) -> Self {
        QueueSpec {
            rate,
            quantum: 1500,
            weight: 1,
            weight_sum: 1,
            strict: false,
            mtu: 1500,
            limit_bytes: u32::MAX,
        }
    }
}

/// A queue of a port, counted from zero.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u8);

/// The reason of a mark or drop: counters are kept by it.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Instantaneous condition (queue length or sojourn time over its threshold).
    Instant,
    /// Persistent queueing (ECN#'s second condition, CoDel's control law).
    Persistent,
    /// A random draw (RED's ramp, PIE).
    Random,
    /// Smoothed length over its upper threshold.
    Average,
    /// A rising queue between two thresholds, unless it has turned by the time the packet leaves
    /// (CEDM).
    Tentative,
}

/// A marker's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Leave the packet as it is.
    Pass,
    /// The packet should carry CE.
    Mark(Why),
    /// The packet should be discarded.
    Drop(Why),
}

/// Where a marker judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Only as packets join.
    Enqueue,
    /// Only as packets leave.
    Dequeue,
    /// At both ends.
    Both,
}
