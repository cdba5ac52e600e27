// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block of memory that a foreign marker is called with: the Rust form of
//! `dataplane/include/cemark/marker.h`.

use cemark_marking::{At, MAX_PARAMS, QueueSpec, Values, Verdict, Why};

/// Version of [`Call`] and of the functions.
pub const VERSION: u32 = 1;
/// Words of 8 bytes that a marker has for its parameters and its state.
pub const MEMORY: usize = 32;
/// [`PacketView::intent`] where the enqueue hook wanted nothing.
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
    /// C pads here: named, so that every byte of a block is initialised.
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

/// `struct cemark_call`: what all functions of a marker take the address of.
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
    /// The marker's own, kept from call to call.
    pub memory: [u64; MEMORY],
}

impl Call {
    /// A marker's block before it is built: no memory yet.
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        Call {
            at: PacketView::default(),
            queue: queue.into(),
            values: params.0,
            now: 0,
            memory: [0; MEMORY],
        }
    }

    /// The block as bytecode sees it.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: integers only, with every padding byte a field of its own (asserted above), so
        // each byte is initialised and any bytes are a valid block; the slice borrows it.
        unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(self).cast::<u8>(), BLOCK) }
    }
}

/// Bytes of a [`Call`]: its fields and nothing between them, which [`Call::bytes`] relies on.
const BLOCK: usize = 64 + 32 + 8 * MAX_PARAMS + 8 + 8 * MEMORY;
const _: () = assert!(
    size_of::<Call>() == BLOCK && size_of::<PacketView>() == 64 && size_of::<QueueView>() == 32
);

/// The functions of a marker compiled for this machine, in the order of [`Entry`].
pub type Functions = [unsafe extern "C" fn(*mut Call) -> u32; 8];

/// One function of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Entry {
    /// A new marker from `values` and `queue`.
    Build,
    /// New parameters; what it knows is kept.
    Retune,
    /// Its hooks and what it looks at, and the version of this interface above.
    Traits,
    /// Judges a packet that joins.
    Enqueue,
    /// Judges a packet that leaves.
    Dequeue,
    /// The queue has become empty.
    Emptied,
    /// The clock that it asked for.
    Wake,
    /// Whether it wants a clock; when, is in [`Call::now`].
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

    /// The end of its symbol's name and of its section's.
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

/// What `traits` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(pub u32);

impl Traits {
    /// Judges as packets join.
    pub const AT_ENQUEUE: u32 = 1;
    /// Judges as packets leave.
    pub const AT_DEQUEUE: u32 = 2;
    /// Looks at lengths as packets leave.
    pub const READS_LENGTH: u32 = 4;
    /// Wants to know when the queue becomes empty.
    pub const WATCHES_EMPTY: u32 = 8;
    /// Reads the packet's luck.
    pub const DRAWS: u32 = 16;
    /// May want a clock.
    pub const CLOCK: u32 = 32;

    /// Whether it has all of these.
    #[inline]
    pub fn has(self, bits: u32) -> bool {
        self.0 & bits == bits
    }

    /// The version of the interface that it was written for.
    pub fn version(self) -> u32 {
        self.0 >> 24
    }
}

/// The verdict behind a number; `None` for a number that is none.
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
