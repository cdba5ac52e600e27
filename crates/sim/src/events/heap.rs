// SPDX-License-Identifier: MIT OR Apache-2.0
//! A 4-ary heap ordered by (time, event).

use super::EventQueue;

/// The reference design: every operation costs a logarithm of the number of pending events.
#[derive(Debug, Default)]
pub struct Heap {
    items: Vec<(u64, u32)>,
}

impl Heap {
    fn sift_down(&mut self) {
        let n = self.items.len();
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let Some(least) = (first..(first + 4).min(n)).min_by_key(|&c| self.items[c]) else {
                return;
            };
            if self.items[i] <= self.items[least] {
                return;
            }
            self.items.swap(i, least);
            i = least;
        }
    }
}

impl EventQueue for Heap {
    fn new(_: u32) -> Self {
        Self::default()
    }

    fn insert(&mut self, at: u64, event: u32) {
        let mut i = self.items.len();
        self.items.push((at, event));
        while i > 0 {
            let parent = (i - 1) / 4;
            if self.items[parent] <= self.items[i] {
                return;
            }
            self.items.swap(i, parent);
            i = parent;
        }
    }

    fn insert_delivery(&mut self, at: u64, link: u32) {
        self.insert(at, link);
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        if self.items.is_empty() {
            return None;
        }
        let first = self.items.swap_remove(0);
        self.sift_down();
        Some(first)
    }

    fn upcoming(&self) -> Option<u32> {
        None
    }

    fn peek(&self) -> Option<(u64, u32)> {
        self.items.first().copied()
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}
