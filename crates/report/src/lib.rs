// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables, charts, run directories, and figures against published values.
//!
//! Everything here is a function of a [`Plan`](cemark_scenario::Plan) and the
//! [`Outcome`](cemark_sim::Outcome)s of its points: the same outcomes give the same table on every
//! machine. Wall-clock times and dates are arguments.

mod columns;
mod drops;
mod error;
pub mod figure;
pub mod html;
mod lock;
pub mod model;
pub mod params;
pub mod pauses;
pub mod rundir;
mod seal;
mod sentence;
pub mod stats;
mod stored;
pub mod summary;
pub mod table;
mod tables;
pub mod units;

pub use error::{Error, Fault};
pub use model::{Comparisons, Group, Metric, Row};
pub use rundir::{Console, Finished, Provenance, RunDir};
pub use summary::{PointSummary, RunSummary};
