// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proportional rate reduction (RFC 6937): a window that shrinks over a round trip.

/// The reduction of one sender, in bytes.
#[derive(Debug, Default)]
pub(crate) struct Prr {
    /// Whether a reduction is under way.
    active: bool,
    /// The window before it (the RFC's RecoverFS).
    prior: u64,
    /// Delivered since it began.
    delivered: u64,
    /// Sent since it began.
    out: u64,
    /// Bytes that may be in flight now.
    window: u64,
    /// Everything below it was sent before the reduction.
    end: u64,
    /// The reduction answers a loss and ends when `end` is acknowledged. A reduction for an echo
    /// ends one byte later, when the first segment of the smaller window is acknowledged, which
    /// carried CWR.
    for_loss: bool,
}

impl Prr {
    /// A reduction from `prior` begins, or one that is under way becomes one for a loss.
    pub(crate) fn begin(&mut self, prior: u64, nxt: u64, for_loss: bool) {
        self.end = nxt;
        self.for_loss = for_loss;
        if !self.active {
            self.active = true;
            self.prior = prior.max(1);
            self.window = prior;
            self.delivered = 0;
            self.out = 0;
        }
    }

    pub(crate) fn stop(&mut self) {
        self.active = false;
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn acked_below(&mut self, una: u64) {
        if una > self.end || self.for_loss && una == self.end {
            self.active = false;
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Bytes that may be in flight, if a reduction is under way.
    pub(crate) fn window(&self) -> Option<u64> {
        self.active.then_some(self.window)
    }

    pub(crate) fn sent(&mut self, len: u64) {
        self.out += len;
    }

    /// `bytes` were delivered; `target` is what the window shall become. `clean` says that the
    /// cumulative number advanced and nothing more was found lost (RFC 6937 section 3.1, with the
    /// slow-start bound, and conservation instead of it without that sign of progress).
    pub(crate) fn delivered(
        &mut self,
        bytes: u64,
        target: u64,
        in_flight: u64,
        clean: bool,
        mss: u64,
    ) {
        if !self.active || bytes == 0 {
            return;
        }
        self.delivered += bytes;
        let more = if in_flight > target {
            // Whole segments, rounded up.
            let due = u128::from(self.delivered) * u128::from(target);
            let due = due.div_ceil(u128::from(self.prior) * u128::from(mss)) as u64 * mss;
            due.saturating_sub(self.out)
        } else {
            let behind = self.delivered.saturating_sub(self.out).max(bytes);
            let limit = behind + if clean { mss } else { 0 };
            limit.min(target - in_flight)
        };
        let first = if self.out == 0 { mss } else { 0 };
        self.window = (in_flight + more.max(first)).max(mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 10 segments that shall become 7: of every ten ACKs seven let a segment out.
    #[test]
    fn seven_of_ten_acks_send() {
        let mut prr = Prr::default();
        prr.begin(10_000, 10_000, false);
        let (mut in_flight, mut sent) = (10_000, [0; 10]);
        for n in &mut sent {
            in_flight -= 1_000;
            prr.delivered(1_000, 7_000, in_flight, true, 1_000);
            while in_flight + 1_000 <= prr.window().unwrap() {
                prr.sent(1_000);
                in_flight += 1_000;
                *n += 1;
            }
        }
        // By hand: ceil(0.7 n) segments after n ACKs, until no more than the target is in flight.
        assert_eq!(sent, [1, 1, 1, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(in_flight, 7_000);
        prr.acked_below(10_000);
        assert!(
            prr.is_active(),
            "for an echo the next segment has to be acknowledged"
        );
        prr.acked_below(11_000);
        assert_eq!(prr.window(), None);
    }

    /// Below the target, what losses took is made up for by slow start, and no faster.
    #[test]
    fn below_the_target_it_grows_by_one_segment_an_ack() {
        let mut prr = Prr::default();
        prr.begin(10_000, 10_000, true);
        // Six of ten are lost: one in flight after three SACKs.
        prr.delivered(3_000, 5_000, 1_000, false, 1_000);
        assert_eq!(prr.window(), Some(4_000), "what was delivered");
        prr.sent(3_000);
        prr.delivered(1_000, 5_000, 3_000, true, 1_000);
        assert_eq!(prr.window(), Some(5_000), "and one more for progress");
        prr.acked_below(10_000);
        assert!(!prr.is_active());
    }

    #[test]
    fn a_loss_during_a_reduction_does_not_start_it_again() {
        let mut prr = Prr::default();
        prr.begin(10_000, 10_000, false);
        prr.delivered(4_000, 7_000, 6_000, true, 1_000);
        prr.sent(1_000);
        prr.begin(7_000, 12_000, true);
        assert_eq!((prr.prior, prr.delivered, prr.out), (10_000, 4_000, 1_000));
        prr.acked_below(11_000);
        assert!(prr.is_active());
    }
}
