// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words every cemark crate shares: time, rates, the ECN field and the packet header.
//!
//! A leaf: it depends on nothing, allocates nothing and decides nothing.
#![no_std]

mod ecn;
pub mod hash;
mod packet;
mod rate;
mod time;

pub use ecn::Ecn;
pub use packet::{Fields, Flags, NONE, Packet};
pub use rate::Rate;
pub use time::{Nanos, Picos};
