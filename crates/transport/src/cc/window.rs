// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion window that Reno, ECN*, DCTCP and CUBIC's slow start share: slow start and
//! congestion avoidance, counted in bytes.

use super::{Acked, Cut, Lost, PathSpec};

/// A congestion window in bytes (RFC 5681, with the byte counting of RFC 3465).
///
/// Its methods take the segment size, which its owner keeps: a simulation holds millions of
/// senders, and the size fits into the padding of [`Dctcp`](super::dctcp::Dctcp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged since the last step of congestion avoidance: counting them is faster
    /// than a division for each ACK.
    credit: u64,
}

impl Window {
    /// The initial window, in slow start.
    pub fn new(path: &PathSpec) -> Window {
        Window {
            cwnd: path.init_bytes(),
            ssthresh: u64::MAX,
            credit: 0,
        }
    }

    /// The window in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.cwnd
    }

    /// The slow-start threshold in bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Grows for an acknowledgement, but only if the sender was using the window: otherwise the
    /// acknowledgement does not show that the path can carry more (RFC 7661).
    #[inline]
    pub fn grow(&mut self, mss: u64, ack: &Acked) {
        if self.cwnd < self.ssthresh {
            if ack.cwnd_limited || self.cwnd < 2 * ack.bytes_in_flight {
                // L = 2 segments for delayed ACKs; 1 after a timeout, where one ACK may cover data
                // that arrived long ago.
                let limit = if ack.after_timeout { mss } else { 2 * mss };
                self.cwnd = (self.cwnd + ack.bytes.min(limit)).min(self.ssthresh);
            }
        } else if ack.cwnd_limited {
            self.credit += ack.bytes;
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += mss;
            }
        }
    }

    /// Whether the window is below its threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by `bytes`, for controllers with a growth function of their own.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.cwnd += bytes;
    }

    /// Falls to one segment, as after a timeout.
    pub fn collapse(&mut self, mss: u64) {
        self.cwnd = mss;
        self.credit = 0;
    }

    /// Continues in congestion avoidance from `bytes`, but never below two segments (the smallest
    /// ssthresh of RFC 5681 and Linux).
    pub fn cut_to(&mut self, mss: u64, bytes: u64) {
        self.ssthresh = bytes.max(2 * mss);
        // A window that a timeout has made smaller must not grow by being cut.
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.credit = 0;
    }

    /// Reacts to a loss as Reno does: half of what was in flight, and slow start from one segment
    /// after a timeout. `cut` is false if this window of data has been answered for already.
    pub fn lose(&mut self, mss: u64, bytes_in_flight: u64, timeout: bool, cut: bool) {
        self.lose_to(mss, bytes_in_flight.min(self.cwnd) / 2, timeout, cut);
    }

    /// Answers a loss as [`lose`](Self::lose) does; `whole` rounds the threshold down to whole
    /// segments. The controller answers one window of data once, whether a loss or an echo came
    /// first.
    pub(crate) fn lose_half(&mut self, mss: u64, loss: &Lost, whole: bool) {
        let half = floor(mss, loss.bytes_in_flight.min(self.cwnd) / 2, whole);
        self.lose_to(mss, half, loss.timeout, loss.already == Cut::None);
    }

    /// Answers a loss as [`lose`](Self::lose) does, with a threshold of `bytes`.
    pub(crate) fn lose_to(&mut self, mss: u64, bytes: u64, timeout: bool, cut: bool) {
        if cut {
            self.cut_to(mss, bytes);
        }
        if timeout {
            self.collapse(mss);
        }
    }

    /// Takes a cut back: at least these bytes, and at least this threshold.
    pub(crate) fn undo(&mut self, cwnd: u64, ssthresh: u64) {
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
    }

    /// Starts again from at most `bytes` after an idle time, and keeps the threshold (RFC 5681
    /// section 4.1).
    pub fn restart(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.min(bytes);
        self.credit = 0;
    }
}

/// `bytes`, or the whole segments in them.
pub(crate) fn floor(mss: u64, bytes: u64, whole: bool) -> u64 {
    match whole {
        true => bytes - bytes % mss.max(1),
        false => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(bytes: u64, cwnd_limited: bool, after_timeout: bool) -> Acked {
        Acked {
            bytes,
            cwnd_limited,
            after_timeout,
            ..Acked::default()
        }
    }

    fn window() -> Window {
        Window::new(&PathSpec {
            mss: 1000,
            init_window: 4,
            ..PathSpec::default()
        })
    }

    #[test]
    fn slow_start_takes_at_most_two_segments_an_ack_and_one_after_a_timeout() {
        let mut w = window();
        w.grow(1000, &ack(1000, true, false));
        assert_eq!(w.bytes(), 5_000);
        w.grow(1000, &ack(3000, true, false));
        assert_eq!(w.bytes(), 7_000);
        w.grow(1000, &ack(3000, true, true));
        assert_eq!(w.bytes(), 8_000);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut w = window();
        w.cut_to(1000, 4_000);
        for expected in [
            4_000, 4_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000, 6_000,
        ] {
            w.grow(1000, &ack(1000, true, false));
            assert_eq!(w.bytes(), expected);
        }
    }

    #[test]
    fn a_window_that_was_not_used_does_not_grow() {
        let mut w = window();
        w.grow(1000, &ack(1000, false, false));
        assert_eq!(w.bytes(), 4_000);
        // In slow start the window also grows if more than half of it was in use.
        w.grow(
            1000,
            &Acked {
                bytes_in_flight: 3_000,
                ..ack(1000, false, false)
            },
        );
        assert_eq!(w.bytes(), 5_000);
        w.cut_to(1000, 3_000);
        for _ in 0..9 {
            w.grow(1000, &ack(1000, false, false));
        }
        assert_eq!(w.bytes(), 3_000);
    }

    #[test]
    fn a_timeout_starts_over_from_one_segment_towards_half() {
        let mut w = window();
        w.lose(1000, 4_000, true, true);
        assert_eq!((w.bytes(), w.ssthresh()), (1_000, 2_000));
        w.cut_to(1000, 500);
        assert_eq!(
            w.bytes(),
            1_000,
            "a cut does not raise a window that is below the floor"
        );
        w.lose(1000, 4_000, true, false);
        assert_eq!(
            (w.bytes(), w.ssthresh()),
            (1_000, 2_000),
            "the second timeout keeps the threshold"
        );
    }
}
