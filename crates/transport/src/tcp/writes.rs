// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of an application's writes, where the send buffer decides them. Linux sizes the buffer by
//! the largest window so far (`tcp_sndbuf_expand`, `tcp_input.c`), and wakes the application when a
//! third of it is free (`sk_stream_write_space`, `stream.c`). The application fills the buffer
//! again, and the last segment of this write carries PUSH.

use alloc::collections::VecDeque;

/// Send buffer of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Writes {
    /// A third of the buffer in percent of the largest window.
    percent: u32,
    mss: u64,
    /// The largest window so far, in bytes.
    largest: u64,
    /// Just past the last byte in the buffer.
    written: u64,
    /// Ends of the writes whose last segment has not left.
    ends: VecDeque<u64>,
}

/// Segments of the smallest window that sizes the buffer (Linux: `TCP_INIT_CWND`).
const LEAST: u64 = 10;

impl Writes {
    pub(crate) fn new(percent: u32, mss: u16) -> Writes {
        let mss = u64::from(mss);
        Writes {
            percent,
            mss,
            largest: LEAST * mss,
            written: 0,
            ends: VecDeque::new(),
        }
    }

    /// Everything below `una` is acknowledged and leaves the buffer. The buffer holds whole
    /// segments; the last of them may exceed it.
    pub(crate) fn acked_below(&mut self, una: u64, cwnd: u64) {
        self.largest = self.largest.max(cwnd);
        let third = self.largest.saturating_mul(u64::from(self.percent)) / 100;
        if self.written.saturating_sub(una) <= third.saturating_mul(2) / self.mss * self.mss {
            self.written = una + third.saturating_mul(3).div_ceil(self.mss) * self.mss;
            self.ends.push_back(self.written);
        }
    }

    /// Nothing is outstanding: the application writes from `seq` on into an empty buffer.
    pub(crate) fn begin(&mut self, seq: u64, cwnd: u64) {
        self.ends.clear();
        self.written = seq;
        self.acked_below(seq, cwnd);
    }

    /// Whether the new segment that ends at `end` is the last of a write.
    pub(crate) fn ends_at(&mut self, end: u64) -> bool {
        let past = self.ends.partition_point(|&write| write <= end);
        self.ends.drain(..past);
        past > 0
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Ends of the writes of 200 segments of 1000 bytes, of which `window` are in flight.
    fn ends(percent: u32, window: fn(u64) -> u64) -> Vec<u64> {
        let mut writes = Writes::new(percent, 1000);
        let ends = (1..=200).filter(|&n| {
            let window = window(n);
            match n.checked_sub(window + 1) {
                _ if n == 1 => writes.begin(0, window * 1000),
                None => {}
                Some(acked) => writes.acked_below((acked + 1) * 1000, window * 1000),
            }
            writes.ends_at(n * 1000)
        });
        ends.collect()
    }

    /// A third of the buffer is 6.7 segments: the buffer takes 21, and the application is awake
    /// from 13 on.
    #[test]
    fn an_application_writes_a_third_of_the_buffer() {
        assert_eq!(ends(67, |_| 9)[..4], [21, 29, 37, 45]);
        assert_eq!(ends(100, |_| 10)[..4], [30, 40, 50, 60]);
    }

    /// After an idle time the buffer is empty, whatever ends it had.
    #[test]
    fn a_message_after_an_idle_time_fills_an_empty_buffer() {
        let mut writes = Writes::new(100, 1000);
        writes.begin(0, 10_000);
        writes.acked_below(14_000, 10_000);
        writes.begin(14_000, 10_000);
        let ends = (15..=60).filter(|&n| writes.ends_at(n * 1000));
        assert_eq!(ends.collect::<Vec<u64>>(), [44]);
    }

    /// The window falls to half, and the buffer does not.
    #[test]
    fn the_largest_window_sizes_the_buffer() {
        assert_eq!(
            ends(100, |n| if n < 50 { 20 } else { 10 })[..3],
            [60, 80, 100]
        );
    }
}
