// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel whose slot is the tick.
//!
//! Three levels. The *near* wheel has a slot for each tick and covers the current half and the next
//! one. The *mid* wheel has a slot for each half; a half is moved into the near wheel when the half
//! before it begins. Later events are in a heap and are moved into the mid wheel as that advances.
//!
//! A slot of the near wheel is a list in order of events, which most often grows at its tail. An
//! event whose place is not near the head or at the tail is appended nevertheless, and the list is
//! noted as unsorted; [`Wheel::pop`] sorts it before it takes the first. So a tick at which ten
//! thousand hosts begin to send costs one sort, not ten thousand walks along the list.
//!
//! Whether a slot or a word of the bitmaps is empty is unpredictable, and a mispredicted branch on
//! it costs more than the rest of an insertion. The common paths therefore have no such branch:
//! node 0 receives the writes that are meant for the predecessor of a first node.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
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

/// Steps from the head of a list in search of an event's place.
const WALK: u32 = 8;

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
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// Slots of the near wheel whose lists are not in order of events.
    unsorted: BTreeSet<u32>,
    /// Room to sort a slot.
    sorting: Vec<u32>,
}

/// Appends node `n`.
#[inline(always)]
fn append(nodes: &mut [Node], slot: &mut Slot, n: u32) {
    nodes[slot.tail as usize].next = n;
    slot.head = select_unpredictable(slot.tail == NO_NODE, n, slot.head);
    slot.tail = n;
}

/// Puts node `n` into its place in a sorted list whose last event is larger. Where that is far from
/// the head it is put at the end, and false is returned: the list is unsorted then.
#[inline(never)]
fn put_before(nodes: &mut [Node], slot: &mut Slot, n: u32, event: u32) -> bool {
    if event < nodes[slot.head as usize].event {
        nodes[n as usize].next = slot.head;
        slot.head = n;
        return true;
    }
    let mut before = slot.head;
    for _ in 0..WALK {
        let next = nodes[before as usize].next;
        if event < nodes[next as usize].event {
            nodes[n as usize].next = next;
            nodes[before as usize].next = n;
            return true;
        }
        before = next;
    }
    append(nodes, slot, n);
    false
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
    fn put_near(&mut self, n: u32, at: u64, event: u32) {
        let i = at as usize & (NEAR - 1);
        let slot = &mut self.near[i];
        // The placeholder, node 0, holds event 0: nothing comes before an empty slot's end.
        if event < self.nodes[slot.tail as usize].event {
            // The set has the slot already.
            if !put_before(&mut self.nodes, slot, n, event) {
                self.unsorted.insert(i as u32);
            }
            return;
        }
        append(&mut self.nodes, slot, n);
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
            self.far.push(Reverse((at, event)));
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
            let Node { at, event, next } = self.nodes[n as usize];
            debug_assert_eq!(at >> HALF, half);
            self.put_near(n, at, event);
            if n == tail {
                return;
            }
            n = next;
        }
    }

    /// Moves events that are now within reach out of the heap.
    fn pull_far(&mut self) {
        let end = self.mid_end();
        while let Some(&Reverse((at, event))) = self.far.peek() {
            if at >> HALF >= end {
                break;
            }
            self.far.pop();
            let n = self.node(at, event);
            if at - self.base < NEAR as u64 {
                self.put_near(n, at, event)
            } else {
                self.put_mid(n, at)
            }
        }
    }

    /// Puts the list of a near slot into the order of its events where it is not. Equal events are
    /// alike, so that their order has no meaning.
    #[cold]
    #[inline(never)]
    fn sort(&mut self, i: usize) {
        if !self.unsorted.remove(&(i as u32)) {
            return;
        }
        let Slot { head, tail } = self.near[i];
        let mut list = std::mem::take(&mut self.sorting);
        let mut n = head;
        list.push(n);
        while n != tail {
            n = self.nodes[n as usize].next;
            list.push(n);
        }
        list.sort_unstable_by_key(|&n| self.nodes[n as usize].event);
        for pair in list.windows(2) {
            self.nodes[pair[0] as usize].next = pair[1];
        }
        self.near[i] = Slot {
            head: list[0],
            tail: list[list.len() - 1],
        };
        list.clear();
        self.sorting = list;
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
            unsorted: BTreeSet::new(),
            sorting: Vec::new(),
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
            self.put_near(n, at, event);
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
        let i = self.near_set[set].first();
        self.now = self.now & !(Set::SIZE as u64 - 1) | i as u64;
        let i = set * Set::SIZE + i;
        if !self.unsorted.is_empty() {
            self.sort(i);
        }
        let members = &mut self.near_set[set];
        let slot = &mut self.near[i];
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
