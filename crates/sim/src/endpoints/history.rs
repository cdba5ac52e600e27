// SPDX-License-Identifier: MIT OR Apache-2.0
//! When senders' counters changed. In a divided simulation the shard that ends a flow may not have
//! its sender: what counts of it is known when the shards are put together.

use std::collections::BTreeMap;

use super::conn::Counts;
use crate::agenda::When;
use crate::ids::ConnId;

/// When a sender's counters changed, and to what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    conn: ConnId,
    when: When,
    counts: Counts,
}

/// See the module's text.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// By connection: its sender's counters when last noted.
    noted: Vec<Counts>,
    /// In order of events, of one shard.
    pub changes: Vec<Change>,
}

impl History {
    /// Notes the counters of a connection's sender.
    pub fn note(&mut self, when: When, conn: ConnId, counts: Counts) {
        let i = conn.0 as usize;
        if i >= self.noted.len() {
            self.noted.resize(i + 1, Counts::default());
        }
        if self.noted[i] != counts {
            self.noted[i] = counts;
            self.changes.push(Change { conn, when, counts });
        }
    }

    /// All changes by connection.
    pub fn by_connection(&mut self) -> ByConnection {
        let mut of: BTreeMap<ConnId, Vec<Change>> = BTreeMap::new();
        for change in self.changes.drain(..) {
            of.entry(change.conn).or_default().push(change);
        }
        ByConnection(of)
    }
}

/// The changes of each connection.
pub(crate) struct ByConnection(BTreeMap<ConnId, Vec<Change>>);

impl ByConnection {
    /// The counters of a connection before an event.
    pub fn until(&self, conn: ConnId, when: When) -> Counts {
        let of = self.0.get(&conn).map_or(&[][..], Vec::as_slice);
        match of.partition_point(|change| change.when < when) {
            0 => Counts::default(),
            n => of[n - 1].counts,
        }
    }
}
