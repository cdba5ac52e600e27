// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declaration of a parameter as data.

use crate::{Kind, Values};

/// Declaration of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The paper's name, which scenario files use.
    pub name: &'static str,
    /// Quantity that the parameter counts.
    pub kind: Kind,
    /// The usual value in the stored unit, or an example of a parameter that must be written.
    pub default: u64,
    /// Smallest value that makes sense, in the stored unit.
    pub min: u64,
    /// Largest value that makes sense, in the stored unit.
    pub max: u64,
    /// The value of a parameter that is not written.
    pub absent: Absent,
    /// Whether the parameter is a length of a queue, such as a threshold, and not of a packet.
    pub of_queue: bool,
    /// Sentence for documents, with the paper's section.
    pub doc: &'static str,
}

/// The value of a parameter that is not written.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// [`ParamSpec::default`].
    Default,
    /// None: the parameter must be written.
    Needed,
    /// The value of this parameter, which is declared before it.
    As(&'static str),
    /// A value that follows from parameters that are declared before it.
    Formula {
        /// The formula for documents: `k / 2`.
        text: &'static str,
        /// Computes the value.
        of: fn(&Values) -> u64,
    },
}

impl ParamSpec {
    /// The value of the parameter where it is not written beside `before`, the values of the
    /// parameters declared before it in `params`. `None`: it must be written.
    pub fn unwritten(&self, params: &[ParamSpec], before: &Values) -> Option<u64> {
        match self.absent {
            Absent::Default => Some(self.default),
            Absent::Needed => None,
            Absent::As(other) => Some(before.get(place(params, other))),
            Absent::Formula { of, .. } => Some(of(before)),
        }
    }
}

/// A scheme, a controller or a topology with its parameters.
pub trait Declares {
    /// The parameters, in the order of [`Values`].
    fn params(&self) -> &'static [ParamSpec];

    /// The place of the parameter `name`.
    fn index_of(&self, name: &str) -> Option<usize> {
        self.params().iter().position(|p| p.name == name)
    }
}

impl<T: Declares> Declares for &T {
    fn params(&self) -> &'static [ParamSpec] {
        (**self).params()
    }
}

/// The place of the parameter `name`. A name that is not among `params` panics, which stops the
/// compilation of a constant.
pub const fn place(params: &[ParamSpec], name: &str) -> usize {
    let mut i = 0;
    while i < params.len() {
        if equal(params[i].name.as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no parameter has this name")
}

/// Whether two texts are equal, in a constant.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
