// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs of markers, about a packet and about its queue, and their verdicts.

use cemark_wire::{Ecn, Nanos, Rate};

/// Everything a marker may look at. `repr(C)`: C, BPF and Python see the same layout.
///
/// Counts never include the judged packet, at either hook. Two constructors cover an owner without
/// ports and pools: [`At::departure`] for a FIFO that judges packets as they leave, and
/// [`At::arrival`] for a queue that judges them as they join. Struct update syntax adds what such
/// an owner knows beyond that, such as `At { packet_hash, ..At::arrival(now, backlog, bytes) }`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The time of the decision.
    pub now: Nanos,
    /// How long the packet has been in this queue: floor(now in ns) - floor(enqueue time in ns).
    /// Zero at enqueue, unless the queue is virtual and passes its predicted sojourn time.
    pub sojourn: Nanos,
    /// The port's smoothed round time; zero unless the scheduler serves rounds.
    pub round: Nanos,
    /// The packet's random hash at this hop, [`crate::fixed::hash`] of (seed, flow, sequence, hop):
    /// the only source of randomness. It is the same for every scheme compared.
    pub packet_hash: u64,
    /// Bytes of the judged packet on the wire.
    pub pkt_bytes: u32,
    /// Wire packets in it (1, unless a GSO packet is kept whole). No scheme of the catalogue reads
    /// it.
    pub segs: u16,
    /// Its ECN field as it arrived.
    pub ecn: Ecn,
    /// The marker's own intent of the enqueue hook.
    pub intent: Option<Why>,
    /// Bytes in this queue.
    pub queue_bytes: u32,
    /// Packets in this queue; zero if the owner does not count them. No scheme of the catalogue
    /// reads it.
    pub queue_pkts: u32,
    /// Bytes in all queues of the port.
    pub port_bytes: u32,
    /// Bytes in the service pool that the queue belongs to.
    pub pool_bytes: u32,
    /// The queue's limit now (moves under a dynamic threshold).
    pub limit_bytes: u32,
}

impl At {
    /// A packet of `pkt_bytes` that leaves a FIFO after `sojourn` in it and leaves `backlog` bytes
    /// behind.
    ///
    /// The FIFO is the only queue of its port and pool, and has no limit. The packet is ECT(0). Its
    /// random hash is zero: set `packet_hash` for a scheme that [draws](crate::Marker::draws).
    #[inline]
    pub const fn departure(now: Nanos, sojourn: Nanos, backlog: u32, pkt_bytes: u32) -> Self {
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
            queue_pkts: 0,
            port_bytes: backlog,
            pool_bytes: backlog,
            limit_bytes: u32::MAX,
        }
    }

    /// A packet of `pkt_bytes` that joins a queue which holds `backlog` bytes without it.
    ///
    /// The queue is the only one of its port and pool, and has no limit. The packet is ECT(0). Its
    /// random hash is zero: set `packet_hash` for a scheme that [draws](crate::Marker::draws).
    #[inline]
    pub const fn arrival(now: Nanos, backlog: u32, pkt_bytes: u32) -> Self {
        At::departure(now, Nanos::ZERO, backlog, pkt_bytes)
    }
}

/// Properties of a marker's queue, given when the marker is built and when it is retuned. The link
/// rate comes from here.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueSpec {
    /// Rate of the link.
    pub rate: Rate,
    /// Scheduling quantum in bytes.
    pub quantum: u32,
    /// The queue's share of the link while all queues are busy is `weight` / `weight_sum`. This is
    /// its quantum under DWRR and WRR, and its weight under WFQ. A strict queue may take all.
    pub weight: u32,
    /// The sum of the weights of the port's queues that are not strict.
    pub weight_sum: u32,
    /// Whether the queue is served with strict priority.
    pub strict: bool,
    /// Largest packet on the wire.
    pub mtu: u32,
    /// Static limit of the queue in bytes.
    pub limit_bytes: u32,
}

impl QueueSpec {
    /// The only FIFO of a port at `rate`: Ethernet MTU, no limit.
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

/// The reason of a mark or drop, for counters.
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
    /// A growing queue between two thresholds. Withdrawn if the queue shrinks by the time the
    /// packet leaves (CEDM).
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
