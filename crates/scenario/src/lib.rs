// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario file (TOML with units) as a typed plan of simulation points.

mod plan;

mod standin;
pub use standin::{Builtin, Error, Overrides, builtins, load};
pub use plan::{Plan, Point, Published};
