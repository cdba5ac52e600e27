// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every scheme of the catalogue in every form, compared decision by decision: random traces in
//! Rust and in C, bytecode or a kernel, and the golden vectors on P4 programs. A kernel, a switch
//! and the simulator then mark the same packets.

pub mod differential;
mod p4;
#[cfg(target_os = "linux")]
mod tc;

pub use cemark_p4::Rounding;
pub use p4::{OnP4, replay_p4};
#[cfg(target_os = "linux")]
pub use tc::OnTc;
