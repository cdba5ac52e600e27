// SPDX-License-Identifier: MIT OR Apache-2.0
//! The marks that a profile must show on a tester: the oracle of the public ECN test plans
//! (sonic-mgmt pull requests 2137 and 17108, OpenConfig DP-1.3).
//!
//! A packet is marked with probability 0 up to the lower threshold, a probability that rises in
//! proportion to the queue between the thresholds, and 1 above the upper one. The tests send a
//! burst into a port that is paused, release the port and count marks.

/// The queue that a packet is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// The queue that a packet finds as it joins, without itself.
    Enqueue,
    /// The queue that a packet leaves behind as it departs.
    Dequeue,
}

/// Marks expected of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Packets of the burst.
    pub packets: u64,
    /// Packets that are marked with certainty.
    pub certain: u64,
    /// Mean of the marked packets.
    pub mean: f64,
    /// Their standard deviation; marks of single packets are independent.
    pub deviation: f64,
}

/// The marking probability at a queue length.
pub fn probability(queue: u64, min: u64, max: u64, height: f64) -> f64 {
    if queue > max {
        1.0
    } else if queue <= min {
        0.0
    } else {
        (queue - min) as f64 / (max - min) as f64 * height
    }
}

/// Marks of a burst of `packets` packets of `bytes` bytes into a port that sends none of them
/// before the last has arrived. Every packet of the burst is ECN-capable, and none is dropped.
///
/// `min` and `max` are bytes, `height` is the probability at `max` from 0 to 1.
pub fn expect(
    (min, max, height): (u64, u64, f64),
    bytes: u64,
    packets: u64,
    hook: Hook,
) -> Expectation {
    let mut all = Expectation {
        packets,
        certain: 0,
        mean: 0.0,
        deviation: 0.0,
    };
    let mut variance = 0.0;
    for nth in 0..packets {
        // As the nth packet joins, nth are before it; as it departs, the others are behind it.
        let others = match hook {
            Hook::Enqueue => nth,
            Hook::Dequeue => packets - 1 - nth,
        };
        let p = probability(others.saturating_mul(bytes), min, max, height);
        all.certain += u64::from(p >= 1.0);
        all.mean += p;
        variance += p * (1.0 - p);
    }
    all.deviation = variance.sqrt();
    all
}

#[cfg(test)]
mod tests {
    use super::{Hook, expect, probability};

    #[test]
    fn the_curve_is_that_of_the_test_plans() {
        let at = |q| probability(q, 500_000, 2_000_000, 0.05);
        assert_eq!(at(0), 0.0);
        assert_eq!(at(500_000), 0.0);
        assert!((at(1_250_000) - 0.025).abs() < 1e-12);
        assert_eq!(at(2_000_000), 0.05);
        assert_eq!(at(2_000_001), 1.0);
        // A step.
        assert_eq!(probability(80_000, 80_000, 80_000, 1.0), 0.0);
        assert_eq!(probability(80_001, 80_000, 80_000, 1.0), 1.0);
    }

    /// 5000 packets of 1024 B, 800 to 1200 KB, 100 %: by hand 3828 above the curve, 195 on it.
    #[test]
    fn a_burst_is_counted_as_by_hand() {
        let burst = expect((800_000, 1_200_000, 1.0), 1_024, 5_000, Hook::Enqueue);
        assert_eq!(burst.certain, 3_828);
        assert!((burst.mean - 4_023.0).abs() < 1.0, "{burst:?}");
        assert!((burst.deviation - 8.1).abs() < 0.2, "{burst:?}");
        let out = expect((800_000, 1_200_000, 1.0), 1_024, 5_000, Hook::Dequeue);
        assert_eq!(out.certain, burst.certain);
        assert!((out.mean - burst.mean).abs() < 1e-6);
    }
}
