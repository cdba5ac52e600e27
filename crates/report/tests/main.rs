// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod beside;
mod charts;
mod common;
mod coverage;
mod coverage_looks;
mod folding;
mod html;
mod measures;
mod metrics;
mod rundir;
mod table;
