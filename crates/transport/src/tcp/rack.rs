// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses found by time (RACK, RFC 8985 section 6).

use alloc::collections::VecDeque;

use cemark_wire::Nanos;

use crate::Config;

/// When segments left, and the latest of them that has arrived.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// Segments that left for the first time and are not acknowledged, in order: end and time.
    sent: VecDeque<(u64, u64)>,
    /// Time and end of the segment that left last, among the segments that arrived.
    latest: (u64, u64),
    /// Its round trip, and the smallest of the connection.
    rtt: u64,
    min_rtt: u64,
    /// Segments have overtaken each other.
    reordered: bool,
    /// When segments that are only suspected by now will be lost.
    wake: Option<Nanos>,
    /// [`Stack::rack_wait`](crate::Stack::rack_wait) in nanoseconds.
    wait: u64,
    /// Quarters of a round trip by which segments that arrived twice have widened the window.
    more: u64,
    /// Recoveries after which the window is a quarter of a round trip again.
    keeps: u8,
    /// First byte whose acknowledgement may widen the window again: once a round trip.
    wider_from: u64,
}

/// Recoveries after which a window that duplicates have widened is a quarter of a round trip again
/// (RFC 8985 section 6.2, step 4).
const KEEPS: u8 = 16;

impl Rack {
    /// A detector that wakes this long after the last suspect may be late.
    pub(crate) fn new(wait: Nanos) -> Rack {
        Rack {
            wait: wait.0,
            ..Rack::default()
        }
    }

    /// A segment leaves. Only those beyond all earlier ones are kept here.
    pub(crate) fn sent(&mut self, now: Nanos, end: u64) {
        if self.sent.back().is_none_or(|last| last.0 < end) {
            self.sent.push_back((end, now.0));
        }
    }

    /// The segments that end at or before `end` have arrived for the first time, by SACK or in
    /// order.
    pub(crate) fn arrived(&mut self, now: Nanos, end: u64) {
        let past = self.sent.partition_point(|s| s.0 <= end);
        if let Some(&(end, at)) = past.checked_sub(1).and_then(|i| self.sent.get(i)) {
            self.arrived_at(now, at, end);
        }
    }

    /// The retransmission that left at `at` has arrived. If that is less than a round trip ago, it
    /// was the original (section 6.2, step 2).
    pub(crate) fn repaired(&mut self, now: Nanos, at: u64, end: u64) {
        if now.0 - at >= self.min_rtt {
            self.arrived_at(now, at, end);
        }
    }

    fn arrived_at(&mut self, now: Nanos, at: u64, end: u64) {
        if (at, end) > self.latest {
            self.latest = (at, end);
            self.rtt = now.0 - at;
            if self.min_rtt == 0 || self.rtt < self.min_rtt {
                self.min_rtt = self.rtt;
            }
        }
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn acked_below(&mut self, una: u64) {
        let whole = self.sent.partition_point(|s| s.0 <= una);
        self.sent.drain(..whole);
    }

    /// A segment that was never retransmitted has filled a hole.
    pub(crate) fn saw_reordering(&mut self) {
        self.reordered = true;
    }

    /// A segment has arrived twice, so its retransmission came too early (RFC 8985 section 6.2,
    /// step 4). `nxt` is the next new byte.
    /// Counts only once segments have overtaken each other (Linux, `tcp_dsack_seen`).
    pub(crate) fn saw_duplicate(&mut self, cum: u64, nxt: u64) {
        if self.reordered && cum >= self.wider_from {
            self.more = (self.more + 1).min(254);
            self.wider_from = nxt;
            self.keeps = KEEPS;
        }
    }

    /// A recovery begins.
    pub(crate) fn recovers(&mut self) {
        self.keeps = self.keeps.saturating_sub(1);
        if self.keeps == 0 {
            self.more = 0;
        }
    }

    /// Whether a train does not wait for the next acknowledgement (Linux, `tcp_tso_should_defer`):
    /// the last segment left more than a millisecond ago, or the acknowledgement of the oldest is
    /// more than half a round trip away.
    pub(crate) fn hurries(&self, now: Nanos, srtt: u64) -> bool {
        let since =
            |sent: Option<&(u64, u64)>| sent.map_or(u64::MAX, |s| now.0.saturating_sub(s.1));
        since(self.sent.back()) > 1_000_000 || since(self.sent.front()) < srtt / 2
    }

    /// Bytes of a train (Linux, `tcp_tso_autosize`): what `tenths` tenths of the window send in
    /// 1/1024 s of a round trip, 64 KB more at round trips below 512 us, half of that for each
    /// 512 us, and two segments at least.
    pub(crate) fn train(&self, cfg: &Config, tenths: u64, window: u64, srtt: u64) -> u64 {
        let (second, unit) = (1_000_000_000, 512_000);
        let rate = (window * tenths / 10).saturating_mul(second) / srtt.max(1);
        let near = (1_u64 << 16).checked_shr((self.min_rtt / unit) as u32);
        (rate / 1024 + near.unwrap_or(0)).max(2 * u64::from(cfg.mss))
    }

    /// How long a segment may arrive after one that was sent later (section 6.2, step 4). `sure`:
    /// as many segments arrived beyond a hole as duplicates start a fast retransmit, or the sender
    /// recovers already.
    fn window(&self, sure: bool, srtt: u64) -> u64 {
        if sure && !self.reordered {
            return 0;
        }
        let wide = self.min_rtt / 4 * (1 + self.more);
        match srtt {
            0 => wide,
            _ => wide.min(srtt),
        }
    }

    /// Whether the segment that left at `at` is lost; if not yet, asks to be woken.
    pub(crate) fn is_lost(
        &mut self,
        now: Nanos,
        (at, end): (u64, u64),
        (sure, srtt): (bool, u64),
    ) -> bool {
        if (at, end) >= self.latest {
            return false;
        }
        let window = self.window(sure, srtt);
        let until = Nanos(at + self.rtt + window);
        if until <= now {
            return true;
        }
        self.wake = Some(match self.wait {
            0 => self.wake.map_or(until, |wake| wake.min(until)),
            wait => {
                let before = self.sent.partition_point(|s| (s.1, s.0) < self.latest);
                let last = before.checked_sub(1).map_or(at, |i| self.sent[i].1);
                Nanos(last.max(at) + self.rtt + window + wait)
            }
        });
        false
    }

    /// The end of what is lost of the segments that left once, from `from` on; what has arrived
    /// counts as well.
    pub(crate) fn lost_below(&mut self, now: Nanos, from: u64, by: (bool, u64)) -> u64 {
        let mut line = from;
        let mut i = self.sent.partition_point(|s| s.0 <= from);
        while let Some(&(end, at)) = self.sent.get(i)
            && self.is_lost(now, (at, end), by)
        {
            line = end;
            i += 1;
        }
        line
    }

    pub(crate) fn wake(&self) -> Option<Nanos> {
        self.wake
    }

    pub(crate) fn sleep(&mut self) {
        self.wake = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Rack {
        let mut rack = Rack::default();
        for n in 1..=3 {
            rack.sent(Nanos(n), n * 1000);
        }
        rack
    }

    /// A segment beyond a hole: the hole is lost a quarter of a round trip later, not at once.
    #[test]
    fn a_suspected_segment_gets_a_quarter_of_a_round_trip() {
        let mut rack = three();
        rack.arrived(Nanos(1_000_003), 3000);
        let by = (false, 2_000_000);
        assert_eq!(rack.lost_below(Nanos(1_000_003), 0, by), 0);
        // The first left at 1 ns, the round trip is 1 ms.
        assert_eq!(rack.wake(), Some(Nanos(1_250_001)));
        rack.sleep();
        assert_eq!(rack.lost_below(Nanos(1_250_001), 0, by), 1000);
        assert_eq!(rack.lost_below(Nanos(1_250_002), 1000, by), 2000);
    }

    /// With three beyond it, it is lost at once, unless segments were seen to overtake each other.
    #[test]
    fn reordering_widens_the_window_again() {
        let mut rack = three();
        rack.arrived(Nanos(1_000_003), 3000);
        let by = (true, 2_000_000);
        assert_eq!(rack.lost_below(Nanos(1_000_003), 0, by), 2000);
        rack.saw_reordering();
        assert_eq!(rack.lost_below(Nanos(1_000_003), 0, by), 0);
    }

    /// With a wait all suspects are looked at once, 2 ms after the last of them may be late.
    #[test]
    fn linux_wakes_once_for_all_suspects() {
        let mut rack = Rack::new(Nanos::from_millis(2));
        for n in 1..=3 {
            rack.sent(Nanos(n), n * 1000);
        }
        rack.arrived(Nanos(1_000_003), 3000);
        let by = (false, 2_000_000);
        assert_eq!(rack.lost_below(Nanos(1_000_003), 0, by), 0);
        assert_eq!(
            rack.wake(),
            Some(Nanos(2 + 1_000_000 + 250_000 + 2_000_000))
        );
        assert_eq!(rack.lost_below(Nanos(3_250_003), 0, by), 2000);
    }

    /// A segment that arrived twice doubles the window, once a round trip, for sixteen recoveries.
    #[test]
    fn duplicates_widen_the_window() {
        let mut rack = three();
        rack.arrived(Nanos(1_000_003), 3000);
        let quarter = rack.min_rtt / 4;
        assert_eq!((rack.window(true, 2_000_000), quarter), (0, 250_000));
        rack.saw_duplicate(1000, 3000);
        assert_eq!(rack.window(true, 2_000_000), 0, "nothing was reordered");
        rack.saw_reordering();
        rack.saw_duplicate(1000, 3000);
        rack.saw_duplicate(2000, 3000);
        assert_eq!(rack.window(true, 2_000_000), 2 * quarter);
        rack.saw_duplicate(3000, 9000);
        assert_eq!(rack.window(true, 2_000_000), 3 * quarter);
        assert_eq!(
            rack.window(true, 500_000),
            2 * quarter,
            "at most the smoothed RTT"
        );
        for _ in 0..15 {
            rack.recovers();
        }
        assert_eq!(rack.window(true, 2_000_000), 3 * quarter);
        rack.recovers();
        assert_eq!(rack.window(true, 2_000_000), quarter);
    }

    /// At round trips of 1 ms a train waits once the oldest segment is 0.5 ms old, and until the
    /// last one is 1 ms old.
    #[test]
    fn a_train_waits_for_an_acknowledgement_that_is_near() {
        let mut rack = Rack::default();
        rack.sent(Nanos(1_000_000), 1000);
        rack.sent(Nanos(1_300_000), 2000);
        let at = |us: u64| rack.hurries(Nanos(us * 1000), 1_000_000);
        assert_eq!(
            [at(1_400), at(1_499), at(1_500), at(2_300), at(2_301)],
            [true, true, false, false, true]
        );
    }

    #[test]
    fn a_train_is_as_long_as_the_window_sends_in_a_millisecond() {
        let cfg = Config {
            mss: 1000,
            ..Config::default()
        };
        let train = |min_rtt: u64, window: u64, srtt: u64| {
            let rack = Rack {
                min_rtt,
                ..Rack::default()
            };
            rack.train(&cfg, 12, window, srtt)
        };
        // 100 segments in 10 ms: 12 MB/s, 11.7 KB in 1/1024 s.
        assert_eq!(train(10_000_000, 100_000, 10_000_000), 11_718);
        assert_eq!(train(1_000_000, 10_000, 1_000_000), 11_718 + 32_768);
        assert_eq!(train(100_000, 1_000, 100_000), 11_718 + 65_536);
        assert_eq!(train(100_000_000, 10_000, 100_000_000), 2_000);
    }

    /// An answer that comes sooner than any round trip was for the original.
    #[test]
    fn an_early_answer_is_not_for_the_retransmission() {
        let mut rack = three();
        rack.arrived(Nanos(1_000_001), 1000);
        rack.repaired(Nanos(1_500_000), 1_400_000, 2000);
        assert_eq!(rack.latest, (1, 1000));
        rack.repaired(Nanos(2_400_000), 1_400_000, 2000);
        assert_eq!((rack.latest, rack.rtt), ((1_400_000, 2000), 1_000_000));
    }
}
