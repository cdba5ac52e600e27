// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel whose slot is the tick.
//!
//! Three levels. The *near* wheel has a slot for each tick, appended at the tail, and covers the
//! current half and the next one. The *mid* wheel has a slot for each half; a half is moved into
//! the near wheel when the half before it begins, which is before any event can be inserted into it
//! directly, so events at equal times stay first in, first out. Later events are in a heap and are
//! moved into the mid wheel as that advances, again before any event can be inserted there
//! directly.
//!
//! Whether a slot or a word of the bitmaps is empty is unpredictable, and a mispredicted branch on
//! it costs more than the rest of an insertion. The common paths therefore have no such branch:
//! node 0 receives the writes that are meant for the predecessor of a first node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use super::EventQueue;
use super::set::Set;

/// log2 of the ticks in a half of the near wheel.
const HALF: u32 = 13;
const NEAR: usize = 2 << HALF;
/// Sets of the near wheel: a half is a whole number of them.
const SETS: usize = NEAR / Set::SIZE;
/// Halves that the mid wheel covers.
const MID: usize = Set::SIZE;

/// No node: the slot is empty, the free list at its end.
const NO_NODE: u32 = 0;

/// A list of nodes; `head` is meaningless where `tail` is [`NO_NODE`].
#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    tail: u32,
}

const EMPTY: Slot = Slot {
    head: NO_NODE,
    tail: NO_NODE,
};

#[derive(Clone, Copy, Debug)]
struct Node {
    at: u64,
    event: u32,
    /// The next node of the slot (meaningless in the last one), or the next free node.
    next: u32,
}

/// See the module's text.
#[derive(Debug)]
pub struct Wheel {
    /// The current tick.
    now: u64,
    /// First tick of the half that `now` lies in.
    base: u64,
    free: u32,
    nodes: Vec<Node>,
    near: Box<[Slot; NEAR]>,
    near_set: Box<[Set; SETS]>,
    mid: Box<[Slot; MID]>,
    mid_set: Box<Set>,
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    inserted: u64,
}

/// Appends node `n`.
#[inline(always)]
fn append(nodes: &mut [Node], slot: &mut Slot, n: u32) {
    nodes[slot.tail as usize].next = n;
    slot.head = select_unpredictable(slot.tail == NO_NODE, n, slot.head);
    slot.tail = n;
}

impl Wheel {
    #[inline(always)]
    fn node(&mut self, at: u64, event: u32) -> u32 {
        if self.free == NO_NODE {
            self.more_nodes();
        }
        let n = self.free;
        let node = &mut self.nodes[n as usize];
        self.free = node.next;
        node.at = at;
        node.event = event;
        n
    }

    /// Doubles the nodes. It is rare, so it is kept out of the common path.
    #[cold]
    #[inline(never)]
    fn more_nodes(&mut self) {
        let have = self.nodes.len();
        let want = (have * 2).max(1024);
        for n in have..want {
            self.nodes.push(Node {
                at: 0,
                event: 0,
                next: if n + 1 < want { n as u32 + 1 } else { NO_NODE },
            });
        }
        self.free = have as u32;
    }

    #[inline(always)]
    fn put_near(&mut self, n: u32, at: u64) {
        let i = at as usize & (NEAR - 1);
        append(&mut self.nodes, &mut self.near[i], n);
        self.near_set[i / Set::SIZE].insert(i);
    }

    fn put_mid(&mut self, n: u32, at: u64) {
        let i = (at >> HALF) as usize & (MID - 1);
        append(&mut self.nodes, &mut self.mid[i], n);
        self.mid_set.insert(i);
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
        (self.base >> HALF) + 1 + MID as u64
    }

    /// Moves a half into the near wheel.
    fn pour(&mut self, half: u64) {
        let i = half as usize & (MID - 1);
        let Slot { head, tail } = std::mem::replace(&mut self.mid[i], EMPTY);
        self.mid_set.remove_if(i, true);
        if tail == NO_NODE {
            return;
        }
        let mut n = head;
        loop {
            let Node { at, next, .. } = self.nodes[n as usize];
            debug_assert_eq!(at >> HALF, half);
            self.put_near(n, at);
            if n == tail {
                return;
            }
            n = next;
        }
    }

    /// Moves events that are now within reach out of the heap.
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

    /// The sets of half `half` that begin at or after tick `from`, as a range of their numbers.
    fn sets(half: u64, from: u64) -> std::ops::Range<usize> {
        let first = (half as usize & 1) * (SETS / 2);
        let begun = (from.saturating_sub(half << HALF) as usize) / Set::SIZE;
        first + begun..first + SETS / 2
    }

    /// Moves `now` into the next set with an event; false when nothing is pending.
    #[cold]
    #[inline(never)]
    fn seek(&mut self) -> bool {
        loop {
            let half = self.base >> HALF;
            let mut sets = Self::sets(half, self.now);
            let first = sets.start;
            if let Some(set) = sets.find(|s| !self.near_set[*s].is_empty()) {
                let skipped = (set - first) as u64;
                if skipped > 0 {
                    self.now = (self.now / Set::SIZE as u64 + skipped) * Set::SIZE as u64;
                }
                return true;
            }
            if !self.advance() {
                return false;
            }
        }
    }

    /// Begins the next half that holds an event; false where there is none. Called when the current
    /// half is empty.
    fn advance(&mut self) -> bool {
        let half = self.base >> HALF;
        let mut next = Self::sets(half + 1, 0);
        let begun = if next.any(|s| !self.near_set[s].is_empty()) {
            half + 1
        } else if let Some(ahead) = self.mid_set.next_from((half + 2) as usize & (MID - 1)) {
            // Near is empty: skip to the first half that is not.
            let begun = half + 2 + ahead as u64;
            self.pour(begun);
            begun
        } else if let Some(&Reverse((at, ..))) = self.far.peek() {
            at >> HALF
        } else {
            return false;
        };
        self.base = begun << HALF;
        self.now = self.base;
        self.pour(begun + 1);
        self.pull_far();
        true
    }
}

impl EventQueue for Wheel {
    fn new() -> Self {
        let slots = |n| vec![EMPTY; n].into_boxed_slice();
        let mut wheel = Wheel {
            now: 0,
            base: 0,
            free: NO_NODE,
            nodes: Vec::new(),
            near: slots(NEAR).try_into().expect("the length is right"),
            near_set: Box::new([const { Set::new() }; SETS]),
            mid: slots(MID).try_into().expect("the length is right"),
            mid_set: Box::new(Set::new()),
            far: BinaryHeap::new(),
            inserted: 0,
        };
        wheel.more_nodes();
        // The first node is the placeholder.
        wheel.free = 1;
        wheel
    }

    #[inline]
    fn insert(&mut self, at: u64, event: u32) {
        debug_assert!(at >= self.now, "an event before the present");
        if at.wrapping_sub(self.base) < NEAR as u64 {
            let n = self.node(at, event);
            self.put_near(n, at);
        } else {
            self.put_later(at, event);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, u32)> {
        let mut set = self.now as usize / Set::SIZE % SETS;
        if self.near_set[set].is_empty() {
            if !self.seek() {
                return None;
            }
            set = self.now as usize / Set::SIZE % SETS;
        }
        let members = &mut self.near_set[set];
        let i = members.first();
        self.now = self.now & !(Set::SIZE as u64 - 1) | i as u64;
        let slot = &mut self.near[set * Set::SIZE + i];
        let n = slot.head;
        let node = &mut self.nodes[n as usize];
        let event = node.event;
        let n_tail = slot.tail;
        let last = n == n_tail;
        slot.head = node.next;
        slot.tail = select_unpredictable(last, NO_NODE, n_tail);
        members.remove_if(i, last);
        node.next = self.free;
        self.free = n;
        Some((self.now, event))
    }

    #[inline(always)]
    fn upcoming(&self) -> Option<u32> {
        let set = self.now as usize / Set::SIZE % SETS;
        let members = &self.near_set[set];
        if members.is_empty() {
            return None;
        }
        let slot = &self.near[set * Set::SIZE + members.first()];
        Some(self.nodes[slot.head as usize].event)
    }

    fn len(&self) -> usize {
        let next_free = |n: &u32| Some(self.nodes[*n as usize].next).filter(|n| *n != NO_NODE);
        let free = Some(self.free).filter(|n| *n != NO_NODE);
        let free = std::iter::successors(free, next_free).count();
        self.nodes.len() - 1 - free + self.far.len()
    }
}
