// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port with real queues behind a scheduler.
//!
//! Where no other port can observe its queues, departures are processed lazily, with correct
//! timestamps: when the next packet arrives, or when the next one reaches the far end of the link.
//! That costs one event per hop. A port that shares its buffer, or whose markers have timers,
//! processes departures on time, at the cost of a second event under backlog.

mod pause;

use cemark_marking::{Marker, QueueId, QueueSpec, Values, Verdict, Why};
use cemark_wire::{Nanos, Packet};
use prefetch_index::prefetch_index;

use crate::admit::{Admission, Admit, Pool, PoolId, RoomPolicy};
use crate::ce::{self, Fate, NonEct};
use crate::clock::{Clock, NEVER};
use crate::counters::{Counters, DropReason};
use crate::device::Below;
use crate::lines::Lines;
use crate::queue::{Judged, PortView, Queue, Slots};
use crate::round::Round;
use crate::sched::{AnyScheduler, Heads, MAX_QUEUES, Scheduler};
use crate::spec::{Discarded, Offer, PortSpec};
use crate::wire::Wire;
use pause::Pause;
pub use pause::{PAUSE_BYTES, Paused};

/// See [`crate::port::Port`].
// `ExplicitPort` fields are cache-line aligned, in access order: a packet touches five or six cache
// lines here, and these accesses dominate the cost of a hop.
#[repr(C, align(64))]
pub struct ExplicitPort {
    /// First tick at which the next packet may leave its queue.
    pub(crate) busy: u64,
    pub(crate) byte_ticks: u64,
    pub(crate) delay: u64,
    pub(crate) backlogged: u64,
    /// Bit i set: queue i is paused and may not send.
    pub(crate) paused: u64,
    pub(crate) port_bytes: u32,
    pub(crate) pool: PoolId,
    /// A number that the owner chooses.
    pub tag: u32,
    /// Whether any marker reads `At::packet_hash`.
    pub draws: bool,
    keeps_time: bool,
    lazy: bool,
    measured: bool,
    traceless: bool,
    // Second cache line.
    wire: Wire,
    pub(crate) slots: Slots,
    // Third cache line.
    pub(crate) queues: Box<[Queue]>,
    lengths: Lines<(u32, u32)>,
    scheduler: AnyScheduler,
    // Fourth and fifth cache lines.
    round: Round,
    buffering: RoomPolicy,
    clock: Clock,
    // Sixth cache line, and fields that are rarely used.
    pub(crate) counters: Counters,
    pub(crate) armed: u64,
    wake_armed: u64,
    pub(crate) pause: Pause,
    below: Option<Box<Below>>,
}

impl ExplicitPort {
    pub(crate) fn new(spec: PortSpec) -> Self {
        assert!(!spec.queues.is_empty() && spec.queues.len() <= MAX_QUEUES);
        let specs: Vec<_> = spec.queues.iter().map(|q| q.spec).collect();
        let round = Round::new(spec.round, spec.scheduler.rounds(), &specs, spec.clock);
        let mut queues: Vec<Queue> = spec.queues.into_iter().map(Queue::new).collect();
        let keeps_time = queues.iter().any(|q| q.keeps_time);
        let active = matches!(spec.buffering, RoomPolicy::Active(_));
        queues.iter_mut().for_each(|queue| queue.tracked |= active);
        ExplicitPort {
            busy: 0,
            byte_ticks: spec.byte_ticks,
            delay: spec.delay,
            armed: NEVER,
            backlogged: 0,
            port_bytes: 0,
            pool: spec.pool,
            draws: queues.iter().any(|q| q.marker.draws()),
            keeps_time,
            lazy: spec.may_lag && !keeps_time,
            measured: round.is_measured(),
            traceless: spec.scheduler.is_traceless() && !active,
            tag: spec.tag,
            clock: spec.clock,
            lengths: queues.iter().map(|_| (0, 0)).collect(),
            queues: queues.into(),
            paused: 0,
            slots: Slots::new(),
            scheduler: spec.scheduler,
            wire: Wire::new(spec.delay + spec.device.most_bytes() * spec.byte_ticks),
            round,
            buffering: spec.buffering,
            wake_armed: NEVER,
            pause: Pause::default(),
            below: Below::new(spec.device, spec.most_packets),
            counters: Counters::default(),
        }
    }

    /// First tick at which the link is free after all transmissions decided so far.
    #[inline]
    pub(crate) fn line(&self) -> u64 {
        self.below.as_ref().map_or(self.busy, |below| below.line())
    }

    pub(crate) fn queued_packets(&self) -> u32 {
        self.queues.iter().map(|q| q.waiting.len()).sum()
    }

    /// Bytes waiting in one queue.
    pub fn queue_bytes(&self, queue: QueueId) -> u32 {
        self.queues[usize::from(queue.0)].bytes
    }

    /// The round time that markers see now.
    pub fn round(&mut self) -> &mut Round {
        &mut self.round
    }

    pub(crate) fn held(&self) -> u64 {
        u64::from(self.queued_packets()) + u64::from(self.wire.packets.len())
    }

    #[inline]
    fn view_of(&self, queue: usize, pool: &Pool) -> PortView {
        PortView {
            round: self.round.get(),
            port_bytes: self.port_bytes,
            pool_bytes: pool.held(),
            limit_bytes: self.buffering.limit(pool, queue, self.queues[queue].limit),
        }
    }

    /// See [`Port::offer`](crate::Port::offer). `packet_hash` is called only for a packet that a
    /// marker may judge, and only where [`ExplicitPort::draws`].
    pub fn offer(
        &mut self,
        now: u64,
        packet: &Packet,
        packet_hash: impl FnOnce() -> u64,
        pools: &mut [Pool],
        gone: &mut Discarded,
    ) -> Offer {
        let i = usize::from(packet.class()).min(self.queues.len() - 1);
        self.prefetch(i);
        let pool = &mut pools[self.pool.place()];
        // At equal times departures come before arrivals, as in the fused port.
        let earlier = self.send_due(now, pool, gone);
        let free = self.busy <= now;
        if free && self.port_bytes == 0 {
            if self.measured {
                self.round.woke(now, self.line().min(now));
            }
            let paused = self.paused >> i & 1 == 1;
            let bytes = u32::from(packet.wire_bytes());
            if self.traceless
                && !paused
                && self.queues[i].lets_pass(bytes, self.round.get())
                && let Some(own) = self.pass(now, i, packet, pool)
            {
                return Offer {
                    deliver_at: earlier.min(own.deliver_at),
                    ..own
                };
            }
        }
        let mut result = Offer {
            deliver_at: earlier,
            ..Offer::QUIET
        };
        match self.join(now, i, packet, packet_hash, pool) {
            Ok(()) if free => {
                let own = self.start(now, pool, gone);
                result.deliver_at = earlier.min(own);
            }
            Ok(()) => {}
            Err(why) => {
                self.discard(why);
                result.refused = true;
            }
        }
        if !self.lazy {
            result.signals = pool.has_signals();
            result.serve_at = self.arm();
            if self.keeps_time && self.queues[i].keeps_time && self.queues[i].wake == NEVER {
                result.wake_at = self.poll_clock(i);
            }
        }
        result
    }

    /// Prefetches everything that enqueueing on queue `i` will touch. Each of these accesses
    /// depends on the one before, so the cache misses would otherwise follow one another.
    #[inline(always)]
    fn prefetch(&self, i: usize) {
        prefetch_index(&self.queues[..], i);
        self.lengths.prefetch(i);
        self.round.prefetch(i);
        self.slots.prefetch();
    }

    /// Whether a waiting packet may be sent.
    #[inline]
    pub(crate) fn ready(&self) -> bool {
        self.backlogged & !self.paused != 0
    }

    /// Whether departures are processed lazily.
    pub(crate) fn lags(&self) -> bool {
        self.lazy
    }

    /// Processes the departures up to `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> Offer {
        let pool = &mut pools[self.pool.place()];
        let deliver_at = self.send_due(now, pool, gone);
        Offer {
            deliver_at,
            serve_at: self.arm(),
            signals: pool.has_signals(),
            ..Offer::QUIET
        }
    }

    /// Starts every transmission that was due by `now`, each at the time at which the link became
    /// free. Returns the tick at which the first of them arrives if the wire was empty, or
    /// [`NEVER`].
    #[inline]
    fn send_due(&mut self, now: u64, pool: &mut Pool, gone: &mut Discarded) -> u64 {
        let mut deliver_at = NEVER;
        while self.busy <= now && self.ready() {
            deliver_at = deliver_at.min(self.start(self.busy, pool, gone));
        }
        deliver_at
    }

    /// Schedules the next service of a port that processes departures on time. Returns the tick at
    /// which the link becomes free, or [`NEVER`] where no event is needed.
    #[inline]
    pub(crate) fn arm(&mut self) -> u64 {
        if self.lazy || !self.ready() || self.armed == self.busy {
            return NEVER;
        }
        self.armed = self.busy;
        self.busy
    }

    /// Whether, and where, a packet for queue `i` gets room.
    #[inline(always)]
    fn room(&mut self, now: u64, i: usize, packet: &Packet, pool: &mut Pool) -> Admit {
        let bytes = u32::from(packet.wire_bytes());
        let queue = &self.queues[i];
        let plain = !queue.lossless
            && self
                .buffering
                .surely_takes(pool, bytes, queue.bytes, queue.limit);
        if plain {
            return Admit::Ok;
        }
        let ask = queue.request(i, packet.stamp, bytes);
        if let RoomPolicy::Active(own) = &self.buffering {
            pool.roll(own.lane(i), now);
        }
        self.buffering.decide(pool, &ask)
    }

    /// Enqueues a packet. The order of the calls is a contract: admission, the marker's enqueue
    /// hook, the queue, the scheduler.
    #[inline(always)]
    fn join(
        &mut self,
        now: u64,
        i: usize,
        packet: &Packet,
        packet_hash: impl FnOnce() -> u64,
        pool: &mut Pool,
    ) -> Result<(), DropReason> {
        let bytes = u32::from(packet.wire_bytes());
        if let Some(below) = &self.below
            && below.is_full(self.queued_packets())
        {
            return Err(DropReason::Tail);
        }
        let headroom = match self.room(now, i, packet, pool) {
            Admit::Ok => false,
            Admit::Headroom => true,
            Admit::Drop(why) => return Err(why),
        };
        let queue = &self.queues[i];
        let judges = queue.judges_at_enqueue(bytes, self.round.get());
        let packet_hash = if self.draws && (judges || queue.at_dequeue) {
            packet_hash()
        } else {
            0
        };
        let mut intent = None;
        if judges {
            intent = self.judge_arrival(now, i, packet, packet_hash, pool)?;
        }
        let queue = &mut self.queues[i];
        let waiting = queue.waiting.push(&mut self.slots, bytes);
        waiting.since = now;
        waiting.packet_hash = packet_hash;
        waiting.packet = *packet;
        waiting.intent = intent;
        waiting.headroom = headroom;
        queue.bytes += bytes;
        self.port_bytes += bytes;
        if !queue.tracked {
            pool.take(bytes, headroom);
        } else if queue.lossless {
            pool.join(packet.stamp, i, bytes, headroom);
        } else {
            pool.take(bytes, headroom);
            if let RoomPolicy::Active(own) = &self.buffering {
                pool.joined(own.lane(i), bytes);
            }
        }
        match &mut self.lengths[i] {
            (head @ 0, _) => {
                *head = bytes;
                self.backlogged |= 1 << i;
                if self.measured {
                    self.round.activated(i, now);
                }
            }
            (_, next @ 0) => *next = bytes,
            _ => {}
        }
        let clock = self.clock;
        self.scheduler
            .joined(QueueId(i as u8), bytes, || clock.nanos(now));
        Ok(())
    }

    /// Calls the enqueue hook for a packet that is about to join queue `i`, and returns its intent.
    /// Not inlined, so that the path of packets that no marker has to judge stays short.
    #[inline(never)]
    fn judge_arrival(
        &mut self,
        now: u64,
        i: usize,
        packet: &Packet,
        packet_hash: u64,
        pool: &Pool,
    ) -> Result<Option<Why>, DropReason> {
        let judged = Judged {
            sojourn: Nanos::ZERO,
            packet_hash,
            bytes: u32::from(packet.wire_bytes()),
            ecn: packet.ecn(),
            intent: None,
        };
        let now = self.clock.nanos(now);
        let at = self.queues[i].view(now, judged, self.view_of(i, pool));
        let queue = &mut self.queues[i];
        match queue.marker.enqueue(&at) {
            Verdict::Pass => Ok(None),
            // The marker judges only at enqueue: a packet that cannot be marked is refused before
            // it takes room.
            Verdict::Mark(_)
                if !queue.at_dequeue
                    && queue.non_ect == NonEct::Drop
                    && !packet.ecn().is_capable() =>
            {
                Err(DropReason::NotEct)
            }
            Verdict::Mark(why) => Ok(Some(why)),
            Verdict::Drop(_) => Err(DropReason::Marker),
        }
    }

    /// Calls the dequeue hook for the packet in `slot`, which has just left queue `i`.
    #[inline(never)]
    fn judge_departure(&mut self, now: Nanos, i: usize, slot: u32, pool: &Pool) -> Verdict {
        let w = self.slots.get(slot);
        let judged = Judged {
            sojourn: Nanos(now.0 - self.clock.nanos(w.since).0),
            packet_hash: w.packet_hash,
            bytes: w.bytes(),
            ecn: w.packet.ecn(),
            intent: w.intent,
        };
        let at = self.queues[i].view(now, judged, self.view_of(i, pool));
        let queue = &mut self.queues[i];
        let verdict = queue.marker.dequeue(&at);
        queue.ask_quiet_sojourn(self.clock);
        verdict
    }

    /// Starts the transmission of a packet and counts it. Returns the tick of its arrival.
    #[inline(always)]
    fn send(&mut self, now: u64, bytes: u32) -> u64 {
        self.counters.sent += 1;
        self.counters.sent_bytes += u64::from(bytes);
        if let Some(below) = &mut self.below {
            let (sent, opens) = below.enter(now, bytes, self.byte_ticks);
            self.busy = opens;
            return sent + self.delay;
        }
        self.busy = now + u64::from(bytes) * self.byte_ticks;
        self.busy + self.delay
    }

    /// Sends a packet that finds port and link idle, and that no marker judges, directly, as if it
    /// had joined its queue and left at once in a visit of its own. `None` where this would differ
    /// from joining the queue.
    #[inline]
    fn pass(&mut self, now: u64, i: usize, packet: &Packet, pool: &mut Pool) -> Option<Offer> {
        let bytes = u32::from(packet.wire_bytes());
        match self.room(now, i, packet, pool) {
            Admit::Ok => {}
            // A packet that takes headroom pauses its sender, so the meters have to count it.
            Admit::Headroom => return None,
            Admit::Drop(why) => {
                self.discard(why);
                return Some(Offer {
                    refused: true,
                    ..Offer::QUIET
                });
            }
        }
        let arrive = self.send(now, bytes);
        let slot = self.slots.hold(packet);
        let first = self.wire.push(&mut self.slots, slot, arrive);
        if self.measured {
            self.round.activated(i, now);
            self.round.served(i, self.busy, true, true);
        }
        Some(Offer {
            deliver_at: if first { arrive } else { NEVER },
            ..Offer::QUIET
        })
    }

    #[cold]
    fn discard(&mut self, why: DropReason) {
        self.counters.discard(why);
    }

    /// Starts the next transmission on the link, which is free at `now`. Returns the tick at which
    /// the packet arrives if the wire was empty, else [`NEVER`].
    pub(crate) fn start(&mut self, now: u64, pool: &mut Pool, gone: &mut Discarded) -> u64 {
        while let Some(pick) = self.scheduler.pick(&Heads {
            lengths: &self.lengths,
            backlogged: self.backlogged,
            paused: self.paused,
        }) {
            let i = usize::from(pick.queue.0);
            let (slot, bytes, fate, emptied) = self.leave(now, i, pool);
            match fate {
                Fate::Passed => {}
                Fate::Marked(why) => self.counters.marks[why as usize] += 1,
                Fate::Spared => self.counters.spared += 1,
                Fate::Dropped | Fate::DroppedNotEct => {
                    self.discard(if fate == Fate::Dropped {
                        DropReason::Marker
                    } else {
                        DropReason::NotEct
                    });
                    let heads = Heads {
                        lengths: &self.lengths,
                        backlogged: self.backlogged,
                        paused: self.paused,
                    };
                    let visit_over = self.scheduler.refunded(pick.queue, bytes, &heads);
                    if self.measured {
                        self.round.discarded(i, now, visit_over, emptied);
                    }
                    gone.push(self.slots.get(slot).packet);
                    self.slots.release(slot);
                    continue;
                }
            }
            let arrive = self.send(now, bytes);
            let first = self.wire.push(&mut self.slots, slot, arrive);
            if self.measured {
                // The visit ends when its last packet has been sent, and that time is known now.
                self.round.served(i, self.busy, pick.visit_ends, emptied);
            }
            return if first { arrive } else { NEVER };
        }
        NEVER
    }

    /// Dequeues the head of queue `i`, calls its marker and decides on CE. Returns the packet's
    /// slot, its bytes, its fate and whether it was the last of its queue.
    #[inline(always)]
    fn leave(&mut self, now: u64, i: usize, pool: &mut Pool) -> (u32, u32, Fate, bool) {
        let queue = &mut self.queues[i];
        let slot = queue.waiting.pop(&self.slots);
        let w = self.slots.get(slot);
        let bytes = w.bytes();
        queue.bytes -= bytes;
        self.port_bytes -= bytes;
        if !queue.tracked {
            pool.give(bytes, w.headroom);
        } else if queue.lossless {
            pool.leave(w.packet.stamp, i, bytes, w.headroom);
        } else {
            pool.give(bytes, w.headroom);
            if let RoomPolicy::Active(own) = &self.buffering {
                pool.left(own.lane(i), now, bytes);
            }
        }
        let next = self.lengths[i].1;
        self.lengths[i] = (next, queue.waiting.second_bytes(&self.slots));
        let verdict = if queue.judges_at_dequeue(now - w.since) {
            self.judge_departure(self.clock.nanos(now), i, slot, pool)
        } else {
            w.intent.map_or(Verdict::Pass, Verdict::Mark)
        };
        if next == 0 {
            self.backlogged &= !(1 << i);
            let queue = &mut self.queues[i];
            if queue.watches_empty {
                queue
                    .marker
                    .emptied(QueueId(i as u8), self.clock.nanos(now));
            }
        }
        let mut fate = Fate::Passed;
        if verdict != Verdict::Pass {
            let packet = self.slots.packet_mut(slot);
            let mut ecn = packet.ecn();
            fate = ce::apply(verdict, &mut ecn, self.queues[i].non_ect);
            packet.set_ecn(ecn);
        }
        (slot, bytes, fate, next == 0)
    }

    /// Asks every marker for its first timer wake-up. Returns the tick of the earliest, or
    /// [`NEVER`].
    pub(crate) fn first_wake(&mut self) -> u64 {
        let mut first = NEVER;
        for i in 0..self.queues.len() {
            if self.queues[i].keeps_time {
                first = first.min(self.poll_clock(i));
            }
        }
        first
    }

    /// Asks the marker of queue `i` for its next timer wake-up. Returns the tick for a new event,
    /// or [`NEVER`] where none is needed.
    fn poll_clock(&mut self, i: usize) -> u64 {
        let queue = &mut self.queues[i];
        queue.wake = queue
            .marker
            .next_wake()
            .map_or(NEVER, |at| self.clock.ticks_up(at));
        if queue.wake < self.wake_armed {
            self.wake_armed = queue.wake;
            queue.wake
        } else {
            NEVER
        }
    }

    /// See [`Port::retune`](crate::Port::retune).
    pub(crate) fn retune(&mut self, i: usize, values: &Values, spec: &QueueSpec) -> u64 {
        let timer_moves = self.queues[i].retune(values, spec);
        self.draws = self.queues.iter().any(|q| q.marker.draws());
        match timer_moves {
            true => self.poll_clock(i),
            false => NEVER,
        }
    }

    /// A marker's timer may be due. Returns the tick of the next wake-up, or [`NEVER`] where an
    /// event is pending or none is needed.
    pub(crate) fn wake(&mut self, now: u64, pools: &[Pool]) -> u64 {
        if now != self.wake_armed {
            return NEVER;
        }
        let mut next = NEVER;
        for i in 0..self.queues.len() {
            if self.queues[i].wake <= now {
                let around = self.view_of(i, &pools[self.pool.place()]);
                let at = self.queues[i].view(self.clock.nanos(now), Judged::PLACEHOLDER, around);
                self.queues[i].marker.wake(&at);
                // The next wake-up is always later, or the event loop would not advance.
                self.queues[i].wake = self.queues[i]
                    .marker
                    .next_wake()
                    .map_or(NEVER, |at| self.clock.ticks_up(at).max(now + 1));
            }
            next = next.min(self.queues[i].wake);
        }
        self.wake_armed = next;
        next
    }

    /// Prefetches the packet that reaches the far end next.
    #[inline(always)]
    pub fn prefetch_head(&self) {
        self.slots.prefetch_slot(self.wire.packets.first());
    }

    /// Prefetches where the next packet that joins will be.
    #[inline(always)]
    pub fn prefetch_tail(&self) {
        self.slots.prefetch();
    }

    /// The packet that reaches the far end next, if there is one.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        match self.wire.packets.len() {
            0 => None,
            _ => Some(self.head()),
        }
    }

    /// The packet that reaches the far end of the link now.
    #[inline]
    pub fn head(&self) -> &Packet {
        assert!(
            self.wire.packets.len() > 0,
            "a delivery event has its packet on the wire"
        );
        &self.slots.get(self.wire.packets.first()).packet
    }

    /// Writes into the head by which link it reaches a switch that counts that
    /// ([`crate::admit::RoomRequest::from`]).
    #[inline]
    pub fn stamp_head(&mut self, from: u32) {
        self.slots.packet_mut(self.wire.packets.first()).stamp = from;
    }

    /// When the port begins to send the next packet that waits, or [`NEVER`].
    pub fn begins(&self) -> u64 {
        if self.ready() { self.busy } else { NEVER }
    }

    /// The oldest packet that the port has begun to send and that this was not asked about, and the
    /// tick at which it arrives. The port has caught up with tick `now`, and is asked again before
    /// a packet of this answer arrives.
    pub fn begun(&mut self, now: u64) -> Option<(u64, Packet)> {
        let packet = *self.wire.next_untold(&self.slots)?;
        let arrives = match &mut self.wire.far {
            None => now + u64::from(packet.stamp.wrapping_sub(now as u32)),
            Some(far) => {
                let arrives = *far.next_waiting()?;
                far.advance();
                arrives
            }
        };
        Some((arrives, packet))
    }

    /// Processes the departures that are due before the last packet leaves the wire.
    #[inline(never)]
    fn send_before_last(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) {
        // The wire is not empty, so this cannot be the first packet on it: no delivery event is
        // due.
        let pool = &mut pools[self.pool.place()];
        let served = self.send_due(now, pool, gone);
        debug_assert_eq!(served, NEVER);
    }

    /// The head has reached the far end. Returns the tick of the next delivery, or [`NEVER`].
    ///
    /// A packet counts as on the wire from the start of its transmission. A port with a backlog
    /// therefore always has a pending delivery, and lazy processing misses no departure if it runs
    /// when the last packet leaves the wire.
    #[inline(always)]
    pub fn deliver(&mut self, now: u64, pools: &mut [Pool], gone: &mut Discarded) -> u64 {
        if self.lazy && self.wire.packets.len() == 1 && self.busy <= now {
            self.send_before_last(now, pools, gone);
        }
        self.wire.advance(&mut self.slots, now)
    }
}
