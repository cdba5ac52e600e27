// SPDX-License-Identifier: MIT OR Apache-2.0
//! Middleboxes at the edge of a data centre. A middlebox sees every packet between two links, and
//! may hold, copy, create and drop packets; a middlebox judges no queue.
//!
//! The two routers of DCIB are [`Near`], which makes some packets droppable and keeps copies, and
//! [`Far`], which acknowledges the packets that arrived. Middleboxes that terminate or parse TCP
//! are parts of the simulator.
#![warn(clippy::too_many_lines)]

mod actions;
mod config;
mod far;
mod near;
mod order;
mod select;
mod shim;
mod stalled;

pub use actions::{Actions, Step, Tally};
pub use config::{AckForm, CePolicy, Clones, CopyPolicy, DcibConfig, Recovery};
pub use far::{Far, FarStats};
pub use near::{Near, NearStats};
pub use shim::{Header, Headers, Report, SHIM, Shim};

use cemark_wire::{Nanos, Packet};

/// A middlebox between two links. It reports what happens to each packet through [`Actions`], in
/// order. It must report every packet, or the counters no longer balance.
pub trait Middlebox: Send {
    /// A packet has arrived.
    fn on_packet(&mut self, now: Nanos, packet: Packet, out: &mut Actions);
    /// When to call [`Middlebox::wake`]; asked after every call.
    fn next_wake(&self) -> Option<Nanos>;
    /// The time of [`Middlebox::next_wake`] has come. Does nothing when called early.
    fn wake(&mut self, now: Nanos, out: &mut Actions);
}
