// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block of memory that a marker in C or BPF is called with, as
//! `dataplane/include/cemark/marker.h` defines it.

use cemark_marking::{At, MAX_PARAMS, QueueSpec, Values, Verdict, Why};

/// Version of [`Call`] and of the functions.
pub const VERSION: u32 = 1;
/// Size of a marker's memory for parameters and state, in words of 8 bytes.
pub const MEMORY: usize = 32;
/// [`PacketView::intent`] where the enqueue hook did not mark.
pub const NO_INTENT: u8 = 5;

/// `struct cemark_at`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the fields of `At`
pub struct PacketView {
    pub now: u64,
    pub sojourn: u64,
    pub round: u64,
    pub salt: u64,
    pub pkt_bytes: u32,
    pub segs: u16,
    pub ecn: u8,
    pub intent: u8,
    pub queue_bytes: u32,
    pub queue_pkts: u32,
    pub port_bytes: u32,
    pub pool_bytes: u32,
    pub limit_bytes: u32,
    /// C has padding here. It is a named field so that every byte of a block is initialised.
    #[doc(hidden)]
    pub pad: u32,
}

impl From<&At> for PacketView {
    #[inline]
    fn from(at: &At) -> Self {
        PacketView {
            now: at.now.0,
            sojourn: at.sojourn.0,
            round: at.round.0,
            salt: at.packet_hash,
            pkt_bytes: at.pkt_bytes,
            segs: at.segs,
            ecn: at.ecn as u8,
            intent: at.intent.map_or(NO_INTENT, |why| why as u8),
            queue_bytes: at.queue_bytes,
            queue_pkts: at.queue_pkts,
            port_bytes: at.port_bytes,
            pool_bytes: at.pool_bytes,
            limit_bytes: at.limit_bytes,
            pad: 0,
        }
    }
}

/// `struct cemark_queue_spec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // the fields of `QueueSpec`
pub struct QueueView {
    pub rate: u64,
    pub quantum: u32,
    pub weight: u32,
    pub weight_sum: u32,
    pub strict: u8,
    #[doc(hidden)]
    pub pad: [u8; 3],
    pub mtu: u32,
    pub limit_bytes: u32,
}

impl From<&QueueSpec> for QueueView {
    fn from(queue: &QueueSpec) -> Self {
        QueueView {
            rate: queue.rate.0,
            quantum: queue.quantum,
            weight: queue.weight,
            weight_sum: queue.weight_sum,
            strict: queue.strict.into(),
            pad: [0; 3],
            mtu: queue.mtu,
            limit_bytes: queue.limit_bytes,
        }
    }
}

/// `struct cemark_call`: the block that every function of a marker gets the address of.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Read by enqueue, dequeue and wake.
    pub at: PacketView,
    /// Read by build and retune.
    pub queue: QueueView,
    /// Read by build and retune: parameters in the order and the units of the catalogue.
    pub values: [u64; MAX_PARAMS],
    /// Read by emptied, written by next_wake, in nanoseconds.
    pub now: u64,
    /// The marker's own memory, kept between calls.
    pub memory: [u64; MEMORY],
}

impl Call {
    /// The block of a marker that is not built yet.
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        Call {
            at: PacketView::default(),
            queue: queue.into(),
            values: params.0,
            now: 0,
            memory: [0; MEMORY],
        }
    }

    /// The block as bytes, for bytecode.
    #[allow(unsafe_code)]
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block consists of integers, and every padding byte is a field of its own
        // (asserted below), so each byte is initialised and any bytes are a valid block. The slice
        // borrows the block.
        unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(self).cast::<u8>(), BLOCK) }
    }
}

/// Bytes of a [`Call`]. It has no padding, which [`Call::bytes`] relies on.
const BLOCK: usize = 64 + 32 + 8 * MAX_PARAMS + 8 + 8 * MEMORY;
const _: () = assert!(
    size_of::<Call>() == BLOCK && size_of::<PacketView>() == 64 && size_of::<QueueView>() == 32
);

/// The functions of a marker compiled for this machine, in the order of [`Entry`].
pub type Functions = [unsafe extern "C" fn(*mut Call) -> u32; 8];

/// A function of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Entry {
    /// Builds a marker from `values` and `queue`.
    Build,
    /// Gives it new parameters and keeps its state.
    Retune,
    /// Answers its hooks and what else it needs, with the version of the interface.
    Traits,
    /// Judges an arriving packet.
    Enqueue,
    /// Judges a departing packet.
    Dequeue,
    /// The queue has become empty.
    Emptied,
    /// The timer wake-up that it asked for.
    Wake,
    /// Whether it asks for a wake-up. The time is in [`Call::now`].
    NextWake,
}

impl Entry {
    /// All, in order.
    pub const ALL: [Entry; 8] = [
        Entry::Build,
        Entry::Retune,
        Entry::Traits,
        Entry::Enqueue,
        Entry::Dequeue,
        Entry::Emptied,
        Entry::Wake,
        Entry::NextWake,
    ];

    /// The end of the names of its symbol and of its section.
    pub fn name(self) -> &'static str {
        match self {
            Entry::Build => "build",
            Entry::Retune => "retune",
            Entry::Traits => "traits",
            Entry::Enqueue => "enqueue",
            Entry::Dequeue => "dequeue",
            Entry::Emptied => "emptied",
            Entry::Wake => "wake",
            Entry::NextWake => "next_wake",
        }
    }
}

/// Bits that the function `traits` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(pub u32);

impl Traits {
    /// Judges arriving packets.
    pub const AT_ENQUEUE: u32 = 1;
    /// Judges departing packets.
    pub const AT_DEQUEUE: u32 = 2;
    /// Reads lengths at departure.
    pub const READS_LENGTH: u32 = 4;
    /// Must be told when the queue becomes empty.
    pub const WATCHES_EMPTY: u32 = 8;
    /// Reads the per-packet random hash.
    pub const DRAWS: u32 = 16;
    /// May ask for timer wake-ups.
    pub const CLOCK: u32 = 32;

    /// Whether all of these bits are set.
    #[inline]
    pub fn has(self, bits: u32) -> bool {
        self.0 & bits == bits
    }

    /// Hooks and timer, which a port is built for.
    pub fn form(self) -> u32 {
        self.0 & (Traits::AT_ENQUEUE | Traits::AT_DEQUEUE | Traits::CLOCK)
    }

    /// The version of the interface that the marker was compiled for.
    pub fn version(self) -> u32 {
        self.0 >> 24
    }
}

/// The verdict with this number; `None` if there is none.
#[inline]
pub fn verdict(number: u32) -> Option<Verdict> {
    let why = || {
        Some(match number >> 8 {
            0 => Why::Instant,
            1 => Why::Persistent,
            2 => Why::Random,
            3 => Why::Average,
            4 => Why::Tentative,
            _ => return None,
        })
    };
    match number & 0xff {
        0 if number == 0 => Some(Verdict::Pass),
        1 => why().map(Verdict::Mark),
        2 => why().map(Verdict::Drop),
        _ => None,
    }
}
