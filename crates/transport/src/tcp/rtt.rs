// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round-trip estimate and retransmission timeout (RFC 6298).

use cemark_wire::Nanos;

use crate::Config;

/// Smallest margin over the smoothed RTT (the RFC's G; ns-3's default), unless `rto_min` is
/// smaller. Without it the variation of a steady wide-area path decays to zero, and the first queue
/// that grows causes a timeout.
const GRANULARITY: Nanos = Nanos::from_millis(1);

/// Smoothed round-trip time and its variation, in nanoseconds. Timestamps have 32 bits, so the
/// longest that can be measured is 4.2 s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    srtt: u32,
    var: u32,
}

impl Rtt {
    /// Adds the round trip of a segment that was stamped `ts_echo` and acknowledged at `now`, and
    /// returns it. A wrapped timestamp does no harm.
    #[inline]
    pub(crate) fn sample(&mut self, now: Nanos, ts_echo: u32) -> u32 {
        let rtt = (now.0 as u32).wrapping_sub(ts_echo).max(1);
        if self.srtt == 0 {
            self.srtt = rtt;
            self.var = rtt / 2;
        } else {
            // Section 2.3, in this order: the variation is measured from the old mean. A mean of
            // u32 values fits u32.
            self.var = ((3 * u64::from(self.var) + u64::from(self.srtt.abs_diff(rtt))) / 4) as u32;
            self.srtt = ((7 * u64::from(self.srtt) + u64::from(rtt)) / 8) as u32;
        }
        rtt
    }

    /// The smoothed round trip in nanoseconds; 0 before the first sample.
    pub(crate) fn smoothed(&self) -> u64 {
        self.srtt.into()
    }

    /// The retransmission timeout; `rto_init` before the first sample.
    #[inline]
    pub(crate) fn rto(&self, cfg: &Config) -> Nanos {
        if self.srtt == 0 {
            return cfg.rto_init;
        }
        let granularity = GRANULARITY.0.min(cfg.rto_min.0);
        let margin = match cfg.stack.rto_over_rtt {
            true => cfg.rto_min.0,
            false => granularity,
        };
        let rto = u64::from(self.srtt) + (4 * u64::from(self.var)).max(margin);
        Nanos(rto.max(cfg.rto_min.0).min(cfg.rto_max.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_worked_numbers_of_the_rfc() {
        let cfg = Config {
            rto_min: Nanos(0),
            ..Config::default()
        };
        let mut rtt = Rtt::default();
        assert_eq!(rtt.rto(&cfg), cfg.rto_init);
        rtt.sample(Nanos(80_000), 0);
        assert_eq!(
            rtt.rto(&cfg),
            Nanos(80_000 + 4 * 40_000),
            "first sample: 3 R"
        );
        rtt.sample(Nanos(160_000), 0);
        // var = (3*40 + |80-160|)/4 = 50 us, srtt = (7*80 + 160)/8 = 90 us
        assert_eq!(rtt.rto(&cfg), Nanos(90_000 + 200_000));
    }

    #[test]
    fn a_wrapped_clock_gives_the_same_sample() {
        let now = Nanos((1 << 32) + 500);
        assert_eq!(Rtt::default().sample(now, u32::MAX - 499), 1_000);
    }

    #[test]
    fn bounded_on_both_sides() {
        let cfg = Config {
            rto_max: Nanos::from_millis(20),
            ..Config::default()
        };
        let mut rtt = Rtt::default();
        rtt.sample(Nanos(1_000), 0);
        assert_eq!(rtt.rto(&cfg), cfg.rto_min);
        rtt.sample(Nanos::from_millis(900), 0);
        assert_eq!(rtt.rto(&cfg), cfg.rto_max);
    }

    #[test]
    fn the_smallest_timeout_may_come_on_top_of_the_round_trip() {
        let mut cfg = Config {
            rto_min: Nanos::from_millis(200),
            ..Config::default()
        };
        cfg.stack.rto_over_rtt = true;
        let mut rtt = Rtt::default();
        for _ in 0..100 {
            rtt.sample(Nanos::from_millis(20), 0);
        }
        assert_eq!(rtt.rto(&cfg), Nanos::from_millis(220));
        rtt.sample(Nanos::from_millis(820), 0);
        // var = 800/4 = 200 ms, srtt = 20 + 800/8 = 120 ms.
        assert_eq!(rtt.rto(&cfg), Nanos::from_millis(920));
    }

    #[test]
    fn a_steady_path_keeps_a_margin() {
        let cfg = Config::default();
        let mut rtt = Rtt::default();
        for _ in 0..100 {
            rtt.sample(Nanos::from_millis(20), 0);
        }
        assert_eq!(rtt.rto(&cfg), Nanos::from_millis(21));
    }
}
