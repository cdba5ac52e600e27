// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data outside ports: packets that wait for an extra delay, and the SACK blocks that a few ACKs
//! carry.

use cemark_wire::Packet;

/// Packets that wait outside any port. The most recently freed slot is used next, while it is still
/// in the cache.
#[derive(Debug, Default)]
pub struct Delayed {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Delayed {
    /// Keeps a packet; the index takes it back.
    #[inline]
    pub fn put(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(i) => {
                self.packets[i as usize] = packet;
                i
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        }
    }

    /// Takes a packet back.
    #[inline]
    pub fn take(&mut self, i: u32) -> Packet {
        self.free.push(i);
        self.packets[i as usize]
    }

    /// Packets kept.
    pub fn live(&self) -> u64 {
        (self.packets.len() - self.free.len()) as u64
    }
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
