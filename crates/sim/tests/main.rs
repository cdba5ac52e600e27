// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod buffers;
mod chains;
mod classes;
mod common;
mod conservation;
mod dcqcn;
mod edges;
mod goodput;
mod hosts;
mod idle;
mod limits;
mod mixed;
mod order;
mod pfc;
mod queues;
mod retune;
mod shards;
mod taps;
mod wide;
mod window;
