// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boxes at the edge of a data centre: they see every packet between two links, and may keep, copy,
//! make and drop packets.
//!
//! A box is no marker: it does not judge queues. [`Near`] and [`Far`] are the two routers of DCIB
//! (Bahnasy et al., Figures 5 to 9): the first makes some packets droppable and keeps copies, the second says which
//! arrived. What ends or reads TCP is not here but a node of the simulator.

mod actions;
mod config;
mod far;
mod near;
mod order;
mod select;
mod shim;
mod stalled;

pub use actions::{Actions, Step, Tally};
pub use config::{AckForm, CePolicy, CopyPolicy, DcibConfig, Recovery};
pub use far::{Far, FarStats};
pub use near::{Near, NearStats};
pub use shim::{Header, Headers, Report, SHIM, Shim};

use cemark_wire::{Nanos, Packet};

/// A box between two links. It says what becomes of a packet through [`Actions`], in order; a
/// packet it says nothing about is lost to the books, so it must say something of each.
pub trait Middlebox: Send {
    /// A packet has arrived.
    fn on_packet(&mut self, now: Nanos, packet: Packet, out: &mut Actions);
    /// When to call [`Middlebox::wake`]; asked after every call.
    fn next_wake(&self) -> Option<Nanos>;
    /// Its time has come. Does nothing when called early.
    fn wake(&mut self, now: Nanos, out: &mut Actions);
}
