// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of csg-htsim: topologies (`.topo`) and connection matrices (`.cm`).

mod matrix;
mod topo;

pub use matrix::{Matrix, matrix};
pub use topo::{Topo, topo};
