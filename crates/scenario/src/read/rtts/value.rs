// SPDX-License-Identifier: MIT OR Apache-2.0
//! A single RTT of a measurement: a number, perhaps with its unit.

use cemark_wire::Picos;

use super::Trouble;
use crate::section::LONGEST;
use crate::units::{Bad, scaled};

/// A unit of time by the words that measuring tools use, in picoseconds.
pub(super) fn unit(word: &str) -> Option<u64> {
    Some(match word.to_lowercase().as_str() {
        "ps" => 1,
        "ns" | "nsec" | "nsecs" | "nanos" | "nanosecond" | "nanoseconds" => 1_000,
        // With the Greek letter as well, which the micro sign becomes in some editors.
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "usecs" | "micros" | "microsecond"
        | "microseconds" => 1_000_000,
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 1_000_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000_000,
        _ => return None,
    })
}

/// The unit in which the name of a column ends: `rtt_us`, `RTT (ms)`, `seconds`.
pub(super) fn unit_of_name(name: &str) -> Option<u64> {
    let mut words = name.rsplit(|c: char| !c.is_alphabetic());
    unit(words.find(|word| !word.is_empty())?)
}

/// Reads one value; one without a unit has `usual`, in picoseconds.
pub(super) fn rtt(cell: &str, usual: Option<u64>) -> Result<Picos, Trouble> {
    let cell = cell.trim();
    let end = cell
        .char_indices()
        .rfind(|(_, c)| !c.is_alphabetic())
        .map_or(0, |(i, c)| i + c.len_utf8());
    let (number, word) = (cell[..end].trim_end(), &cell[end..]);
    let shown = shortened(cell);
    let no_number = || {
        Trouble::new(
            format!("`{shown}` is not an RTT"),
            "write a number such as 85.2, a value with its unit such as 85us, or remove the line",
        )
    };
    if number.is_empty() {
        return Err(no_number());
    }
    let scale = match word {
        "" => usual.ok_or_else(|| {
            Trouble::new(
                format!("`{shown}` has no unit"),
                "write unit = \"us\" (or \"ns\", \"ms\", \"s\") in [rtt], end the name of the \
                 column with the unit (rtt_us), or write the unit behind each value (85us)",
            )
        })?,
        word => unit(word).ok_or_else(|| {
            Trouble::new(
                format!("`{}` is not a unit of a time", shortened(word)),
                "write ns, us, ms or s behind the value",
            )
        })?,
    };
    let too_long = || {
        Trouble::new(
            format!("`{shown}` is longer than 1000 seconds"),
            "check the unit, or remove the line",
        )
    };
    let picos = if number.contains(['e', 'E']) {
        let x: f64 = number.parse().map_err(|_| no_number())?;
        match x * scale as f64 {
            picos if picos < 0.0 => Err(Bad::Negative),
            picos if picos > LONGEST.0 as f64 => Err(Bad::TooLarge),
            picos => Ok((picos + 0.5) as u64),
        }
    } else {
        scaled(number, scale)
    };
    match picos {
        Ok(picos) if picos <= LONGEST.0 => Ok(Picos(picos)),
        Ok(_) | Err(Bad::TooLarge) => Err(too_long()),
        Err(Bad::Negative) => Err(Trouble::new(
            format!("`{shown}` is negative"),
            "an RTT is zero or more: remove the line, or correct the clocks of the measurement",
        )),
        Err(_) => Err(no_number()),
    }
}

/// A cell as messages show it: what is no table at all may have very long lines.
pub(super) fn shortened(cell: &str) -> String {
    const MOST: usize = 40;
    match cell.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &cell[..end]),
        None => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_exactly() {
        for (cell, usual, nanos) in [
            ("85", Some("us"), 85_000),
            (" 85.125 ", Some("us"), 85_125),
            ("0.000085", Some("s"), 85_000),
            ("8.5e-05", Some("s"), 85_000),
            ("8.5E1", Some("us"), 85_000),
            ("85us", None, 85_000),
            ("0.085 ms", Some("s"), 85_000),
            ("85 \u{3bc}s", None, 85_000),
            ("0", Some("us"), 0),
        ] {
            let read = rtt(cell, usual.and_then(unit)).unwrap_or_else(|t| panic!("{}", t.what));
            assert_eq!(read, Picos::from_nanos(nanos), "{cell}");
        }
    }

    #[test]
    fn what_is_no_rtt_says_so() {
        for (cell, says) in [
            ("", "is not an RTT"),
            ("nan", "is not an RTT"),
            ("inf", "is not an RTT"),
            ("1.2.3", "is not an RTT"),
            ("0x10", "is not an RTT"),
            ("5 %", "is not an RTT"),
            ("-5", "is negative"),
            ("-5e-3", "is negative"),
            ("5 parsecs", "is not a unit"),
            ("1e12", "is longer than 1000 seconds"),
            ("1e400", "is longer than 1000 seconds"),
            ("99999999999999999999999999", "is longer than 1000 seconds"),
            ("1000.1s", "is longer than 1000 seconds"),
        ] {
            let trouble = rtt(cell, Some(1_000_000)).expect_err(cell);
            assert!(trouble.what.contains(says), "{cell}: {}", trouble.what);
        }
        let trouble = rtt("85", None).expect_err("no unit");
        assert!(trouble.what.contains("no unit") && trouble.help.contains("unit = \"us\""));
        assert!(rtt(&"x".repeat(1000), None).expect_err("long").what.len() < 100);
    }

    #[test]
    fn names_end_in_units() {
        for (name, unit) in [
            ("rtt_us", Some(1_000_000)),
            ("RTT (ms)", Some(1_000_000_000)),
            ("seconds", Some(1_000_000_000_000)),
            ("rpc_latency_seconds", Some(1_000_000_000_000)),
            ("latency [\u{b5}s]", Some(1_000_000)),
            ("rtt", None),
            ("status", None),
            ("", None),
        ] {
            assert_eq!(unit_of_name(name), unit, "{name}");
        }
    }
}
