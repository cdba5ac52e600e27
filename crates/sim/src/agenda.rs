// SPDX-License-Identifier: MIT OR Apache-2.0
//! Agenda of a shard, its time and its pending events: the one thing that every part of the shard
//! is passed.

use cemark_switch::{Clock, NEVER};
use cemark_wire::{Nanos, Picos};

use crate::events::EventQueue;
use crate::ids::LinkId;

/// An event is a kind in the high bits and an index in the low ones. Kind 0: the packet at the head
/// of a link arrives at its far end (`EventQueue::insert_delivery`).
///
/// Events of one tick are handled in the order of these numbers: what the network does, then what
/// hosts do, then flows that start, then what is recorded; within a kind by link, host or
/// connection. None depends on when an event was inserted.
pub(crate) mod kind {
    /// A link with explicit queues may have become free.
    pub const SERVE: u32 = 1 << SHIFT;
    /// A packet has waited for its flow's extra delay (index: its connection).
    pub const DELAYED: u32 = 2 << SHIFT;
    /// A pause frame arrives (index: see `network::pfc`).
    pub const PAUSE: u32 = 3 << SHIFT;
    /// A NIC is free for the next connection in its line.
    pub const PULL: u32 = 4 << SHIFT;
    /// A host takes what its NIC has received.
    pub const INTERRUPT: u32 = 5 << SHIFT;
    /// A sender's timer.
    pub const TIMER: u32 = 6 << SHIFT;
    /// A receiver's delayed ACK.
    pub const ACK_TIMER: u32 = 7 << SHIFT;
    /// The timer of a middlebox at an edge is due (index: twice the path, plus 1 for the far
    /// router).
    pub const EDGE: u32 = 8 << SHIFT;
    /// A marker's timer at a port is due.
    pub const WAKE: u32 = 9 << SHIFT;
    /// The next flow starts.
    pub const FLOW: u32 = 10 << SHIFT;
    /// A probe is due (index: workload).
    pub const PROBE: u32 = 11 << SHIFT;
    /// Stalled ports are checked for deadlock.
    pub const CHECK: u32 = 12 << SHIFT;
    /// Something is to be recorded.
    pub const RECORD: u32 = 13 << SHIFT;
    /// The last tick ends: of the run, or of a shard's window.
    pub const WINDOW: u32 = 14 << SHIFT;
    /// Where the kind starts.
    pub const SHIFT: u32 = 28;
    /// The index.
    pub const INDEX: u32 = (1 << SHIFT) - 1;
}

/// The order of events: tick and event.
pub(crate) type When = (u64, u32);

/// The timer of one end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// Tick of the earliest pending event, or [`NEVER`].
    at: u64,
    /// Pending events, including stale ones.
    pub pending: u32,
}

impl Timer {
    /// No event is pending.
    pub const IDLE: Timer = Timer {
        at: NEVER,
        pending: 0,
    };

    /// Whether the event at tick `now` is the earliest pending one, which it then is no more.
    #[inline]
    pub fn fires(&mut self, now: u64) -> bool {
        let fires = self.at == now;
        if fires {
            self.at = NEVER;
        }
        fires
    }
}

/// See the module's text.
pub(crate) struct Agenda<Q> {
    pub clock: Clock,
    /// The tick of the event being handled.
    pub now: u64,
    /// The event being handled; kept in a shard of a divided simulation only.
    pub event: u32,
    pub events: Q,
}

impl<Q: EventQueue> Agenda<Q> {
    /// Nothing is pending at tick zero. `links`: how many there are.
    pub fn new(clock: Clock, links: u32) -> Self {
        Agenda {
            clock,
            now: 0,
            event: 0,
            events: Q::new(links),
        }
    }

    #[inline]
    pub fn nanos(&self) -> Nanos {
        self.clock.nanos(self.now)
    }

    #[inline]
    pub fn picos(&self) -> Picos {
        self.clock.picos(self.now)
    }

    /// The tick of an instant.
    #[inline]
    pub fn ticks(&self, at: Picos) -> u64 {
        self.clock.ticks(at)
    }

    /// Adds an event that is not a delivery.
    #[inline]
    pub fn insert(&mut self, at: u64, event: u32) {
        self.events.insert(at, event);
    }

    /// Makes sure that an event of a timer is pending at or before its deadline.
    #[inline]
    pub fn arm(&mut self, timer: &mut Timer, deadline: Nanos, event: u32) {
        // A pending event that comes too early re-arms its timer; compare in nanoseconds only when
        // none is pending before it.
        if timer.at != NEVER && self.clock.nanos(timer.at) <= deadline {
            return;
        }
        let tick = self.clock.ticks_up(deadline);
        if tick == NEVER {
            return;
        }
        timer.at = tick.max(self.now);
        timer.pending += 1;
        self.events.insert(timer.at, event);
    }

    /// Inserts the next delivery of link `l`, unless the tick is [`NEVER`].
    #[inline]
    pub fn arm_delivery(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert_delivery(at, l.0);
        }
    }

    /// Inserts an event of link `l` that serves its port, unless the tick is [`NEVER`].
    #[inline]
    pub fn arm_serve(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert(at, kind::SERVE | l.0);
        }
    }

    /// Inserts the event of a marker's timer at link `l`, unless the tick is [`NEVER`].
    #[inline]
    pub fn arm_wake(&mut self, l: LinkId, at: u64) {
        if at != NEVER {
            self.events.insert(at.max(self.now), kind::WAKE | l.0);
        }
    }

    /// The place of the event being handled among all events.
    pub fn when(&self) -> When {
        (self.now, self.event)
    }
}
