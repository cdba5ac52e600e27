// SPDX-License-Identifier: MIT OR Apache-2.0
//! The share of a port in a buffer that ABM or Reverie divides.

use super::active::part;
use super::pool::Pool;

/// The share of a port under such a policy.
#[derive(Clone, Debug)]
pub struct ActiveShare {
    /// Factors in parts of 2^16, in order of class.
    pub alphas: Box<[u32]>,
    /// The place of the port among those of its switch.
    pub port: u32,
}

impl ActiveShare {
    /// The number of the port's queue `queue` in [`Active`].
    #[inline]
    pub(crate) fn lane(&self, queue: usize) -> usize {
        self.port as usize * self.alphas.len() + queue
    }

    /// The longest that a queue may be now.
    pub(super) fn threshold(&self, pool: &Pool, queue: usize) -> u32 {
        let alpha = self.alphas[queue];
        match pool.active() {
            Some(active) => active.threshold(self.lane(queue), alpha, pool.free()),
            None => u32::try_from(part(alpha, pool.free(), 0)).unwrap_or(u32::MAX),
        }
    }

    /// Whether a packet of `bytes` is beyond the queue's threshold.
    pub(super) fn exceeds(&self, pool: &Pool, queue: usize, bytes: u32) -> bool {
        let length = pool
            .active()
            .map_or(0, |active| active.length(self.lane(queue)));
        length.saturating_add(bytes) > self.threshold(pool, queue)
    }
}

#[cfg(test)]
mod tests {
    use super::super::active::{Active, ONE, Rule};
    use super::super::{Admission, Admit, RoomPolicy, asks as ask};
    use super::*;
    use crate::counters::DropReason;

    /// Two ports with two classes each, at 1000 bytes an interval of 100 ticks; 100 kB of room, and
    /// a queue of 1000 bytes is congested.
    fn pool(rule: Rule) -> Pool {
        Pool::new(100_000, 0, true).with_active(Active::new(rule, 1_000, 2, &[100_000; 2]))
    }

    fn policy(port: u32) -> RoomPolicy {
        RoomPolicy::Active(Box::new(ActiveShare {
            alphas: [ONE / 2, ONE].into(),
            port,
        }))
    }

    fn joins(pool: &mut Pool, lane: usize, bytes: u32) {
        pool.take(bytes, false);
        pool.joined(lane, bytes);
    }

    fn leaves(pool: &mut Pool, lane: usize, now: u64, bytes: u32) {
        pool.give(bytes, false);
        pool.left(lane, now, bytes);
    }

    const ABM: Rule = Rule::Abm { interval: 100 };

    #[test]
    fn the_free_room_is_divided_among_congested_queues_of_a_class() {
        let mut pool = pool(ABM);
        // Class 0 of port 0: half of 100 kB.
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), 50_000);
        // One congested queue changes nothing but the free room.
        joins(&mut pool, 0, 10_000);
        assert_eq!(policy(1).limit(&pool, 0, u32::MAX), 45_000);
        // The second one halves the share of both; half a one counts half.
        joins(&mut pool, 2, 500);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), 89_500 / 3);
        joins(&mut pool, 2, 9_500);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), 20_000);
        assert_eq!(policy(1).limit(&pool, 0, u32::MAX), 20_000);
        // The other class has its own number.
        assert_eq!(policy(1).limit(&pool, 1, u32::MAX), 80_000);
        leaves(&mut pool, 2, 0, 10_000);
        assert_eq!(policy(1).limit(&pool, 0, u32::MAX), 45_000);
    }

    #[test]
    fn abm_scales_by_the_rate_of_the_last_interval() {
        let mut pool = pool(ABM);
        joins(&mut pool, 0, 60_000);
        // A quarter of the link in the first interval: 25 of 100 kB.
        leaves(&mut pool, 0, 50, 25_000);
        pool.roll(0, 99);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), 32_500);
        pool.roll(0, 100);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), 8_125);
        // Two packets in an interval are no rate, nor is an interval without departures.
        leaves(&mut pool, 0, 150, 2_048);
        pool.roll(0, 200);
        let free = 100_000 - 35_000 + 2_048;
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), free / 2);
        leaves(&mut pool, 0, 250, 10_000);
        pool.roll(0, 400);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), (free + 10_000) / 2);
        // A queue that is not congested at the end of the interval has the whole rate.
        leaves(&mut pool, 0, 450, 22_000);
        pool.roll(0, 500);
        assert_eq!(policy(0).limit(&pool, 0, u32::MAX), (free + 32_000) / 2);
    }

    #[test]
    fn reverie_compares_the_filter() {
        let gamma = ONE / 4 * 3;
        let mut pool = pool(Rule::Reverie { gamma });
        // A burst meets a filter of zero and takes all the room that is free.
        let mut own = policy(0);
        joins(&mut pool, 0, 60_000);
        assert_eq!(own.admit(&pool, &ask(20_000, 60_000)), Admit::Ok);
        assert_eq!(own.limit(&pool, 0, u32::MAX), 20_000);
        let refused = Admit::Drop(DropReason::Queue);
        assert_eq!(own.admit(&pool, &ask(20_001, 60_000)), refused);
        // A quarter of 56,000, and then 3/4 of that and a quarter of 52,000.
        leaves(&mut pool, 0, 1, 4_000);
        leaves(&mut pool, 0, 2, 4_000);
        let filter = 14_000 / 4 * 3 + 13_000;
        assert_eq!(own.limit(&pool, 0, u32::MAX), 24_000);
        assert_eq!(own.admit(&pool, &ask(24_000 - filter, 52_000)), Admit::Ok);
        assert_eq!(own.admit(&pool, &ask(24_001 - filter, 52_000)), refused);
        // The filter never exceeds the length.
        leaves(&mut pool, 0, 3, 51_000);
        assert_eq!(own.admit(&pool, &ask(48_500, 1_000)), Admit::Ok);
        assert_eq!(own.admit(&pool, &ask(48_501, 1_000)), refused);
    }
}
