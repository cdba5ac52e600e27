// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers with units, read exactly: `"10Gbps"`, `"85us"`, `"250KB"`, `"65pkt"`, `"1%"`.

use cemark_wire::Picos;

/// A packet as the literature counts thresholds in: 1500 bytes on the wire.
pub(crate) const PACKET: u64 = 1500;

/// One unit and how many of the base unit it is.
type Unit = (&'static str, u64);

/// Rates in bits per second.
pub(crate) const RATES: &[Unit] = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];

/// Spans in picoseconds.
pub(crate) const TIMES: &[Unit] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];

/// Lengths in bytes.
pub(crate) const LENGTHS: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("pkt", PACKET),
    ("pkts", PACKET),
];

/// Why a quantity could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// There is no number in front.
    NoNumber,
    /// A minus sign.
    Negative,
    /// A number and nothing behind it.
    NoUnit,
    /// This is not one of the units.
    UnknownUnit(String),
    /// More than fits.
    TooLarge,
}

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bits per second.
    Rate,
    /// Picoseconds.
    Time,
    /// Bytes.
    Length,
}

/// Reads a quantity with its unit as scenario files write it, in the measure's own unit; the error
/// says what to write instead.
pub fn read_quantity(text: &str, measure: Measure) -> Result<u64, String> {
    let (what, units) = match measure {
        Measure::Rate => ("rate", RATES),
        Measure::Time => ("time", TIMES),
        Measure::Length => ("length", LENGTHS),
    };
    quantity(text, units).map_err(|_| {
        format!(
            "`{text}` is not a {what}: a number with one of {}",
            names(units)
        )
    })
}

/// Splits `text` into its number and what follows.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-' || c == '+'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim())
}

/// `digits[.digits] * scale`, rounded to the nearest whole number (a half goes up). Exact: no float
/// takes part.
fn scaled(number: &str, scale: u64) -> Result<u64, Bad> {
    if number.starts_with('-') {
        return Err(Bad::Negative);
    }
    let number = number.strip_prefix('+').unwrap_or(number).replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return Err(Bad::NoNumber);
    }
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| Bad::TooLarge)?
    };
    // Digits beyond the 18th cannot move a result that is rounded to a whole number of at most 2^64
    // by more than one.
    let fraction = &fraction[..fraction.len().min(18)];
    let (part, of) = match fraction {
        "" => (0, 1),
        _ => (
            fraction.parse::<u128>().map_err(|_| Bad::TooLarge)?,
            10u128.pow(fraction.len() as u32),
        ),
    };
    let scale = u128::from(scale);
    let total = whole
        .checked_mul(scale)
        .and_then(|w| w.checked_add((part * scale + of / 2) / of));
    total
        .and_then(|t| u64::try_from(t).ok())
        .ok_or(Bad::TooLarge)
}

/// Reads `text` as a number and one of `units`; zero needs no unit.
pub(crate) fn quantity(text: &str, units: &[Unit]) -> Result<u64, Bad> {
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(Bad::NoNumber);
    }
    let scale = match units.iter().find(|u| u.0 == unit) {
        Some(&(_, scale)) => scale,
        None if unit.is_empty() => match scaled(number, 1)? {
            0 => return Ok(0),
            _ => return Err(Bad::NoUnit),
        },
        None => return Err(Bad::UnknownUnit(unit.to_owned())),
    };
    scaled(number, scale)
}

/// Whether `text` ends in one of `units`.
pub(crate) fn has_unit(text: &str, units: &[Unit]) -> bool {
    let (number, unit) = split(text);
    !number.is_empty() && units.iter().any(|u| u.0 == unit)
}

/// A fraction written as `"12.5%"` or `"0.125"`.
pub(crate) fn fraction(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|p| p / 100.0),
        None => text.parse().ok(),
    }
}

/// A span as messages write it: `80us`, `1.25ms`; at most three digits behind the point.
pub(crate) fn span(time: Picos) -> String {
    shown(
        time.0,
        &[
            ("ns", 1_000),
            ("us", 1_000_000),
            ("ms", 1_000_000_000),
            ("s", 1_000_000_000_000),
        ],
    )
}

/// A length as messages write it: `97.5KB`.
pub(crate) fn length(bytes: u64) -> String {
    shown(
        bytes,
        &[
            ("B", 1),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
        ],
    )
}

/// A rate as messages write it: `40Mbps`.
pub(crate) fn rate(bps: u64) -> String {
    shown(
        bps,
        &[
            ("bps", 1),
            ("kbps", 1_000),
            ("Mbps", 1_000_000),
            ("Gbps", 1_000_000_000),
        ],
    )
}

/// In the largest of `units` (rising) that leaves something before the point.
fn shown(n: u64, units: &[Unit]) -> String {
    let fits = units.iter().rev().find(|(_, scale)| n >= *scale);
    let (name, scale) = fits.copied().unwrap_or(units[0]);
    let text = format!("{:.3}", n as f64 / scale as f64);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{name}")
}

/// The units' names for a help line.
pub(crate) fn names(units: &[Unit]) -> String {
    units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values() {
        for (text, units, value) in [
            ("10Gbps", RATES, 10_000_000_000),
            ("2.5 Gb/s", RATES, 2_500_000_000),
            ("85us", TIMES, 85_000_000),
            ("0.2ns", TIMES, 200),
            ("80µs", TIMES, 80_000_000),
            ("250KB", LENGTHS, 250_000),
            ("64KiB", LENGTHS, 65_536),
            ("65pkt", LENGTHS, 97_500),
            ("183.3pkt", LENGTHS, 274_950),
            ("0", TIMES, 0),
            (".5KB", LENGTHS, 500),
            ("1_000B", LENGTHS, 1_000),
            ("0.0000000000000000000000009s", TIMES, 0),
            ("18446744073709551615B", LENGTHS, u64::MAX),
        ] {
            assert_eq!(quantity(text, units), Ok(value), "{text}");
        }
    }

    #[test]
    fn shown_as_written() {
        assert_eq!(span(Picos(80_000_000)), "80us");
        assert_eq!(span(Picos(1_250_000_000)), "1.25ms");
        assert_eq!(span(Picos(0)), "0ns");
        assert_eq!(span(Picos(2_000_000_000_000)), "2s");
        assert_eq!(length(97_500), "97.5KB");
        assert_eq!(length(64), "64B");
    }

    #[test]
    fn mistakes() {
        for (text, bad) in [
            ("", Bad::NoNumber),
            ("us", Bad::NoNumber),
            ("-3us", Bad::Negative),
            ("1.2.3us", Bad::NoNumber),
            ("1-2us", Bad::NoNumber),
            ("85", Bad::NoUnit),
            ("85uss", Bad::UnknownUnit("uss".into())),
            ("1e3us", Bad::UnknownUnit("e3us".into())),
            ("99999999999999999999999s", Bad::TooLarge),
            (
                "99999999999999999999999999999999999999999999s",
                Bad::TooLarge,
            ),
            ("18446744073709551616ps", Bad::TooLarge),
        ] {
            assert_eq!(quantity(text, TIMES), Err(bad), "{text}");
        }
        assert_eq!(fraction("12.5%"), Some(0.125));
        assert_eq!(fraction("0.25"), Some(0.25));
        assert_eq!(fraction("%"), None);
        assert!(has_unit("220us", TIMES) && !has_unit("220KB", TIMES));
    }
}
