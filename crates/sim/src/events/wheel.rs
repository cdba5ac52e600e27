// SPDX-License-Identifier: MIT OR Apache-2.0
//! A timing wheel whose slot is the tick.
//!
//! Three levels. The *near* wheel has a slot for each tick and covers the current half and the next
//! one. The *mid* wheel has a slot for each half; a half is moved into the near wheel when the half
//! before it begins. Later events are in a heap and are moved into the mid wheel as that advances.
//!
//! A slot is a list that grows at its head, so an insertion compares nothing: whether an event
//! comes before another one of its tick cannot be predicted, and most ticks have one event. A tick
//! with several is put into order when its turn comes; a tick at which ten thousand hosts begin to
//! send costs one sort.
//!
//! Most events are deliveries, and a link has at most one of them pending. Each link therefore owns
//! a node, and an insertion takes nothing from the free list. Nodes of other events follow those of
//! the links. The tick of the next event is kept, so that it is searched for once and not by
//! `upcoming` and `pop` both.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::EventQueue;
use super::set::Set;

/// log2 of the ticks in a half of the near wheel.
const HALF: u32 = 13;
const NEAR: usize = 2 << HALF;
/// Sets of the near wheel: a half is a whole number of them.
const SETS: usize = NEAR / Set::SIZE;
/// Halves that the mid wheel covers.
const MID: usize = Set::SIZE;

/// No node: the slot is empty, or the end of a list.
const NO_NODE: u32 = 0;

/// An event that is pending, or a node that is free.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The next one of its slot, or the next free one.
    next: u32,
    event: u32,
}

/// The tick of the next event is not known. An event at tick 0 looks the same, and is searched for
/// each time.
const UNKNOWN: u64 = 0;

/// See the module's text.
#[derive(Debug)]
pub struct Wheel {
    /// The current tick.
    now: u64,
    /// First tick of the half that `now` lies in.
    base: u64,
    /// Tick of the next event, or [`UNKNOWN`].
    next_at: u64,
    /// Events below this are deliveries of links; the node of event `l` is `l + 1`.
    links: u32,
    /// The first free node.
    free: u32,
    /// The first node of a list that is in order, where there is one: what is left of a tick with
    /// many events. What has been inserted since is before it.
    sorted: u32,
    nodes: Vec<Node>,
    /// By slot: the first node.
    near: Box<[u32; NEAR]>,
    near_set: Box<[Set; SETS]>,
    mid: Box<[u32; MID]>,
    mid_set: Box<Set>,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// By node: its tick, where it is in the mid wheel.
    ticks: Vec<u64>,
    /// Room to sort a slot.
    sorting: Vec<Node>,
}

impl Wheel {
    #[inline(always)]
    fn node(&mut self, event: u32) -> u32 {
        if self.free == NO_NODE {
            self.more_nodes();
        }
        let n = self.free;
        let node = &mut self.nodes[n as usize];
        self.free = node.next;
        node.event = event;
        n
    }

    /// The node of any event: a link's own, or a free one.
    fn node_of(&mut self, event: u32) -> u32 {
        if event < self.links {
            event + 1
        } else {
            self.node(event)
        }
    }

    /// Adds half as many nodes again. It is rare, so it is kept out of the common path.
    #[cold]
    #[inline(never)]
    fn more_nodes(&mut self) {
        let have = self.nodes.len() as u32;
        let want = have + (have / 2).max(512);
        let next = (have + 1..want).chain([NO_NODE]);
        self.nodes.extend(next.map(|next| Node { next, event: 0 }));
        self.ticks.resize(want as usize, 0);
        self.free = have;
    }

    #[inline(always)]
    fn put_near(&mut self, n: u32, at: u64) {
        let i = at as usize & (NEAR - 1);
        self.nodes[n as usize].next = self.near[i];
        self.near[i] = n;
        self.near_set[i / Set::SIZE].insert(i);
    }

    /// Takes the smallest event out of a near slot with several, and returns its node.
    #[inline(never)]
    fn take_smallest(&mut self, i: usize) -> u32 {
        let head = self.near[i];
        let first = self.nodes[head as usize];
        if head == self.sorted {
            let rest = self.nodes[first.next as usize].next;
            // A single one is taken without a look here, and its node may be used elsewhere.
            self.sorted = if rest == NO_NODE { NO_NODE } else { first.next };
            self.near[i] = first.next;
            return head;
        }
        let second = self.nodes[first.next as usize];
        if second.next != NO_NODE {
            self.sort(i);
            return self.take_smallest(i);
        }
        if first.event < second.event {
            self.near[i] = first.next;
            return head;
        }
        self.nodes[head as usize].next = NO_NODE;
        first.next
    }

    /// Puts the list of a near slot into order. Equal events are alike, so that their order has no
    /// meaning.
    #[inline(never)]
    fn sort(&mut self, i: usize) {
        let mut list = std::mem::take(&mut self.sorting);
        // While a node is in this list its `next` is its own number.
        list.extend(self.list(self.near[i]).map(|n| Node {
            next: n,
            event: self.nodes[n as usize].event,
        }));
        list.sort_unstable_by_key(|node| node.event);
        let mut next = NO_NODE;
        for node in list.drain(..).rev() {
            self.nodes[node.next as usize].next = next;
            next = node.next;
        }
        self.near[i] = next;
        self.sorted = next;
        self.sorting = list;
    }

    fn put_mid(&mut self, n: u32, at: u64) {
        let i = (at >> HALF) as usize & (MID - 1);
        self.ticks[n as usize] = at;
        self.nodes[n as usize].next = self.mid[i];
        self.mid[i] = n;
        self.mid_set.insert(i);
    }

    #[cold]
    #[inline(never)]
    fn put_later(&mut self, at: u64, event: u32) {
        if at >> HALF < self.mid_end() {
            let n = self.node_of(event);
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
        let mut n = std::mem::replace(&mut self.mid[i], NO_NODE);
        self.mid_set.remove(i);
        while n != NO_NODE {
            let (at, next) = (self.ticks[n as usize], self.nodes[n as usize].next);
            debug_assert_eq!(at >> HALF, half);
            self.put_near(n, at);
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
            let n = self.node_of(event);
            if at - self.base < NEAR as u64 {
                self.put_near(n, at)
            } else {
                self.put_mid(n, at)
            }
        }
    }

    /// The nodes of a list, by its first.
    fn list(&self, head: u32) -> impl Iterator<Item = u32> {
        let some = |n: u32| (n != NO_NODE).then_some(n);
        std::iter::successors(some(head), move |n| some(self.nodes[*n as usize].next))
    }

    /// The sets of half `half` that begin at or after tick `from`, as a range of their numbers.
    fn sets(half: u64, from: u64) -> std::ops::Range<usize> {
        let first = (half as usize & 1) * (SETS / 2);
        let begun = (from.saturating_sub(half << HALF) as usize) / Set::SIZE;
        first + begun..first + SETS / 2
    }

    /// Learns the tick of the next event; false when nothing is pending.
    #[cold]
    #[inline(never)]
    fn find(&mut self) -> bool {
        let found = self.seek();
        if found {
            let set = self.now as usize / Set::SIZE % SETS;
            self.next_at = self.start_of_set() | self.near_set[set].first() as u64;
        }
        found
    }

    /// First tick of the set that `now` lies in.
    #[inline(always)]
    fn start_of_set(&self) -> u64 {
        self.now & !(Set::SIZE as u64 - 1)
    }

    /// Moves `now` into the next set with an event; false when nothing is pending.
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

#[cfg(test)]
impl Wheel {
    /// Whether `upcoming` cannot be wrong: the next tick has one event.
    pub(super) fn is_sure(&self) -> bool {
        let head = self.near[self.next_at as usize & (NEAR - 1)];
        self.list(head).count() <= 1
    }
}

impl EventQueue for Wheel {
    fn new(links: u32) -> Self {
        let slots = |n| vec![NO_NODE; n].into_boxed_slice();
        // The first node is none.
        let nodes = (0..=links).map(|n| Node {
            next: NO_NODE,
            event: n.wrapping_sub(1),
        });
        let mut wheel = Wheel {
            now: 0,
            base: 0,
            next_at: UNKNOWN,
            links,
            free: NO_NODE,
            sorted: NO_NODE,
            nodes: nodes.collect(),
            near: slots(NEAR).try_into().expect("the length is right"),
            near_set: Box::new([const { Set::new() }; SETS]),
            mid: slots(MID).try_into().expect("the length is right"),
            mid_set: Box::new(Set::new()),
            far: BinaryHeap::new(),
            ticks: Vec::new(),
            sorting: Vec::new(),
        };
        wheel.more_nodes();
        wheel
    }

    #[inline]
    fn insert(&mut self, at: u64, event: u32) {
        debug_assert!(at >= self.now, "an event before the present");
        debug_assert!(event >= self.links, "a delivery");
        if at.wrapping_sub(self.base) < NEAR as u64 {
            let n = self.node(event);
            self.put_near(n, at);
            self.next_at = self.next_at.min(at);
        } else {
            self.put_later(at, event);
        }
    }

    #[inline]
    fn insert_delivery(&mut self, at: u64, link: u32) {
        debug_assert!(at >= self.now, "an event before the present");
        debug_assert!(link < self.links, "no such link");
        if at.wrapping_sub(self.base) < NEAR as u64 {
            self.put_near(link + 1, at);
            self.next_at = self.next_at.min(at);
        } else {
            self.put_later(at, link);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, u32)> {
        if self.next_at == UNKNOWN && !self.find() {
            return None;
        }
        let at = self.next_at;
        self.now = at;
        let i = at as usize & (NEAR - 1);
        let mut n = self.near[i];
        let mut node = self.nodes[n as usize];
        if node.next == NO_NODE {
            self.near[i] = NO_NODE;
            // No event before this one is pending, so its tick is the first of its set.
            self.next_at = match self.near_set[i / Set::SIZE].remove_first() {
                Some(first) => self.start_of_set() | first as u64,
                None => UNKNOWN,
            };
        } else {
            n = self.take_smallest(i);
            node = self.nodes[n as usize];
        }
        if n > self.links {
            self.nodes[n as usize].next = self.free;
            self.free = n;
        }
        Some((at, node.event))
    }

    #[inline(always)]
    fn upcoming(&self) -> Option<u32> {
        if self.next_at == UNKNOWN {
            return None;
        }
        let head = self.near[self.next_at as usize & (NEAR - 1)];
        Some(head.wrapping_sub(1))
    }

    fn peek(&self) -> Option<(u64, u32)> {
        let half = self.base >> HALF;
        for (half, from) in [(half, self.now), (half + 1, 0)] {
            if let Some(s) = Self::sets(half, from).find(|s| !self.near_set[*s].is_empty()) {
                let i = s * Set::SIZE + self.near_set[s].first();
                let at = half << HALF | (i as u64 & ((1 << HALF) - 1));
                let events = self
                    .list(self.near[i])
                    .map(|n| self.nodes[n as usize].event);
                return events.min().map(|event| (at, event));
            }
        }
        // The half after the next is the first that the mid wheel may hold.
        if let Some(ahead) = self.mid_set.next_from((half + 2) as usize & (MID - 1)) {
            let head = self.mid[(half as usize + 2 + ahead) & (MID - 1)];
            let pending = |n: u32| (self.ticks[n as usize], self.nodes[n as usize].event);
            return self.list(head).map(pending).min();
        }
        self.far.peek().map(|&Reverse(first)| first)
    }

    fn len(&self) -> usize {
        let near =
            (0..SETS).flat_map(|s| self.near_set[s].members().map(move |i| s * Set::SIZE + i));
        let near = near.map(|i| self.near[i]);
        let mid = self.mid_set.members().map(|i| self.mid[i]);
        let held = |head: u32| self.list(head).count();
        near.chain(mid).map(held).sum::<usize>() + self.far.len()
    }
}
