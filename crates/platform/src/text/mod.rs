// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of configurations as text: JSON values and lines of commands, each with its line number.

pub(crate) mod commands;
pub(crate) mod extent;
pub(crate) mod json;
pub(crate) mod ranges;
