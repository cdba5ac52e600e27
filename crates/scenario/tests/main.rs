// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod classes;
mod command_line;
mod common;
mod controls;
mod costs;
mod docs;
mod edges;
mod errors;
mod flows;
mod graphs;
mod identity;
mod large;
mod limits;
mod mistakes;
mod mutate;
mod mutations;
mod nonsense;
mod own;
mod plans;
mod precision;
mod presets;
mod queues;
mod retune;
mod rtts;
mod schema;
mod schemes;
mod sweeps;
mod together;
mod topologies;
mod units;
mod warnings;
