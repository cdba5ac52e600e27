// SPDX-License-Identifier: MIT OR Apache-2.0
//! One FIFO whose departures are computed on arrival: one event a hop.

use cemark_marking::{At, Hook, QueueId, Verdict};
use cemark_wire::{Nanos, Packet};

use crate::ce::{self, Fate, NonEct};
use crate::clock::Clock;
use crate::counters::{Counters, DropReason};
use crate::marker::AnyMarker;
use crate::port::{NEVER, PortSpec};
use crate::ring::Ring;

/// The answer of [`FusedPort::offer`] to a packet that it discarded.
pub const REFUSED: u64 = u64::MAX - 1;

/// A packet with its computed start of transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Departure {
    start: u64,
    packet: Packet,
}

impl Departure {
    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.packet.wire_bytes)
    }
}

/// See [`crate::port::Port`]. `ring` holds packets from acceptance to delivery; its middle cursor separates those whose transmission has
/// begun from those that wait, so that lengths are exact at any instant without an event a departure.
///
/// The order of the fields is that of their heat: what every packet touches lies in the first two cache lines.
#[repr(C, align(64))]
pub struct FusedPort {
    pub(crate) ring: Ring<Departure>,
    pub(crate) busy: u64,
    delay: u64,
    queue_bytes: u32,
    limit: u32,
    byte_ticks: u32,
    pub(crate) tag: u32,
    quiet_below: u32,
    hook: Option<Hook>,
    draws: bool,
    watches_empty: bool,
    non_ect: NonEct,
    clock: Clock,
    pub(crate) counters: Counters,
    marker: AnyMarker,
}

impl FusedPort {
    pub(crate) fn new(mut spec: PortSpec) -> Self {
        let setup = spec.queues.remove(0);
        let (marker, mtu) = (setup.marker, setup.spec.mtu);
        FusedPort {
            ring: Ring::new(),
            busy: 0,
            delay: spec.delay,
            queue_bytes: 0,
            limit: spec.buffer_bytes,
            byte_ticks: u32::try_from(spec.byte_ticks).expect("a byte takes less than 2^32 ticks"),
            tag: spec.tag,
            quiet_below: marker.quiet_below(mtu),
            hook: marker.hook(),
            draws: marker.draws(),
            watches_empty: marker.watches_empty(),
            non_ect: spec.non_ect,
            clock: spec.clock,
            counters: Counters::default(),
            marker,
        }
    }

    /// Whether the marker reads the salt.
    #[inline]
    pub fn draws(&self) -> bool {
        self.draws
    }

    #[inline]
    pub(crate) fn byte_ticks(&self) -> u64 {
        u64::from(self.byte_ticks)
    }

    #[inline]
    fn arrival(&self, d: &Departure) -> u64 {
        d.start + u64::from(d.bytes()) * u64::from(self.byte_ticks) + self.delay
    }

    /// Accounts for every transmission that has begun by `now`. At equal times departures come before arrivals.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: u64) {
        if self.busy <= now && !self.watches_empty {
            // The link is idle: everything has left, and no line of the ring need be read to know it.
            self.ring.advance_all();
            self.queue_bytes = 0;
            return;
        }
        while let Some(d) = self.ring.next_waiting() {
            if d.start > now {
                break;
            }
            let start = d.start;
            self.queue_bytes -= d.bytes();
            self.ring.advance();
            if self.watches_empty && self.queue_bytes == 0 {
                self.tell_emptied(start);
            }
        }
    }

    #[cold]
    fn tell_emptied(&mut self, at: u64) {
        self.marker.emptied(QueueId(0), self.clock.nanos(at));
    }

    pub(crate) fn queued_bytes(&mut self, now: u64) -> u32 {
        self.catch_up(now);
        self.queue_bytes
    }

    /// A packet arrives: the tick at which [`FusedPort::deliver`] is to be called, [`NEVER`] where that is known already, or [`REFUSED`].
    #[inline]
    pub fn offer(&mut self, now: u64, mut packet: Packet, salt: u64) -> u64 {
        self.catch_up(now);
        let bytes = u32::from(packet.wire_bytes);
        if self.queue_bytes + bytes > self.limit {
            self.discard(DropReason::Tail);
            return REFUSED;
        }
        let start = self.busy.max(now);
        if self.queue_bytes >= self.quiet_below && self.judge(now, start, &mut packet, salt) {
            return REFUSED;
        }
        self.counters.sent += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.busy = start + u64::from(bytes) * u64::from(self.byte_ticks);
        let first = self.ring.is_empty();
        self.ring.push(Departure { start, packet });
        if start > now {
            self.queue_bytes += bytes;
        } else {
            self.ring.advance();
            if self.watches_empty {
                // It joined an empty queue and left at once.
                self.tell_emptied(now);
            }
        }
        if first { self.busy + self.delay } else { NEVER }
    }

    /// Asks the marker and does what it says; true when the packet is discarded.
    fn judge(&mut self, now: u64, start: u64, packet: &mut Packet, salt: u64) -> bool {
        let arrives = self.clock.nanos(now);
        let mut at = At {
            now: arrives,
            sojourn: Nanos::ZERO,
            round: Nanos::ZERO,
            salt,
            pkt_bytes: u32::from(packet.wire_bytes),
            segs: 1,
            ecn: packet.ecn,
            intent: None,
            queue_bytes: self.queue_bytes,
            queue_pkts: self.ring.waiting(),
            port_bytes: self.queue_bytes,
            pool_bytes: self.queue_bytes,
            limit_bytes: self.limit,
        };
        let verdict = match self.hook {
            None => return false,
            Some(Hook::Enqueue) => self.marker.enqueue(&at),
            Some(_) => {
                at.now = self.clock.nanos(start);
                at.sojourn = at.now - arrives;
                self.marker.dequeue(&at)
            }
        };
        if verdict == Verdict::Pass {
            return false;
        }
        match ce::apply(verdict, &mut packet.ecn, self.non_ect) {
            Fate::Passed => {}
            Fate::Marked(why) => self.counters.marks[why as usize] += 1,
            Fate::Spared => self.counters.spared += 1,
            Fate::Dropped => return self.discard(DropReason::Marker),
            Fate::DroppedNotEct => return self.discard(DropReason::NotEct),
        }
        false
    }

    #[cold]
    fn discard(&mut self, why: DropReason) -> bool {
        self.counters.drops[why as usize] += 1;
        true
    }

    /// The oldest packet on the wire reaches the far end: (packet, tick of the next delivery or [`NEVER`]).
    #[inline]
    pub fn deliver(&mut self, now: u64) -> (Packet, u64) {
        // Nobody may have looked since its transmission began.
        if self.ring.none_passed() {
            self.catch_up(now);
        }
        let d = self
            .ring
            .pop()
            .expect("a delivery event has its packet on the wire");
        debug_assert_eq!(now, self.arrival(&d));
        (
            d.packet,
            self.ring.front().map_or(NEVER, |n| self.arrival(n)),
        )
    }
}
