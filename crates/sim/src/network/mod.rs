// SPDX-License-Identifier: MIT OR Apache-2.0
//! What lies between hosts: links and what is at their far ends, pauses, losses.

pub mod faults;
mod links;
pub(crate) mod pfc;
pub(crate) mod pool;
pub(crate) mod tap;
pub(crate) mod waypoint;
