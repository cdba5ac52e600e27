// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stalled queue: copies of selected packets, in the order in which they were last sent.
//!
//! A long fast path keeps fifty thousand copies, so no operation here iterates over all of them:
//! the order is a linked list of slots, and each sequence number maps to its slot. Memory grows to
//! the largest number of copies so far and is reused.

use std::collections::VecDeque;

use cemark_wire::{Nanos, Packet};

use crate::shim::Shim;

/// No slot.
const NO: u32 = u32::MAX;

/// A copy that may be needed. `packet` has no header of its own: that is `shim`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub packet: Packet,
    pub shim: Shim,
    pub number: u64,
    pub sent: Nanos,
}

impl Entry {
    fn bytes(&self) -> u64 {
        u64::from(self.packet.wire_bytes())
    }
}

/// A slot for one copy, with its neighbours in the queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: Entry,
    ahead: u32,
    behind: u32,
}

/// A bounded FIFO of copies.
#[derive(Debug)]
pub(crate) struct Stalled {
    slots: Vec<Slot>,
    free: Vec<u32>,
    first: u32,
    last: u32,
    /// The slot of each number from `base` on. The first of them is in use.
    numbers: VecDeque<u32>,
    base: u64,
    bytes: u64,
    /// The most bytes it ever held.
    pub peak: u64,
}

impl Default for Stalled {
    fn default() -> Self {
        Stalled {
            slots: Vec::new(),
            free: Vec::new(),
            first: NO,
            last: NO,
            numbers: VecDeque::new(),
            base: 0,
            bytes: 0,
            peak: 0,
        }
    }
}

impl Stalled {
    /// Whether `bytes` more fit within `bound`, and one packet more within `most`.
    pub fn has_room(&self, bytes: u64, bound: u64, most: usize) -> bool {
        self.bytes + bytes <= bound && self.len() < most
    }

    /// Appends a copy. Its number must not be in the queue already.
    pub fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.peak = self.peak.max(self.bytes);
        let slot = Slot {
            entry,
            ahead: self.last,
            behind: NO,
        };
        let i = match self.free.pop() {
            Some(i) => {
                self.slots[i as usize] = slot;
                i
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        match self.last {
            NO => self.first = i,
            last => self.slots[last as usize].behind = i,
        }
        self.last = i;
        self.name(entry.number, i);
    }

    fn name(&mut self, number: u64, slot: u32) {
        if self.numbers.is_empty() {
            self.base = number;
        }
        // A copy of a copy may be older than all that is left.
        while number < self.base {
            self.numbers.push_front(NO);
            self.base -= 1;
        }
        let i = (number - self.base) as usize;
        while self.numbers.len() <= i {
            self.numbers.push_back(NO);
        }
        self.numbers[i] = slot;
    }

    pub fn front(&self) -> Option<&Entry> {
        self.slots.get(self.first as usize).map(|s| &s.entry)
    }

    pub fn pop(&mut self) -> Option<Entry> {
        self.front()?;
        Some(self.remove(self.first))
    }

    /// Takes out every copy whose number is below `below` or one of `also`, and gives it to `each`.
    pub fn extract(
        &mut self,
        below: u64,
        also: impl Iterator<Item = u64>,
        mut each: impl FnMut(Entry),
    ) {
        while let Some(number) = self.oldest().filter(|n| *n < below) {
            if let Some((slot, _)) = self.find(number) {
                each(self.remove(slot));
            }
        }
        for number in also {
            if let Some((slot, _)) = self.find(number) {
                each(self.remove(slot));
            }
        }
    }

    /// The copy of this number, by its slot.
    pub fn find(&self, number: u64) -> Option<(u32, &Entry)> {
        let i = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let slot = *self.numbers.get(i)?;
        self.slots.get(slot as usize).map(|s| (slot, &s.entry))
    }

    /// The slot ahead of this one in the queue.
    pub fn ahead_of(&self, slot: u32) -> Option<u32> {
        Some(self.slots[slot as usize].ahead).filter(|&s| s != NO)
    }

    /// The slot of the first in the queue.
    pub fn first(&self) -> Option<u32> {
        Some(self.first).filter(|&s| s != NO)
    }

    pub fn remove(&mut self, slot: u32) -> Entry {
        let Slot {
            entry,
            ahead,
            behind,
        } = self.slots[slot as usize];
        match ahead {
            NO => self.first = behind,
            i => self.slots[i as usize].behind = behind,
        }
        match behind {
            NO => self.last = ahead,
            i => self.slots[i as usize].ahead = ahead,
        }
        self.free.push(slot);
        self.numbers[(entry.number - self.base) as usize] = NO;
        while self.numbers.front() == Some(&NO) {
            self.numbers.pop_front();
            self.base += 1;
        }
        self.bytes -= entry.bytes();
        entry
    }

    /// The smallest number here.
    pub fn oldest(&self) -> Option<u64> {
        (!self.numbers.is_empty()).then_some(self.base)
    }

    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
