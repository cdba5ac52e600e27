// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times and sizes in files: a number and its unit, `"6ms"`, `"4MB"`.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const SIZES: [(&str, f64); 4] = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];

/// A span of time in nanoseconds, in the files that this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

/// A number of bytes, in the files that this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

trait Quantity {
    const UNITS: [(&'static str, f64); 4];
    const EXAMPLE: &'static str;
    fn of(value: u64) -> Self;
}

impl Quantity for Time {
    const UNITS: [(&'static str, f64); 4] = TIMES;
    const EXAMPLE: &'static str = "a time with its unit, such as \"6ms\" (ns, us, ms, s)";
    fn of(value: u64) -> Self {
        Time(value)
    }
}

impl Quantity for Bytes {
    const UNITS: [(&'static str, f64); 4] = SIZES;
    const EXAMPLE: &'static str = "a size with its unit, such as \"4MB\" (B, KB, MB, GB)";
    fn of(value: u64) -> Self {
        Bytes(value)
    }
}

fn parse<Q: Quantity>(text: &str) -> Option<Q> {
    let (unit, scale) = Q::UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
    let value = number * scale;
    (number >= 0.0 && value <= 1e18).then(|| Q::of(value.round() as u64))
}

struct Reader<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for Reader<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Q::EXAMPLE)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        parse(text).ok_or_else(|| E::custom(format!("`{text}` is not {}", Q::EXAMPLE)))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Reader(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        for (text, value) in [("6ms", 6_000_000), ("1.5 us", 1_500), ("0s", 0), ("7ns", 7)] {
            assert_eq!(parse(text), Some(Time(value)), "{text}");
        }
        for (text, value) in [("4MB", 4_000_000), ("1.5KB", 1_500), ("9 B", 9)] {
            assert_eq!(parse(text), Some(Bytes(value)), "{text}");
        }
        for text in ["6", "ms", "-1ms", "6 minutes", "", "1e30s", "nan s"] {
            assert_eq!(parse::<Time>(text), None, "{text}");
        }
    }
}
