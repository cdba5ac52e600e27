// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens in time: events, links, hosts, fabrics, workloads and metrics.

pub mod config;
pub mod outcome;
pub mod topology;
pub mod workload;

mod standin;
pub use standin::{Progress, run_with_progress};
pub use config::Config;
pub use outcome::Outcome;
