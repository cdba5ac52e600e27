// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one place that writes Congestion Experienced.

use cemark_marking::{Verdict, Why};
use cemark_wire::Ecn;

/// Policy for packets that should be marked and are not ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum NonEct {
    /// The packet passes unmarked.
    Forward,
    /// The packet is discarded.
    Drop,
}

/// Fate of a packet that a marker has judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet is sent as it came.
    Passed,
    /// The packet is sent with CE, which was written here (or confirmed: CE from an upstream switch
    /// counts as a mark of this port too).
    Marked(Why),
    /// The packet should have been marked, is not ECN-capable, and is sent unmarked.
    Spared,
    /// The marker wants it discarded.
    Dropped,
    /// The packet should have been marked, is not ECN-capable, and the policy discards it.
    DroppedNotEct,
}

/// Turns a marker's final verdict into the packet's fate and writes CE where it says so. CE is
/// never cleared.
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

    /// Withdrawing an intent does not clear CE: a mark of an upstream switch stays, whatever a
    /// scheme that withdraws its intents answers.
    #[test]
    fn cedm_never_clears_an_upstream_ce() {
        use cemark_marking::{At, Marker, QueueSpec, cedm};
        use cemark_wire::{Nanos, Rate};
        let queue = QueueSpec::fifo(Rate::gbps(10));
        let mut marker = cedm::Cedm::from_config(cedm::CedmConfig::default(), &queue);
        let (mut withdrawn, mut kept) = (0, 0);
        let mut intents = std::collections::VecDeque::from([None; 20]);
        for n in 0..1_000u64 {
            // A queue that falls from 60 KB and rises again, every 80 packets; a packet leaves 20
            // packets after it has joined.
            let length = (n % 80).abs_diff(40) as u32 * 1_500;
            let at = At {
                ecn: Ecn::Ce,
                ..At::arrival(Nanos(n * 1_200), length, 1_500)
            };
            intents.push_back(match marker.enqueue(&at) {
                Verdict::Mark(why) => Some(why),
                _ => None,
            });
            let intent = intents.pop_front().flatten();
            let verdict = marker.dequeue(&At { intent, ..at });
            withdrawn += u32::from(intent.is_some() && verdict == Verdict::Pass);
            kept += u32::from(verdict != Verdict::Pass);
            let mut ecn = Ecn::Ce;
            apply(verdict, &mut ecn, NonEct::Forward);
            assert_eq!(ecn, Ecn::Ce);
        }
        assert!(
            withdrawn > 10 && kept > 10,
            "{withdrawn} withdrawn, {kept} kept"
        );
    }
}
