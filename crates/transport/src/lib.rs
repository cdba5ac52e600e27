// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a sender reacts: sans-IO connections and congestion control.
//!
//! Nothing here reads a clock or a socket: time and segments are arguments, what to send and when to wake are answers.

mod config;

pub use config::{Config, Control};
