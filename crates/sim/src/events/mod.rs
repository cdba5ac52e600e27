// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event core: a list of future events.
//!
//! Two designs implement one contract and are compared by `cemark bench --core heap`: a timing
//! wheel whose slot is the tick (the one in use), and a 4-ary heap (the reference that the wheel is
//! tested against).

mod heap;
mod scrambled;
mod set;
mod wheel;

pub use heap::Heap;
pub use scrambled::Scrambled;
pub use wheel::Wheel;

/// A future event list over ticks.
///
/// Contract: events come out in order of time, and among equal times the smallest first. The order
/// of insertion has no meaning: what is pending is a set of (time, event), in which equal members
/// are alike. Nothing may be inserted before the tick of the last event taken; at that tick also an
/// event that is smaller than those taken may be inserted, and comes next.
pub trait EventQueue {
    /// An empty list at tick zero.
    fn new() -> Self;
    /// Adds an event.
    fn insert(&mut self, at: u64, event: u32);
    /// Takes the next event.
    fn pop(&mut self) -> Option<(u64, u32)>;
    /// The event that comes next unless an earlier one is inserted, where that is cheap to find: a
    /// hint for prefetching.
    fn upcoming(&self) -> Option<u32>;
    /// Events pending: counted when asked.
    fn len(&self) -> usize;
    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::random::Stream;

    /// Replays inserts (gap after the current time, event, pops that follow) on both, and compares
    /// every answer.
    fn agree(script: &[(u64, u32, u8)]) {
        let (mut wheel, mut heap) = (Wheel::new(), Heap::new());
        let mut now = 0;
        for &(gap, event, pops) in script {
            wheel.insert(now + gap, event);
            heap.insert(now + gap, event);
            for _ in 0..pops {
                let got = wheel.pop();
                assert_eq!(got, heap.pop());
                now = got.map_or(now, |g| g.0);
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
                (proptest::collection::vec((gap(), 0u32..50), 0..12), 0u8..9),
                1..40,
            ),
            seed in 0u64..u64::MAX,
        ) {
            let (mut one, mut other) = (Wheel::new(), Wheel::new());
            let (mut now, mut order) = (0, Stream::new(seed, "order", 0));
            for (mut batch, pops) in batches {
                for &(gap, event) in &batch {
                    one.insert(now + gap, event);
                }
                order.shuffle(&mut batch);
                for &(gap, event) in &batch {
                    other.insert(now + gap, event);
                }
                for _ in 0..pops {
                    let got = one.pop();
                    prop_assert_eq!(got, other.pop());
                    now = got.map_or(now, |g| g.0);
                }
            }
        }
    }

    #[test]
    fn equal_times_are_in_order_of_events_across_every_level() {
        for at in [0, 5, 70_000, 3_000_000, 1 << 40] {
            let mut w = Wheel::new();
            for e in [3, 9, 4, 1, 0, 7, 2, 8, 6, 5] {
                w.insert(at, e);
            }
            for e in 0..5 {
                assert_eq!(w.pop(), Some((at, e)));
            }
            // A smaller one than those that are left, and than those that were taken.
            w.insert(at, 0);
            for e in [0, 5, 6, 7, 8, 9] {
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
                (edge - 1, 7, 0),
                (edge, 6, 0),
                (edge + 1, 5, 1),
                (edge, 4, 1),
                (0, 3, 1),
                (edge, 2, 0),
                (2 * edge, 1, 3),
                (edge, 0, 2),
            ]);
        }
    }
}
