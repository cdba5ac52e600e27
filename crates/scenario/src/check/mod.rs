// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refusals of, and warnings about, values that are in their ranges but do not fit together.

pub(crate) mod idle;
mod limits;
pub(crate) mod rules;
pub(crate) mod sense;
pub(crate) mod together;
pub(crate) mod warn;
