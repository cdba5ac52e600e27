// SPDX-License-Identifier: MIT OR Apache-2.0
//! From ticks of the event core to the nanoseconds that markers and transports see.

use cemark_wire::{Nanos, Picos};

/// No event: later than any tick.
pub const NEVER: u64 = u64::MAX;

/// The length of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    tick_ps: u64,
}

impl Clock {
    /// A clock of `tick_ps` picoseconds a tick (at least one).
    pub const fn new(tick_ps: u64) -> Self {
        assert!(tick_ps > 0);
        Clock { tick_ps }
    }

    /// Picoseconds a tick.
    pub const fn tick_ps(self) -> u64 {
        self.tick_ps
    }

    /// Whole nanoseconds, rounded down.
    #[inline]
    pub const fn nanos(self, ticks: u64) -> Nanos {
        Nanos(ticks * self.tick_ps / 1000)
    }

    /// Exact picoseconds.
    #[inline]
    pub const fn picos(self, ticks: u64) -> Picos {
        Picos(ticks * self.tick_ps)
    }

    /// The first tick at or after an instant in nanoseconds, so that a timer never fires too early.
    /// Simulated time ends at 2^64 - 1 ps; a later instant is [`NEVER`].
    #[inline]
    pub const fn ticks_up(self, at: Nanos) -> u64 {
        match at.0.checked_mul(1000) {
            Some(picos) => picos.div_ceil(self.tick_ps),
            None => NEVER,
        }
    }

    /// The largest number of ticks that is certainly shorter than `span`, where a duration is the
    /// floor of its end less the floor of its beginning.
    #[inline]
    pub const fn ticks_below(self, span: Nanos) -> u64 {
        span.0.saturating_sub(1).saturating_mul(1000) / self.tick_ps
    }

    /// The nearest tick.
    #[inline]
    pub const fn ticks(self, span: Picos) -> u64 {
        (span.0 + self.tick_ps / 2) / self.tick_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_behind_the_end_of_time_never_comes() {
        let last = u64::MAX / 1000;
        for tick_ps in [1, 7, 800, 1_000_000] {
            let clock = Clock::new(tick_ps);
            let at = clock.ticks_up(Nanos(last));
            assert!(u128::from(at) * u128::from(tick_ps) >= u128::from(last) * 1000);
            assert!(at < NEVER, "{tick_ps}");
            for beyond in [last + 1, u64::MAX / 999, u64::MAX - 1, u64::MAX] {
                assert_eq!(clock.ticks_up(Nanos(beyond)), NEVER, "{tick_ps} {beyond}");
            }
        }
    }
}
