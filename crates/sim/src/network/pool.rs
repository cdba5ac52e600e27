// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data outside ports: packets that wait for an extra delay, and the SACK blocks that a few ACKs
//! carry.

use cemark_wire::Packet;

use crate::ids::ConnId;

/// Packets that wait outside any port, each connection's in a line of its own: first in, first out,
/// also where a later flow of the connection waits for less. The most recently freed slot is used
/// next, while it is still in the cache.
#[derive(Debug, Default)]
pub struct Delayed {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By connection.
    lines: Vec<Line>,
    /// Packets that other shards keep, once they have been put together.
    elsewhere: u64,
}

#[derive(Debug)]
struct Slot {
    packet: Packet,
    /// The slot behind it in its line.
    next: u32,
}

/// `head` and `tail` are meaningless where the line is empty.
#[derive(Clone, Debug, Default)]
struct Line {
    head: u32,
    tail: u32,
    length: u32,
    /// When its last packet is due.
    last: u64,
}

impl Delayed {
    /// Keeps a packet until tick `due`, or until the packets before it are due. Returns the tick at
    /// which to take the head of its line.
    #[inline]
    pub fn put(&mut self, packet: Packet, due: u64) -> u64 {
        let i = match self.free.pop() {
            Some(i) => {
                self.slots[i as usize].packet = packet;
                i
            }
            None => {
                self.slots.push(Slot { packet, next: 0 });
                self.slots.len() as u32 - 1
            }
        };
        let conn = packet.conn as usize;
        if conn >= self.lines.len() {
            self.lines.resize(conn + 1, Line::default());
        }
        let line = &mut self.lines[conn];
        if line.length == 0 {
            line.head = i;
            line.last = due;
        } else {
            self.slots[line.tail as usize].next = i;
            line.last = line.last.max(due);
        }
        line.tail = i;
        line.length += 1;
        line.last
    }

    /// Takes the head of a connection's line.
    #[inline]
    pub fn take(&mut self, conn: ConnId) -> Packet {
        let line = &mut self.lines[conn.0 as usize];
        debug_assert!(line.length > 0, "an event has its packet in the line");
        let i = line.head;
        line.length -= 1;
        line.head = self.slots[i as usize].next;
        self.free.push(i);
        self.slots[i as usize].packet
    }

    /// Packets kept, and those of other shards.
    pub fn live(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64 + self.elsewhere
    }

    /// Counts the packets that another shard keeps.
    pub fn absorb(&mut self, other: &Delayed) {
        self.elsewhere += other.live();
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

    /// A record: (count, blocks).
    pub fn read(&self, i: u32) -> (usize, [(u64, u64); 3]) {
        let (n, blocks) = self.records[i as usize];
        (usize::from(n), blocks)
    }

    /// Takes a record back: (count, blocks).
    pub fn take(&mut self, i: u32) -> (usize, [(u64, u64); 3]) {
        self.free.push(i);
        let (n, blocks) = self.records[i as usize];
        (usize::from(n), blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::{Fields, NONE};

    fn packet(conn: u32, seq: u64) -> Packet {
        Packet::new(seq, 0, conn, NONE, Fields::default())
    }

    #[test]
    fn packets_of_a_connection_stay_in_order() {
        let mut delayed = Delayed::default();
        assert_eq!(delayed.put(packet(3, 0), 100), 100);
        // The next flow on the connection waits for less, and does not overtake.
        assert_eq!(delayed.put(packet(3, 1), 40), 100);
        assert_eq!(delayed.put(packet(3, 2), 120), 120);
        assert_eq!(delayed.put(packet(0, 7), 40), 40);
        assert_eq!(delayed.live(), 4);
        assert_eq!(delayed.take(ConnId(0)).seq, 7);
        for seq in 0..3 {
            assert_eq!(delayed.take(ConnId(3)).seq, seq);
        }
        assert_eq!(delayed.live(), 0);
        assert_eq!(
            delayed.put(packet(3, 3), 50),
            50,
            "an empty line has no past"
        );
    }
}
