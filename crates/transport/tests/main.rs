// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod bbr;
mod connection;
mod cubic;
mod examples;
mod flight;
mod harness;
mod physics;
mod rdma;
mod recovery;
mod sender;
mod stack;
mod undo;
