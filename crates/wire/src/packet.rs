// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet as it crosses the fabric: 32 bytes, two to a cache line.

use crate::Ecn;

/// No packet, no flow, no side record: the null of every u32 index.
pub const NONE: u32 = u32::MAX;

/// TCP-like header bits.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Carries no flag.
    pub const EMPTY: Flags = Flags(0);
    /// An acknowledgement; `seq` is the cumulative number.
    pub const ACK: Flags = Flags(1);
    /// ECN echo.
    pub const ECE: Flags = Flags(2);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(4);
    /// Opens a connection.
    pub const SYN: Flags = Flags(8);
    /// Sent before, sent again.
    pub const RETX: Flags = Flags(16);
    /// A measuring packet that a host answers at once (ping).
    pub const PROBE: Flags = Flags(32);
    /// Last segment of a message: a receiver that delays ACKs acknowledges it at once.
    pub const PUSH: Flags = Flags(64);

    /// Whether every bit of `other` is set.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A packet in flight. `seq` counts bytes of the connection's stream.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// First byte carried (data) or next byte expected (ACK).
    pub seq: u64,
    /// Timestamp of the sender in nanoseconds, low 32 bits; echoed by ACKs.
    pub ts: u32,
    /// The connection it belongs to.
    pub conn: u32,
    /// Index of a side record (SACK blocks), or [`NONE`].
    pub aux: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u16,
    /// Payload bytes.
    pub len: u16,
    /// The ECN field. Written by the sender, and by the one place in `switch` that marks.
    pub ecn: Ecn,
    /// Header bits.
    pub flags: Flags,
    /// Links crossed so far.
    pub hop: u8,
    /// Traffic class: picks the queue at every port.
    pub class: u8,
}

const _: () = assert!(size_of::<Packet>() == 32);

impl Packet {
    /// A header to start from: no connection, no bytes, Not-ECT.
    pub const BLANK: Packet = Packet {
        seq: 0,
        ts: 0,
        conn: NONE,
        aux: NONE,
        wire_bytes: 0,
        len: 0,
        ecn: Ecn::NotEct,
        flags: Flags::EMPTY,
        hop: 0,
        class: 0,
    };
}

impl Default for Packet {
    fn default() -> Self {
        Packet::BLANK
    }
}
