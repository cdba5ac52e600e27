// SPDX-License-Identifier: MIT OR Apache-2.0
//! Taps: packets that arrive at the far end of chosen links. A link with a tap has a waypoint, so
//! that all other links cost nothing more, and a tap changes nothing that is simulated.

use cemark_wire::{Ecn, Flags, Packet, Picos};

use super::Network;
use crate::ids::{ConnId, HostId, LinkId};

/// A link to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its place in [`Fabric::links`](crate::topology::Fabric::links).
    pub link: LinkId,
    /// Most packets that are kept; the first ones.
    pub most: usize,
}

/// A packet that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which of the taps, in the order in which they were given.
    pub tap: usize,
    /// When its last bit arrived.
    pub at: Picos,
    /// The host that sent it.
    pub src: u32,
    /// The host that it is for.
    pub dst: u32,
    /// Its connection. A later connection of the same two hosts may have the same number.
    pub conn: u32,
    /// Transport of the connection: a place in [`Config::grouped`](crate::Config::grouped).
    pub transport: u16,
    /// First byte carried, counted from zero (data), or next byte expected (ACK).
    pub seq: u64,
    /// Payload bytes.
    pub len: u16,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Header bits.
    pub flags: Flags,
    /// Queue class.
    pub class: u8,
    /// Number of links that it has been sent on.
    pub hop: u8,
}

/// Packets that taps have seen.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    /// In order of time; at equal times as the simulator handles them.
    pub seen: Vec<Seen>,
    /// By tap: packets that arrived, including those beyond [`Tap::most`].
    pub arrived: Vec<u64>,
}

/// Taps of a running simulation.
#[derive(Default)]
pub(crate) struct Taps {
    most: Vec<usize>,
    pub sightings: Sightings,
}

impl Taps {
    pub fn new(taps: &[Tap]) -> Taps {
        Taps {
            most: taps.iter().map(|tap| tap.most).collect(),
            sightings: Sightings {
                seen: Vec::new(),
                arrived: vec![0; taps.len()],
            },
        }
    }
}

impl Network {
    /// A packet is at the far end of a link with this tap.
    pub(super) fn see(&mut self, at: Picos, tap: usize, packet: &Packet) {
        let arrived = &mut self.taps.sightings.arrived[tap];
        *arrived += 1;
        if *arrived > self.taps.most[tap] as u64 {
            return;
        }
        let id = ConnId::of(packet);
        let row = self.rows.of(id);
        let (src, dst) = match packet.flags().has(Flags::ACK) {
            false => (row.src, row.dst),
            true => (row.dst, row.src),
        };
        // The end of a proxy is no NIC.
        let host = |end: HostId| match end.0 < self.fabric.nics() {
            true => self.fabric.host_of(end.0),
            false => end.0,
        };
        self.taps.sightings.seen.push(Seen {
            tap,
            at,
            src: host(src),
            dst: host(dst),
            conn: id.0,
            transport: row.group,
            seq: packet.seq,
            len: packet.len(),
            wire_bytes: packet.wire_bytes(),
            ecn: packet.ecn(),
            flags: packet.flags(),
            class: packet.class(),
            hop: packet.hop(),
        });
    }
}
