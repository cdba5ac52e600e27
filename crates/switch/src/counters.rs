// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of a port. Offered = sent + waiting + dropped holds at every instant.

use cemark_marking::Why;

/// Why a port discarded a packet.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The packet did not fit into the buffer of the port.
    Tail,
    /// The marker asked for it.
    Marker,
    /// The packet should have been marked and was not ECN-capable.
    NotEct,
    /// Its queue was at its limit, fixed or dynamic.
    Queue,
    /// The packet did not fit into the buffer that the ports of the switch share.
    Pool,
    /// Its queue is lossless and the headroom was full as well.
    Headroom,
}

impl DropReason {
    /// Every reason, in the order of [`Counters::drops`].
    pub const ALL: [DropReason; 6] = [
        DropReason::Tail,
        DropReason::Marker,
        DropReason::NotEct,
        DropReason::Queue,
        DropReason::Pool,
        DropReason::Headroom,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Tail => "tail",
            DropReason::Marker => "marker",
            DropReason::NotEct => "not_ect",
            DropReason::Queue => "queue",
            DropReason::Pool => "pool",
            DropReason::Headroom => "headroom",
        }
    }
}

/// Counters of a port since its start.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets whose transmission has been decided (in the fused port at once, in the explicit port
    /// as they leave the queue).
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// CE written, by [`Why`]. (The two counters above are the ones every packet changes.)
    pub marks: [u64; 5],
    /// Not-ECT packets that passed where a mark was due.
    pub spared: u64,
    /// Packets discarded, by [`DropReason`].
    pub drops: [u32; 6],
}

impl Counters {
    /// Name of a [`Why`] in reports.
    pub const fn why_name(why: Why) -> &'static str {
        match why {
            Why::Instant => "instant",
            Why::Persistent => "persistent",
            Why::Random => "random",
            Why::Average => "average",
            Why::Tentative => "tentative",
        }
    }

    /// Every reason to mark, in the order of [`Counters::marks`].
    pub const WHYS: [Why; 5] = [
        Why::Instant,
        Why::Persistent,
        Why::Random,
        Why::Average,
        Why::Tentative,
    ];

    /// A packet has been discarded.
    #[cold]
    pub(crate) fn discard(&mut self, why: DropReason) {
        let count = &mut self.drops[why as usize];
        *count = count
            .checked_add(1)
            .expect("fewer than 2^32 drops at a port");
    }

    /// All CE written.
    pub fn all_marks(&self) -> u64 {
        self.marks.iter().sum()
    }

    /// All packets discarded.
    pub fn all_drops(&self) -> u64 {
        self.drops.iter().map(|&n| u64::from(n)).sum()
    }
}
