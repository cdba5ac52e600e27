// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod arrivals;
mod config;
mod declarations;
mod ecn_sharp_tofino;
mod fixed;
mod house;
mod linux;
mod properties;
mod vectors;
