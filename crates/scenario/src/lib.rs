// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scenario file (TOML with units) as a typed plan of simulation points.
//!
//! [`load`] takes what a user types (the name of a built-in or a path), [`parse`] a text; both
//! return a [`Plan`] in which nothing is left to choose, or an [`Error`] that says what is wrong,
//! where (file, line, column) and what to write instead. The format is described in
//! `docs/scenarios.md`.
//!
//! ```
//! use cemark_scenario::{Overrides, load};
//!
//! let mut overrides = Overrides { seed: Some(7), ..Overrides::default() };
//! overrides.add("workload.load=0.3,0.6")?;
//! let plan = load("rtt-variation", &overrides)?;
//! assert_eq!(plan.points.len(), 2 * plan.schemes.len());
//! # Ok::<(), cemark_scenario::Error>(())
//! ```
#![warn(clippy::too_many_lines)]

mod aliases;
mod builtin;
mod check;
mod cost;
mod digest;
mod error;
pub mod files;
pub mod guard;
mod own;
mod part;
mod plan;
mod read;
mod reference;
mod schema;
mod sections;
mod settings;
mod typed;
mod visible;

use check::{idle, rules, sense, together, warn};
use read::{declaration, flows, key, param, path, rtts, section, sizes, sweep, tree, units};
use sections::{
    around, chip, class, classes, controllers, edge, fabric, faults, full, graph, host, incast,
    list, long, markers, measure, pfc, poisson, precision, preset, profiles, published, retune,
    rtt, senders, switch, top, transport, workload,
};

pub use builtin::{BENCHES, Builtin, SCENARIOS, builtin, builtins};
pub use declaration::declared_scheme;
pub use error::{Error, alike, near, near_of_many};
pub use graph::topology_of;
pub use own::{AddedMarker, LARGEST_MARKER, OwnMarker};
pub use plan::{Block, Plan, Point, Precision, Published, Warning};
pub use read::{Overrides, load, parse, parse_in};
pub use reference::{DocumentedKey, documented_keys, key_table, with_key_tables};
pub use schema::json_schema;
pub use settings::{Setting, settings, settings_of, value_text, written_at};
pub use typed::{change_in_words, scheme_in_words};
pub use units::{Measure, read_quantity};
pub use visible::{is_hidden, visible, visible_lines};
