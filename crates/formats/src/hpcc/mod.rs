// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the ns-3 simulator of HPCC (SIGCOMM 2019) and of the many that were made from it: PINT,
//! PowerTCP and others use the same `topology.txt`, `flow.txt`, `config.txt` and `fct.txt`.

mod config;
mod fct;
mod flows;
mod keys;
mod topology;

pub use config::{Config, Control, Note, Ramp, USUAL_PAYLOAD};
pub use fct::{Done, Ended, fct, read_fct};
pub use flows::{Flows, flows, uncounted};
pub use keys::{Fate, KEYS, fate};
pub use topology::{Topology, topology};
