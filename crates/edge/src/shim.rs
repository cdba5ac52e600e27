// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of packets between the two edges, and the contents of a router ACK. On a wire it
//! would be a GRE key or a shim header; here `Packet::aux` is the index of a record, and the flag
//! [`SHIM`] marks such packets.

use cemark_wire::{Ecn, Flags, Nanos, Packet};

/// `Packet::aux` is the index of a [`Header`].
pub const SHIM: Flags = Flags(128);

/// Header of a packet from the near router to the far router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shim {
    /// Own sequence number of a selected packet, from 0; its copies have it too.
    pub number: Option<u64>,
    /// Which transmission this is: 0 the packet itself, 1 its first copy, and so on.
    pub copy: u8,
    /// When a selected packet was first sent. The router ACK echoes it, so that a round trip is
    /// measured even where the copy has been freed.
    pub first_sent: Nanos,
    /// The smallest number that the near router still waits for: all below it arrived or were given
    /// up.
    pub oldest: u64,
    /// The packet is a probe above the agreed rate, made droppable, and has no copy.
    pub probe: bool,
    /// The ECN field as the host wrote it.
    pub ecn: Ecn,
    /// Flows are spread over lanes; order is kept within a lane.
    pub lane: u16,
    /// Place within the lane, from 1.
    pub place: u64,
    /// Place of the selected packet before it in its lane; 0 where there is none.
    pub after: u64,
    /// The packet's own `aux`.
    pub aux: u32,
}

/// Contents of a router ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The packet whose arrival made it: (number, copy).
    pub named: (u64, u8),
    /// When that packet was first sent, as its header said.
    pub first_sent: Nanos,
    /// Every number below has arrived or was given up; 0 where the form does not say.
    pub below: u64,
    /// The highest number that arrived; bit i of `bits` is for `highest - i`.
    pub highest: u64,
    /// Which of the last 64 numbers arrived; 0 where the form does not say.
    pub bits: u64,
    /// The path clears the ECN field of packets that were sent ECN-capable.
    pub bleached: bool,
}

/// A record about a packet between the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Before a packet of a host.
    Shim(Shim),
    /// In a router ACK.
    Report(Report),
}

/// The records of all packets between the edges. The slot freed last is used next.
#[derive(Debug, Default)]
pub struct Headers {
    slots: Vec<Header>,
    free: Vec<u32>,
}

impl Headers {
    /// Puts a header before the packet.
    pub fn wrap(&mut self, packet: &mut Packet, header: Header) {
        packet.aux = match self.free.pop() {
            Some(i) => {
                self.slots[i as usize] = header;
                i
            }
            None => {
                self.slots.push(header);
                self.slots.len() as u32 - 1
            }
        };
        packet.set_flags(packet.flags().with(SHIM));
    }

    /// Takes the header off, if there is one. The packet's own `aux` is back.
    pub fn unwrap(&mut self, packet: &mut Packet) -> Option<Header> {
        if !packet.flags().has(SHIM) {
            return None;
        }
        self.free.push(packet.aux);
        let header = self.slots[packet.aux as usize];
        packet.set_flags(Flags(packet.flags().0 & !SHIM.0));
        packet.aux = match header {
            Header::Shim(s) => s.aux,
            Header::Report(_) => cemark_wire::NONE,
        };
        Some(header)
    }

    /// Records in use.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
