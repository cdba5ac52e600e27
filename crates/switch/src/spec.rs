// SPDX-License-Identifier: MIT OR Apache-2.0
//! Specification of a port, and requests of the port to its owner.

use cemark_marking::QueueSpec;
use cemark_wire::Packet;

use crate::admit::{PoolId, RoomPolicy};
use crate::ce::NonEct;
use crate::clock::{Clock, NEVER};
use crate::device::DeviceQueue;
use crate::marker::AnyMarker;
use crate::round::RoundSpec;
use crate::sched::AnyScheduler;

/// Specification of a port to be built.
pub struct PortSpec {
    /// Tick of the event core.
    pub clock: Clock,
    /// Ticks that a byte takes on the link.
    pub byte_ticks: u64,
    /// A number that the owner chooses; [`Port::tag`](crate::Port::tag) returns it.
    pub tag: u32,
    /// Propagation delay in ticks.
    pub delay: u64,
    /// The most that the port can ever hold, in bytes: its own buffer, or all of a shared one. The
    /// packet being sent does not count.
    pub buffer_bytes: u32,
    /// Who gets room in the pool.
    pub buffering: RoomPolicy,
    /// Which of the owner's pools; ports with the same number share it.
    pub pool: PoolId,
    /// Whether the pool is this port's alone, without headroom.
    pub own_pool: bool,
    /// Queues in order of class, each with its marker. Classes above the last share it.
    pub queues: Vec<QueueSetup>,
    /// Who sends next.
    pub scheduler: AnyScheduler,
    /// How the round time is smoothed.
    pub round: RoundSpec,
    /// Device queue below the queues, where no marker sees its packets.
    pub device: DeviceQueue,
    /// The most packets of any size that wait in the queues; zero: only bytes count.
    pub most_packets: u32,
    /// Keeps real queues even where fusion would be legal.
    pub never_fuse: bool,
    /// Whether no other port uses the pool, and the owner calls
    /// [`Port::catch_up`](crate::Port::catch_up) before it reads queues or counters. Departures
    /// then need no events of their own.
    pub may_lag: bool,
}

/// Setup of one queue of a port to be built.
pub struct QueueSetup {
    /// Specification that the marker was built for.
    pub spec: QueueSpec,
    /// When to mark.
    pub marker: AnyMarker,
    /// Policy for packets that should be marked and are not ECN-capable.
    pub non_ect: NonEct,
    /// Whether it may use headroom.
    pub lossless: bool,
}

/// Requests to the owner after an offer or a service: insert events, or free the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Call [`Port::deliver`](crate::Port::deliver) at this tick, unless [`NEVER`].
    pub deliver_at: u64,
    /// Call [`Port::serve`](crate::Port::serve) at this tick, unless [`NEVER`].
    pub serve_at: u64,
    /// Call [`Port::wake`](crate::Port::wake) at this tick, unless [`NEVER`].
    pub wake_at: u64,
    /// The offered packet was discarded (the counters say why).
    pub refused: bool,
    /// The pool has pause frames to send ([`crate::admit::Ingress::signals`]).
    pub signals: bool,
}

impl Offer {
    pub(crate) const QUIET: Offer = Offer {
        deliver_at: NEVER,
        serve_at: NEVER,
        wake_at: NEVER,
        refused: false,
        signals: false,
    };
}

/// Packets that a port discarded as they left their queue.
pub type Discarded = Vec<Packet>;
