// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event core: a list of future events.
//!
//! Two designs implement one contract and are compared by `cemark bench --core heap`: a timing
//! wheel whose slot is the tick (the one in use), and a 4-ary heap (the reference that the wheel is
//! tested against).

mod heap;
mod part;
mod scrambled;
mod set;
mod wheel;

pub use heap::Heap;
pub use part::PartWheel;
pub use scrambled::Scrambled;
pub use wheel::Wheel;

/// A fabric with this many links is large: ports, packets and routes do not fit into the caches.
pub(crate) const LARGE: usize = 8000;

/// A future event list over ticks.
///
/// Contract: events come out in order of time, and among equal times the smallest first. The order
/// of insertion has no meaning: what is pending is a set of (time, event), in which equal members
/// are alike. Nothing may be inserted before the tick of the last event taken; at that tick also an
/// event that is smaller than those taken may be inserted, and comes next.
pub trait EventQueue {
    /// The list of one shard of a divided simulation (`shards`). Simulations on other lists are
    /// compiled without the code that exchanges packets.
    const SHARDED: bool = false;
    /// An empty list at tick zero. Events below `links` are deliveries: event `l` is the next one
    /// of link `l`, of which at most one is pending.
    fn new(links: u32) -> Self;
    /// Adds an event that is not a delivery.
    fn insert(&mut self, at: u64, event: u32);
    /// Adds the delivery of a link that has none pending.
    fn insert_delivery(&mut self, at: u64, link: u32);
    /// Takes the next event.
    fn pop(&mut self) -> Option<(u64, u32)>;
    /// The link of the delivery that comes next unless an earlier event is inserted, where that is
    /// cheap to find; a number that is no link's where the next event is not a delivery. A hint for
    /// prefetching, which may be wrong where many events are at one tick.
    fn upcoming(&self) -> Option<u32>;
    /// Adds to a list the links of pending deliveries, from tick `from` on, until there are
    /// `enough` or no more are cheap to find. Returns the tick behind them. A hint for prefetching.
    fn deliveries(&self, from: u64, enough: usize, list: &mut Vec<u32>) -> u64 {
        let _ = (enough, list);
        from
    }
    /// The next event, which stays in the list. It costs more than [`EventQueue::pop`].
    fn peek(&self) -> Option<(u64, u32)>;
    /// Events pending: counted when asked.
    fn len(&self) -> usize;
    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::workload::random::Stream;

    const LINKS: u32 = 20;

    /// Replays inserts (gap after the current time, event, pops that follow) on both, and compares
    /// every answer. An event below [`LINKS`] is the delivery of that link, unless it has one
    /// pending.
    fn agree(script: &[(u64, u32, u8)]) {
        let (mut wheel, mut heap) = (Wheel::new(LINKS), Heap::new(LINKS));
        let mut busy = BTreeSet::new();
        let mut now = 0;
        for &(gap, event, pops) in script {
            if event >= LINKS {
                wheel.insert(now + gap, event);
                heap.insert(now + gap, event);
            } else if busy.insert(event) {
                wheel.insert_delivery(now + gap, event);
                heap.insert_delivery(now + gap, event);
            }
            for _ in 0..pops {
                assert_eq!(wheel.peek(), heap.peek());
                let hint = wheel.upcoming().filter(|_| wheel.is_sorted());
                let got = wheel.pop();
                assert_eq!(got, heap.pop());
                now = got.map_or(now, |g| g.0);
                let link = got.map(|g| g.1).filter(|event| *event < LINKS);
                assert!(hint.is_none_or(|l| Some(l).filter(|l| *l < LINKS) == link));
                busy.retain(|l| Some(*l) != link);
            }
            assert_eq!(wheel.len(), heap.len());
        }
        while let Some(got) = heap.pop() {
            assert_eq!(wheel.pop(), Some(got));
        }
        assert_eq!(wheel.pop(), None);
    }

    fn gap() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => 0u64..4,
            8 => 0u64..20_000,
            4 => 0u64..2_000_000,
            2 => 0u64..400_000_000,
            1 => 0u64..100_000_000_000_000,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn wheel_equals_heap(
            script in proptest::collection::vec((gap(), 0u32..50, 0u8..3), 1..400),
        ) {
            agree(&script);
        }

        /// Batches of inserts with some pops after each: the order within a batch changes nothing.
        #[test]
        fn the_order_of_insertion_has_no_meaning(
            batches in proptest::collection::vec(
                (proptest::collection::vec((gap(), 0u32..50), 0..40), 0u8..30),
                1..40,
            ),
            seed in 0u64..u64::MAX,
        ) {
            let (mut one, mut other) = (Wheel::new(LINKS), Wheel::new(LINKS));
            let put = |wheel: &mut Wheel, at, event| match event {
                0..LINKS => wheel.insert_delivery(at, event),
                _ => wheel.insert(at, event),
            };
            let (mut now, mut order) = (0, Stream::new(seed, "order", 0));
            let mut busy = BTreeSet::new();
            for (mut batch, pops) in batches {
                batch.retain(|&(_, event)| event >= LINKS || busy.insert(event));
                for &(gap, event) in &batch {
                    put(&mut one, now + gap, event);
                }
                order.shuffle(&mut batch);
                for &(gap, event) in &batch {
                    put(&mut other, now + gap, event);
                }
                for _ in 0..pops {
                    let got = one.pop();
                    prop_assert_eq!(got, other.pop());
                    now = got.map_or(now, |g| g.0);
                    busy.retain(|l| got.is_none_or(|g| g.1 != *l));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn deliveries_ahead_are_those_that_come(
            gaps in proptest::collection::vec(0u64..700, 1..LINKS as usize),
            others in proptest::collection::vec(0u64..700, 0..20),
            start in prop_oneof![Just(0u64), 8_000u64..8_400, 16_000u64..16_600],
            enough in 1usize..12,
        ) {
            let mut wheel = Wheel::new(LINKS);
            wheel.insert(start, LINKS);
            prop_assert_eq!(wheel.pop(), Some((start, LINKS)));
            for (link, gap) in (0..).zip(&gaps) {
                wheel.insert_delivery(start + gap, link);
            }
            for gap in others {
                wheel.insert(start + gap, LINKS + 1);
            }
            let mut found = Vec::new();
            let mut end = start;
            while end <= start + 700 {
                let (begin, had) = (end, found.len());
                end = wheel.deliveries(begin, enough, &mut found);
                prop_assert!(end > begin);
                let here = |link: &u32| (begin..end).contains(&(start + gaps[*link as usize]));
                prop_assert!(found[had..].iter().all(here));
            }
            found.sort_unstable();
            prop_assert!(found.into_iter().eq(0..gaps.len() as u32));
        }
    }

    #[test]
    fn equal_times_are_in_order_of_events_across_every_level() {
        for at in [0, 5, 70_000, 3_000_000, 1 << 40] {
            let mut w = Wheel::new(5);
            for e in [
                3, 19, 4, 11, 1, 0, 7, 12, 18, 16, 2, 5, 20, 13, 17, 6, 14, 8, 9, 15, 10,
            ] {
                match e {
                    0..5 => w.insert_delivery(at, e),
                    _ => w.insert(at, e),
                }
            }
            for e in 0..8 {
                assert_eq!(w.pop(), Some((at, e)));
            }
            // Smaller ones than those that are left, and than those that were taken.
            w.insert(at, 7);
            w.insert_delivery(at, 0);
            for e in [0, 7].into_iter().chain(8..21) {
                assert_eq!(w.pop(), Some((at, e)));
            }
            assert_eq!(w.pop(), None);
        }
    }

    #[test]
    fn window_edges() {
        for edge in [
            1u64 << 13,
            1 << 14,
            1 << 15,
            1 << 16,
            1 << 25,
            1 << 27,
            1 << 28,
        ] {
            agree(&[
                (edge - 1, 37, 0),
                (edge, 26, 0),
                (edge + 1, 5, 1),
                (edge, 24, 1),
                (0, 3, 1),
                (edge, 2, 0),
                (2 * edge, 21, 3),
                (edge, 1, 2),
            ]);
        }
    }
}
