// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declaration of a topology: its word in scenario files and its keys.

use cemark_param::{Declares, ParamSpec};

/// The registry's description of one kind of topology.
#[derive(Debug)]
pub struct TopologySpec {
    /// Its word in scenario files: `leaf-spine`.
    pub name: &'static str,
    /// Network that the topology models, in one sentence.
    pub doc: &'static str,
    /// Its keys, in the order in which they are read and shown.
    pub keys: &'static [ParamSpec],
}

impl Declares for TopologySpec {
    fn params(&self) -> &'static [ParamSpec] {
        self.keys
    }
}

/// Values that make no topology or workload although each is within the range of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The key to point at.
    pub key: &'static str,
    /// The sentence of the error.
    pub message: String,
    /// The advice of the error.
    pub help: String,
}
