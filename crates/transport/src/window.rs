// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion window that Reno, ECN* and DCTCP share: slow start and congestion avoidance, counted in bytes.

use crate::{Acked, Config};

/// A congestion window in bytes (RFC 5681, with the byte counting of RFC 3465).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged since the last step of congestion avoidance. A division per ACK would say the same, slower.
    credit: u64,
}

impl Window {
    /// `init_window` segments, in slow start.
    pub fn new(cfg: &Config) -> Window {
        Window {
            cwnd: u64::from(cfg.init_window.max(1)) * u64::from(cfg.mss),
            ssthresh: u64::MAX,
            credit: 0,
        }
    }

    /// The window in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.cwnd
    }

    /// The slow start threshold in bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Grows for an acknowledgement, unless the window was not in use (RFC 7661: what was not tried proves nothing).
    #[inline]
    pub fn grow(&mut self, mss: u64, ack: &Acked) {
        if self.cwnd < self.ssthresh {
            if ack.was_full || self.cwnd < 2 * ack.in_flight {
                // L = 2 segments for delayed ACKs; 1 after a timeout, where one ACK may cover data of long ago.
                let limit = if ack.after_timeout { mss } else { 2 * mss };
                self.cwnd = (self.cwnd + ack.bytes.min(limit)).min(self.ssthresh);
            }
        } else if ack.was_full {
            self.credit += ack.bytes;
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += mss;
            }
        }
    }

    /// Continues in congestion avoidance from `bytes`, but never below two segments (Linux and RFC 5681's smallest ssthresh).
    pub fn cut_to(&mut self, mss: u64, bytes: u64) {
        self.ssthresh = bytes.max(2 * mss);
        self.cwnd = self.ssthresh;
        self.credit = 0;
    }

    /// What a loss does to all three laws: half of what was in flight, and slow start from one segment after a timeout.
    /// `cut` is false where this window of data has been answered for already.
    pub fn lose(&mut self, mss: u64, in_flight: u64, timeout: bool, cut: bool) {
        let half = in_flight.min(self.cwnd) / 2;
        if cut {
            self.cut_to(mss, half);
        }
        if timeout {
            self.cwnd = mss;
            self.credit = 0;
        }
    }

    /// Starts over from at most `bytes` after an idle time, remembering the threshold (RFC 5681 section 4.1).
    pub fn restart(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.min(bytes);
        self.credit = 0;
    }
}
