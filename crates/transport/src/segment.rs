// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crosses the network between a [`Sender`](crate::Sender) and a
//! [`Receiver`](crate::Receiver).

use cemark_wire::{Ecn, Flags};

use crate::Config;

/// Data, or the SYN that opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the stream of the first byte carried. A SYN occupies no offset and says 0.
    pub seq: u64,
    /// Payload bytes; 0 only in a SYN.
    pub len: u16,
    /// CWR, RETX, PUSH and SYN as they apply.
    pub flags: Flags,
    /// The ECN field: as sent when it comes from a sender, as it arrived when it is given to a
    /// receiver.
    pub ecn: Ecn,
    /// Low 32 bits of the sending time in nanoseconds.
    pub ts: u32,
}

/// An acknowledgement. Its SACK blocks travel beside it, since almost none has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Every byte before this offset has arrived.
    pub cum: u64,
    /// ACK always; ECE as the receiver's echo rule says; SYN on a SYN-ACK.
    pub flags: Flags,
    /// Timestamp of the segment that this answers (RFC 7323 section 4.3).
    pub ts_echo: u32,
    /// SACK blocks the receiver has to tell (0 to 3);
    /// [`Receiver::sack_blocks`](crate::Receiver::sack_blocks) gives them.
    pub sacks: u8,
}

/// What a receiver answers to one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Nothing yet: the acknowledgement is withheld.
    None,
    /// One acknowledgement.
    One(Ack),
    /// Two, to be sent in this order: DCTCP closes a run of equally marked segments before it
    /// answers the first of the next run (RFC 8257 section 3.2).
    Two(Ack, Ack),
}

/// Bytes of `segment` on the wire, headers included.
#[inline]
pub fn segment_wire_bytes(cfg: &Config, segment: &Segment) -> u16 {
    cfg.header_bytes + segment.len
}
