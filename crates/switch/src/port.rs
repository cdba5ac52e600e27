// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port: admission, marking, scheduling, transmission.
//!
//! There are two forms with the same results (a test compares them). [`FusedPort`] computes a
//! packet's departure on its arrival and costs one event per hop. [`ExplicitPort`] keeps real
//! queues; under backlog it costs two events per hop where other ports can observe its buffer.
//! [`Port::new`] chooses: fusion calls the dequeue hook ahead of time, so it is legal only where
//! that cannot be observed.

use cemark_marking::{Hook, Marker, QueueId, QueueSpec, Values};
use cemark_wire::Packet;

use crate::admit::{Pool, PoolId, RoomPolicy};
use crate::ce::NonEct;
use crate::clock::NEVER;
use crate::counters::Counters;
use crate::explicit::{ExplicitPort, Paused};
use crate::fused::{FusedPort, REFUSED};
use crate::marker::AnyMarker;
use crate::sched::{Rounds, Scheduler};
use crate::spec::{Discarded, Offer, PortSpec};

/// The transmitter of one link and the queues before it.
// The fused form is the common one and stays inline; the explicit form is boxed so that a `Port`
// stays small.
pub enum Port {
    /// A FIFO whose departures are computed on arrival.
    Fused(FusedPort),
    /// Real queues.
    Explicit(Box<ExplicitPort>),
}

impl Port {
    /// A port in the form that its profile allows.
    pub fn new(spec: PortSpec) -> Port {
        let legal = spec.queues.len() == 1
            && !spec.never_fuse
            && spec.device.is_none()
            && spec.most_packets == 0
            && spec.own_pool
            && matches!(spec.buffering, RoomPolicy::Whole)
            && spec.queues[0].spec.limit_bytes >= spec.buffer_bytes
            && matches!(spec.scheduler.rounds(), Rounds::None)
            && !spec.queues[0].marker.keeps_time()
            && FusedPort::fits(&spec)
            && match &spec.queues[0].marker {
                AnyMarker::Custom(m) => m.hook() == Hook::Enqueue,
                m => {
                    // A dequeue marker on a port that drops Not-ECT packets drops at dequeue, which
                    // frees link time that a fused port has already given to the packet.
                    let may_drop =
                        m.hook() == Hook::Dequeue && spec.queues[0].non_ect == NonEct::Drop;
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

    /// The pool that it uses; a port whose departures are computed on arrival has its own.
    pub fn pool(&self) -> Option<PoolId> {
        match self {
            Port::Fused(_) => None,
            Port::Explicit(p) => Some(p.pool),
        }
    }

    /// The number that the owner chose.
    #[inline]
    pub fn tag(&self) -> u32 {
        match self {
            Port::Fused(p) => p.tag,
            Port::Explicit(p) => p.tag,
        }
    }

    /// Changes the number that the owner chose.
    pub fn set_tag(&mut self, tag: u32) {
        match self {
            Port::Fused(p) => p.tag = tag,
            Port::Explicit(p) => p.tag = tag,
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
    /// [`Port::draws`]; `pools` are all pools of the owner; the port uses the one it was built
    /// with. `now` never decreases from call to call.
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
            Port::Explicit(p) => p.offer(now, packet, || packet_hash, pools, gone),
        }
    }

    /// Prefetches the packet that reaches the far end next.
    #[inline(always)]
    pub fn prefetch_head(&self) {
        match self {
            Port::Fused(p) => p.prefetch_head(),
            Port::Explicit(p) => p.prefetch_head(),
        }
    }

    /// Prefetches the packet after that.
    #[inline(always)]
    pub fn prefetch_second(&self) {
        match self {
            Port::Fused(p) => p.prefetch_second(),
            Port::Explicit(_) => {}
        }
    }

    /// Prefetches where the next packet that joins will be.
    #[inline(always)]
    pub fn prefetch_tail(&self) {
        match self {
            Port::Fused(p) => p.prefetch_tail(),
            Port::Explicit(p) => p.prefetch_tail(),
        }
    }

    /// The packet that reaches the far end next, if there is one.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        match self {
            Port::Fused(p) => p.front(),
            Port::Explicit(p) => p.front(),
        }
    }

    /// The oldest packet on the wire reaches the far end: (packet, tick of the next delivery or
    /// [`NEVER`]).
    #[inline]
    pub fn deliver(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> (Packet, u64) {
        match self {
            Port::Fused(p) => p.take(now),
            Port::Explicit(p) => {
                let packet = *p.head();
                (packet, p.deliver(now, pools, gone))
            }
        }
    }

    /// The link may have become free. A call while the link is busy does nothing.
    #[inline]
    pub fn serve(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> Offer {
        match self {
            Port::Fused(_) => Offer::QUIET,
            Port::Explicit(p) => p.catch_up(now, pools, gone),
        }
    }

    /// Processes all departures up to `now`. The call changes no result; it only brings a port that
    /// processes departures lazily up to date.
    #[inline]
    pub fn catch_up(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) {
        if let Port::Explicit(p) = self
            && p.lags()
        {
            p.catch_up(now, pools, gone);
        }
    }

    /// Asks the markers for their first timer wake-up, once the port is built. Returns the tick at
    /// which to call [`Port::wake`], or [`NEVER`].
    pub fn first_wake(&mut self) -> u64 {
        match self {
            Port::Fused(_) => NEVER,
            Port::Explicit(p) => p.first_wake(),
        }
    }

    /// Changes the parameters of the marker of a queue and keeps its state, as
    /// [`Marker::retune`] says. `spec`: the specification that the marker was built for. Call
    /// [`Port::catch_up`] before, or departures that are due will meet the new parameters. Returns
    /// the tick at which to call [`Port::wake`], or [`NEVER`].
    ///
    /// Panics where the new values call the marker at other hooks, or give it a timer or take it
    /// away, and on a fused port, which has judged packets that have yet to leave: build a port
    /// that is to be retuned with [`PortSpec::never_fuse`].
    pub fn retune(&mut self, queue: QueueId, values: &Values, spec: &QueueSpec) -> u64 {
        match self {
            Port::Fused(_) => panic!("a port that is retuned keeps real queues"),
            Port::Explicit(p) => p.retune(queue.0.into(), values, spec),
        }
    }

    /// A marker's timer is due. Returns the tick at which to call again, or [`NEVER`]. A call at
    /// another time does nothing.
    pub fn wake(&mut self, now: u64, pools: &[Pool]) -> u64 {
        match self {
            Port::Fused(_) => NEVER,
            Port::Explicit(p) => p.wake(now, pools),
        }
    }

    /// First tick at which the link is free after all transmissions decided so far.
    #[inline]
    pub fn busy_until(&self) -> u64 {
        match self {
            Port::Fused(p) => p.busy,
            Port::Explicit(p) => p.line(),
        }
    }

    /// Bytes waiting at `now`, without the packet in transmission.
    #[inline]
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

    /// Ticks that a packet arriving now would wait for what is in transmission or queued.
    #[inline]
    pub fn backlog_ticks(&mut self, now: u64) -> u64 {
        match self {
            Port::Fused(p) => p.busy.saturating_sub(now),
            Port::Explicit(p) => {
                p.line().saturating_sub(now) + u64::from(p.port_bytes) * p.byte_ticks
            }
        }
    }

    /// Ticks the link has spent sending up to `now`.
    pub fn busy_ticks(&self, now: u64) -> u64 {
        let (bytes, byte_ticks, busy) = match self {
            Port::Fused(p) => (p.counters().sent_bytes, p.byte_ticks(), p.busy),
            Port::Explicit(p) => (
                p.counters.sent_bytes + p.control_bytes(),
                p.byte_ticks,
                p.line(),
            ),
        };
        bytes * byte_ticks - busy.saturating_sub(now)
    }

    /// Ticks that a byte takes on the link.
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

    /// A pause frame for a queue has arrived. Only a port with explicit queues can be paused.
    pub fn pause(&mut self, now: u64, queue: u8) {
        if let Port::Explicit(p) = self {
            p.pause(now, queue);
        }
    }

    /// The frame that ends a pause has arrived.
    pub fn resume(
        &mut self,
        now: u64,
        queue: u8,
        pools: &mut [Pool],
        gone: &mut Discarded,
    ) -> Offer {
        match self {
            Port::Fused(_) => Offer::QUIET,
            Port::Explicit(p) => p.resume(now, queue, pools, gone),
        }
    }

    /// Sends a pause frame (or the frame that ends a pause) to the far end of the link. Returns
    /// when it arrives there, and when to call [`Port::serve`].
    pub fn send_pause(&mut self, now: u64) -> (u64, u64) {
        match self {
            Port::Fused(_) => (now, NEVER),
            Port::Explicit(p) => p.send_pause(now),
        }
    }

    /// Queues that may not send, as bits.
    #[inline]
    pub fn paused(&self) -> u64 {
        match self {
            Port::Fused(_) => 0,
            Port::Explicit(p) => p.paused,
        }
    }

    /// How long it was paused up to `now`.
    pub fn pauses(&self, now: u64) -> Paused {
        match self {
            Port::Fused(_) => Paused::default(),
            Port::Explicit(p) => p.pauses(now),
        }
    }

    /// How long one of its queues was paused up to `now`.
    pub fn pauses_of(&self, queue: u8, now: u64) -> Paused {
        match self {
            Port::Fused(_) => Paused::default(),
            Port::Explicit(p) => p.pauses_of(queue, now),
        }
    }

    /// Ticks until everything that may be sent now has been sent.
    pub fn open_ticks(&self, now: u64) -> u64 {
        match self {
            Port::Fused(p) => p.busy.saturating_sub(now),
            Port::Explicit(p) => p.open_ticks(now),
        }
    }

    /// Calls `each` with the place of its link and the bytes of every packet that waits in a queue.
    pub fn waiting(&self, queue: QueueId, each: impl FnMut(u32, u32)) {
        if let Port::Explicit(p) = self {
            p.waiting(queue, each);
        }
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        match self {
            Port::Fused(p) => p.counters(),
            Port::Explicit(p) => p.counters,
        }
    }
}

// Every hop touches a port, so its size matters.
const _: () = assert!(size_of::<Port>() <= 128);
