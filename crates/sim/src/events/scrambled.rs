// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference list with a check: what is inserted between two events is inserted in random
//! order.

use std::collections::BTreeSet;

use super::{EventQueue, Heap};
use crate::workload::random::Stream;

/// A [`Heap`] whose insertions are shuffled. A simulation on it has the same outcome as on any
/// other list, because the order of insertion has no meaning. It also asserts that a link has at
/// most one delivery pending.
#[derive(Debug)]
pub struct Scrambled {
    inner: Heap,
    /// Inserted since the last event was taken.
    batch: Vec<(u64, u32)>,
    order: Stream,
    /// Links with a delivery pending.
    links: BTreeSet<u32>,
}

impl EventQueue for Scrambled {
    fn new(links: u32) -> Self {
        Scrambled {
            inner: Heap::new(links),
            batch: Vec::new(),
            order: Stream::new(1, "scrambled", 0),
            links: BTreeSet::new(),
        }
    }

    fn insert(&mut self, at: u64, event: u32) {
        self.batch.push((at, event));
    }

    fn insert_delivery(&mut self, at: u64, link: u32) {
        let one = self.links.insert(link);
        assert!(one, "two deliveries are pending on link {link}");
        self.batch.push((at, link));
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        self.order.shuffle(&mut self.batch);
        for (at, event) in self.batch.drain(..) {
            self.inner.insert(at, event);
        }
        let next = self.inner.pop();
        if let Some((_, event)) = next {
            self.links.remove(&event);
        }
        next
    }

    fn upcoming(&self) -> Option<u32> {
        None
    }

    fn peek(&self) -> Option<(u64, u32)> {
        let batch = self.batch.iter().min().copied();
        self.inner.peek().into_iter().chain(batch).min()
    }

    fn len(&self) -> usize {
        self.inner.len() + self.batch.len()
    }
}
