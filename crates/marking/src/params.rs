// SPDX-License-Identifier: MIT OR Apache-2.0
//! One declaration of a parameter drives TOML, `--help`, `cemark schemes` and the documentation.

/// More parameters than any scheme has.
pub const MAX_PARAMS: usize = 16;

/// What a parameter counts, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A span, stored in nanoseconds (`"85us"`).
    Time,
    /// A length, stored in bytes (`"250KB"`, `"65pkt"`). Where `or_time` holds a time may be given
    /// and stands for rate x time.
    Bytes,
    /// A fraction from 0 to 1, stored in parts per 2^16 (`0.25`, `"1%"`).
    Fraction,
    /// A whole number.
    Count,
    /// True or false, stored as 1 or 0.
    Flag,
    /// One of some words, stored as its place in the list.
    Choice(&'static [&'static str]),
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The paper's name for it.
    pub name: &'static str,
    /// What it counts.
    pub kind: Kind,
    /// Its usual value, in the stored unit.
    pub default: u64,
    /// Smallest value that makes sense, in the stored unit.
    pub min: u64,
    /// Largest value that makes sense, in the stored unit.
    pub max: u64,
    /// One sentence, with the paper's section.
    pub doc: &'static str,
}

/// One scheme of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct SchemeSpec {
    /// The stem: file name, TOML name, vector folder (`ecn_sharp`).
    pub name: &'static str,
    /// How people and papers write it (`ECN#`).
    pub title: &'static str,
    /// Names that operators know it by.
    pub aliases: &'static [&'static str],
    /// Where it comes from.
    pub paper: &'static str,
    /// One sentence: which packets it marks.
    pub doc: &'static str,
    /// Its parameters, in the order of [`Values`].
    pub params: &'static [ParamSpec],
}

impl SchemeSpec {
    /// The place of a parameter.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }
}

/// A value for each parameter of one scheme, in the order and the stored units of its
/// [`SchemeSpec::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values(pub [u64; MAX_PARAMS]);

impl Values {
    /// Every parameter at its default.
    pub fn defaults(spec: &SchemeSpec) -> Self {
        let mut v = [0; MAX_PARAMS];
        for (slot, p) in v.iter_mut().zip(spec.params) {
            *slot = p.default;
        }
        Values(v)
    }

    /// The value at a place.
    #[inline]
    pub const fn get(&self, index: usize) -> u64 {
        self.0[index]
    }

    /// The value of a parameter by its name, in its stored unit. For building markers, not for the
    /// hot path.
    pub fn of(&self, spec: &SchemeSpec, name: &str) -> u64 {
        self.0[spec.index_of(name).expect("a parameter of this scheme")]
    }

    /// The same for a 32-bit field: a value beyond it stands at its largest.
    pub fn of_u32(&self, spec: &SchemeSpec, name: &str) -> u32 {
        u32::try_from(self.of(spec, name)).unwrap_or(u32::MAX)
    }

    /// The same values with one changed, for builders and tests.
    #[must_use]
    pub fn with(mut self, spec: &SchemeSpec, name: &str, value: u64) -> Self {
        let i = spec.index_of(name).expect("a parameter of this scheme");
        self.0[i] = value;
        self
    }
}
