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

/// The round trip may grow by the smallest one in ns-3, by an eighth of it in Linux, but by no less
/// and no more than this.
const DELAY: [(u64, u64); 2] = [(4_000_000, 1_000_000_000), (4_000_000, 16_000_000)];

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
    /// Takes in an acknowledgement in slow start; true if slow start should end. In the form of
    /// ns-3.38: the train is a round trip, and the round trip doubles. One sample a round.
    pub(super) fn ends(&mut self, mss: u64, cwnd: u64, ack: &Acked) -> bool {
        let mut found = false;
        if let Some(rtt) = ack.rtt.map(u64::from) {
            self.note(rtt);
            found = cwnd >= LOW_WINDOW * mss && self.look(ack.now, rtt);
        }
        if ack.round_ended {
            self.begin(ack.now);
        }
        found
    }

    /// As [`ends`](Self::ends), in the form of Linux 6.12 without pacing (`hystart_update` in
    /// `tcp_cubic.c`): the train is half of a round trip and of the time in which four trains of
    /// 64 KB leave (1 ms at most), and the round trip grows by an eighth. A sample an
    /// acknowledgement.
    pub(super) fn ends_in_linux(&mut self, mss: u64, cwnd: u64, srtt: u64, ack: &Acked) -> bool {
        let delay = u64::from(ack.delay);
        if delay == 0 {
            return false;
        }
        self.note(delay);
        if cwnd < LOW_WINDOW * mss {
            return false;
        }
        if ack.round_ended || self.round == Nanos::ZERO {
            self.begin(ack.now);
            self.current = u64::MAX;
        }
        let mut found = false;
        if ack.now.saturating_sub(self.train) <= ACK_DELTA {
            self.train = ack.now;
            // Twice the window leaves in a round trip.
            let trains = (4 << 16) * srtt / (2 * cwnd).max(1);
            let train = (self.least + trains.min(1_000_000)) / 2;
            found = ack.now.saturating_sub(self.round).0 > train;
        }
        self.current = self.current.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
            return found;
        }
        let (low, high) = DELAY[1];
        found || self.current > self.least + (self.least / 8).clamp(low, high)
    }

    fn note(&mut self, rtt: u64) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
    }

    fn begin(&mut self, now: Nanos) {
        self.round = now;
        self.train = now;
        self.samples = 0;
    }

    fn look(&mut self, now: Nanos, rtt: u64) -> bool {
        let mut found = false;
        if now.saturating_sub(self.train) <= ACK_DELTA {
            self.train = now;
            found = now.saturating_sub(self.round).0 > self.least;
        }
        if self.samples < SAMPLES {
            self.current = match self.samples {
                0 => rtt,
                _ => self.current.min(rtt),
            };
            self.samples += 1;
            return found;
        }
        let (low, high) = DELAY[0];
        found || self.current > self.least + self.least.clamp(low, high)
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
            assert!(!h.ends(1000, 20_000, &ack(100_000_000, 6_000_000, true)));
        }
        let [whole, broken, small] = &mut all;
        for ms in 1..=6 {
            let now = 100_000_000 + ms * 1_000_000;
            assert!(!whole.ends(1000, 20_000, &ack(now, 6_000_000, false)));
            assert!(!small.ends(1000, 15_000, &ack(now, 6_000_000, false)));
        }
        let late = ack(106_000_001, 6_000_000, false);
        assert!(whole.ends(1000, 20_000, &late));
        assert!(!small.ends(1000, 15_000, &late), "below 16 segments");
        assert!(!broken.ends(1000, 20_000, &late), "a gap of 6 ms");
    }

    #[test]
    fn a_round_trip_that_has_doubled_ends_it_at_the_ninth_sample() {
        let mut h = Hystart::default();
        assert!(!h.ends(1000, 20_000, &ack(0, 6_000_000, true)));
        let mut sample = |n: u64, rtt| h.ends(1000, 20_000, &ack(n * 10_000_000, rtt, false));
        for n in 1..=8 {
            assert!(!sample(n, 12_000_001));
        }
        assert!(sample(9, 12_000_001));
        h.reset();
        let mut sample = |n: u64, rtt| h.ends(1000, 20_000, &ack(n * 10_000_000, rtt, false));
        for n in 1..=20 {
            assert!(!sample(n, 12_000_001), "the smallest is known no more");
        }
    }

    #[test]
    fn a_short_round_trip_may_grow_by_four_milliseconds() {
        let mut h = Hystart::default();
        assert!(!h.ends(1000, 20_000, &ack(0, 1_000_000, true)));
        for n in 1..=20 {
            assert!(!h.ends(1000, 20_000, &ack(n * 10_000_000, 5_000_000, false)));
        }
        assert!(!h.ends(1000, 20_000, &ack(300_000_000, 5_000_001, true)));
        for n in 1..=8 {
            let now = 300_000_000 + n * 10_000_000;
            assert!(!h.ends(1000, 20_000, &ack(now, 5_000_001, false)));
        }
        assert!(h.ends(1000, 20_000, &ack(400_000_000, 5_000_001, false)));
    }

    /// A round trip of 40 ms: a train of 20.5 ms ends slow start, and so does a round whose ninth
    /// sample and all before are 5 ms longer; a late short sample makes it a short round.
    #[test]
    fn linux_leaves_earlier() {
        let of = |now: u64, delay: u32, round_ended: bool| Acked {
            now: Nanos(now),
            delay,
            round_ended,
            ..Acked::default()
        };
        let ends = |h: &mut Hystart, ack: Acked| h.ends_in_linux(1000, 20_000, 40_000_000, &ack);
        let mut h = Hystart::default();
        assert!(!ends(&mut h, of(100_000_000, 40_000_000, true)));
        for ms in 1..=20 {
            assert!(
                !ends(&mut h, of((100 + ms) * 1_000_000, 40_000_000, false)),
                "{ms}"
            );
        }
        assert!(!ends(&mut h, of(120_500_000, 40_000_000, false)));
        assert!(ends(&mut h, of(120_500_001, 40_000_000, false)));

        let grown = |last: u32| {
            let mut h = Hystart::default();
            h.note(40_000_000);
            assert!(!ends(&mut h, of(1_000_000, 45_000_001, true)));
            for n in 2..=8 {
                assert!(!ends(&mut h, of(n * 10_000_000, 45_000_001, false)));
            }
            ends(&mut h, of(90_000_000, last, false))
        };
        assert!(grown(45_000_001));
        assert!(!grown(45_000_000));
    }
}
