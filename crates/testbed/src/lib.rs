// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulation point as a network of Linux namespaces: what a kernel cannot do of it, what to set
//! up, what to send, and what was measured.
//!
//! Nothing here runs a command or reads a clock. [`Lab::new`] makes of a [`Config`] a list of `ip`
//! and `tc` commands and of flows, the same ones that the simulator sends. Whoever runs them hands
//! back a [`Record`], and [`Record::outcome`] makes of it the
//! [`Outcome`](cemark_sim::Outcome) that a simulation leaves.

mod build;
mod echo;
mod lab;
mod network;
mod qdisc;
mod record;
mod refusal;
mod rtt;

pub use lab::{Batch, CONTROLS, Endless, Key, Lab, LabFlow, LabProbe, Setting, Times};
pub use network::{address, host, port, switch};
pub use qdisc::{Dscps, exported};
pub use record::{LongCount, PortCount, Record};
pub use refusal::Refusal;
pub use rtt::{BANDS, discrete};

use cemark_sim::Config;

/// Refuses what a kernel cannot do of a point.
///
/// # Errors
/// The first key that a kernel has no counterpart of, with its value and what to write instead.
pub fn check(config: &Config) -> Result<(), Refusal> {
    refusal::check(config)?;
    echo::check(config)
}
