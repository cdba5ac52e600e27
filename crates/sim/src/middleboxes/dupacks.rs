// SPDX-License-Identifier: MIT OR Apache-2.0
//! The duplicate-ACK filter at the near edge, which DCIB's authors name as further work: while a
//! copy may still fill a hole, the sender does not learn of it. The filter reads TCP and keeps a
//! record for each connection with a hole, which DCIB itself does not.

use std::collections::BTreeMap;

use crate::ids::ConnId;

/// Decision of the filter on an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// The ACK passes as it is.
    Whole,
    /// The ACK passes without its SACK blocks, which would reveal the hole.
    Bare,
    /// The ACK is dropped.
    Never,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The highest cumulative number.
    cum: u64,
    /// When it came.
    at: u64,
}

/// All connections that pass.
#[derive(Debug)]
pub(crate) struct DupAcks {
    /// Ticks that a hole is kept from the sender.
    hold: u64,
    seen: BTreeMap<ConnId, Seen>,
    /// Most records at once.
    peak: usize,
    dropped: u64,
}

impl DupAcks {
    pub fn new(hold: u64) -> Self {
        DupAcks {
            hold,
            seen: BTreeMap::new(),
            peak: 0,
            dropped: 0,
        }
    }

    /// ACKs dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Most connections with a record at once: the state that it needs.
    pub fn records(&self) -> usize {
        self.peak
    }

    /// A connection has ended.
    pub fn forget(&mut self, conn: ConnId) {
        self.seen.remove(&conn);
    }

    /// An ACK of connection `conn` up to `cum` at tick `now`.
    pub fn judge(&mut self, now: u64, conn: ConnId, cum: u64) -> Passage {
        let records = self.seen.len() + usize::from(!self.seen.contains_key(&conn));
        self.peak = self.peak.max(records);
        let seen = self.seen.entry(conn).or_insert(Seen { cum, at: now });
        if cum > seen.cum || (cum < seen.cum && now - seen.at > self.hold) {
            *seen = Seen { cum, at: now };
            return Passage::Bare;
        }
        if now - seen.at > self.hold {
            // The hole exists for longer than a copy would need to fill it.
            return Passage::Whole;
        }
        if cum == seen.cum && seen.at == now {
            // The first of its number, or one in the same instant: nothing is known to be missing.
            return Passage::Bare;
        }
        self.dropped += 1;
        Passage::Never
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_hidden_for_as_long_as_a_copy_may_fill_it() {
        let mut f = DupAcks::new(100);
        assert_eq!(f.judge(0, ConnId(1), 1000), Passage::Bare);
        assert_eq!(f.judge(10, ConnId(1), 1000), Passage::Never);
        assert_eq!(f.judge(100, ConnId(1), 1000), Passage::Never);
        assert_eq!(f.judge(101, ConnId(1), 1000), Passage::Whole);
        // Another connection is not affected.
        assert_eq!(f.judge(102, ConnId(2), 1000), Passage::Bare);
        assert_eq!(f.judge(150, ConnId(1), 3000), Passage::Bare);
        assert_eq!(f.judge(151, ConnId(1), 3000), Passage::Never);
        // An old ACK that was overtaken is not a duplicate.
        assert_eq!(f.judge(152, ConnId(1), 2000), Passage::Never);
        assert_eq!((f.dropped(), f.records()), (4, 2));
    }
}
