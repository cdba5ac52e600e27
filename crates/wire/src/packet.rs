// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet as it crosses the fabric: 32 bytes, two to a cache line.

use crate::Ecn;

/// The "none" value of every `u32` index: no packet, no flow, no side record.
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
    /// A retransmission.
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

/// The small fields of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Bytes on the wire, headers included.
    pub wire_bytes: u16,
    /// Payload bytes.
    pub len: u16,
    /// The ECN field. Written by the sender, and by the one place in `switch` that marks.
    pub ecn: Ecn,
    /// Header bits.
    pub flags: Flags,
    /// Traffic class: picks the queue at every port.
    pub class: u8,
}

/// A packet in flight. `seq` counts bytes of the connection's stream.
///
/// The small fields share one 64-bit word, so that copying a packet loads and stores whole words: a
/// byte written shortly before a wider load would stall it (store forwarding fails).
#[repr(C, align(32))]
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
    /// Used by the port that holds the packet: the start of its transmission in ticks modulo 2^32
    /// or, under priority flow control, the link on which the packet arrived.
    pub stamp: u32,
    /// wire_bytes (16 bits), len (16), ecn (8), flags (8), class (8), hop (8), from the lowest.
    small: u64,
}

const _: () = assert!(size_of::<Packet>() == 32);

const ECN: u32 = 32;
const FLAGS: u32 = 40;
const CLASS: u32 = 48;
const HOP: u32 = 56;

impl Packet {
    /// A packet that has not been sent yet.
    #[inline]
    pub const fn new(seq: u64, ts: u32, conn: u32, aux: u32, f: Fields) -> Packet {
        let small = f.wire_bytes as u64
            | (f.len as u64) << 16
            | (f.ecn as u64) << ECN
            | (f.flags.0 as u64) << FLAGS
            | (f.class as u64) << CLASS;
        Packet {
            seq,
            ts,
            conn,
            aux,
            stamp: 0,
            small,
        }
    }

    /// Bytes on the wire, headers included.
    #[inline]
    pub const fn wire_bytes(&self) -> u16 {
        self.small as u16
    }

    /// Payload bytes.
    #[inline]
    pub const fn len(&self) -> u16 {
        (self.small >> 16) as u16
    }

    /// Whether it carries no payload.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.small >> ECN) as u8)
    }

    /// Writes the ECN field.
    #[inline]
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.small = self.small & !(0b11 << ECN) | (ecn as u64) << ECN;
    }

    /// Header bits.
    #[inline]
    pub const fn flags(&self) -> Flags {
        Flags((self.small >> FLAGS) as u8)
    }

    /// Writes the header bits.
    #[inline]
    pub const fn set_flags(&mut self, flags: Flags) {
        self.small = self.small & !(0xff << FLAGS) | (flags.0 as u64) << FLAGS;
    }

    /// Writes the bytes on the wire, for a header put before it or taken off.
    #[inline]
    pub const fn set_wire_bytes(&mut self, bytes: u16) {
        self.small = self.small & !0xffff | bytes as u64;
    }

    /// Traffic class.
    #[inline]
    pub const fn class(&self) -> u8 {
        (self.small >> CLASS) as u8
    }

    /// Number of links it has been sent on; the port that sends it counts.
    #[inline]
    pub const fn hop(&self) -> u8 {
        (self.small >> HOP) as u8
    }

    /// Counts one more link.
    #[inline]
    pub const fn set_out(&mut self) {
        self.small = self.small.wrapping_add(1 << HOP);
    }
}

impl Default for Packet {
    fn default() -> Self {
        Packet::new(0, 0, NONE, NONE, Fields::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fields_do_not_touch_each_other() {
        let f = Fields {
            wire_bytes: 65_535,
            len: 1460,
            ecn: Ecn::Ect0,
            flags: Flags::ACK.with(Flags::PUSH),
            class: 7,
        };
        let mut p = Packet::new(u64::MAX, 1, 2, 3, f);
        for hop in 1..=6 {
            p.set_out();
            p.set_ecn(if hop % 2 == 0 { Ecn::Ce } else { Ecn::Ect1 });
            assert_eq!(p.hop(), hop);
        }
        assert_eq!(p.ecn(), Ecn::Ce);
        p.set_ecn(f.ecn);
        p.set_flags(Flags(255));
        p.set_wire_bytes(1);
        assert_eq!((p.flags(), p.wire_bytes()), (Flags(255), 1));
        p.set_flags(f.flags);
        p.set_wire_bytes(f.wire_bytes);
        let back = Fields {
            wire_bytes: p.wire_bytes(),
            len: p.len(),
            ecn: p.ecn(),
            flags: p.flags(),
            class: p.class(),
        };
        assert_eq!(back, f);
    }
}
