// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segments and acknowledgements: the traffic between a [`Sender`](crate::Sender) and a
//! [`Receiver`](crate::Receiver).

use cemark_wire::{Ecn, Flags, Packet};

use crate::Config;

/// Data, or a packet of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Stream offset of the first byte carried. A SYN occupies no offset and has 0.
    pub seq: u64,
    /// Payload bytes; 0 in the SYN and in the third packet of a handshake.
    pub len: u16,
    /// CWR, RETX, PUSH and SYN as they apply.
    pub flags: Flags,
    /// The ECN field: as sent in what a sender returns, as it arrived in what a receiver gets.
    pub ecn: Ecn,
    /// Low 32 bits of the sending time in nanoseconds.
    pub ts: u32,
}

impl Segment {
    /// The segment that a data packet carries.
    #[inline]
    pub fn of(packet: &Packet) -> Segment {
        Segment {
            seq: packet.seq,
            len: packet.len(),
            flags: packet.flags(),
            ecn: packet.ecn(),
            ts: packet.ts,
        }
    }
}

/// An acknowledgement. SACK blocks are kept apart from it, since almost none has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Every byte before this offset has arrived.
    pub cum: u64,
    /// Always ACK; ECE if CE is echoed; SYN on a SYN-ACK.
    pub flags: Flags,
    /// Timestamp of the segment that this acknowledges (RFC 7323 section 4.3).
    pub ts_echo: u32,
    /// SACK blocks that belong to it (0 to 3);
    /// [`Receiver::sack_blocks`](crate::Receiver::sack_blocks) returns them.
    pub sacks: u8,
}

/// How a receiver acknowledges one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Not yet: the acknowledgement is delayed.
    None,
    /// A single acknowledgement.
    One(Ack),
    /// Two, to be sent in this order: DCTCP acknowledges a run of equally marked segments before
    /// the first of the next run (RFC 8257 section 3.2).
    Two(Ack, Ack),
}

/// Bytes of `segment` on the wire, headers included.
#[inline]
pub fn segment_wire_bytes(cfg: &Config, segment: &Segment) -> u16 {
    cfg.header_bytes + segment.len
}
