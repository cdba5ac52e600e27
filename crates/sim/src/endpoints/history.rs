// SPDX-License-Identifier: MIT OR Apache-2.0
//! When the counters of connections' ends changed. In a divided simulation the shard that ends a
//! flow may not have its other end: what that has counted by then is known when the shards are put
//! together.

use std::collections::BTreeMap;

use super::conn::Counts;
use crate::agenda::When;
use crate::ids::ConnId;

/// Counter histories of the ends whose flows other shards may end.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    /// Counts of senders, where receivers end flows.
    pub senders: History<Counts>,
    /// Packets of the flow with CE that receivers have taken, where senders end flows.
    pub marks: History<u32>,
}

/// When a counter changed, and to what.
#[derive(Clone, Copy, Debug)]
struct Change<T> {
    conn: ConnId,
    when: When,
    value: T,
}

/// See the module's text.
#[derive(Debug, Default)]
pub(crate) struct History<T> {
    /// By connection: the counter when last noted.
    noted: Vec<T>,
    /// In order of events, of one shard.
    changes: Vec<Change<T>>,
}

impl<T: Copy + Default + PartialEq> History<T> {
    /// Notes the counter of a connection, which seldom changes.
    #[inline]
    pub fn note(&mut self, when: When, conn: ConnId, value: T) {
        if self.noted.get(conn.0 as usize) != Some(&value) {
            self.note_change(when, conn, value);
        }
    }

    #[cold]
    fn note_change(&mut self, when: When, conn: ConnId, value: T) {
        let i = conn.0 as usize;
        if i >= self.noted.len() {
            self.noted.resize(i + 1, T::default());
        }
        if self.noted[i] != value {
            self.noted[i] = value;
            self.changes.push(Change { conn, when, value });
        }
    }

    /// Takes what another shard has noted.
    pub fn absorb(&mut self, other: History<T>) {
        self.changes.extend(other.changes);
    }

    /// All changes by connection.
    pub fn by_connection(&mut self) -> ByConnection<T> {
        let mut of: BTreeMap<ConnId, Vec<Change<T>>> = BTreeMap::new();
        for change in self.changes.drain(..) {
            of.entry(change.conn).or_default().push(change);
        }
        ByConnection(of)
    }
}

/// The changes of each connection.
pub(crate) struct ByConnection<T>(BTreeMap<ConnId, Vec<Change<T>>>);

impl<T: Copy + Default> ByConnection<T> {
    /// The counter of a connection before an event.
    pub fn until(&self, conn: ConnId, when: When) -> T {
        let of = self.0.get(&conn).map_or(&[][..], Vec::as_slice);
        match of.partition_point(|change| change.when < when) {
            0 => T::default(),
            n => of[n - 1].value,
        }
    }
}
