// SPDX-License-Identifier: MIT OR Apache-2.0
//! A FIFO whose departures are computed on arrival: one event per hop.

use cemark_marking::{At, Hook, Marker, QueueId, Verdict};
use cemark_wire::{Ecn, Nanos, Packet};

use crate::ce::{self, Fate, NonEct};
use crate::clock::{Clock, NEVER};
use crate::counters::{Counters, DropReason};
use crate::marker::AnyMarker;
use crate::ring::Ring;
use crate::spec::PortSpec;

/// The answer of [`FusedPort::offer`] to a packet that it discarded.
pub const REFUSED: u64 = u64::MAX - 1;

/// See [`crate::port::Port`]. `ring` holds packets from acceptance to delivery. Its middle cursor
/// separates those whose transmission has begun from those that wait, so lengths are exact at any
/// time without an event for each departure.
///
/// The cursor and `queue_bytes` are exact as of the last `catch_up`. Most packets need no
/// `catch_up`: `busy` alone gives the backlog, and where that is short the length is not needed.
///
/// The stamp of a packet in the ring is the tick, modulo 2^32, at which it reaches the far end.
///
/// What a packet reads and writes that is neither marked nor dropped is in the first cache line: an
/// arrival counts its bytes there, and carries to the second line every 64 KiB.
#[repr(C, align(64))]
pub struct FusedPort {
    pub(crate) ring: Ring<Packet>,
    pub(crate) busy: u64,
    /// Bytes behind the ring's middle cursor.
    queue_bytes: u32,
    /// With a backlog of fewer ticks than this, neither the buffer nor the marker can act on a
    /// packet. Zero where the marker watches for an empty queue, so that every packet is looked at.
    quiet_ticks: u32,
    byte_ticks: u32,
    delay: u32,
    /// The number that the owner chose.
    pub tag: u32,
    draws: bool,
    watches_empty: bool,
    /// Bytes sent that `judge.counters` does not have yet.
    sent_low: u16,
    // Second cache line.
    judge: Box<Judge>,
}

/// State that only packets which may be marked or dropped need. It is boxed, so that a port fits
/// into two cache lines and the discriminant of `Port` (a niche in the inline part) is in the
/// first.
struct Judge {
    /// All but the packets since `counted` and the bytes of `sent_low`.
    counters: Counters,
    /// How many packets the ring had been given when they were last counted.
    counted: u32,
    hook: Option<Hook>,
    non_ect: NonEct,
    marker: AnyMarker,
    clock: Clock,
    limit: u32,
    /// Waiting bytes below which an enqueue marker never marks.
    quiet_below: u32,
    /// Sojourn below which a dequeue marker in its present state never marks.
    quiet_sojourn: Nanos,
    /// Value that the port's `quiet_ticks` would have if the marker did not watch for an empty
    /// queue.
    quiet_ticks: u32,
    /// With a backlog of fewer ticks than this there is room for any packet.
    room_ticks: u32,
}

// What every packet reads and writes fills the first cache line.
const _: () = assert!(std::mem::offset_of!(FusedPort, judge) == 64);

/// Longest stay of a packet in a fused port, in ticks: times within it are stored modulo 2^32.
const LONGEST_STAY: u64 = 1 << 30;

impl FusedPort {
    /// Whether the longest stay is short enough for a fused port.
    pub(crate) fn fits(spec: &PortSpec) -> bool {
        let drain = u64::from(spec.buffer_bytes) + 2 * u64::from(u16::MAX);
        drain
            .saturating_mul(spec.byte_ticks)
            .saturating_add(spec.delay)
            < LONGEST_STAY
    }

    pub(crate) fn new(mut spec: PortSpec) -> Self {
        let setup = spec.queues.remove(0);
        let (marker, mtu) = (setup.marker, setup.spec.mtu);
        let ticks = |t: u64| u32::try_from(t).expect("Port::new has asked whether it fits");
        let in_ticks = |bytes: u32| ticks((u64::from(bytes) * spec.byte_ticks).min(LONGEST_STAY));
        let quiet_below = marker.quiet_arrivals_below(mtu);
        let room_ticks = in_ticks(spec.buffer_bytes.saturating_sub(mtu));
        let quiet_ticks = match marker.called_at() {
            // A dequeue marker gives its quiet sojourn only after its first packet.
            Some(Hook::Dequeue) => 0,
            _ => in_ticks(quiet_below).min(room_ticks),
        };
        let watches_empty = marker.watches_empty();
        FusedPort {
            ring: Ring::new(),
            busy: 0,
            queue_bytes: 0,
            quiet_ticks: if watches_empty { 0 } else { quiet_ticks },
            byte_ticks: ticks(spec.byte_ticks),
            delay: ticks(spec.delay),
            tag: spec.tag,
            draws: marker.draws(),
            watches_empty,
            sent_low: 0,
            judge: Box::new(Judge {
                counters: Counters::default(),
                counted: 0,
                hook: marker.called_at(),
                non_ect: setup.non_ect,
                marker,
                clock: spec.clock,
                limit: spec.buffer_bytes,
                quiet_below,
                quiet_sojourn: Nanos::ZERO,
                quiet_ticks,
                room_ticks,
            }),
        }
    }

    /// Whether the marker may read the hash of a packet that arrives now.
    #[inline]
    pub fn draws(&self) -> bool {
        self.draws
    }

    #[inline]
    pub(crate) fn byte_ticks(&self) -> u64 {
        u64::from(self.byte_ticks)
    }

    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.judge.counters;
        let since = self.ring.pushed().wrapping_sub(self.judge.counted);
        counters.sent += u64::from(since);
        counters.sent_bytes += u64::from(self.sent_low);
        counters
    }

    /// `sent_low` has passed its end. Packets are counted as well, of which there were far fewer
    /// than 2^32.
    #[cold]
    #[inline(never)]
    fn carry(&mut self) {
        let pushed = self.ring.pushed();
        let judge = &mut *self.judge;
        judge.counters.sent += u64::from(pushed.wrapping_sub(judge.counted));
        judge.counted = pushed;
        judge.counters.sent_bytes += 1 << 16;
    }

    /// Accounts for every transmission that has begun by `now`. At equal times departures come
    /// before arrivals.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: u64) {
        if self.busy <= now && !self.watches_empty {
            // The link is idle: everything has left.
            self.ring.advance_all();
            self.queue_bytes = 0;
            return;
        }
        while let Some(p) = self.ring.next_waiting() {
            let bytes = u32::from(p.wire_bytes());
            // `fits` keeps the product below 2^30. A start may lie in the past.
            let stay = bytes * self.byte_ticks + self.delay;
            let ahead = i64::from(p.stamp.wrapping_sub(stay).wrapping_sub(now as u32) as i32);
            if ahead > 0 {
                break;
            }
            self.queue_bytes -= bytes;
            self.ring.advance();
            if self.watches_empty && self.queue_bytes == 0 {
                self.notify_emptied(now.wrapping_add_signed(ahead));
            }
        }
    }

    /// For markers that need to know when their queue empties, which takes a call for each packet.
    /// Not inlined, so that other ports do not pay for it.
    #[cold]
    #[inline(never)]
    fn catch_up_eagerly(&mut self, now: u64) {
        self.catch_up(now);
    }

    #[cold]
    fn notify_emptied(&mut self, at: u64) {
        self.judge
            .marker
            .emptied(QueueId(0), self.judge.clock.nanos(at));
    }

    #[inline]
    pub(crate) fn queued_bytes(&mut self, now: u64) -> u32 {
        self.catch_up(now);
        self.queue_bytes
    }

    /// A packet arrives. Returns the tick at which to call [`FusedPort::take`], [`NEVER`] where
    /// a delivery is pending already, or [`REFUSED`].
    ///
    /// The packet is copied once, into the ring; its hop and its CE are changed in the copy.
    #[inline(always)]
    pub fn offer(&mut self, now: u64, packet: &Packet, packet_hash: u64) -> u64 {
        let start = self.busy.max(now);
        // The waiting packets take at most as long as the whole backlog. Where the marker watches
        // for an empty queue this is always true.
        if start - now >= u64::from(self.quiet_ticks) {
            return self.offer_judged(now, start, packet, packet_hash);
        }
        self.join(start, *packet)
    }

    /// A packet arrives on which buffer or marker can act.
    #[inline(never)]
    fn offer_judged(&mut self, now: u64, start: u64, packet: &Packet, packet_hash: u64) -> u64 {
        let mut onward = *packet;
        let judged = !self.watches_empty || start - now >= u64::from(self.judge.quiet_ticks);
        if judged {
            match self.judge(now, start, packet, packet_hash) {
                Some(ecn) => onward.set_ecn(ecn),
                None => return REFUSED,
            }
        }
        if self.watches_empty {
            self.catch_up_eagerly(now);
        }
        let deliver_at = self.join(start, onward);
        if self.watches_empty {
            // It may have joined an empty queue and left at once.
            self.catch_up_eagerly(now);
        }
        deliver_at
    }

    /// A packet joins the ring; its transmission begins at `start`.
    #[inline(always)]
    fn join(&mut self, start: u64, packet: Packet) -> u64 {
        let mut onward = packet;
        let bytes = u32::from(packet.wire_bytes());
        let (low, passed) = self.sent_low.overflowing_add(packet.wire_bytes());
        self.sent_low = low;
        if passed {
            self.carry();
        }
        self.busy = start + u64::from(bytes) * u64::from(self.byte_ticks);
        self.queue_bytes += bytes;
        let first = self.ring.is_empty();
        onward.stamp = (self.busy as u32).wrapping_add(self.delay);
        onward.set_out();
        self.ring.push(onward);
        if first {
            self.busy + u64::from(self.delay)
        } else {
            NEVER
        }
    }

    /// Applies the decisions of buffer and marker. Returns the ECN field to send, or `None` for a
    /// packet that is discarded.
    #[inline(never)]
    fn judge(&mut self, now: u64, start: u64, packet: &Packet, packet_hash: u64) -> Option<Ecn> {
        let mut ecn = packet.ecn();
        // Only schemes that do not read lengths may mark at dequeue here.
        let full = start - now >= u64::from(self.judge.room_ticks);
        let hook = self.judge.hook;
        if full || hook != Some(Hook::Dequeue) {
            self.catch_up(now);
            if !full && self.queue_bytes < self.judge.quiet_below {
                return Some(ecn);
            }
            if self.queue_bytes + u32::from(packet.wire_bytes()) > self.judge.limit {
                return self.discard(DropReason::Tail);
            }
        }
        let arrives = self.judge.clock.nanos(now);
        let mut at = At {
            now: arrives,
            sojourn: Nanos::ZERO,
            round: Nanos::ZERO,
            packet_hash,
            pkt_bytes: u32::from(packet.wire_bytes()),
            segs: 1,
            ecn: packet.ecn(),
            intent: None,
            queue_bytes: self.queue_bytes,
            queue_pkts: self.ring.waiting(),
            port_bytes: self.queue_bytes,
            pool_bytes: self.queue_bytes,
            limit_bytes: self.judge.limit,
        };
        let verdict = match hook {
            None => return Some(ecn),
            Some(Hook::Enqueue) => self.judge.marker.enqueue(&at),
            Some(_) => {
                at.now = self.judge.clock.nanos(start);
                at.sojourn = at.now - arrives;
                let verdict = self.judge.marker.dequeue(&at);
                let quiet = self.judge.marker.quiet_sojourn();
                if quiet != self.judge.quiet_sojourn {
                    self.judge.quiet_sojourn = quiet;
                    let ticks = self.judge.clock.ticks_below(quiet);
                    self.quiet_ticks = ticks.min(u64::from(self.judge.room_ticks)) as u32;
                }
                verdict
            }
        };
        if verdict == Verdict::Pass {
            return Some(ecn);
        }
        let counters = &mut self.judge.counters;
        match ce::apply(verdict, &mut ecn, self.judge.non_ect) {
            Fate::Passed => {}
            Fate::Marked(why) => counters.marks[why as usize] += 1,
            Fate::Spared => counters.spared += 1,
            Fate::Dropped => return self.discard(DropReason::Marker),
            Fate::DroppedNotEct => return self.discard(DropReason::NotEct),
        }
        Some(ecn)
    }

    #[cold]
    fn discard(&mut self, why: DropReason) -> Option<Ecn> {
        self.judge.counters.discard(why);
        None
    }

    /// Prefetches the packet that reaches the far end next.
    #[inline(always)]
    pub fn prefetch_head(&self) {
        self.ring.prefetch_front();
    }

    /// Prefetches the packet after that.
    #[inline(always)]
    pub fn prefetch_second(&self) {
        self.ring.prefetch_second();
    }

    /// Prefetches where the next packet that joins will be.
    #[inline(always)]
    pub fn prefetch_tail(&self) {
        self.ring.prefetch_free();
    }

    /// The packet that reaches the far end next, if there is one.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.ring.front()
    }

    /// How many packets were ever accepted, modulo 2^32.
    #[inline]
    pub fn accepted(&self) -> u32 {
        self.ring.pushed()
    }

    /// The packets that were accepted after the first `accepted`, each as it will arrive and with
    /// the tick at which it does; that is `from` or later.
    pub fn since(&self, accepted: u32, from: u64) -> impl Iterator<Item = (u64, &Packet)> {
        let arrival = move |p: &Packet| from + u64::from(p.stamp.wrapping_sub(from as u32));
        self.ring.since(accepted).map(move |p| (arrival(p), p))
    }

    /// Forgets the packets whose transmission has begun by `now`, for an owner that asks for them
    /// with [`FusedPort::since`] and never calls [`FusedPort::take`].
    pub fn forget_begun(&mut self, now: u64) {
        self.catch_up_eagerly(now);
        self.ring.skip_passed();
    }

    /// A packet is on the link that this port did not send: it arrives at tick `at`, less than 2^31
    /// ticks after any that it follows. Returns whether no other is before it.
    #[inline]
    pub fn put_on_wire(&mut self, at: u64, packet: &Packet) -> bool {
        let first = self.ring.is_empty();
        let slot = self.ring.push_slot();
        *slot = *packet;
        slot.stamp = at as u32;
        self.ring.advance_all();
        // Another port has sent it.
        self.judge.counted = self.judge.counted.wrapping_add(1);
        first
    }

    /// The oldest packet has reached the far end: (packet, tick of the next delivery or [`NEVER`]).
    #[inline(always)]
    pub fn take(&mut self, now: u64) -> (Packet, u64) {
        if self.watches_empty && self.ring.none_passed() {
            self.catch_up_eagerly(now);
        }
        let packet = *self
            .ring
            .front()
            .expect("a delivery event has its packet on the wire");
        debug_assert_eq!(packet.stamp, now as u32, "not the tick of this delivery");
        // `catch_up` may not have run since its transmission began.
        self.queue_bytes -= if self.ring.skip() {
            u32::from(packet.wire_bytes())
        } else {
            0
        };
        // All packets of the ring arrive within 2^32 ticks from now.
        let arrival = |p: &Packet| now + u64::from(p.stamp.wrapping_sub(now as u32));
        (packet, self.ring.front().map_or(NEVER, arrival))
    }
}
