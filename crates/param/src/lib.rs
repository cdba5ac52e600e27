// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations of parameters: marking schemes, congestion controllers and topologies declare them
//! with [`config!`], and scenario files, commands, documents and `tc` read the declarations.
//!
//! The crate is `no_std` and allocates nothing. The feature `text` writes stored values as scenario
//! files, messages, tables, `tc` and JSON have them; without it the crate has no floats.
//!
//! ```
//! use cemark_param::{Values, config};
//! use cemark_wire::Nanos;
//!
//! config! {
//!     /// Parameters of a marker.
//!     pub struct TcnConfig {
//!         /// Longest sojourn time that is not marked.
//!         threshold: Nanos = time(85_000, 0..=1_000_000_000),
//!     }
//! }
//!
//! let mut values = Values::from(TcnConfig::default());
//! assert_eq!(values.get(0), 85_000);
//! values.0[0] = 5_000_000_000;
//! assert_eq!(TcnConfig::from(&values).threshold.0, 1_000_000_000); // the nearest inside
//! ```
#![no_std]

pub mod config;
mod fraction;
mod kind;
#[cfg(feature = "text")]
mod show;
mod spec;
mod values;

pub use config::{Field, LONGEST_DELAY, RATES, SECOND};
pub use fraction::{Fraction, ONE};
pub use kind::Kind;
#[cfg(feature = "text")]
pub use show::{Dialect, Shown};
pub use spec::{Absent, Declares, ParamSpec, place};
pub use values::{MAX_PARAMS, OutOfRange, Values};
