// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tail loss probes (RFC 8985 section 7): when one is due, and whether it repaired a loss.

use cemark_wire::Nanos;

use super::sender::Phase;

/// Nanoseconds that the probe waits beyond two round trips (Linux; the RFC leaves a margin to the
/// implementation).
const MARGIN: u64 = 2_000_000;

/// The probe of one sender.
#[derive(Debug)]
pub(crate) struct Tlp {
    /// `rto_min`, which a single segment waits longer, since its ACK may be delayed.
    longer: u64,
    /// When the probe is due.
    at: Option<Nanos>,
    /// The episode ends when this is acknowledged; `None`: no probe is under way.
    high: Option<u64>,
    /// Its timestamp, if it was a retransmission.
    ts: Option<u32>,
    /// Beginning of the last new segment.
    pub(crate) last: u64,
    /// The phase to which the sender returns when the probe has left.
    pub(crate) before: Phase,
}

impl Tlp {
    pub(crate) fn new(rto_min: Nanos) -> Tlp {
        Tlp {
            longer: rto_min.0,
            at: None,
            high: None,
            ts: None,
            last: 0,
            before: Phase::Open,
        }
    }

    /// Something is outstanding, a single segment if `alone`: the probe is due two round trips from
    /// now, but never after the retransmission timeout.
    pub(crate) fn arm(&mut self, now: Nanos, srtt: u64, alone: bool, timeout: Nanos) {
        self.at = Some(match srtt {
            0 => timeout,
            _ => {
                let margin = if alone { self.longer } else { MARGIN };
                (now + Nanos(2 * srtt + margin)).min(timeout)
            }
        });
    }

    /// Nothing is outstanding, or a recovery takes care of it.
    pub(crate) fn disarm(&mut self) {
        self.at = None;
    }

    pub(crate) fn wake(&self) -> Option<Nanos> {
        self.at
    }

    /// Whether the time has come; the answer is given once. At most one probe is under way.
    pub(crate) fn is_due(&mut self, now: Nanos) -> Option<bool> {
        if self.at.is_none_or(|at| now < at) {
            return None;
        }
        self.at = None;
        Some(self.high.is_none())
    }

    /// The probe leaves: `ts` if it is a retransmission, `nxt` is the next new byte after it.
    pub(crate) fn sent(&mut self, nxt: u64, ts: Option<u32>) {
        self.high = Some(nxt);
        self.ts = ts;
    }

    /// Whether a retransmission that probes is under way.
    pub(crate) fn repeats(&self) -> bool {
        self.high.is_some() && self.ts.is_some()
    }

    /// A loss was found by other means.
    pub(crate) fn end(&mut self) {
        self.high = None;
        self.at = None;
    }

    /// An acknowledgement up to `cum` that echoes `ts`. True if it says that the probe has replaced
    /// a lost segment: it is the probe's own timestamp, so nothing had arrived there before. (The
    /// RFC waits for a DSACK that says otherwise.)
    pub(crate) fn repaired(&mut self, cum: u64, ts: u32) -> bool {
        if self.high.is_none_or(|high| cum < high) {
            return false;
        }
        self.high = None;
        self.ts.take() == Some(ts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_after_two_round_trips_or_with_the_timeout() {
        let mut tlp = Tlp::new(Nanos(200_000_000));
        tlp.arm(Nanos(0), 100_000, false, Nanos(200_100_000));
        assert_eq!(tlp.wake(), Some(Nanos(2_200_000)));
        tlp.arm(Nanos(0), 100_000, true, Nanos(200_100_000));
        assert_eq!(tlp.wake(), Some(Nanos(200_100_000)), "a single segment");
        tlp.arm(Nanos(0), 0, false, Nanos(1_000_000_000));
        assert_eq!(tlp.wake(), Some(Nanos(1_000_000_000)), "no sample yet");
        assert_eq!(tlp.is_due(Nanos(999_999_999)), None);
        assert_eq!(tlp.is_due(Nanos(1_000_000_000)), Some(true));
        assert_eq!(tlp.is_due(Nanos(1_000_000_001)), None, "once");
    }

    #[test]
    fn one_probe_at_a_time_and_its_timestamp_tells_a_repair() {
        let mut tlp = Tlp::new(Nanos(200_000_000));
        for (ts, echoed, repaired) in [(Some(7), 7, true), (Some(7), 6, false), (None, 7, false)] {
            tlp.sent(5_000, ts);
            tlp.arm(Nanos(0), 100_000, false, Nanos(200_100_000));
            assert_eq!(tlp.is_due(Nanos(2_200_000)), Some(false));
            assert!(!tlp.repaired(4_000, echoed));
            assert_eq!(tlp.repaired(5_000, echoed), repaired);
            assert!(!tlp.repaired(5_000, echoed), "the episode is over");
        }
    }
}
