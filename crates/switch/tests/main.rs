// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate: one program, one module for each subject.
#![allow(missing_docs)]

mod common;
mod pauses;
mod rounds;
mod shares;
mod unlike;
