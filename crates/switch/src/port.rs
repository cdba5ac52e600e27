// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port: admission, marking, scheduling, transmission.
//!
//! Two forms with the same results (a test compares them): [`FusedPort`] decides a packet's
//! departure as it arrives and costs one event a hop; [`ExplicitPort`] keeps real queues and costs
//! two under backlog where others may see them. The port chooses from its profile: fusion calls the
//! dequeue hook ahead of time, so it is legal only where nobody can see that.

use cemark_marking::{Hook, Marker, QueueSpec};
use cemark_wire::Packet;

use crate::admit::{Pool, PoolId, RoomPolicy};
use crate::ce::NonEct;
use crate::clock::Clock;
use crate::counters::Counters;
use crate::explicit::ExplicitPort;
use crate::fused::{FusedPort, REFUSED};
use crate::marker::AnyMarker;
use crate::round::RoundSpec;
use crate::sched::{AnyScheduler, Rounds, Scheduler};

/// No event: later than any tick.
pub const NEVER: u64 = u64::MAX;

/// What a port is built from.
pub struct PortSpec {
    /// Tick of the event core.
    pub clock: Clock,
    /// Ticks a byte takes on the link.
    pub byte_ticks: u64,
    /// A number of the owner's, given back by [`Port::tag`].
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
    /// What becomes of packets that should be marked and are not ECN-capable.
    pub non_ect: NonEct,
    /// Queues in order of class, each with its marker. Classes above the last share it.
    pub queues: Vec<QueueSetup>,
    /// Who sends next.
    pub scheduler: AnyScheduler,
    /// How the round time is smoothed.
    pub round: RoundSpec,
    /// Keep real queues even where fusion would be legal.
    pub never_fuse: bool,
    /// Whether nobody else uses the pool and the owner calls [`Port::catch_up`] before it looks at
    /// queues and counters: departures then need no events of their own.
    pub may_lag: bool,
}

/// One queue of a port to be built.
pub struct QueueSetup {
    /// What the marker was told.
    pub spec: QueueSpec,
    /// When to mark.
    pub marker: AnyMarker,
    /// Whether it may use headroom.
    pub lossless: bool,
}

/// What the owner has to do after an offer or a service: put events into the queue, or free the
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Call [`Port::deliver`] at this tick, unless [`NEVER`].
    pub deliver_at: u64,
    /// Call [`Port::serve`] at this tick, unless [`NEVER`].
    pub serve_at: u64,
    /// Call [`Port::wake`] at this tick, unless [`NEVER`].
    pub wake_at: u64,
    /// The offered packet was discarded (the counters say why).
    pub refused: bool,
}

impl Offer {
    pub(crate) const QUIET: Offer = Offer {
        deliver_at: NEVER,
        serve_at: NEVER,
        wake_at: NEVER,
        refused: false,
    };
}

/// Packets a port discarded as they left their queue.
pub type Discarded = Vec<Packet>;

/// The transmitter of one link and the queues before it.
// The fused form is the hot one and stays inline; the explicit form is behind a box so that a port
// is small.
pub enum Port {
    /// One FIFO whose departures are computed on arrival.
    Fused(FusedPort),
    /// Real queues.
    Explicit(Box<ExplicitPort>),
}

impl Port {
    /// A port in the form that its profile allows.
    pub fn new(spec: PortSpec) -> Port {
        let legal = spec.queues.len() == 1
            && !spec.never_fuse
            && spec.own_pool
            && matches!(spec.buffering, RoomPolicy::Whole)
            && spec.queues[0].spec.limit_bytes >= spec.buffer_bytes
            && matches!(spec.scheduler.rounds(), Rounds::None)
            && !spec.queues[0].marker.keeps_time()
            && FusedPort::fits(&spec)
            && match &spec.queues[0].marker {
                AnyMarker::Custom(m) => m.hook() == Hook::Enqueue,
                m => {
                    // A dequeue marker on a port that drops Not-ECT drops at dequeue: the link time
                    // must be given back.
                    let may_drop = m.hook() == Hook::Dequeue && spec.non_ect == NonEct::Drop;
                    !m.needs_presence() && !may_drop
                }
            };
        if legal {
            Port::Fused(FusedPort::new(spec))
        } else {
            Port::Explicit(Box::new(ExplicitPort::new(spec)))
        }
    }

    /// Whether departures are computed on arrival.
    pub fn is_fused(&self) -> bool {
        matches!(self, Port::Fused(_))
    }

    /// The owner's number.
    #[inline]
    pub fn tag(&self) -> u32 {
        match self {
            Port::Fused(p) => p.tag,
            Port::Explicit(p) => p.tag,
        }
    }

    /// Whether any marker reads `At::packet_hash`.
    #[inline]
    pub fn draws(&self) -> bool {
        match self {
            Port::Fused(p) => p.draws(),
            Port::Explicit(p) => p.draws,
        }
    }

    /// A packet arrives. `packet_hash` is its random hash at this hop, read only where
    /// [`Port::draws`]; `pools` are the owner's, of which the port uses its own. Ticks never decrease from call to call.
    #[inline]
    pub fn offer(
        &mut self,
        now: u64,
        packet: &Packet,
        packet_hash: u64,
        pools: &mut [Pool],
        gone: &mut Discarded,
    ) -> Offer {
        match self {
            Port::Fused(p) => match p.offer(now, packet, packet_hash) {
                REFUSED => Offer {
                    refused: true,
                    ..Offer::QUIET
                },
                deliver_at => Offer {
                    deliver_at,
                    ..Offer::QUIET
                },
            },
            Port::Explicit(p) => p.offer(now, packet, packet_hash, pools, gone),
        }
    }

    /// Asks the cache for the packet that reaches the far end next.
    #[inline(always)]
    pub fn prefetch_head(&self) {
        match self {
            Port::Fused(p) => p.prefetch_head(),
            Port::Explicit(p) => p.prefetch_head(),
        }
    }

    /// The oldest packet on the wire reaches the far end: (packet, tick of the next delivery or
    /// [`NEVER`]).
    #[inline]
    pub fn deliver(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> (Packet, u64) {
        match self {
            Port::Fused(p) => {
                let packet = *p.head();
                (packet, p.deliver(now))
            }
            Port::Explicit(p) => {
                let packet = *p.head();
                (packet, p.deliver(now, pools, gone))
            }
        }
    }

    /// The link may have become free. A call at another time than the link's is a no-op.
    pub fn serve(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> Offer {
        match self {
            Port::Fused(_) => Offer::QUIET,
            Port::Explicit(p) => p.catch_up(now, pools, gone),
        }
    }

    /// Lets everything leave that should have left by now. A call changes no result, only what one
    /// sees of a port that lags.
    pub fn catch_up(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) {
        if let Port::Explicit(p) = self
            && p.lags()
        {
            p.catch_up(now, pools, gone);
        }
    }

    /// Asks the markers for their first wake-up, once the port is built: the tick at which to call
    /// [`Port::wake`], or [`NEVER`].
    pub fn first_wake(&mut self) -> u64 {
        match self {
            Port::Fused(_) => NEVER,
            Port::Explicit(p) => p.first_wake(),
        }
    }

    /// The clock of a marker is due: the tick at which to call again, or [`NEVER`]. A call at
    /// another time is a no-op.
    pub fn wake(&mut self, now: u64, pools: &[Pool]) -> u64 {
        match self {
            Port::Fused(_) => NEVER,
            Port::Explicit(p) => p.wake(now, pools),
        }
    }

    /// First tick at which the link is free of what has been decided so far.
    #[inline]
    pub fn busy_until(&self) -> u64 {
        match self {
            Port::Fused(p) => p.busy,
            Port::Explicit(p) => p.busy,
        }
    }

    /// Bytes waiting at `now`, the packet being sent not among them.
    pub fn queued_bytes(&mut self, now: u64) -> u32 {
        match self {
            Port::Fused(p) => p.queued_bytes(now),
            Port::Explicit(p) => p.port_bytes,
        }
    }

    /// Packets waiting at `now`.
    pub fn queued_packets(&mut self, now: u64) -> u32 {
        match self {
            Port::Fused(p) => {
                p.catch_up(now);
                p.ring.waiting()
            }
            Port::Explicit(p) => p.queued_packets(),
        }
    }

    /// Ticks a packet that came now would wait, as far as is decided or queued now.
    pub fn backlog_ticks(&mut self, now: u64) -> u64 {
        match self {
            Port::Fused(p) => p.busy.saturating_sub(now),
            Port::Explicit(p) => {
                p.busy.saturating_sub(now) + u64::from(p.port_bytes) * p.byte_ticks
            }
        }
    }

    /// Ticks the link has spent sending up to `now`.
    pub fn busy_ticks(&self, now: u64) -> u64 {
        let (bytes, byte_ticks, busy) = match self {
            Port::Fused(p) => (p.counters.sent_bytes, p.byte_ticks(), p.busy),
            Port::Explicit(p) => (
                p.counters.sent_bytes + p.control_bytes(),
                p.byte_ticks,
                p.busy,
            ),
        };
        bytes * byte_ticks - busy.saturating_sub(now)
    }

    /// Ticks a byte takes on the link.
    pub fn byte_ticks(&self) -> u64 {
        match self {
            Port::Fused(p) => p.byte_ticks(),
            Port::Explicit(p) => p.byte_ticks,
        }
    }

    /// Packets held: waiting or on the wire.
    pub fn held(&self) -> u64 {
        match self {
            Port::Fused(p) => u64::from(p.ring.len()),
            Port::Explicit(p) => p.held(),
        }
    }

    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        match self {
            Port::Fused(p) => &p.counters,
            Port::Explicit(p) => &p.counters,
        }
    }
}

// A fabric's ports are what every hop touches.
const _: () = assert!(size_of::<Port>() <= 192);
