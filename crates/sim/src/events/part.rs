// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event list of one shard of a divided simulation.

use super::{EventQueue, Wheel};

/// A [`Wheel`] whose simulation holds a part of the fabric.
#[derive(Debug)]
pub struct PartWheel(Wheel);

impl EventQueue for PartWheel {
    const SHARDED: bool = true;

    fn new(links: u32) -> Self {
        PartWheel(Wheel::new(links))
    }

    #[inline]
    fn insert(&mut self, at: u64, event: u32) {
        self.0.insert(at, event);
    }

    #[inline]
    fn insert_delivery(&mut self, at: u64, link: u32) {
        self.0.insert_delivery(at, link);
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, u32)> {
        self.0.pop()
    }

    #[inline(always)]
    fn upcoming(&self) -> Option<u32> {
        self.0.upcoming()
    }

    fn deliveries(&self, from: u64, enough: usize, list: &mut Vec<u32>) -> u64 {
        self.0.deliveries(from, enough, list)
    }

    fn peek(&self) -> Option<(u64, u32)> {
        self.0.peek()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
