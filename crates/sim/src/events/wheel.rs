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
//!
//! Most events are deliveries, and a link has at most one of them pending. Each link therefore owns
//! a node: an insertion takes nothing from the free list, and a delivery that is taken out of the
//! near wheel is known by the number of its node alone. Nodes of other events follow those of the
//! links. The tick of the next event is kept, so that it is searched for once and not by `upcoming`
//! and `pop` both.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::select_unpredictable;

use super::set::Set;
use super::{EventQueue, LARGE};

/// log2 of the ticks in a half of the near wheel.
const HALF: u32 = 13;
const NEAR: usize = 2 << HALF;
/// Sets of the near wheel: a half is a whole number of them.
const SETS: usize = NEAR / Set::SIZE;
/// Halves that the mid wheel covers.
const MID: usize = Set::SIZE;

/// No node: the slot is empty, the free list at its end.
const NO_NODE: u32 = 0;

/// Steps from the head of a list in search of an event's place, and in a large fabric, where ticks
/// hold many events and each step waits for memory.
const WALK: u32 = 8;
const WALK_IN_LARGE: u32 = 2;

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

/// Tick and event of a list's node, read when an event moves from level to level, and when an event
/// that is not a delivery is taken. The links of the lists are stored apart, since all events need
/// them.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: u64,
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
    free: u32,
    /// By node: the next one of its slot (meaningless in the last one), or the next free node.
    next: Vec<u32>,
    nodes: Vec<Node>,
    near: Box<[Slot; NEAR]>,
    near_set: Box<[Set; SETS]>,
    mid: Box<[Slot; MID]>,
    mid_set: Box<Set>,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// By slot of the near wheel: whether its list is not in order of events.
    unsorted: Box<[Set; SETS]>,
    /// How many are not.
    some_unsorted: u32,
    /// Steps in search of an event's place.
    walk: u32,
    /// Room to sort a slot.
    sorting: Vec<u32>,
}

/// Appends node `n`.
#[inline(always)]
fn append(next: &mut [u32], slot: &mut Slot, n: u32) {
    next[slot.tail as usize] = n;
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
        self.free = self.next[n as usize];
        self.nodes[n as usize] = Node { at, event };
        n
    }

    /// The node of any event: a link's own, or a free one.
    #[inline]
    fn node_of(&mut self, at: u64, event: u32) -> u32 {
        if event < self.links {
            self.nodes[event as usize + 1].at = at;
            event + 1
        } else {
            self.node(at, event)
        }
    }

    /// Adds half as many nodes again. It is rare, so it is kept out of the common path.
    #[cold]
    #[inline(never)]
    fn more_nodes(&mut self) {
        let have = self.nodes.len();
        let want = have + (have / 2).max(512);
        self.nodes.resize(want, Node { at: 0, event: 0 });
        self.next.extend(have as u32 + 1..want as u32);
        self.next.push(NO_NODE);
        self.free = have as u32;
    }

    /// Whether the event of node `n` comes before that of node `m` of the same tick. The nodes of
    /// deliveries are in order of links, and before all others; the placeholder is the first.
    #[inline(always)]
    fn is_before(&self, n: u32, m: u32) -> bool {
        if n <= self.links || m <= self.links {
            n < m
        } else {
            self.nodes[n as usize].event < self.nodes[m as usize].event
        }
    }

    #[inline(always)]
    fn put_near(&mut self, n: u32, at: u64) {
        let i = at as usize & (NEAR - 1);
        if self.is_before(n, self.near[i].tail) {
            return self.put_before(i, n);
        }
        self.append_near(i, n);
    }

    /// Puts a delivery into the list of its near tick: its node alone tells its place.
    #[inline(always)]
    fn put_delivery(&mut self, n: u32, at: u64) {
        let i = at as usize & (NEAR - 1);
        if n < self.near[i].tail {
            return self.put_before(i, n);
        }
        self.append_near(i, n);
    }

    #[inline(always)]
    fn append_near(&mut self, i: usize, n: u32) {
        append(&mut self.next, &mut self.near[i], n);
        self.near_set[i / Set::SIZE].insert(i);
    }

    /// Puts node `n` into a list whose last event is larger: into its place, or where that is far
    /// from the head at the end, and the list is unsorted then.
    #[inline(never)]
    fn put_before(&mut self, i: usize, n: u32) {
        let Slot { head, tail } = self.near[i];
        if self.is_before(n, head) {
            self.next[n as usize] = head;
            self.near[i].head = n;
            return;
        }
        let mut before = head;
        for _ in 0..self.walk {
            let next = self.next[before as usize];
            if self.is_before(n, next) {
                self.next[n as usize] = next;
                self.next[before as usize] = n;
                return;
            }
            before = next;
        }
        self.next[tail as usize] = n;
        self.near[i].tail = n;
        let unsorted = &mut self.unsorted[i / Set::SIZE];
        self.some_unsorted += u32::from(!unsorted.holds(i));
        unsorted.insert(i);
    }

    /// Puts the list of a near slot into order where it is not. Equal events are alike, so that
    /// their order has no meaning.
    #[cold]
    #[inline(never)]
    fn sort(&mut self, i: usize) {
        self.unsorted[i / Set::SIZE].remove_if(i, true);
        self.some_unsorted -= 1;
        let Slot { head, tail } = self.near[i];
        let mut list = std::mem::take(&mut self.sorting);
        let after = |n: &u32| (*n != tail).then(|| self.next[*n as usize]);
        list.extend(std::iter::successors(Some(head), after));
        // The nodes of deliveries are in order of links, and before all others.
        list.sort_unstable();
        let others = list.partition_point(|n| *n <= self.links);
        list[others..].sort_unstable_by_key(|&n| self.nodes[n as usize].event);
        for pair in list.windows(2) {
            self.next[pair[0] as usize] = pair[1];
        }
        self.near[i] = Slot {
            head: list[0],
            tail: list[list.len() - 1],
        };
        list.clear();
        self.sorting = list;
    }

    fn put_mid(&mut self, n: u32, at: u64) {
        let i = (at >> HALF) as usize & (MID - 1);
        append(&mut self.next, &mut self.mid[i], n);
        self.mid_set.insert(i);
    }

    #[cold]
    #[inline(never)]
    fn put_later(&mut self, at: u64, event: u32) {
        if at >> HALF < self.mid_end() {
            let n = self.node_of(at, event);
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
            let (at, next) = (self.nodes[n as usize].at, self.next[n as usize]);
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
        while let Some(&Reverse((at, event))) = self.far.peek() {
            if at >> HALF >= end {
                break;
            }
            self.far.pop();
            let n = self.node_of(at, event);
            if at - self.base < NEAR as u64 {
                self.put_near(n, at)
            } else {
                self.put_mid(n, at)
            }
        }
    }

    /// The nodes of a list that is not empty.
    fn nodes_of(&self, slot: Slot) -> impl Iterator<Item = Node> {
        let after = move |n: &u32| (*n != slot.tail).then(|| self.next[*n as usize]);
        std::iter::successors(Some(slot.head), after).map(|n| self.nodes[n as usize])
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
    pub(super) fn is_sorted(&self) -> bool {
        self.some_unsorted == 0
    }
}

impl EventQueue for Wheel {
    fn new(links: u32) -> Self {
        let slots = |n| vec![EMPTY; n].into_boxed_slice();
        // The first node is the placeholder.
        let event = |n: u32| n.wrapping_sub(1);
        let mut wheel = Wheel {
            now: 0,
            base: 0,
            next_at: UNKNOWN,
            links,
            free: NO_NODE,
            next: vec![NO_NODE; links as usize + 1],
            nodes: (0..=links)
                .map(|n| Node {
                    at: 0,
                    event: event(n),
                })
                .collect(),
            near: slots(NEAR).try_into().expect("the length is right"),
            near_set: Box::new([const { Set::new() }; SETS]),
            mid: slots(MID).try_into().expect("the length is right"),
            mid_set: Box::new(Set::new()),
            far: BinaryHeap::new(),
            unsorted: Box::new([const { Set::new() }; SETS]),
            some_unsorted: 0,
            walk: match (links as usize) < LARGE {
                true => WALK,
                false => WALK_IN_LARGE,
            },
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
            let n = self.node(at, event);
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
            self.put_delivery(link + 1, at);
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
        if self.some_unsorted > 0 && self.unsorted[i / Set::SIZE].holds(i) {
            self.sort(i);
        }
        let slot = &mut self.near[i];
        let (n, tail) = (slot.head, slot.tail);
        let last = n == tail;
        slot.head = self.next[n as usize];
        slot.tail = select_unpredictable(last, NO_NODE, tail);
        let members = &mut self.near_set[i / Set::SIZE];
        members.remove_if(i, last);
        self.next_at = if members.is_empty() {
            UNKNOWN
        } else {
            let first = members.first() as u64;
            self.start_of_set() | first
        };
        if n <= self.links {
            return Some((at, n - 1));
        }
        self.next[n as usize] = self.free;
        self.free = n;
        Some((at, self.nodes[n as usize].event))
    }

    #[inline(always)]
    fn upcoming(&self) -> Option<u32> {
        if self.next_at == UNKNOWN {
            return None;
        }
        let slot = &self.near[self.next_at as usize & (NEAR - 1)];
        Some(slot.head.wrapping_sub(1))
    }

    fn deliveries(&self, from: u64, enough: usize, list: &mut Vec<u32>) -> u64 {
        // Eight words of a set are enough of a search.
        let last = (from | 63) + 64 * 7;
        let mut at = from;
        while at <= last && at.wrapping_sub(self.base) < NEAR as u64 {
            let i = at as usize & (NEAR - 1);
            let mut slots = self.near_set[i / Set::SIZE].word(i) >> (i & 63);
            while slots != 0 {
                let skipped = slots.trailing_zeros();
                let slot = self.near[i + skipped as usize];
                slots &= slots - 1;
                let after = |n: &u32| (*n != slot.tail).then(|| self.next[*n as usize]);
                let nodes = std::iter::successors(Some(slot.head), after);
                list.extend(nodes.filter(|n| *n <= self.links).map(|n| n - 1));
                if list.len() >= enough {
                    return at + u64::from(skipped) + 1;
                }
            }
            at = (at | 63) + 1;
        }
        at
    }

    fn peek(&self) -> Option<(u64, u32)> {
        let half = self.base >> HALF;
        for (half, from) in [(half, self.now), (half + 1, 0)] {
            if let Some(s) = Self::sets(half, from).find(|s| !self.near_set[*s].is_empty()) {
                let i = s * Set::SIZE + self.near_set[s].first();
                // A near delivery does not write its tick into its node; the slot tells it.
                let at = half << HALF | (i as u64 & ((1 << HALF) - 1));
                let event = self.nodes_of(self.near[i]).map(|node| node.event).min();
                return event.map(|event| (at, event));
            }
        }
        // The half after the next is the first that the mid wheel may hold.
        if let Some(ahead) = self.mid_set.next_from((half + 2) as usize & (MID - 1)) {
            let slot = self.mid[(half as usize + 2 + ahead) & (MID - 1)];
            return self.nodes_of(slot).map(|node| (node.at, node.event)).min();
        }
        self.far.peek().map(|&Reverse(first)| first)
    }

    fn len(&self) -> usize {
        let near =
            (0..SETS).flat_map(|s| self.near_set[s].members().map(move |i| s * Set::SIZE + i));
        let near = near.map(|i| self.near[i]);
        let mid = self.mid_set.members().map(|i| self.mid[i]);
        let held = |slot: Slot| {
            let after = |n: &u32| (*n != slot.tail).then(|| self.next[*n as usize]);
            std::iter::successors(Some(slot.head), after).count()
        };
        near.chain(mid).map(held).sum::<usize>() + self.far.len()
    }
}
