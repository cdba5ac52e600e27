// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is refused or warned of although each value by itself is in its range.

pub(crate) mod idle;
mod limits;
pub(crate) mod rules;
pub(crate) mod sense;
pub(crate) mod together;
pub(crate) mod warn;
