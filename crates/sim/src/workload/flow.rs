// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow, and the hashes by which its connection chooses among equal paths.

use std::num::NonZeroU32;

use cemark_wire::Picos;

use crate::scramble::hash;

/// A flow as the simulator starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number of the flow: unique in the point, the same for every scheme.
    pub id: u64,
    /// Start.
    pub start: Picos,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes; `u64::MAX` is endless.
    pub bytes: u64,
    /// Which workload it belongs to.
    pub workload: u16,
    /// Queue class (the first, where the class depends on bytes sent).
    pub class: u8,
    /// Whether its completion is recorded and awaited.
    pub measured: bool,
    /// Number of the query that the flow answers, from 1 within its workload; `None` without one.
    pub query: Option<NonZeroU32>,
    /// Delay added behind the sender's NIC (drawn RTT less the propagation of its path, both ways;
    /// never negative).
    pub extra: Picos,
}

impl Flow {
    /// The hash by which a fresh connection of this flow chooses among the NICs of its hosts, and,
    /// from NIC to NIC, among equal paths for its data.
    pub fn path(&self, seed: u64) -> u64 {
        path(seed, self.src, self.dst, self.id)
    }
}

/// The hash of [`Flow::path`] for a connection of any name: a fresh connection is called after its
/// flow.
pub(crate) fn path(seed: u64, src: u32, dst: u32, name: u64) -> u64 {
    hash(seed, u64::from(src) << 32 | u64::from(dst), name, 2)
}

/// The hash by which a connection of this name chooses among equal paths for its acknowledgements.
pub(crate) fn path_back(seed: u64, src: u32, dst: u32, name: u64) -> u64 {
    hash(seed, u64::from(src) << 32 | u64::from(dst), name, 3)
}
