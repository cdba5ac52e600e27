// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends next: one file a scheduler.

mod fifo;

pub use fifo::Fifo;

use cemark_marking::QueueId;
use cemark_wire::Nanos;

/// The answer of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The queue whose head is sent.
    pub queue: QueueId,
    /// Whether this packet is the last of the queue's turn (rounds are measured from it).
    pub turn_ends: bool,
}

/// What a scheduler may look at: the length of the head and of the packet behind it, for each queue (0: none).
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a> {
    /// (head, next) in bytes by queue.
    pub lengths: &'a [(u32, u32)],
    /// Bit i set: queue i may not send (PFC).
    pub paused: u32,
}

/// Decides which queue of a port sends next.
///
/// Contract: `arrived` is called once for every packet that joins, in time order; `pick` only while the link is free; a packet
/// picked and then discarded by the marker is handed back with `refunded` before the next `pick`.
pub trait Scheduler: Send {
    /// A packet has joined a queue.
    fn arrived(&mut self, queue: QueueId, bytes: u32, now: Nanos);
    /// Which queue sends its head now; `None` if all are empty or paused.
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick>;
    /// The packet just picked was discarded and used no link time.
    fn refunded(&mut self, queue: QueueId, bytes: u32);
}
