// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admission to buffers that queues, ports or whole switches share. Every refusal has a reason.

mod active;
mod ingress;
mod policy;
mod pool;
mod share;

pub use active::{Active, Rule};
pub use ingress::{Ingress, Signal, Xoff};
pub use policy::{ALL, PolicySpec, RoomPolicy};
pub use pool::{Pool, PoolId};
pub use share::ActiveShare;

use crate::counters::DropReason;

/// A packet that requests room, and its origin. Lengths do not include the packet.
#[derive(Clone, Copy, Debug)]
pub struct RoomRequest {
    /// Its bytes.
    pub bytes: u32,
    /// Bytes in its queue.
    pub queue_bytes: u32,
    /// Static limit of its queue.
    pub queue_limit: u32,
    /// Whether its queue may use headroom.
    pub lossless: bool,
    /// The link over which it came, where the pool has an ingress side: its place in the list given
    /// to [`Ingress::new`].
    pub from: u32,
    /// Its queue.
    pub queue: usize,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// The packet joins its queue and takes ordinary room.
    Ok,
    /// The packet joins its queue and takes headroom.
    Headroom,
    /// The packet is discarded.
    Drop(DropReason),
}

/// Decides which packets get room in a pool.
///
/// Contract: the owner takes the room that `admit` grants ([`Pool::take`]) and gives the same room
/// back as the packet leaves its queue ([`Pool::give`]). A pool has one policy, the same at all its
/// ports.
pub trait Admission: Send {
    /// Whether the packet gets room.
    fn admit(&mut self, pool: &Pool, request: &RoomRequest) -> Admit;
    /// The longest that queue number `queue` of this static limit may be now, in bytes.
    fn limit(&self, pool: &Pool, queue: usize, queue_limit: u32) -> u32;
}

/// A request of queue 0 for a packet of `bytes` behind `queue_bytes`.
#[cfg(test)]
fn asks(bytes: u32, queue_bytes: u32) -> RoomRequest {
    RoomRequest {
        bytes,
        queue_bytes,
        queue_limit: u32::MAX,
        lossless: false,
        from: 0,
        queue: 0,
    }
}
