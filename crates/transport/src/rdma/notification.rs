// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notification point: which marked packets are answered with a CNP.

use cemark_wire::Nanos;

/// Section 3.1 of the DCQCN paper: a marked packet is answered at once unless the flow had a
/// notification within the gap.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationPoint {
    /// No notification before this instant.
    quiet_until: Nanos,
    sent: u32,
}

impl NotificationPoint {
    /// A packet with CE has arrived: whether a CNP goes out.
    #[inline]
    pub fn marked(&mut self, gap: Nanos, now: Nanos) -> bool {
        let due = now >= self.quiet_until;
        if due {
            self.quiet_until = now + gap;
            self.sent += 1;
        }
        due
    }

    /// Notifications sent.
    pub fn sent(&self) -> u32 {
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_notification_a_gap() {
        let mut np = NotificationPoint::default();
        let gap = Nanos::from_micros(50);
        let due: std::vec::Vec<bool> = [0, 10, 49_999, 50_000, 50_001, 120_000, 169_999, 170_000]
            .map(|t| np.marked(gap, Nanos(t)))
            .into();
        assert_eq!(due, [true, false, false, true, false, true, false, true]);
        assert_eq!(np.sent(), 4);
    }
}
