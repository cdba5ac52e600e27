// SPDX-License-Identifier: MIT OR Apache-2.0
//! One FIFO whose departures are computed on arrival: one event a hop.

use cemark_marking::{At, Hook, QueueId};
use cemark_wire::{Nanos, Packet};

use crate::ce::{self, Fate, NonEct};
use crate::clock::Clock;
use crate::counters::{Counters, DropReason};
use crate::marker::AnyMarker;
use crate::port::{Arrival, NEVER, Offer, PortSpec};
use crate::ring::Ring;

/// A packet with its computed start of transmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Departure {
    start: u64,
    packet: u32,
    bytes: u32,
}

/// See [`crate::port::Port`]. `ring` holds packets from acceptance to delivery; its middle cursor separates those whose transmission has
/// begun from those that wait, so that lengths are exact at any instant without an event a departure.
pub struct FusedPort {
    pub(crate) ring: Ring<Departure>,
    pub(crate) busy: u64,
    pub(crate) byte_ticks: u64,
    delay: u64,
    queue_bytes: u32,
    limit: u32,
    hook: Option<Hook>,
    pub(crate) draws: bool,
    watches_empty: bool,
    non_ect: NonEct,
    clock: Clock,
    marker: AnyMarker,
    pub(crate) counters: Counters,
}

impl FusedPort {
    pub(crate) fn new(mut spec: PortSpec) -> Self {
        let marker = spec.queues.remove(0).marker;
        FusedPort {
            ring: Ring::new(),
            busy: 0,
            byte_ticks: spec.byte_ticks,
            delay: spec.delay,
            queue_bytes: 0,
            limit: spec.buffer_bytes,
            hook: marker.hook(),
            draws: marker.draws(),
            watches_empty: marker.watches_empty(),
            non_ect: spec.non_ect,
            clock: spec.clock,
            marker,
            counters: Counters::default(),
        }
    }

    /// Accounts for every transmission that has begun by `now`. At equal times departures come before arrivals.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: u64) {
        while let Some(d) = self.ring.next_waiting() {
            if d.start > now {
                break;
            }
            let start = d.start;
            self.queue_bytes -= d.bytes;
            self.ring.advance();
            if self.watches_empty && self.queue_bytes == 0 {
                self.marker.emptied(QueueId(0), self.clock.nanos(start));
            }
        }
    }

    pub(crate) fn queued_bytes(&mut self, now: u64) -> u32 {
        self.catch_up(now);
        self.queue_bytes
    }

    #[inline]
    pub(crate) fn offer(&mut self, now: u64, a: Arrival, packets: &mut [Packet]) -> Offer {
        self.catch_up(now);
        let packet = &mut packets[a.packet as usize];
        let bytes = u32::from(packet.wire_bytes);
        self.counters.offered += 1;
        if self.queue_bytes + bytes > self.limit {
            self.counters.drops[DropReason::Tail as usize] += 1;
            return Offer::dropped(DropReason::Tail);
        }
        let start = self.busy.max(now);
        if let Some(hook) = self.hook {
            let mut at = At {
                now: self.clock.nanos(now),
                sojourn: Nanos::ZERO,
                round: Nanos::ZERO,
                salt: a.salt,
                pkt_bytes: bytes,
                segs: 1,
                ecn: packet.ecn,
                intent: None,
                queue_bytes: self.queue_bytes,
                queue_pkts: self.ring.waiting(),
                port_bytes: self.queue_bytes,
                pool_bytes: self.queue_bytes,
                limit_bytes: self.limit,
            };
            let verdict = if hook == Hook::Enqueue {
                self.marker.enqueue(&at)
            } else {
                let leaves = self.clock.nanos(start);
                at.sojourn = leaves - at.now;
                at.now = leaves;
                self.marker.dequeue(&at)
            };
            match ce::apply(verdict, &mut packet.ecn, self.non_ect) {
                Fate::Passed => {}
                Fate::Marked(why) => self.counters.marks[why as usize] += 1,
                Fate::Spared => self.counters.spared += 1,
                Fate::Dropped => {
                    self.counters.drops[DropReason::Marker as usize] += 1;
                    return Offer::dropped(DropReason::Marker);
                }
                Fate::DroppedNotEct => {
                    self.counters.drops[DropReason::NotEct as usize] += 1;
                    return Offer::dropped(DropReason::NotEct);
                }
            }
        }
        self.counters.sent += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.busy = start + u64::from(bytes) * self.byte_ticks;
        let first = self.ring.is_empty();
        self.ring.push(Departure { start, packet: a.packet, bytes });
        if start > now {
            self.queue_bytes += bytes;
        } else {
            self.ring.advance();
            if self.watches_empty {
                // It joined an empty queue and left at once.
                self.marker.emptied(QueueId(0), self.clock.nanos(now));
            }
        }
        Offer { deliver_at: if first { self.busy + self.delay } else { NEVER }, serve_at: NEVER, dropped: None }
    }

    #[inline]
    pub(crate) fn deliver(&mut self, now: u64) -> (u32, u64) {
        self.catch_up(now);
        let d = self.ring.pop().expect("a delivery event has its packet on the wire");
        debug_assert_eq!(now, d.start + u64::from(d.bytes) * self.byte_ticks + self.delay);
        let next = match self.ring.front() {
            Some(n) => n.start + u64::from(n.bytes) * self.byte_ticks + self.delay,
            None => NEVER,
        };
        (d.packet, next)
    }
}
