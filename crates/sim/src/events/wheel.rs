// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel whose slot is the tick.
//!
//! Three levels. The *near* wheel has a slot a tick, appended at the tail, and covers the current half and the next one. The *mid*
//! wheel has a slot a half; a half is poured into the near wheel when the one before it begins, which is before anything can
//! be inserted into it directly, so equal times stay first in, first out. What lies beyond is in a heap and is poured into the
//! mid wheel as that advances, again before anything can be inserted there directly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::EventQueue;
use cemark_wire::NONE;

/// log2 of the ticks in a half of the near wheel.
const HALF: u32 = 13;
const NEAR: usize = 2 << HALF;
/// log2 of the halves that the mid wheel covers.
const MID: u32 = 12;
const MID_SLOTS: usize = 1 << MID;

#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    tail: u32,
}

const EMPTY: Slot = Slot {
    head: NONE,
    tail: NONE,
};

#[derive(Clone, Copy, Debug)]
struct Node {
    at: u64,
    event: u32,
    next: u32,
}

/// See the module's text.
#[derive(Debug)]
pub struct Wheel {
    /// The current tick.
    now: u64,
    /// First tick of the half that `now` lies in.
    base: u64,
    near: Box<[Slot; NEAR]>,
    near_bits: Bits<{ NEAR / 64 }>,
    nodes: Vec<Node>,
    free: u32,
    pending: usize,
    mid: Box<[Slot]>,
    mid_bits: Bits<{ MID_SLOTS / 64 }>,
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    inserted: u64,
}

impl Wheel {
    #[inline]
    fn node(&mut self, at: u64, event: u32) -> u32 {
        if self.free == NONE {
            self.more_nodes();
        }
        let n = self.free;
        let node = &mut self.nodes[n as usize];
        self.free = node.next;
        *node = Node {
            at,
            event,
            next: NONE,
        };
        n
    }

    /// Doubles the nodes: rare, and out of the way of the common path.
    #[cold]
    #[inline(never)]
    fn more_nodes(&mut self) {
        let have = self.nodes.len();
        let want = (have * 2).max(1024);
        for n in have..want {
            self.nodes.push(Node {
                at: 0,
                event: 0,
                next: if n + 1 < want { n as u32 + 1 } else { NONE },
            });
        }
        self.free = have as u32;
    }

    #[inline]
    fn append(nodes: &mut [Node], slot: &mut Slot, n: u32) {
        if slot.tail == NONE {
            slot.head = n;
        } else {
            nodes[slot.tail as usize].next = n;
        }
        slot.tail = n;
    }

    #[inline]
    fn put_near(&mut self, n: u32, at: u64) {
        let i = at as usize & (NEAR - 1);
        Self::append(&mut self.nodes, &mut self.near[i], n);
        self.near_bits.set(i);
    }

    fn put_mid(&mut self, n: u32, at: u64) {
        let i = (at >> HALF) as usize & (MID_SLOTS - 1);
        Self::append(&mut self.nodes, &mut self.mid[i], n);
        self.mid_bits.set(i);
    }

    #[inline(never)]
    fn put_later(&mut self, at: u64, event: u32) {
        if at >> HALF < self.mid_end() {
            let n = self.node(at, event);
            self.put_mid(n, at);
        } else {
            self.far.push(Reverse((at, self.inserted, event)));
            self.inserted += 1;
        }
    }

    /// The current half and the next are near; up to this one exclusive, halves are mid.
    fn mid_end(&self) -> u64 {
        (self.base >> HALF) + 1 + MID_SLOTS as u64
    }

    /// Pours a half into the near wheel.
    fn pour(&mut self, half: u64) {
        let i = half as usize & (MID_SLOTS - 1);
        let mut n = self.mid[i].head;
        self.mid[i] = EMPTY;
        self.mid_bits.clear(i);
        while n != NONE {
            let Node { at, next, .. } = self.nodes[n as usize];
            self.nodes[n as usize].next = NONE;
            debug_assert_eq!(at >> HALF, half);
            self.put_near(n, at);
            n = next;
        }
    }

    /// Takes what has come into reach out of the heap.
    fn pull_far(&mut self) {
        let end = self.mid_end();
        while let Some(&Reverse((at, _, event))) = self.far.peek() {
            if at >> HALF >= end {
                break;
            }
            self.far.pop();
            let n = self.node(at, event);
            if at - self.base < NEAR as u64 {
                self.put_near(n, at)
            } else {
                self.put_mid(n, at)
            }
        }
    }

    /// Moves `now` to the next tick with an event, half by half; false when nothing is pending.
    #[inline(never)]
    fn seek(&mut self) -> bool {
        if self.pending == 0 {
            return false;
        }
        loop {
            let from = self.now as usize & (NEAR - 1);
            let room = (1 << HALF) - (from & ((1 << HALF) - 1));
            if let Some(i) = self.near_bits.first_in(from, room) {
                self.now += (i - from) as u64;
                return true;
            }
            self.advance();
        }
    }

    /// Begins the next half that has anything in reach. Called when the current one is empty.
    fn advance(&mut self) {
        let half = self.base >> HALF;
        let next = ((half + 1) << HALF) as usize & (NEAR - 1);
        let begun = if self.near_bits.first_in(next, 1 << HALF).is_some() {
            half + 1
        } else if let Some(ahead) = self
            .mid_bits
            .next_from((half + 2) as usize & (MID_SLOTS - 1))
        {
            // Near is empty: skip to the first half that is not.
            let begun = half + 2 + ahead as u64;
            self.pour(begun);
            begun
        } else {
            let &Reverse((at, ..)) = self.far.peek().expect("something is pending");
            at >> HALF
        };
        self.base = begun << HALF;
        self.now = self.base;
        self.pour(begun + 1);
        self.pull_far();
    }
}

impl EventQueue for Wheel {
    fn new() -> Self {
        Wheel {
            now: 0,
            base: 0,
            near: Box::new([EMPTY; NEAR]),
            near_bits: Bits::new(),
            nodes: Vec::new(),
            free: NONE,
            pending: 0,
            mid: vec![EMPTY; MID_SLOTS].into_boxed_slice(),
            mid_bits: Bits::new(),
            far: BinaryHeap::new(),
            inserted: 0,
        }
    }

    #[inline]
    fn insert(&mut self, at: u64, event: u32) {
        debug_assert!(at >= self.now, "an event before the present");
        self.pending += 1;
        if at.wrapping_sub(self.base) < NEAR as u64 {
            let n = self.node(at, event);
            self.put_near(n, at);
        } else {
            self.put_later(at, event);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, u32)> {
        // A word of 64 ticks never straddles two halves.
        let ahead = self.near_bits.word(self.now as usize & (NEAR - 1)) >> (self.now & 63);
        if ahead != 0 {
            self.now += u64::from(ahead.trailing_zeros());
        } else if !self.seek() {
            return None;
        }
        let i = self.now as usize & (NEAR - 1);
        let slot = &mut self.near[i];
        let n = slot.head;
        let node = &mut self.nodes[n as usize];
        let event = node.event;
        slot.head = node.next;
        if node.next == NONE {
            slot.tail = NONE;
            self.near_bits.clear(i);
        }
        node.next = self.free;
        self.free = n;
        self.pending -= 1;
        Some((self.now, event))
    }

    fn len(&self) -> usize {
        self.pending
    }
}

/// A set of small numbers: words, and a second level that says which words are not empty.
#[derive(Debug)]
struct Bits<const WORDS: usize> {
    words: Box<[u64; WORDS]>,
    /// Bit w of `upper[w / 64]`: word w is not zero.
    upper: [u64; 8],
}

impl<const WORDS: usize> Bits<WORDS> {
    fn new() -> Self {
        assert!(WORDS <= 512);
        Bits {
            words: Box::new([0; WORDS]),
            upper: [0; 8],
        }
    }

    /// The word that `i` lies in.
    #[inline]
    fn word(&self, i: usize) -> u64 {
        self.words[i >> 6]
    }

    #[inline]
    fn set(&mut self, i: usize) {
        let w = &mut self.words[i >> 6];
        if *w == 0 {
            self.upper[i >> 12] |= 1 << (i >> 6 & 63);
        }
        *w |= 1 << (i & 63);
    }

    #[inline]
    fn clear(&mut self, i: usize) {
        let w = &mut self.words[i >> 6];
        *w &= !(1 << (i & 63));
        if *w == 0 {
            self.upper[i >> 12] &= !(1 << (i >> 6 & 63));
        }
    }

    /// The first member in `from..from + room`, without wrapping.
    #[inline]
    fn first_in(&self, from: usize, room: usize) -> Option<usize> {
        let end = from + room;
        let word = self.words[from >> 6] >> (from & 63);
        if word != 0 {
            let i = from + word.trailing_zeros() as usize;
            return (i < end).then_some(i);
        }
        let mut w = (from >> 6) + 1;
        let last = end.div_ceil(64);
        while w < last {
            let up = self.upper[w >> 6] >> (w & 63);
            if up == 0 {
                w = (w | 63) + 1;
                continue;
            }
            w += up.trailing_zeros() as usize;
            if w >= last {
                return None;
            }
            let i = (w << 6) + self.words[w].trailing_zeros() as usize;
            return (i < end).then_some(i);
        }
        None
    }

    /// Distance from `from` to the next member, going round once.
    fn next_from(&self, from: usize) -> Option<usize> {
        let all = WORDS * 64;
        self.first_in(from, all - from)
            .or_else(|| self.first_in(0, from))
            .map(|i| (i + all - from) % all)
    }
}
