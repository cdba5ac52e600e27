// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod differential;
mod ecn_sharp;
mod front;
mod generics;
mod lengths;
mod mutations;
mod spec;
mod v1model;
