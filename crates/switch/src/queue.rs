// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue of an explicit port: packets that wait, and the marker that judges them.

use cemark_marking::{At, Hook, Marker, QueueSpec, Quiet, Values, Why};
use cemark_wire::{Ecn, Nanos, Packet};
use prefetch_index::prefetch_index;

use crate::admit::RoomRequest;
use crate::ce::NonEct;
use crate::clock::{Clock, NEVER};
use crate::lines::Aligned;
use crate::marker::AnyMarker;
use crate::spec::QueueSetup;

/// A packet in a queue or on the wire: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Waiting {
    pub since: u64,
    pub packet_hash: u64,
    pub packet: Packet,
    pub intent: Option<Why>,
    /// Whether it took headroom.
    pub headroom: bool,
    /// The slot of the packet behind it, or of the next free slot.
    next: u32,
    /// In a queue: bytes of the packet behind it; zero where there is none.
    next_bytes: u32,
}

/// The packets of a port: each queue is a linked list of slots, and so is the wire, so that a
/// packet stays in one slot until it is delivered. The slot freed last is reused first, while it is
/// still in the cache: a ring for each queue would walk through much more memory than is in use.
/// The number of slots never shrinks, so there is no allocation after warm-up.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Waiting>,
    free: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl Slots {
    pub fn new() -> Self {
        Slots {
            slots: Vec::new(),
            free: NONE,
        }
    }

    /// An unused slot, with arbitrary contents.
    #[inline]
    fn take(&mut self) -> u32 {
        if self.free == NONE {
            return self.grow();
        }
        let slot = self.free;
        self.free = self.slots[slot as usize].next;
        slot
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        self.slots.push(Waiting::default());
        self.slots.len() as u32 - 1
    }

    /// Prefetches the slot that is used next.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch_index(self.slots.as_slice(), self.free as usize);
    }

    /// Prefetches a slot.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        prefetch_index(self.slots.as_slice(), slot as usize);
    }

    /// The waiting packet in a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> &Waiting {
        &self.slots[slot as usize]
    }

    /// The slot behind this one in its list.
    pub fn after(&self, slot: u32) -> u32 {
        self.slots[slot as usize].next
    }

    /// The packet in a slot, to be changed.
    #[inline]
    pub fn packet_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.slots[slot as usize].packet
    }

    /// A slot that holds a packet, in no list yet.
    #[inline]
    pub fn hold(&mut self, packet: &Packet) -> u32 {
        let slot = self.take();
        self.slots[slot as usize].packet = *packet;
        slot
    }

    /// A slot is no longer used.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        self.slots[slot as usize].next = self.free;
        self.free = slot;
    }
}

/// The ends of a queue's list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
    len: u32,
}

impl Chain {
    pub const EMPTY: Chain = Chain {
        head: NONE,
        tail: NONE,
        len: 0,
    };

    /// Packets in it.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Appends a packet of `bytes` bytes, which the caller writes in place.
    #[inline(always)]
    pub fn push<'a>(&mut self, slots: &'a mut Slots, bytes: u32) -> &'a mut Waiting {
        let slot = slots.take();
        if self.len == 0 {
            self.head = slot;
        } else {
            let before = &mut slots.slots[self.tail as usize];
            before.next = slot;
            before.next_bytes = bytes;
        }
        self.tail = slot;
        self.len += 1;
        let new = &mut slots.slots[slot as usize];
        new.next_bytes = 0;
        new
    }

    /// Appends a slot that holds a packet.
    #[inline]
    pub fn append(&mut self, slots: &mut Slots, slot: u32) {
        if self.len == 0 {
            self.head = slot;
        } else {
            slots.slots[self.tail as usize].next = slot;
        }
        self.tail = slot;
        self.len += 1;
    }

    /// Takes the slot of the oldest packet out of the list.
    #[inline]
    pub fn pop(&mut self, slots: &Slots) -> u32 {
        debug_assert!(self.len > 0, "the scheduler picked a queue with packets");
        let slot = self.head;
        self.head = slots.get(slot).next;
        self.len -= 1;
        slot
    }

    /// The slot of the oldest packet; meaningless where there is none.
    #[inline]
    pub fn first(&self) -> u32 {
        self.head
    }

    /// Every packet, the oldest first.
    pub fn each(&self, slots: &Slots, mut see: impl FnMut(&Waiting)) {
        let mut slot = self.head;
        for _ in 0..self.len {
            let waiting = &slots.slots[slot as usize];
            see(waiting);
            slot = waiting.next;
        }
    }

    /// Bytes of the packet behind the oldest; zero where there is none.
    #[inline]
    pub fn second_bytes(&self, slots: &Slots) -> u32 {
        if self.len < 2 {
            return 0;
        }
        slots.get(self.head).next_bytes
    }
}

impl Waiting {
    #[inline]
    pub fn bytes(&self) -> u32 {
        u32::from(self.packet.wire_bytes())
    }
}

/// A queue of a port. Fields that every packet reads or writes are in one cache line; the marker is
/// outside it.
#[repr(align(64))]
pub(crate) struct Queue {
    pub waiting: Chain,
    pub bytes: u32,
    /// Below this queue length the enqueue hook need not be called.
    quiet_below: u32,
    // The two numbers of a `Quiet`, which would fill the gap between them with four bytes.
    quiet_bytes: u32,
    quiet_byte_nanos: u64,
    /// After fewer ticks in the queue the dequeue hook need not be called, in its present state.
    quiet_ticks: u32,
    pub limit: u32,
    /// The marker judges packets at enqueue; `at_dequeue` says whether it judges them again at
    /// dequeue.
    pub at_enqueue: bool,
    pub at_dequeue: bool,
    pub lossless: bool,
    /// Whether the pool counts the packets of this queue by themselves.
    pub tracked: bool,
    pub non_ect: NonEct,
    /// Whether the marker needs to know when the queue has become empty.
    pub watches_empty: bool,
    /// Whether the marker has a timer.
    pub keeps_time: bool,
    pub marker: Box<Aligned<AnyMarker>>,
    /// The tick of the marker's next timer wake-up.
    pub wake: u64,
}

const _: () = assert!(size_of::<Queue>() == 64);

impl Queue {
    pub fn new(setup: QueueSetup) -> Self {
        let (marker, spec) = (setup.marker, setup.spec);
        let mut queue = Queue {
            waiting: Chain::EMPTY,
            bytes: 0,
            quiet_below: 0,
            quiet_bytes: 0,
            quiet_byte_nanos: 0,
            // A marker says it after its first packet.
            quiet_ticks: 0,
            limit: spec.limit_bytes,
            at_enqueue: matches!(marker.called_at(), Some(Hook::Enqueue | Hook::Both)),
            at_dequeue: matches!(marker.called_at(), Some(Hook::Dequeue | Hook::Both)),
            lossless: setup.lossless,
            tracked: setup.lossless,
            non_ect: setup.non_ect,
            watches_empty: false,
            keeps_time: marker.keeps_time(),
            marker: Box::new(Aligned(marker)),
            wake: NEVER,
        };
        queue.ask_marker(spec.mtu);
        queue
    }

    /// Notes what the marker says of itself with its present parameters.
    fn ask_marker(&mut self, mtu: u32) {
        let marker = &self.marker;
        self.quiet_below = marker.quiet_arrivals_below(mtu);
        let quiet = marker.quiet_by_round();
        (self.quiet_bytes, self.quiet_byte_nanos) = (quiet.bytes, quiet.byte_nanos);
        self.quiet_ticks = 0;
        self.watches_empty = marker.watches_empty();
    }

    /// Gives the marker other parameters. Returns whether its next timer wake-up has changed.
    pub fn retune(&mut self, values: &Values, spec: &QueueSpec) -> bool {
        let before = self.marker.next_wake();
        let (hook, keeps_time) = (self.marker.called_at(), self.keeps_time);
        self.marker.retune(values, spec);
        assert!(
            self.marker.called_at() == hook && self.marker.keeps_time() == keeps_time,
            "a retune that changes the form of the marker"
        );
        self.ask_marker(spec.mtu);
        self.marker.next_wake() != before
    }

    /// The request for room of a packet of `bytes` that came over link `from` and is for this
    /// queue, number `i`.
    pub fn request(&self, i: usize, from: u32, bytes: u32) -> RoomRequest {
        RoomRequest {
            bytes,
            queue_bytes: self.bytes,
            queue_limit: self.limit,
            lossless: self.lossless,
            from,
            queue: i,
        }
    }

    /// Whether only admission can act on a packet of `bytes` bytes that finds this queue and the
    /// link idle; the marker cannot.
    #[inline]
    pub fn lets_pass(&self, bytes: u32, round: Nanos) -> bool {
        // Its sojourn time is zero.
        !self.judges_at_enqueue(bytes, round)
            && !self.judges_at_dequeue(0)
            && !self.watches_empty
            && !self.keeps_time
    }

    /// Whether the enqueue hook must be called for a packet of `bytes` bytes.
    #[inline]
    pub fn judges_at_enqueue(&self, bytes: u32, round: Nanos) -> bool {
        self.at_enqueue
            && self.bytes >= self.quiet_below
            && !Quiet {
                bytes: self.quiet_bytes,
                byte_nanos: self.quiet_byte_nanos,
            }
            .covers(self.bytes.saturating_add(bytes), round)
    }

    /// Whether the dequeue hook must be called for a packet that has waited for `ticks`.
    #[inline]
    pub fn judges_at_dequeue(&self, ticks: u64) -> bool {
        self.at_dequeue && ticks >= u64::from(self.quiet_ticks)
    }

    /// The dequeue hook was called: asks the marker for how long a packet may now wait unjudged.
    #[inline]
    pub fn ask_quiet_sojourn(&mut self, clock: Clock) {
        // Where both hooks judge, the second has to see what the first one has decided.
        if self.at_enqueue {
            return;
        }
        let quiet = self.marker.quiet_sojourn();
        let ticks = match quiet {
            Nanos::ZERO => 0,
            _ => clock.ticks_below(quiet),
        };
        self.quiet_ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
    }
}

/// Inputs of a marker about its port, besides its queue and the packet.
#[derive(Clone, Copy)]
pub(crate) struct PortView {
    pub round: Nanos,
    pub port_bytes: u32,
    pub pool_bytes: u32,
    pub limit_bytes: u32,
}

/// The packet to be judged.
#[derive(Clone, Copy)]
pub(crate) struct Judged {
    pub sojourn: Nanos,
    pub packet_hash: u64,
    pub bytes: u32,
    pub ecn: Ecn,
    pub intent: Option<Why>,
}

impl Judged {
    /// Placeholder packet for timer wake-ups.
    pub const PLACEHOLDER: Judged = Judged {
        sojourn: Nanos::ZERO,
        packet_hash: 0,
        bytes: 0,
        ecn: Ecn::NotEct,
        intent: None,
    };
}

impl Queue {
    /// Inputs of this queue's marker for packet `p`.
    #[inline]
    pub fn view(&self, now: Nanos, p: Judged, port: PortView) -> At {
        At {
            now,
            sojourn: p.sojourn,
            round: port.round,
            packet_hash: p.packet_hash,
            pkt_bytes: p.bytes,
            segs: 1,
            ecn: p.ecn,
            intent: p.intent,
            queue_bytes: self.bytes,
            queue_pkts: self.waiting.len(),
            port_bytes: port.port_bytes,
            pool_bytes: port.pool_bytes,
            limit_bytes: port.limit_bytes,
        }
    }
}
