// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables, charts, pages and run directories.
//!
//! Everything here is a function of a [`Plan`](cemark_scenario::Plan) and the
//! [`Outcome`](cemark_sim::Outcome)s of its points: the same outcomes give the same table on every
//! machine. Wall-clock times and dates are arguments.

pub mod beside;
pub mod by_port;
pub mod by_size;
pub mod chart;
pub mod comparison;
pub mod cumulative;
mod error;
pub mod html;
pub mod metrics;
pub mod params;
pub mod pauses;
pub mod rundir;
pub mod stats;
pub mod summary;
pub mod table;
pub mod text;
pub mod theory;
pub mod units;

pub use beside::Beside;
pub use comparison::{Comparisons, Group, Row};
pub use error::{Error, Fault};
pub use metrics::Metric;
pub use rundir::{Console, Finished, Provenance, RunDir, share};
pub use summary::{PointSummary, RunSummary};
