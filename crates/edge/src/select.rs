// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets are selected: an even share of the bytes, without randomness; and which are above
//! the agreed rate.

use cemark_wire::{Nanos, Rate};

/// Two full packets, in bytes times 2^16.
const MOST_DUE: i64 = 3_000 << 16;

/// Spreads a share evenly: after n bytes the selected ones differ from `share * n` by less than two
/// packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Even {
    /// Bytes that are due for selection, times 2^16.
    due: i64,
}

impl Even {
    /// Counts a packet and returns whether it is selected. `can`: it may be selected at all.
    pub fn select(&mut self, bytes: u16, share: u32, can: bool) -> bool {
        let whole = i64::from(bytes) << 16;
        self.due += i64::from(bytes) * i64::from(share);
        // The backlog of selections is bounded: otherwise a period without room would be followed
        // by a run of selected packets.
        self.due = self.due.min(MOST_DUE.max(whole));
        let selected = can && self.due >= whole - i64::from(bytes);
        if selected {
            self.due -= whole;
        }
        selected
    }
}

/// Token bucket of ten milliseconds that detects bytes above a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    rate: Rate,
    /// When the bucket was last full, counted in the time its bytes take.
    empty_until: Nanos,
}

const DEPTH: Nanos = Nanos::from_millis(10);

impl Agreed {
    pub fn new(rate: Rate) -> Self {
        Agreed {
            rate,
            empty_until: Nanos::ZERO,
        }
    }

    /// Whether this packet is above the agreed rate; such a packet takes no tokens.
    pub fn exceeds(&mut self, now: Nanos, bytes: u16) -> bool {
        let after = self.empty_until.max(now) + self.rate.nanos_for(u64::from(bytes));
        if after.saturating_sub(now) > DEPTH {
            return true;
        }
        self.empty_until = after;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_every_tenth_packet() {
        let mut even = Even::default();
        let picked: Vec<u32> = (0..1_000)
            .filter(|_| even.select(1_500, 6_554, true))
            .collect();
        assert_eq!(picked.len(), 100);
        assert!(picked.windows(2).all(|w| w[1] - w[0] == 10), "{picked:?}");
    }

    #[test]
    fn a_third_of_mixed_sizes_is_a_third_of_the_bytes() {
        let mut even = Even::default();
        let (mut all, mut selected) = (0u64, 0u64);
        for n in 0..30_000u64 {
            let bytes = 64 + (n * 7919 % 1437) as u16;
            all += u64::from(bytes);
            selected += u64::from(bytes) * u64::from(even.select(bytes, 21_845, n % 17 != 0));
        }
        let share = selected as f64 / all as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
    }

    #[test]
    fn what_is_above_the_rate_is_what_exceeds_it() {
        // 2 Gb/s offered, 1 agreed: every other packet, after the bucket of ten milliseconds is
        // used up.
        let mut agreed = Agreed::new(Rate::gbps(1));
        let count = |a: &mut Agreed, from: u64| {
            (0..10_000)
                .filter(|n| a.exceeds(Nanos((from + n) * 6_000), 1_500))
                .count()
        };
        assert!(count(&mut agreed, 0) < 5_000);
        assert!((4_999..=5_001).contains(&count(&mut agreed, 10_000)));
    }
}
