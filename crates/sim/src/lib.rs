// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens in time: events, links, hosts, fabrics, workloads and metrics.
//!
//! [`run`] takes one fully resolved [`Config`] and returns its [`Outcome`]. One point runs on one
//! thread and gives the same result on any machine; points are independent and may run side by
//! side.

mod build;
pub mod config;
mod conn;
mod dupacks;
mod edges;
mod engine;
pub mod events;
pub mod faults;
mod flows;
mod host;
mod ids;
mod metrics;
mod offload;
pub mod outcome;
mod pep;
mod pfc;
mod pool;
mod rdma;
mod scramble;
pub mod topology;
mod waypoint;
pub mod workload;

pub use config::Config;
pub use engine::Progress;
pub use ids::LinkId;
pub use outcome::Outcome;

use events::{EventQueue, Heap, Wheel};

/// Simulates one point.
pub fn run(cfg: &Config) -> Outcome {
    run_with_progress(cfg, &mut |_| true).expect("nobody abandons it")
}

/// Simulates one point; `report` is called now and then and abandons the run by returning false.
pub fn run_with_progress(
    cfg: &Config,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    run_on::<Wheel>(cfg, report)
}

/// Simulates one point on the reference event core, for measuring and checking the other.
pub fn run_on_heap(cfg: &Config) -> Outcome {
    run_on::<Heap>(cfg, &mut |_| true).expect("nobody abandons it")
}

fn run_on<Q: EventQueue>(
    cfg: &Config,
    report: &mut dyn FnMut(Progress) -> bool,
) -> Option<Outcome> {
    let mut sim = engine::Sim::<Q>::new(cfg);
    sim.run(report).then(|| sim.finish())
}
