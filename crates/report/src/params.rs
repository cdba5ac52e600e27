// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme's parameters as people and scenario files write them.

use cemark_marking::{Kind, SchemeSpec, Values};
use cemark_sim::config::MarkerChoice;

/// What a parameter counts, in a word.
pub fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Time => "time",
        Kind::Bytes => "bytes",
        Kind::Fraction => "fraction",
        Kind::Count => "count",
        Kind::Flag => "flag",
        Kind::Choice(_) => "choice",
    }
}

/// A stored fraction (parts per 2^16) as a number, to four digits.
pub fn fraction(stored: u64) -> f64 {
    (stored as f64 / 65_536.0 * 1e4).round() / 1e4
}

/// A stored value as a scenario file would have it: `85us`, `250KB`, `0.25`, `true`, `harmonic`.
pub fn show(kind: Kind, stored: u64) -> String {
    let largest = |units: &[(u64, &str)]| {
        let (size, name) = units
            .iter()
            .find(|(size, _)| stored.is_multiple_of(*size))
            .expect("the last unit is one");
        format!("{}{name}", stored / size)
    };
    match kind {
        Kind::Time if stored == 0 => "0us".to_owned(),
        Kind::Time => largest(&[
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ]),
        Kind::Bytes if stored == 0 => "0B".to_owned(),
        Kind::Bytes => largest(&[(1_000_000, "MB"), (1_000, "KB"), (1, "B")]),
        Kind::Fraction => fraction(stored).to_string(),
        Kind::Count => stored.to_string(),
        Kind::Flag => (stored != 0).to_string(),
        Kind::Choice(words) => words
            .get(stored as usize)
            .map_or_else(|| stored.to_string(), |word| (*word).to_owned()),
    }
}

/// Name and value of every parameter of a scheme.
pub fn list(scheme: &SchemeSpec, values: &Values) -> Vec<(&'static str, String)> {
    scheme
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| (p.name, show(p.kind, values.get(i))))
        .collect()
}

/// Which scheme a switch runs, and with what: (`ECN#`, [(`ins_target`, `200us`) …]).
pub fn of_marker(marker: &MarkerChoice) -> (String, Vec<(&'static str, String)>) {
    match marker {
        MarkerChoice::None => ("drop-tail, no marking".to_owned(), Vec::new()),
        MarkerChoice::Builtin { scheme, values } => (scheme.title.to_owned(), list(scheme, values)),
        MarkerChoice::Custom(_) => ("custom".to_owned(), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_they_are_read() {
        assert_eq!(show(Kind::Time, 85_000), "85us");
        assert_eq!(show(Kind::Time, 1_500), "1500ns");
        assert_eq!(show(Kind::Bytes, 250_000), "250KB");
        assert_eq!(show(Kind::Bytes, 97_501), "97501B");
        assert_eq!(show(Kind::Fraction, 1 << 14), "0.25");
        assert_eq!(show(Kind::Choice(&["harmonic", "sqrt"]), 1), "sqrt");
    }
}
