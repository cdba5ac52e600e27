// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a topology's file declares as data: its word in scenario files and its keys.

use cemark_wire::{Picos, Rate};

/// The registry's description of one kind of topology.
#[derive(Debug)]
pub struct TopologySpec {
    /// Its word in scenario files: `leaf-spine`.
    pub name: &'static str,
    /// One sentence on what it models.
    pub doc: &'static str,
    /// Its keys, in the order in which they are read and shown.
    pub keys: &'static [Key],
}

/// One key of a topology.
#[derive(Debug)]
pub struct Key {
    /// Its name in `[topology]`.
    pub name: &'static str,
    /// What it is, with the range of a count.
    pub unit: Unit,
    /// What holds where the key is not written.
    pub absent: Absent,
    /// One sentence.
    pub doc: &'static str,
}

impl Key {
    /// Rate of the host links, which every topology has.
    pub const RATE: Key = Key {
        name: "rate",
        unit: Unit::Rate,
        absent: Absent::Is(Example {
            text: "\"10Gbps\"",
            value: 10_000_000_000,
        }),
        doc: "rate of the host links",
    };
    /// Propagation delay of the host links, which every topology has.
    pub const DELAY: Key = Key {
        name: "delay",
        unit: Unit::Time,
        absent: Absent::Is(Example {
            text: "\"10us\"",
            value: 10_000_000,
        }),
        doc: "propagation delay of a host link",
    };

    /// A count that must be written; `example` is what an error message suggests.
    pub const fn needed(
        name: &'static str,
        range: (u32, u32),
        example: Example,
        doc: &'static str,
    ) -> Key {
        Key {
            name,
            unit: Unit::Count {
                min: range.0,
                max: range.1,
            },
            absent: Absent::Needed(example),
            doc,
        }
    }

    /// A rate that is `rate`, that of the host links, unless written.
    pub const fn rate(name: &'static str, doc: &'static str) -> Key {
        Key {
            name,
            unit: Unit::Rate,
            absent: Absent::As("rate"),
            doc,
        }
    }

    /// A delay that is `delay`, that of the host links, unless written.
    pub const fn delay(name: &'static str, doc: &'static str) -> Key {
        Key {
            name,
            unit: Unit::Time,
            absent: Absent::As("delay"),
            doc,
        }
    }
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number.
    Count {
        /// Smallest that is accepted.
        min: u32,
        /// Largest that is accepted.
        max: u32,
    },
    /// A rate, stored in bits per second.
    Rate,
    /// A time, stored in picoseconds.
    Time,
}

/// The value of a key that a file leaves out.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// It must be written; the example is for error messages and tests.
    Needed(Example),
    /// This value.
    Is(Example),
    /// The value of a key that is declared before it.
    As(&'static str),
    /// A value that follows from keys that are declared before it.
    Formula {
        /// As the documents write it: `k / 2`.
        text: &'static str,
        /// The value.
        of: fn(&Values) -> u64,
    },
}

/// A value, and how a scenario file writes it.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// TOML.
    pub text: &'static str,
    /// The stored value of that text.
    pub value: u64,
}

/// The values of all keys of one topology.
#[derive(Clone, Debug)]
pub struct Values {
    keys: &'static [Key],
    values: Vec<u64>,
}

impl Values {
    /// Reads every key in order. `read` gets a key and the value that holds where it is not written
    /// (`None`: it must be written).
    pub fn read<E>(
        spec: &TopologySpec,
        mut read: impl FnMut(&'static Key, Option<u64>) -> Result<u64, E>,
    ) -> Result<Values, E> {
        let mut all = Values {
            keys: spec.keys,
            values: Vec::with_capacity(spec.keys.len()),
        };
        for key in spec.keys {
            let default = match key.absent {
                Absent::Needed(_) => None,
                Absent::Is(example) => Some(example.value),
                Absent::As(other) => Some(all.get(other)),
                Absent::Formula { of, .. } => Some(of(&all)),
            };
            let value = read(key, default)?;
            all.values.push(value);
        }
        Ok(all)
    }

    /// The defaults, and the examples of keys that have none.
    pub fn example(spec: &TopologySpec) -> Values {
        let read = |key: &Key, default: Option<u64>| match (key.absent, default) {
            (Absent::Needed(example), _) => Ok::<u64, std::convert::Infallible>(example.value),
            (_, default) => Ok(default.unwrap_or_default()),
        };
        match Values::read(spec, read) {
            Ok(values) => values,
            Err(never) => match never {},
        }
    }

    /// The stored value of a key. Panics on a name that the topology does not declare.
    pub fn get(&self, name: &str) -> u64 {
        match self.keys.iter().position(|key| key.name == name) {
            Some(i) => self.values[i],
            None => panic!("the topology declares no key {name}"),
        }
    }

    /// A count. Panics as [`get`](Values::get) does.
    pub fn count(&self, name: &str) -> u32 {
        self.get(name) as u32
    }

    /// A rate. Panics as [`get`](Values::get) does.
    pub fn rate(&self, name: &str) -> Rate {
        Rate(self.get(name))
    }

    /// A time. Panics as [`get`](Values::get) does.
    pub fn time(&self, name: &str) -> Picos {
        Picos(self.get(name))
    }
}

/// Values that make no topology although each is within the range of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The key to point at.
    pub key: &'static str,
    /// What is wrong.
    pub message: &'static str,
    /// What to write instead.
    pub help: &'static str,
}
