// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types that all cemark crates share: time, rates, the ECN field and the packet header.
//!
//! The crate has no dependency, allocates nothing and makes no decision.
//!
//! ```
//! use cemark_wire::{Ecn, Nanos, Rate};
//!
//! // A threshold on the sojourn time, and the equal queue length at 10 Gb/s.
//! assert_eq!(Rate::gbps(10).bytes_in(Nanos::from_micros(200)), 250_000);
//! // The low two bits of an IPv4 TOS or IPv6 Traffic Class byte.
//! let field = Ecn::from_bits(0b1011_1010);
//! assert_eq!(field, Ecn::Ect0);
//! assert!(field.is_capable(), "a switch may write CE on this packet");
//! ```
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
