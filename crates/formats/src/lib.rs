// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of other simulators of the field, read as they are: topologies and flow lists of HPCC's
//! ns-3 and of csg-htsim; and files that other tools read, written from a run.
//!
//! Readers take text and give plain values, or a [`Fault`] that names the line, what is wrong there
//! and what to write instead. They open no file, and never panic whatever the text.

pub mod exact;
mod fault;
mod flow;
pub mod flowmonitor;
mod graph;
pub mod hpcc;
pub mod htsim;
mod kind;
mod lines;
mod number;
pub mod pcapng;

pub use fault::{Fallible, Fault};
pub use flow::Flow;
pub use graph::{Graph, Wire};
pub use kind::Kind;
