// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event core: a list of future events.
//!
//! Two designs implement one contract and are compared by `cemark bench --core heap`: a timing
//! wheel whose slot is the tick (the one in use), and a 4-ary heap (the reference that the wheel is
//! tested against).

mod heap;
mod set;
mod wheel;

pub use heap::Heap;
pub use wheel::Wheel;

/// A future event list over ticks.
///
/// Contract: events come out in order of time, and first in, first out among equal times. Nothing
/// may be inserted before the tick of the last event taken.
pub trait EventQueue {
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
    /// prefetching.
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

    const LINKS: u32 = 20;

    /// Replays inserts (gaps before the current time are relative) and pops on both, and compares
    /// every answer. An insert is the delivery of a link that has none pending, where there is one
    /// and the script's number of pops is not 1.
    fn agree(script: &[(u64, u8)]) {
        let (mut wheel, mut heap) = (Wheel::new(LINKS), Heap::new(LINKS));
        let mut idle: Vec<u32> = (0..LINKS).collect();
        let mut now = 0;
        for (i, &(gap, pops)) in script.iter().enumerate() {
            match (pops != 1).then(|| idle.pop()).flatten() {
                Some(link) => {
                    wheel.insert_delivery(now + gap, link);
                    heap.insert_delivery(now + gap, link);
                }
                None => {
                    wheel.insert(now + gap, LINKS + i as u32);
                    heap.insert(now + gap, LINKS + i as u32);
                }
            }
            for _ in 0..pops {
                let hint = wheel.upcoming();
                let got = wheel.pop();
                assert_eq!(got, heap.pop());
                now = got.map_or(now, |g| g.0);
                let link = got.map(|g| g.1).filter(|event| *event < LINKS);
                assert!(hint.is_none_or(|l| Some(l).filter(|l| *l < LINKS) == link));
                idle.extend(link);
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
        fn wheel_equals_heap(script in proptest::collection::vec((gap(), 0u8..3), 1..400)) {
            agree(&script);
        }
    }

    #[test]
    fn equal_times_are_first_in_first_out_across_every_level() {
        for at in [0, 5, 70_000, 3_000_000, 1 << 40] {
            let mut w = Wheel::new(5);
            for e in 0..10 {
                if e < 5 {
                    w.insert_delivery(at, e);
                } else {
                    w.insert(at, e);
                }
            }
            for e in 0..10 {
                assert_eq!(w.pop(), Some((at, e)));
            }
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
                (edge - 1, 0),
                (edge, 0),
                (edge + 1, 1),
                (edge, 1),
                (0, 1),
                (edge, 0),
                (2 * edge, 3),
                (edge, 2),
            ]);
        }
    }
}
