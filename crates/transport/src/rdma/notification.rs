// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notification point: which marked packets cause a CNP.

use cemark_wire::Nanos;

/// Section 3.1 of the DCQCN paper: a marked packet causes a notification at once, unless the flow
/// had one within the gap.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationPoint {
    /// No notification before this time.
    quiet_until: Nanos,
    sent: u32,
}

impl NotificationPoint {
    /// A packet with CE has arrived. Returns whether to send a CNP.
    #[inline]
    pub fn on_ce(&mut self, gap: Nanos, now: Nanos) -> bool {
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
    fn at_most_one_notification_per_gap() {
        let mut np = NotificationPoint::default();
        let gap = Nanos::from_micros(50);
        let due: std::vec::Vec<bool> = [0, 10, 49_999, 50_000, 50_001, 120_000, 169_999, 170_000]
            .map(|t| np.on_ce(gap, Nanos(t)))
            .into();
        assert_eq!(due, [true, false, false, true, false, true, false, true]);
        assert_eq!(np.sent(), 4);
    }
}
