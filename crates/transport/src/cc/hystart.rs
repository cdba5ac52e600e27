// SPDX-License-Identifier: MIT OR Apache-2.0
//! HyStart (Ha and Rhee, 2011), with the constants of ns-3.38 or of Linux 6.12: CUBIC leaves slow
//! start before its window overruns the queue, once ACKs that follow each other closely span (a
//! part of) a round trip, or once the round trip has grown.

use cemark_wire::Nanos;

use super::Acked;

/// Segments in the window from which on it looks.
const LOW_WINDOW: u64 = 16;
/// ACKs that are at most this far apart are of one train.
const ACK_DELTA: Nanos = Nanos::from_millis(2);
/// Samples at the start of a round whose minimum is its round trip.
const SAMPLES: u8 = 8;

/// An implementation's constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// A train ends slow start that is longer than this part of the smallest round trip, as a
    /// power of two: 0 the whole, 1 one half.
    train_shift: u32,
    /// The round trip may grow by this part of the smallest one, as a power of two,
    growth_shift: u32,
    /// but by no less and no more than these nanoseconds.
    growth: (u64, u64),
    /// Later samples of a round may lower its round trip too.
    all_samples: bool,
}

/// ns-3.38: the whole round trip, doubled round trips.
pub(super) const NS3: Form = Form {
    train_shift: 0,
    growth_shift: 0,
    growth: (4_000_000, 1_000_000_000),
    all_samples: false,
};

/// Linux without pacing (`hystart_update` in `tcp_cubic.c`): half of the round trip, an eighth more.
pub(super) const LINUX: Form = Form {
    train_shift: 1,
    growth_shift: 3,
    growth: (4_000_000, 16_000_000),
    all_samples: true,
};

/// State of a sender in the current round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hystart {
    /// Smallest round trip in nanoseconds; 0 before the first sample.
    least: u64,
    /// When the round began.
    round: Nanos,
    /// The last ACK of the train that began with the round.
    train: Nanos,
    /// Smallest of the round's first samples, and how many there were.
    current: u64,
    samples: u8,
}

impl Hystart {
    /// Takes in an acknowledgement in slow start; true if slow start should end.
    pub(super) fn ends(&mut self, form: &Form, mss: u64, cwnd: u64, ack: &Acked) -> bool {
        let mut found = false;
        if let Some(rtt) = ack.rtt.map(u64::from) {
            if self.least == 0 || rtt < self.least {
                self.least = rtt;
            }
            found = cwnd >= LOW_WINDOW * mss && self.look(form, ack.now, rtt);
        }
        if ack.round_ended {
            self.round = ack.now;
            self.train = ack.now;
            self.samples = 0;
        }
        found
    }

    fn look(&mut self, form: &Form, now: Nanos, rtt: u64) -> bool {
        let mut found = false;
        if now.saturating_sub(self.train) <= ACK_DELTA {
            self.train = now;
            found = now.saturating_sub(self.round).0 > self.least >> form.train_shift;
        }
        if form.all_samples && self.samples > 0 {
            self.current = self.current.min(rtt);
        }
        if self.samples < SAMPLES {
            self.current = match self.samples {
                0 => rtt,
                _ => self.current.min(rtt),
            };
            self.samples += 1;
            return found;
        }
        let (low, high) = form.growth;
        found || self.current > self.least + (self.least >> form.growth_shift).clamp(low, high)
    }

    /// After a timeout everything is measured again.
    pub(super) fn reset(&mut self) {
        *self = Hystart::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now: u64, rtt: u32, round_ended: bool) -> Acked {
        Acked {
            now: Nanos(now),
            rtt: Some(rtt),
            round_ended,
            ..Acked::default()
        }
    }

    #[test]
    fn a_train_as_long_as_the_round_trip_ends_slow_start_and_a_gap_breaks_it() {
        let mut all = [Hystart::default(); 3];
        for h in &mut all {
            assert!(!h.ends(&NS3, 1000, 20_000, &ack(100_000_000, 6_000_000, true)));
        }
        let [whole, broken, small] = &mut all;
        for ms in 1..=6 {
            let now = 100_000_000 + ms * 1_000_000;
            assert!(!whole.ends(&NS3, 1000, 20_000, &ack(now, 6_000_000, false)));
            assert!(!small.ends(&NS3, 1000, 15_000, &ack(now, 6_000_000, false)));
        }
        let late = ack(106_000_001, 6_000_000, false);
        assert!(whole.ends(&NS3, 1000, 20_000, &late));
        assert!(!small.ends(&NS3, 1000, 15_000, &late), "below 16 segments");
        assert!(!broken.ends(&NS3, 1000, 20_000, &late), "a gap of 6 ms");
    }

    #[test]
    fn a_round_trip_that_has_doubled_ends_it_at_the_ninth_sample() {
        let mut h = Hystart::default();
        assert!(!h.ends(&NS3, 1000, 20_000, &ack(0, 6_000_000, true)));
        let mut sample = |n: u64, rtt| h.ends(&NS3, 1000, 20_000, &ack(n * 10_000_000, rtt, false));
        for n in 1..=8 {
            assert!(!sample(n, 12_000_001));
        }
        assert!(sample(9, 12_000_001));
        h.reset();
        let mut sample = |n: u64, rtt| h.ends(&NS3, 1000, 20_000, &ack(n * 10_000_000, rtt, false));
        for n in 1..=20 {
            assert!(!sample(n, 12_000_001), "the smallest is known no more");
        }
    }

    #[test]
    fn a_short_round_trip_may_grow_by_four_milliseconds() {
        let mut h = Hystart::default();
        assert!(!h.ends(&NS3, 1000, 20_000, &ack(0, 1_000_000, true)));
        for n in 1..=20 {
            assert!(!h.ends(&NS3, 1000, 20_000, &ack(n * 10_000_000, 5_000_000, false)));
        }
        assert!(!h.ends(&NS3, 1000, 20_000, &ack(300_000_000, 5_000_001, true)));
        for n in 1..=8 {
            let now = 300_000_000 + n * 10_000_000;
            assert!(!h.ends(&NS3, 1000, 20_000, &ack(now, 5_000_001, false)));
        }
        assert!(h.ends(&NS3, 1000, 20_000, &ack(400_000_000, 5_000_001, false)));
    }

    /// Half of a round trip, and an eighth more but by 4 ms at least; a later short sample of the
    /// round makes it a short one.
    #[test]
    fn linux_leaves_earlier() {
        let mut h = Hystart::default();
        assert!(!h.ends(&LINUX, 1000, 20_000, &ack(100_000_000, 6_000_000, true)));
        for ms in 1..=3 {
            let now = 100_000_000 + ms * 1_000_000;
            assert!(!h.ends(&LINUX, 1000, 20_000, &ack(now, 6_000_000, false)));
        }
        assert!(h.ends(&LINUX, 1000, 20_000, &ack(103_000_001, 6_000_000, false)));

        let grown = |last: u32| {
            let mut h = Hystart::default();
            assert!(!h.ends(&LINUX, 1000, 20_000, &ack(0, 40_000_000, true)));
            for n in 1..=8 {
                let late = ack(n * 10_000_000, 45_000_001, false);
                assert!(!h.ends(&LINUX, 1000, 20_000, &late));
            }
            h.ends(&LINUX, 1000, 20_000, &ack(90_000_000, last, false))
        };
        assert!(grown(45_000_001));
        assert!(!grown(45_000_000));
    }
}
