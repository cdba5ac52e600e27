// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults of a link: losses that are not caused by queues, and routers that bleach the ECN field.

/// Probability 1 in the unit of every probability here: parts of 2^32.
pub const ALWAYS: u64 = 1 << 32;

/// Most full packets of loss that may wait for a Not-ECT packet: beyond that a router drops
/// something else.
pub const MOST_DUE: i64 = 16;

/// Faults of one link (one direction of a cable).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LinkFault {
    /// Number of the link in [`Fabric::links`](crate::topology::Fabric::links).
    pub link: u32,
    /// When a loss is due.
    pub loss: Loss,
    /// Which packet pays it.
    pub victims: Victims,
    /// The ECN field of every packet is cleared to Not-ECT at its far end.
    pub bleach: bool,
}

/// When a loss is due. Probabilities in parts of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Loss {
    /// Each packet by itself.
    Uniform {
        /// Chance of a loss.
        chance: u64,
    },
    /// Gilbert and Elliott: two states, entered and left packet by packet.
    Bursty {
        /// Chance to go from the good state to the bad one.
        enter: u64,
        /// Chance to go back.
        leave: u64,
        /// Chance of a loss in the good state.
        good: u64,
        /// Chance of a loss in the bad state.
        bad: u64,
    },
}

/// Which packets a loss may hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Victims {
    /// Any: the packet at which the loss is due.
    Any,
    /// Only Not-ECT packets count and only they are lost.
    NotEct,
    /// Losses are drawn over all packets, but the bytes are taken from the next Not-ECT packets: a
    /// router that drops the same share of its load and prefers packets that it cannot mark (the
    /// cooperative WAN of DCIB). They are counted in bytes, otherwise each ACK on the link would
    /// cost a full packet. Where [`MOST_DUE`] full packets are due already, the current packet is
    /// lost.
    PreferNotEct,
}
