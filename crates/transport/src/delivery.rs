// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast data is delivered: a sample for each acknowledgement
//! (draft-cheng-iccrg-delivery-rate-estimation, sections 2 and 3).
//!
//! The sender's common path knows nothing of this: only laws that ask for samples pay for the
//! record of each segment.

use alloc::collections::VecDeque;

use cemark_wire::{Nanos, Rate};

/// What one acknowledgement tells of the path.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// When it came.
    pub now: Nanos,
    /// Bytes it tells for the first time, cumulatively or by SACK.
    pub bytes: u64,
    /// Bytes told by it and all before.
    pub total: u64,
    /// The same when the newest of its segments was sent: a round has passed once this reaches a
    /// `total` noted before.
    pub prior: u64,
    /// Bytes delivered over the time that took, sending or answering, whichever was longer.
    pub rate: Option<Rate>,
    /// The sender, not the path, bounded that rate.
    pub app_limited: bool,
    /// Round trip of the newest of its segments in nanoseconds, unless it was sent twice.
    pub rtt: Option<u32>,
    /// Bytes taken to be in the network, after it.
    pub in_flight: u64,
    /// Bytes found lost by it.
    pub lost: u64,
    /// The sender repairs a loss.
    pub repairing: bool,
}

/// What is remembered of a segment.
#[derive(Clone, Copy, Debug)]
struct Record {
    seq: u64,
    len: u32,
    again: bool,
    done: bool,
    app_limited: bool,
    sent: Nanos,
    /// The sampler's state when it was sent.
    total: u64,
    total_at: Nanos,
    first_sent: Nanos,
}

/// Turns segments and acknowledgements into samples.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    records: VecDeque<Record>,
    total: u64,
    total_at: Nanos,
    first_sent: Nanos,
    /// Until `total` passes this, what is sent does not fill the path; 0: it does.
    limited_until: u64,
    /// Newest segment of the acknowledgement at hand, and the bytes it told.
    newest: Option<Record>,
    bytes: u64,
    rtt_min: u64,
}

impl Sampler {
    /// A segment leaves; `in_flight` is what was in the network before it.
    pub(crate) fn sent(&mut self, now: Nanos, seq: u64, len: u64, in_flight: u64) {
        if in_flight == 0 {
            self.first_sent = now;
            self.total_at = now;
        }
        let record = Record {
            seq,
            len: len as u32,
            again: false,
            done: false,
            app_limited: self.limited_until > 0,
            sent: now,
            total: self.total,
            total_at: self.total_at,
            first_sent: self.first_sent,
        };
        if self.records.back().is_none_or(|r| r.seq < seq) {
            self.records.push_back(record);
            return;
        }
        let i = self.records.partition_point(|r| r.seq < seq);
        if let Some(old) = self.records.get_mut(i).filter(|r| !r.done) {
            *old = Record {
                again: true,
                ..record
            };
        }
    }

    /// Everything below `una` has arrived.
    pub(crate) fn below(&mut self, now: Nanos, una: u64) {
        while let Some(&record) = self.records.front() {
            if record.seq + u64::from(record.len) > una {
                break;
            }
            self.records.pop_front();
            self.deliver(now, record);
        }
    }

    /// `[from, to)` has arrived.
    pub(crate) fn between(&mut self, now: Nanos, from: u64, to: u64) {
        let first = self.records.partition_point(|r| r.seq < from);
        for i in first..self.records.len() {
            let record = self.records[i];
            if record.seq + u64::from(record.len) > to {
                break;
            }
            self.deliver(now, record);
            self.records[i].done = true;
        }
    }

    fn deliver(&mut self, now: Nanos, record: Record) {
        if record.done {
            return;
        }
        self.bytes += u64::from(record.len);
        self.total += u64::from(record.len);
        self.total_at = now;
        if self.newest.is_none_or(|n| record.total >= n.total) {
            self.newest = Some(record);
        }
    }

    /// From now on the sender bounds the rate, until what is in flight has been told.
    pub(crate) fn limit(&mut self, in_flight: u64) {
        self.limited_until = (self.total + in_flight).max(1);
    }

    /// The sample of the acknowledgement at hand, if it told anything.
    pub(crate) fn finish(
        &mut self,
        now: Nanos,
        in_flight: u64,
        lost: u64,
        repairing: bool,
    ) -> Option<Delivered> {
        let newest = self.newest.take()?;
        let bytes = core::mem::take(&mut self.bytes);
        self.first_sent = newest.sent;
        if self.total > self.limited_until {
            self.limited_until = 0;
        }
        let rtt = (!newest.again).then(|| now.saturating_sub(newest.sent).0.max(1));
        if let Some(rtt) = rtt {
            self.rtt_min = match self.rtt_min {
                0 => rtt,
                old => old.min(rtt),
            };
        }
        let sending = newest.sent.saturating_sub(newest.first_sent).0;
        let answering = now.saturating_sub(newest.total_at).0;
        let span = sending.max(answering);
        // Shorter than any round trip, it is the answer to an original that was sent again in vain.
        let rate = (span >= self.rtt_min.max(1))
            .then(|| Rate(per_second(self.total - newest.total, span)));
        Some(Delivered {
            now,
            bytes,
            total: self.total,
            prior: newest.total,
            rate,
            app_limited: newest.app_limited,
            rtt: rtt.map(|ns| ns.min(u64::from(u32::MAX)) as u32),
            in_flight,
            lost,
            repairing,
        })
    }
}

/// Bits per second of `bytes` in `ns`.
pub(crate) fn per_second(bytes: u64, ns: u64) -> u64 {
    match bytes.checked_mul(8_000_000_000) {
        Some(bits) => bits / ns.max(1),
        None => (u128::from(bytes) * 8_000_000_000 / u128::from(ns.max(1))) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    #[test]
    fn the_rate_is_what_was_delivered_since_the_segment_left() {
        let mut s = Sampler::default();
        // Ten segments of 1000 bytes, one a microsecond, each answered 100 us later: 8 Gb/s.
        for n in 0..10 {
            s.sent(Nanos(n * US), n * 1000, 1000, n * 1000);
        }
        for n in 0..10u64 {
            let now = Nanos((100 + n) * US);
            s.below(now, (n + 1) * 1000);
            let d = s.finish(now, 10_000, 0, false).unwrap();
            assert_eq!((d.bytes, d.total, d.prior), (1000, (n + 1) * 1000, 0));
            assert_eq!(d.rtt, Some(100_000));
            // Nothing had been delivered when it left: n + 1 segments in 100 + n microseconds.
            assert_eq!(
                d.rate,
                Some(Rate(
                    (n + 1) * 8_000_000 / (100 + n) * 1_000
                        + (n + 1) * 8_000_000 % (100 + n) * 1_000 / (100 + n)
                ))
            );
            s.sent(now, (10 + n) * 1000, 1000, 9_000);
        }
        // A round trip later the eleventh is told: ten segments since it left, in 100 us.
        let now = Nanos(200 * US);
        s.below(now, 11_000);
        let d = s.finish(now, 10_000, 0, false).unwrap();
        assert_eq!((d.prior, d.rate), (1_000, Some(Rate(10_000 * 8 * 10_000))));
        assert!(
            s.finish(now, 0, 0, false).is_none(),
            "an ACK without news gives no sample"
        );
    }

    #[test]
    fn what_sack_told_is_counted_once_and_repairs_give_no_round_trip() {
        let mut s = Sampler::default();
        for n in 0..5 {
            s.sent(Nanos(n), n * 1000, 1000, n * 1000);
        }
        s.between(Nanos(100), 1000, 3000);
        let d = s.finish(Nanos(100), 2_000, 1_000, true).unwrap();
        assert_eq!((d.bytes, d.total, d.rtt), (2_000, 2_000, Some(98)));
        s.sent(Nanos(200), 0, 1000, 2_000);
        s.below(Nanos(300), 3_000);
        let d = s.finish(Nanos(300), 2_000, 0, true).unwrap();
        assert_eq!((d.bytes, d.total, d.rtt), (1_000, 3_000, None));
        s.below(Nanos(301), 5_000);
        assert_eq!(s.finish(Nanos(301), 0, 0, false).unwrap().total, 5_000);
    }

    #[test]
    fn samples_after_the_sender_ran_dry_say_so() {
        let mut s = Sampler::default();
        s.sent(Nanos(0), 0, 1000, 0);
        s.limit(1000);
        s.sent(Nanos(10), 1000, 1000, 1000);
        s.below(Nanos(100), 1000);
        assert!(!s.finish(Nanos(100), 1000, 0, false).unwrap().app_limited);
        s.below(Nanos(110), 2000);
        assert!(s.finish(Nanos(110), 0, 0, false).unwrap().app_limited);
        s.sent(Nanos(120), 2000, 1000, 0);
        s.below(Nanos(220), 3000);
        assert!(
            !s.finish(Nanos(220), 0, 0, false).unwrap().app_limited,
            "the path was filled again"
        );
    }
}
