// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast data is delivered: one sample for each acknowledgement
//! (draft-cheng-iccrg-delivery-rate-estimation, sections 2 and 3).
//!
//! Only senders whose controller wants samples keep a record of each packet.

use alloc::collections::VecDeque;

use cemark_wire::{Nanos, Rate};

/// A sample of the path, from an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When it arrived.
    pub now: Nanos,
    /// Newly acknowledged bytes.
    pub bytes: u64,
    /// Bytes acknowledged by it and all before it.
    pub total: u64,
    /// `total` at the time when the newest of its packets was sent. A round has ended once this
    /// reaches a `total` that was noted before.
    pub prior: u64,
    /// Bytes delivered, divided by the time that sending them or acknowledging them took,
    /// whichever was longer. `None` if that time was shorter than any round trip.
    pub rate: Option<Rate>,
    /// The application or the controller, not the path, limited that rate.
    pub app_limited: bool,
    /// Round trip of the newest of its packets in nanoseconds, unless that was a retransmission.
    pub rtt: Option<u32>,
    /// Bytes in flight after it.
    pub bytes_in_flight: u64,
    /// Bytes that it revealed as lost.
    pub lost: u64,
    /// The transport is recovering from a loss.
    pub in_recovery: bool,
}

/// The sampler's record of a packet. `start` and `end` are stream offsets or packet numbers.
#[derive(Clone, Copy, Debug)]
struct Record {
    start: u64,
    span: u32,
    bytes: u32,
    retransmitted: bool,
    acked: bool,
    app_limited: bool,
    sent: Nanos,
    /// The sampler's state when it was sent.
    total: u64,
    total_at: Nanos,
    first_sent: Nanos,
}

impl Record {
    fn end(&self) -> u64 {
        self.start + u64::from(self.span)
    }
}

/// Computes samples from packets and acknowledgements. It counts in positions: stream offsets where
/// the transport has those (a packet occupies as many positions as it has bytes), packet numbers
/// otherwise.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    records: VecDeque<Record>,
    total: u64,
    total_at: Nanos,
    first_sent: Nanos,
    /// Until `total` passes this, samples do not measure the path; 0: they do.
    limited_until: u64,
    /// Newest packet of the current acknowledgement, and its newly acknowledged bytes.
    newest: Option<Record>,
    bytes: u64,
    rtt_min: u64,
}

impl Sampler {
    /// A packet of `bytes` bytes at the positions `[start, start + span)` leaves; `in_flight` is
    /// what was in the network before it.
    pub(crate) fn sent(
        &mut self,
        now: Nanos,
        (start, span): (u64, u64),
        bytes: u64,
        in_flight: u64,
    ) {
        if in_flight == 0 {
            self.first_sent = now;
            self.total_at = now;
        }
        let record = Record {
            start,
            span: span as u32,
            bytes: bytes as u32,
            retransmitted: false,
            acked: false,
            app_limited: self.limited_until > 0,
            sent: now,
            total: self.total,
            total_at: self.total_at,
            first_sent: self.first_sent,
        };
        if self.records.back().is_none_or(|r| r.start < start) {
            self.records.push_back(record);
            return;
        }
        let i = self.records.partition_point(|r| r.start < start);
        if let Some(old) = self.records.get_mut(i).filter(|r| !r.acked) {
            *old = Record {
                retransmitted: true,
                ..record
            };
        }
    }

    /// Everything below `position` has arrived.
    pub(crate) fn acked_below(&mut self, now: Nanos, position: u64) {
        while let Some(&record) = self.records.front() {
            if record.end() > position {
                break;
            }
            self.records.pop_front();
            self.deliver(now, record);
        }
    }

    /// `[from, to)` has arrived.
    pub(crate) fn acked_between(&mut self, now: Nanos, from: u64, to: u64) {
        let first = self.records.partition_point(|r| r.start < from);
        for i in first..self.records.len() {
            let record = self.records[i];
            if record.end() > to {
                break;
            }
            self.deliver(now, record);
            self.records[i].acked = true;
        }
    }

    /// Forgets the packets below `position` that no acknowledgement will name any more.
    pub(crate) fn forget_below(&mut self, position: u64) {
        let gone = self.records.partition_point(|r| r.end() <= position);
        self.records.drain(..gone);
    }

    fn deliver(&mut self, now: Nanos, record: Record) {
        if record.acked {
            return;
        }
        self.bytes += u64::from(record.bytes);
        self.total += u64::from(record.bytes);
        self.total_at = now;
        if self.newest.is_none_or(|n| record.total >= n.total) {
            self.newest = Some(record);
        }
    }

    /// From now on something other than the path limits the rate, until what is in flight has been
    /// acknowledged.
    pub(crate) fn limit(&mut self, in_flight: u64) {
        self.limited_until = (self.total + in_flight).max(1);
    }

    /// The sample of the current acknowledgement, if it acknowledged anything.
    pub(crate) fn finish(
        &mut self,
        now: Nanos,
        bytes_in_flight: u64,
        lost: u64,
        in_recovery: bool,
    ) -> Option<Delivered> {
        let newest = self.newest.take()?;
        let bytes = core::mem::take(&mut self.bytes);
        self.first_sent = newest.sent;
        if self.total > self.limited_until {
            self.limited_until = 0;
        }
        let rtt = (!newest.retransmitted).then(|| now.saturating_sub(newest.sent).0.max(1));
        if let Some(rtt) = rtt {
            self.rtt_min = match self.rtt_min {
                0 => rtt,
                old => old.min(rtt),
            };
        }
        let sending = newest.sent.saturating_sub(newest.first_sent).0;
        let acking = now.saturating_sub(newest.total_at).0;
        let span = sending.max(acking);
        // A time shorter than any round trip belongs to an original whose retransmission was
        // unnecessary.
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
            bytes_in_flight,
            lost,
            in_recovery,
        })
    }
}

/// The rate on the wire, headers included, of a rate of payload in packets of `mss` bytes.
pub(crate) fn on_the_wire((mss, header): (u64, u64), payload: u64) -> u64 {
    payload + payload / mss.max(1) * header
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
        // Ten segments of 1000 bytes, one per microsecond, each acknowledged 100 us later: 8 Gb/s.
        for n in 0..10 {
            s.sent(Nanos(n * US), (n * 1000, 1000), 1000, n * 1000);
        }
        for n in 0..10u64 {
            let now = Nanos((100 + n) * US);
            s.acked_below(now, (n + 1) * 1000);
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
            s.sent(now, ((10 + n) * 1000, 1000), 1000, 9_000);
        }
        // A round trip later the eleventh is acknowledged: ten segments since it left, in 100 us.
        let now = Nanos(200 * US);
        s.acked_below(now, 11_000);
        let d = s.finish(now, 10_000, 0, false).unwrap();
        assert_eq!((d.prior, d.rate), (1_000, Some(Rate(10_000 * 8 * 10_000))));
        assert!(
            s.finish(now, 0, 0, false).is_none(),
            "an ACK of nothing new gives no sample"
        );
    }

    #[test]
    fn sacked_bytes_count_once_and_retransmissions_give_no_round_trip() {
        let mut s = Sampler::default();
        for n in 0..5 {
            s.sent(Nanos(n), (n * 1000, 1000), 1000, n * 1000);
        }
        s.acked_between(Nanos(100), 1000, 3000);
        let d = s.finish(Nanos(100), 2_000, 1_000, true).unwrap();
        assert_eq!((d.bytes, d.total, d.rtt), (2_000, 2_000, Some(98)));
        s.sent(Nanos(200), (0, 1000), 1000, 2_000);
        s.acked_below(Nanos(300), 3_000);
        let d = s.finish(Nanos(300), 2_000, 0, true).unwrap();
        assert_eq!((d.bytes, d.total, d.rtt), (1_000, 3_000, None));
        s.acked_below(Nanos(301), 5_000);
        assert_eq!(s.finish(Nanos(301), 0, 0, false).unwrap().total, 5_000);
    }

    #[test]
    fn samples_of_an_application_limited_sender_say_so() {
        let mut s = Sampler::default();
        s.sent(Nanos(0), (0, 1000), 1000, 0);
        s.limit(1000);
        s.sent(Nanos(10), (1000, 1000), 1000, 1000);
        s.acked_below(Nanos(100), 1000);
        assert!(!s.finish(Nanos(100), 1000, 0, false).unwrap().app_limited);
        s.acked_below(Nanos(110), 2000);
        assert!(s.finish(Nanos(110), 0, 0, false).unwrap().app_limited);
        s.sent(Nanos(120), (2000, 1000), 1000, 0);
        s.acked_below(Nanos(220), 3000);
        assert!(
            !s.finish(Nanos(220), 0, 0, false).unwrap().app_limited,
            "the path was filled again"
        );
    }

    /// A transport that numbers its packets: one position each, whatever their size.
    #[test]
    fn packet_numbers_serve_as_positions() {
        let mut s = Sampler::default();
        for n in 0..3 {
            s.sent(Nanos(n), (n, 1), 1200, n * 1200);
        }
        s.acked_between(Nanos(100), 2, 3);
        let d = s.finish(Nanos(100), 2_400, 0, false).unwrap();
        assert_eq!((d.bytes, d.rtt), (1200, Some(98)));
        s.acked_between(Nanos(110), 0, 1);
        assert_eq!(s.finish(Nanos(110), 1_200, 0, false).unwrap().total, 2_400);
        s.forget_below(2);
        s.acked_between(Nanos(120), 1, 2);
        assert!(
            s.finish(Nanos(120), 0, 0, false).is_none(),
            "it was declared lost"
        );
    }
}
