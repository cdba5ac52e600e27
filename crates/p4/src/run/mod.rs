// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a program: packets in, packets out, registers that stay.

mod arith;
mod machine;
mod packet;

pub(crate) use arith::{fold, mask, math};
pub use machine::{Machine, Rounding};
pub(crate) use packet::Written;
