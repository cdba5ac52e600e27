// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a sender reacts: sans-IO connections and congestion control.
//!
//! Nothing here reads a clock or a socket: time and segments are arguments, what to send and when
//! to wake are answers.
//!
//! [`Sender`] and [`Receiver`] are the two ends of one direction of a stream, small enough that a
//! simulator holds millions; [`Connection`] puts one of each behind quinn's verbs for whoever
//! embeds a whole endpoint. [`rdma`] has the two ends of a queue pair, which sends at a rate. What
//! a loss or a mark does to the window is a [`Controller`]; which bytes to send again is not its
//! business.
#![no_std]
#![warn(clippy::too_many_lines)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bbr;
mod config;
mod connection;
mod controller;
mod cubic;
mod dctcp;
mod delivery;
mod ecn_star;
mod paced;
mod ranges;
pub mod rdma;
mod receiver;
mod recovery;
mod reno;
mod rtt;
mod segment;
mod sender;
mod window;

pub use bbr::Bbr;
pub use config::{Config, Control};
pub use connection::{Connection, Event, Frame, MessageId, SackBlocks};
pub use controller::{Acked, Congestion, Controller, Cut, Lost};
pub use cubic::{Cubic, CubicSpec};
pub use dctcp::{ALPHA_ONE, Dctcp};
pub use delivery::Delivered;
pub use ecn_star::EcnStar;
pub use paced::Paced;
pub use receiver::Receiver;
pub use reno::Reno;
pub use segment::{Ack, Acks, Segment, segment_wire_bytes};
pub use sender::{Sender, SenderStats};
pub use window::Window;
