// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulates the points of a plan on the cores of a machine, and stores each as it finishes.
//!
//! This is `cemark run` without its terminal, for every program that runs scenarios: the command,
//! the figures and the Python package. A [`StopRule`] says which points are simulated and when
//! there are enough. What happens meanwhile is told to a [`Show`], and a flag ends the run at the
//! next progress report of its points.

pub mod clock;
mod cores;
mod elsewhere;
mod failure;
mod looks;
pub mod marker;
pub mod memory;
mod run;
mod schedule;
mod show;
mod simulate;
mod stop;
mod threads;
mod who;
mod work;

pub use cores::{Cores, Split};
pub use elsewhere::{Bench, Handed, Sent};
pub use failure::Failure;
pub use run::{Order, Ran, run};
pub use show::{Show, Silent};
pub use stop::{Results, StopRule, longest_first};
pub use who::{SIMULATOR, provenance};
pub use work::{Work, simulate};
