// SPDX-License-Identifier: MIT OR Apache-2.0
//! A 4-ary heap ordered by (time, insertion).

use super::EventQueue;

/// The reference design: every operation costs a logarithm of the number of pending events.
#[derive(Debug, Default)]
pub struct Heap {
    items: Vec<(u64, u64, u32)>,
    inserted: u64,
}

impl Heap {
    fn sift_down(&mut self) {
        let n = self.items.len();
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let Some(least) =
                (first..(first + 4).min(n)).min_by_key(|&c| (self.items[c].0, self.items[c].1))
            else {
                return;
            };
            if (self.items[i].0, self.items[i].1) <= (self.items[least].0, self.items[least].1) {
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
        self.items.push((at, self.inserted, event));
        self.inserted += 1;
        while i > 0 {
            let parent = (i - 1) / 4;
            if (self.items[parent].0, self.items[parent].1) <= (self.items[i].0, self.items[i].1) {
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
        let (at, _, event) = self.items.swap_remove(0);
        self.sift_down();
        Some((at, event))
    }

    fn upcoming(&self) -> Option<u32> {
        None
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}
