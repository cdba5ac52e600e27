// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets in flight, as indices into one growing array, and the SACK blocks that a few ACKs carry.

use cemark_wire::{Ecn, Flags, NONE, Packet};

/// Every packet in flight. The most recently freed slot is used next, while it is still in the cache.
#[derive(Debug)]
pub struct Pool {
    packets: Vec<Packet>,
    free: u32,
    live: u32,
}

const BLANK: Packet =
    Packet { seq: 0, ts: 0, conn: NONE, aux: NONE, next: NONE, wire_bytes: 0, len: 0, ecn: Ecn::NotEct, flags: Flags::EMPTY, hop: 0, class: 0 };

impl Pool {
    /// A pool with nothing in flight.
    pub fn new() -> Self {
        Pool { packets: Vec::with_capacity(4096), free: NONE, live: 0 }
    }

    /// A slot that holds `packet`.
    #[inline]
    pub fn alloc(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.packets.push(packet);
            return self.packets.len() as u32 - 1;
        }
        let i = self.free;
        let slot = &mut self.packets[i as usize];
        self.free = slot.next;
        *slot = packet;
        i
    }

    /// Gives a slot back.
    #[inline]
    pub fn free(&mut self, i: u32) {
        let slot = &mut self.packets[i as usize];
        slot.next = self.free;
        slot.aux = NONE;
        self.free = i;
        self.live -= 1;
    }

    /// Packets in flight.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// A packet.
    #[inline]
    pub fn get(&self, i: u32) -> &Packet {
        &self.packets[i as usize]
    }

    /// A packet, to change.
    #[inline]
    pub fn get_mut(&mut self, i: u32) -> &mut Packet {
        &mut self.packets[i as usize]
    }

    /// All slots, for ports.
    #[inline]
    pub fn slots(&mut self) -> &mut [Packet] {
        &mut self.packets
    }
}

/// A header to start from.
#[inline]
pub const fn blank() -> Packet {
    BLANK
}

/// SACK blocks of ACKs in flight.
#[derive(Debug, Default)]
pub struct Sacks {
    records: Vec<(u8, [(u64, u64); 3])>,
    free: Vec<u32>,
}

impl Sacks {
    /// Keeps the first `n` blocks and returns the record's index.
    pub fn store(&mut self, n: usize, blocks: [(u64, u64); 3]) -> u32 {
        let record = (n as u8, blocks);
        match self.free.pop() {
            Some(i) => {
                self.records[i as usize] = record;
                i
            }
            None => {
                self.records.push(record);
                self.records.len() as u32 - 1
            }
        }
    }

    /// Takes a record back: (count, blocks).
    pub fn take(&mut self, i: u32) -> (usize, [(u64, u64); 3]) {
        self.free.push(i);
        let (n, blocks) = self.records[i as usize];
        (usize::from(n), blocks)
    }
}
