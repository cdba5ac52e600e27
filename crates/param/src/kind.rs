// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds of parameters.

use crate::ONE;

/// Quantity of a parameter: files write it in the quantity's units and store it in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A span in nanoseconds (`"85us"`).
    Time,
    /// A span in picoseconds (`"0.5us"`): delays of links.
    Delay,
    /// A length in bytes (`"250KB"`, `"65pkt"`).
    Bytes,
    /// A rate in bits per second (`"10Gbps"`).
    Rate,
    /// A fraction from 0 to 1 in parts of `one` (`0.25`, `"25%"`).
    Fraction {
        /// The stored value of 1.
        one: u32,
        /// Whether switches count it in percent: a whole 1 may then mean 1 % or 100 %.
        percent: bool,
    },
    /// A weight 2^-n, stored as n (`0.0625`: 4).
    Power,
    /// A number in thousandths (`0.7`: 700).
    Thousandths,
    /// A whole number.
    Count,
    /// The number of a host.
    Host,
    /// True or false, stored as 1 or 0.
    Flag,
    /// A word of this list, stored as its place.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// A probability or a part of a limit in parts of 2^16, which switches count in percent.
    pub const PERCENT: Kind = Kind::Fraction {
        one: ONE,
        percent: true,
    };
    /// The weight of an average in parts of 2^16.
    pub const WEIGHT: Kind = Kind::Fraction {
        one: ONE,
        percent: false,
    };

    /// The kind in a word: `time`, `bytes`, `choice`.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Time | Kind::Delay => "time",
            Kind::Bytes => "bytes",
            Kind::Rate => "rate",
            Kind::Fraction { .. } | Kind::Power => "fraction",
            Kind::Thousandths => "number",
            Kind::Count => "count",
            Kind::Host => "host",
            Kind::Flag => "flag",
            Kind::Choice(_) => "choice",
        }
    }

    /// The unit of the stored integer: `ns`, `1/65536`, `index of choices`.
    pub const fn stored_unit(self) -> &'static str {
        match self {
            Kind::Time => "ns",
            Kind::Delay => "ps",
            Kind::Bytes => "bytes",
            Kind::Rate => "bit/s",
            Kind::Fraction { one: ONE, .. } => "1/65536",
            Kind::Fraction { .. } => "fixed point",
            Kind::Power => "n of 2^-n",
            Kind::Thousandths => "1/1000",
            Kind::Count | Kind::Host => "1",
            Kind::Flag => "0 or 1",
            Kind::Choice(_) => "index of choices",
        }
    }
}
