// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers with units, read exactly: `"10Gbps"`, `"85us"`, `"250KB"`, `"65pkt"`, `"1%"`.

use cemark_wire::Picos;

/// A packet as the literature counts thresholds in: 1500 bytes on the wire.
pub(crate) const PACKET: u64 = 1500;

/// Bytes of the largest flow: a petabyte.
pub(crate) const LARGEST_FLOW: u64 = 1_000_000_000_000_000;

/// A unit as files write it, and its size in base units.
pub(crate) type Unit = (&'static str, u64);

/// A unit that is used with two meanings: each in words and in the base unit.
type Doubt = (&'static str, [(&'static str, u64); 2]);

/// The units of one measure.
pub(crate) struct Units {
    /// Units that files may use; messages name the first [`Units::usual`].
    pub(crate) known: &'static [Unit],
    usual: usize,
    /// Units that are refused: a wrong guess would be a factor of eight, or an error of two percent
    /// that is hard to notice.
    doubts: &'static [Doubt],
    /// A value as messages write it.
    show: fn(u64) -> String,
    /// Smallest unit, in which values are counted.
    pub(crate) base: &'static str,
}

impl Units {
    /// How many of the base unit `unit` is.
    fn scale(&self, unit: &str) -> Option<u64> {
        self.known.iter().find(|u| u.0 == unit).map(|u| u.1)
    }

    fn doubt(&self, unit: &str) -> Option<&Doubt> {
        self.doubts.iter().find(|d| d.0 == unit)
    }
}

const BITS: [&str; 4] = ["kilobits", "megabits", "gigabits", "terabits"];
const BYTES: [&str; 4] = ["kilobytes", "megabytes", "gigabytes", "terabytes"];
/// `tc` has `mbps` and the like for bytes.
const BYTES_IN_TC: [&str; 4] = [
    "",
    "megabytes, as tc reads it",
    "gigabytes, as tc reads it",
    "",
];
const POWERS: [u64; 4] = [1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000];

/// Bits or bytes per second, in bits.
const fn bits_or_bytes(unit: &'static str, power: usize) -> Doubt {
    let n = POWERS[power];
    (unit, [(BITS[power], n), (BYTES[power], 8 * n)])
}

const fn bits_or_tc(unit: &'static str, power: usize) -> Doubt {
    let n = POWERS[power];
    (unit, [(BITS[power], n), (BYTES_IN_TC[power], 8 * n)])
}

/// Rates in bits per second.
pub(crate) static RATES: Units = Units {
    known: &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        ("Kbps", 1_000),
        // As `tc` and Linux drivers have them.
        ("bit", 1),
        ("kbit", 1_000),
        ("Kbit", 1_000),
        ("Mbit", 1_000_000),
        ("mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("tbit", 1_000_000_000_000),
        ("b/s", 1),
        ("kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        // As ports are named.
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("g", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("Mb", 1_000_000),
        ("Gb", 1_000_000_000),
        ("Tb", 1_000_000_000_000),
    ],
    usual: 5,
    doubts: &[
        bits_or_tc("mbps", 1),
        bits_or_tc("gbps", 2),
        bits_or_bytes("kb", 0),
        bits_or_bytes("Kb", 0),
        bits_or_bytes("KB", 0),
        bits_or_bytes("MB", 1),
        bits_or_bytes("GB", 2),
        bits_or_bytes("TB", 3),
        bits_or_bytes("kBps", 0),
        bits_or_bytes("KBps", 0),
        bits_or_bytes("MBps", 1),
        bits_or_bytes("GBps", 2),
        bits_or_bytes("TBps", 3),
        bits_or_bytes("kB/s", 0),
        bits_or_bytes("KB/s", 0),
        bits_or_bytes("MB/s", 1),
        bits_or_bytes("GB/s", 2),
        bits_or_bytes("TB/s", 3),
    ],
    show: rate,
    base: "bits per second",
};

/// Spans in picoseconds.
pub(crate) static TIMES: Units = Units {
    known: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        // The micro sign and the Greek letter.
        ("\u{b5}s", 1_000_000),
        ("\u{3bc}s", 1_000_000),
        ("nsec", 1_000),
        ("usec", 1_000_000),
        ("usecs", 1_000_000),
        ("msec", 1_000_000_000),
        ("msecs", 1_000_000_000),
        ("sec", 1_000_000_000_000),
        ("secs", 1_000_000_000_000),
    ],
    usual: 5,
    doubts: &[],
    show: |picos| span(Picos(picos)),
    base: "picoseconds",
};

/// Lengths in bytes.
pub(crate) static LENGTHS: Units = Units {
    known: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("pkt", PACKET),
        ("TB", 1_000_000_000_000),
        ("PB", 1_000_000_000_000_000),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("byte", 1),
        ("bytes", 1),
        ("kbytes", 1_000),
        ("mbytes", 1_000_000),
        ("pkts", PACKET),
        ("packet", PACKET),
        ("packets", PACKET),
        ("kbit", 125),
        ("Kbit", 125),
        ("Mbit", 125_000),
        ("mbit", 125_000),
        ("Gbit", 125_000_000),
        ("gbit", 125_000_000),
    ],
    usual: 8,
    doubts: &[
        (
            "k",
            [("thousand bytes", 1_000), ("units of 1024 bytes", 1 << 10)],
        ),
        (
            "K",
            [("thousand bytes", 1_000), ("units of 1024 bytes", 1 << 10)],
        ),
        (
            "M",
            [
                ("million bytes", 1_000_000),
                ("units of 1024 x 1024 bytes", 1 << 20),
            ],
        ),
        (
            "G",
            [
                ("billion bytes", 1_000_000_000),
                ("units of 1024^3 bytes", 1 << 30),
            ],
        ),
        ("Kb", [("kilobytes", 1_000), ("kilobits", 125)]),
        ("Mb", [("megabytes", 1_000_000), ("megabits", 125_000)]),
        (
            "Gb",
            [("gigabytes", 1_000_000_000), ("gigabits", 125_000_000)],
        ),
    ],
    show: length,
    base: "bytes",
};

/// Words for the cells of a switch's buffer, whose size `cell` in `[switch]` gives. Arista's are
/// segments.
pub(crate) const CELLS: [&str; 4] = ["cells", "cell", "segments", "segment"];

/// Words for a part of a limit, which no length is.
pub(crate) const PERCENT: [&str; 2] = ["%", "percent"];

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
    /// The unit has two meanings; what to write for each.
    Doubtful(String),
    /// More than fits.
    TooLarge,
    /// Not a whole number of what is counted.
    Fraction,
}

/// The measure of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bits per second.
    Rate,
    /// Picoseconds.
    Time,
    /// Bytes.
    Length,
}

impl Measure {
    const ALL: [Measure; 3] = [Measure::Rate, Measure::Time, Measure::Length];

    fn units(self) -> &'static Units {
        match self {
            Measure::Rate => &RATES,
            Measure::Time => &TIMES,
            Measure::Length => &LENGTHS,
        }
    }

    /// With its article, for messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Measure::Rate => "a rate",
            Measure::Time => "a time",
            Measure::Length => "a length",
        }
    }

    /// Several of them.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Measure::Rate => "rates",
            Measure::Time => "times",
            Measure::Length => "lengths",
        }
    }

    /// A value for messages to show how one is written.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Measure::Rate => "\"10Gbps\"",
            Measure::Time => "\"85us\"",
            Measure::Length => "\"250KB\"",
        }
    }

    /// The measure that the unit of `text` belongs to, where it is none of `wanted`.
    pub(crate) fn other(text: &str, wanted: &[Measure]) -> Option<Measure> {
        // A doubtful unit has an answer of its own.
        let unit = split(text).1;
        let fits = |m: &Measure| has_unit(text, m.units()) || m.units().doubt(unit).is_some();
        if wanted.iter().any(fits) {
            return None;
        }
        Measure::ALL.into_iter().find(|m| has_unit(text, m.units()))
    }
}

/// Reads a quantity with its unit as scenario files write it, in the measure's own unit; the error
/// says what to write instead.
pub fn read_quantity(text: &str, measure: Measure) -> Result<u64, String> {
    let units = measure.units();
    quantity(text, units).map_err(|bad| match bad {
        Bad::Doubtful(help) => format!("`{text}` can be read in two ways: {help}"),
        Bad::Fraction => format!("`{text}` is not a whole number of {}", units.base),
        _ => format!(
            "`{text}` is not {}: a number with one of {}",
            measure.word(),
            names(units)
        ),
    })
}

/// Splits `text` into its number and what follows.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-' || c == '+'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim())
}

/// `digits[.digits] * scale`, rounded to the nearest whole number (a half goes up). No float takes
/// part.
pub(crate) fn scaled(number: &str, scale: u64) -> Result<u64, Bad> {
    Ok(product(number, scale)?.0)
}

/// `digits[.digits] * scale`, which must be a whole number.
pub(crate) fn whole(number: &str, scale: u64) -> Result<u64, Bad> {
    match product(number, scale)? {
        (n, true) => Ok(n),
        (_, false) => Err(Bad::Fraction),
    }
}

/// `digits[.digits] * scale`, rounded, and whether nothing was rounded.
fn product(number: &str, scale: u64) -> Result<(u64, bool), Bad> {
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
    let (fraction, beyond) = fraction.split_at(fraction.len().min(18));
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
    let total = total.and_then(|t| u64::try_from(t).ok());
    let exact = (part * scale) % of == 0 && beyond.bytes().all(|b| b == b'0');
    Ok((total.ok_or(Bad::TooLarge)?, exact))
}

/// Reads `text` as a number and one of `units`; zero needs no unit.
pub(crate) fn quantity(text: &str, units: &Units) -> Result<u64, Bad> {
    read(text, units, whole)
}

/// A rounded quantity: a list of flows may come from a program that computes with floats.
pub(crate) fn rounded(text: &str, units: &Units) -> Result<u64, Bad> {
    read(text, units, scaled)
}

fn read(text: &str, units: &Units, of: fn(&str, u64) -> Result<u64, Bad>) -> Result<u64, Bad> {
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(Bad::NoNumber);
    }
    let scale = match units.scale(unit) {
        Some(scale) => scale,
        None if unit.is_empty() => match product(number, 1)? {
            (0, true) => return Ok(0),
            _ => return Err(Bad::NoUnit),
        },
        None => match units.doubt(unit) {
            Some((_, readings)) => {
                let [a, b] = readings.map(|(words, scale)| {
                    scaled(number, scale).map(|n| format!("\"{}\" ({words})", (units.show)(n)))
                });
                return Err(Bad::Doubtful(format!("write {} or {}", a?, b?)));
            }
            None => return Err(Bad::UnknownUnit(unit.to_owned())),
        },
    };
    of(number, scale)
}

/// Whether `text` ends in one of `units`.
pub(crate) fn has_unit(text: &str, units: &Units) -> bool {
    let (number, unit) = split(text);
    !number.is_empty() && units.scale(unit).is_some()
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

/// The usual units' names for a help line.
pub(crate) fn names(units: &Units) -> String {
    let usual = units.known.iter().take(units.usual);
    usual.map(|u| u.0).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values() {
        for (text, units, value) in [
            ("10Gbps", &RATES, 10_000_000_000),
            ("2.5 Gb/s", &RATES, 2_500_000_000),
            ("85us", &TIMES, 85_000_000),
            ("0.2ns", &TIMES, 200),
            ("80µs", &TIMES, 80_000_000),
            ("250KB", &LENGTHS, 250_000),
            ("64KiB", &LENGTHS, 65_536),
            ("65pkt", &LENGTHS, 97_500),
            ("183.3pkt", &LENGTHS, 274_950),
            ("0", &TIMES, 0),
            (".5KB", &LENGTHS, 500),
            ("1_000B", &LENGTHS, 1_000),
            ("18446744073709551615B", &LENGTHS, u64::MAX),
            ("25G", &RATES, 25_000_000_000),
            ("25Gbit", &RATES, 25_000_000_000),
            ("25Gb/s", &RATES, 25_000_000_000),
            ("25000Mbit", &RATES, 25_000_000_000),
            ("100g", &RATES, 100_000_000_000),
            ("250kb", &LENGTHS, 250_000),
            ("250 kbytes", &LENGTHS, 250_000),
            ("80kbit", &LENGTHS, 10_000),
            ("85 usec", &TIMES, 85_000_000),
            ("80\u{3bc}s", &TIMES, 80_000_000),
        ] {
            assert_eq!(quantity(text, units), Ok(value), "{text}");
        }
    }

    #[test]
    fn parts_of_the_smallest_unit_are_refused() {
        for (text, units) in [
            ("0.0000000000000000000000009s", &TIMES),
            ("0.4ps", &TIMES),
            ("0.5B", &LENGTHS),
            ("1460.5B", &LENGTHS),
            ("0.5bps", &RATES),
        ] {
            assert_eq!(quantity(text, units), Err(Bad::Fraction), "{text}");
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

    /// Two readings that differ are both named, and none is taken.
    #[test]
    fn doubtful_units_are_refused() {
        for (text, units, one, other) in [
            (
                "25gbps",
                &RATES,
                "\"25Gbps\" (gigabits)",
                "\"200Gbps\" (gigabytes, as tc",
            ),
            (
                "25GB/s",
                &RATES,
                "\"25Gbps\" (gigabits)",
                "\"200Gbps\" (gigabytes)",
            ),
            (
                "100kb",
                &RATES,
                "\"100kbps\" (kilobits)",
                "\"800kbps\" (kilobytes)",
            ),
            (
                "64Mb",
                &LENGTHS,
                "\"64MB\" (megabytes)",
                "\"8MB\" (megabits)",
            ),
            (
                "64K",
                &LENGTHS,
                "\"64KB\" (thousand bytes)",
                "\"65.536KB\" (units of 1024",
            ),
        ] {
            match quantity(text, units) {
                Err(Bad::Doubtful(help)) => {
                    assert!(help.contains(one) && help.contains(other), "{text}: {help}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert_eq!(quantity("-3gbps", &RATES), Err(Bad::Negative));
        for units in [&RATES, &TIMES, &LENGTHS] {
            assert!(units.doubts.iter().all(|d| units.scale(d.0).is_none()));
        }
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
            assert_eq!(quantity(text, &TIMES), Err(bad), "{text}");
        }
        assert_eq!(fraction("12.5%"), Some(0.125));
        assert_eq!(fraction("0.25"), Some(0.25));
        assert_eq!(fraction("%"), None);
        assert!(has_unit("220us", &TIMES) && !has_unit("220KB", &TIMES));
    }
}
