// SPDX-License-Identifier: MIT OR Apache-2.0
//! Senders and receivers of flows, and spans of time.

use cemark_wire::Picos;

/// Senders and receivers of flows that arrive at a load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Pairs {
    /// Sender and receiver uniform over all pairs of different hosts.
    All,
    /// All pairs of hosts in different racks.
    OtherRack,
    /// From a uniform one of the other hosts to this one.
    ToOne(u32),
}

/// Senders and receivers of endless flows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum LongFlows {
    /// A random permutation of all hosts without fixed points, `per_host` times.
    Permutation {
        /// Flows that each host sends.
        per_host: u32,
    },
    /// `count` flows to one host; the other hosts are the senders, one after the other.
    ToOne {
        /// Number of flows.
        count: u32,
        /// The receiver.
        receiver: u32,
    },
    /// Pairs of sender and receiver.
    Pairs(Vec<(u32, u32)>),
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Span {
    /// Start of the span.
    pub at: Picos,
    /// Length of the span.
    pub length: Picos,
}
