// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one place that writes Congestion Experienced.

use cemark_marking::{Verdict, Why};
use cemark_wire::Ecn;

/// What becomes of a packet that should be marked and is not ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonEct {
    /// It passes unmarked.
    Forward,
    /// It is discarded.
    Drop,
}

/// What happened to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on as it came.
    Passed,
    /// It goes on with CE, written here (or confirmed: an upstream CE counts as a mark of this port too).
    Marked(Why),
    /// It should have been marked, is not ECN-capable, and goes on.
    Spared,
    /// The marker wants it discarded.
    Dropped,
    /// It should have been marked, is not ECN-capable, and the policy discards it.
    DroppedNotEct,
}

/// Turns a marker's final verdict into the packet's fate and writes CE where it says so. CE is never cleared.
#[inline]
pub fn apply(verdict: Verdict, ecn: &mut Ecn, policy: NonEct) -> Fate {
    match verdict {
        Verdict::Pass => Fate::Passed,
        Verdict::Mark(why) if ecn.is_capable() => {
            *ecn = Ecn::Ce;
            Fate::Marked(why)
        }
        Verdict::Mark(_) => match policy {
            NonEct::Forward => Fate::Spared,
            NonEct::Drop => Fate::DroppedNotEct,
        },
        Verdict::Drop(_) => Fate::Dropped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_capable_packets_are_marked_and_ce_stays() {
        for (start, verdict, policy, fate, end) in [
            (
                Ecn::Ect0,
                Verdict::Mark(Why::Instant),
                NonEct::Drop,
                Fate::Marked(Why::Instant),
                Ecn::Ce,
            ),
            (
                Ecn::Ect1,
                Verdict::Mark(Why::Random),
                NonEct::Drop,
                Fate::Marked(Why::Random),
                Ecn::Ce,
            ),
            (Ecn::Ce, Verdict::Pass, NonEct::Drop, Fate::Passed, Ecn::Ce),
            (
                Ecn::NotEct,
                Verdict::Mark(Why::Instant),
                NonEct::Forward,
                Fate::Spared,
                Ecn::NotEct,
            ),
            (
                Ecn::NotEct,
                Verdict::Mark(Why::Instant),
                NonEct::Drop,
                Fate::DroppedNotEct,
                Ecn::NotEct,
            ),
            (
                Ecn::Ect0,
                Verdict::Drop(Why::Instant),
                NonEct::Forward,
                Fate::Dropped,
                Ecn::Ect0,
            ),
        ] {
            let mut ecn = start;
            assert_eq!(apply(verdict, &mut ecn, policy), fate);
            assert_eq!(ecn, end);
        }
    }
}
