// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stalled queue: copies of selected packets, in the order in which they were last sent.

use std::collections::VecDeque;

use cemark_wire::{Nanos, Packet};

use super::shim::Shim;

/// A copy that waits to be needed. `packet` is bare: its header is `shim`.
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

/// A bounded FIFO of copies.
#[derive(Debug, Default)]
pub(crate) struct Stalled {
    queue: VecDeque<Entry>,
    bytes: u64,
    /// The most it ever held.
    pub peak: u64,
}

impl Stalled {
    /// Whether so many bytes more stay within `bound`.
    pub fn has_room(&self, bytes: u64, bound: u64, most: usize) -> bool {
        self.bytes + bytes <= bound && self.queue.len() < most
    }

    pub fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.peak = self.peak.max(self.bytes);
        self.queue.push_back(entry);
    }

    pub fn front(&self) -> Option<&Entry> {
        self.queue.front()
    }

    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.queue.pop_front()?;
        self.bytes -= entry.bytes();
        Some(entry)
    }

    /// Takes out every copy for which `wanted` says so, oldest first, and gives it to `each`.
    pub fn extract(&mut self, wanted: impl Fn(&Entry) -> bool, mut each: impl FnMut(Entry)) {
        let mut left = 0;
        self.queue.retain(|e| {
            if !wanted(e) {
                return true;
            }
            left += e.bytes();
            each(*e);
            false
        });
        self.bytes -= left;
    }

    /// The copy of this number, by its place in the queue. Acknowledged ones are near the front.
    pub fn find(&self, number: u64) -> Option<(usize, &Entry)> {
        self.queue
            .iter()
            .enumerate()
            .find(|(_, e)| e.number == number)
    }

    pub fn remove(&mut self, place: usize) -> Option<Entry> {
        let entry = self.queue.remove(place)?;
        self.bytes -= entry.bytes();
        Some(entry)
    }

    /// The smallest number here.
    pub fn oldest(&self) -> Option<u64> {
        // Originals stand in order of number; copies of copies stand behind and are few.
        self.queue.iter().map(|e| e.number).min()
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
