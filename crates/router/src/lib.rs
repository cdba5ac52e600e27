// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two routers of DCIB on real packets. [`Router`] has no device, no socket and no clock, so
//! that tests put a pair of them over any channel; the program `cemark-edge` puts it between a tun
//! device and UDP sockets.
#![warn(clippy::too_many_lines)]

pub mod config;
pub mod copies;
pub mod counts;
pub mod incoming;
pub mod inner;
pub mod key;
pub mod outgoing;
mod peer;
pub mod quantity;
mod replay;
mod router;
#[cfg(target_os = "linux")]
pub mod run;
pub mod wire;

pub use outgoing::Bounds;
pub use router::{Ports, Router, Settings};
