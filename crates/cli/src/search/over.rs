// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of a key that a search tries: `PATH=10us..400us`, or a list.

use cemark_scenario::{Measure, read_quantity};

use crate::exit::{Failure, user};
use crate::quantity::{length, rate, time};

/// Ends whose ratio is at least this have values in equal ratios between them, others in equal
/// steps.
const WIDE: f64 = 4.0;
/// Fewest values of a key between two ends.
const FEWEST: usize = 3;

/// A key and what is between its ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Over {
    pub path: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Listed(Vec<String>),
    Between { low: f64, high: f64, unit: Unit },
}

/// The unit in which values are written.
#[derive(Clone, Debug, PartialEq)]
enum Unit {
    /// Picoseconds, bits per second, bytes.
    Of(Measure),
    /// A suffix that both ends have: `%`, `pkt`; empty for a plain number. `whole`: neither end
    /// has a fraction.
    Suffix { text: String, whole: bool },
}

impl Over {
    /// Reads one `--over`.
    pub fn read(text: &str) -> Result<Over, Failure> {
        let wrong = |why: String| {
            user(
                why,
                "write --over scheme.ECN#.pst_target=10us..400us, or a list: \
                 --over switch.alpha=0.5,1,2",
            )
        };
        // A label may have a `=`: the value is behind the last one.
        let Some((path, values)) = text.rsplit_once('=') else {
            return Err(wrong(format!("`{text}` names no path and values")));
        };
        let path = path.trim().to_owned();
        let values = match values.split_once("..") {
            Some((low, high)) => between(low.trim(), high.trim())
                .ok_or_else(|| wrong(format!("`{values}` has no two ends in one unit")))?,
            None => {
                let all: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
                if path.is_empty() || all.iter().any(String::is_empty) {
                    return Err(wrong(format!("`{text}` names no path and values")));
                }
                Values::Listed(all)
            }
        };
        Ok(Over { path, values })
    }

    /// Whether the values are between two ends, so that their number is free.
    pub fn is_free(&self) -> bool {
        matches!(self.values, Values::Between { .. })
    }

    /// The number of listed values; one where the number is free.
    pub fn listed(&self) -> usize {
        match &self.values {
            Values::Listed(all) => all.len(),
            Values::Between { .. } => 1,
        }
    }

    /// The values; `number` of them where it is free.
    pub fn values(&self, number: usize) -> Vec<String> {
        let (low, high, unit) = match &self.values {
            Values::Listed(all) => return all.clone(),
            Values::Between { low, high, unit } => (*low, *high, unit),
        };
        let number = number.max(FEWEST);
        let share = |i: usize| i as f64 / (number - 1) as f64;
        let at = |i: usize| match low > 0.0 && high / low >= WIDE {
            true => low * (high / low).powf(share(i)),
            false => low + (high - low) * share(i),
        };
        let mut all: Vec<String> = (0..number).map(|i| unit.write(at(i))).collect();
        all.dedup();
        all
    }
}

impl Unit {
    /// A value as scenarios write it, with three digits.
    fn write(&self, x: f64) -> String {
        let digits = |x: f64| {
            let scale = 10_f64.powi(2 - x.abs().max(1e-12).log10().floor() as i32);
            (x * scale).round() / scale
        };
        match self {
            Unit::Of(Measure::Time) => time(digits(x) as u64),
            Unit::Of(Measure::Length) => length(digits(x).round() as u64),
            Unit::Of(Measure::Rate) => rate(digits(x).round() as u64),
            Unit::Suffix { text, whole: true } => format!("{}{text}", x.round()),
            Unit::Suffix { text, whole: false } => format!("{}{text}", digits(x)),
        }
    }
}

/// Two ends in one unit.
fn between(low: &str, high: &str) -> Option<Values> {
    let of = |unit: Unit, low: f64, high: f64| {
        (low < high).then_some(Values::Between { low, high, unit })
    };
    for measure in [Measure::Time, Measure::Length, Measure::Rate] {
        let read = |text| read_quantity(text, measure).ok();
        if let (Some(low), Some(high)) = (read(low), read(high)) {
            return of(Unit::Of(measure), low as f64, high as f64);
        }
    }
    let split = |text: &str| {
        let end = text.find(|c: char| !(c.is_ascii_digit() || ".-+".contains(c)));
        let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
        let number = number.parse::<f64>().ok().filter(|x| x.is_finite());
        Some((number?, suffix.trim().to_owned(), text.contains('.')))
    };
    let ((low, suffix, a), (high, other, b)) = (split(low)?, split(high)?);
    let unit = Unit::Suffix {
        text: suffix.clone(),
        whole: !a && !b && high - low >= 1.0,
    };
    (suffix == other).then(|| of(unit, low, high)).flatten()
}

#[cfg(test)]
mod tests {
    use super::Over;

    fn values(text: &str, number: usize) -> Vec<String> {
        let over = Over::read(text).map_err(|_| text).expect("a range");
        over.values(number)
    }

    #[test]
    fn a_wide_range_has_equal_ratios_and_a_narrow_one_equal_steps() {
        assert_eq!(
            values("scheme.ECN#.pst_target=10us..160us", 5),
            ["10us", "20us", "40us", "80us", "160us"]
        );
        assert_eq!(values("a.b=800ns..1us", 3), ["800ns", "900ns", "1us"]);
        assert_eq!(values("a.b=10KB..40KB", 3), ["10KB", "20KB", "40KB"]);
        assert_eq!(
            values("a.k=5pkt..80pkt", 5),
            ["7.5KB", "15KB", "30KB", "60KB", "120KB"]
        );
        assert_eq!(values("a.p=10%..20%", 3), ["10%", "15%", "20%"]);
        assert_eq!(values("a.b=0.25..1", 3), ["0.25", "0.5", "1"]);
        assert_eq!(
            values("a.n=1..3", 9),
            ["1", "2", "3"],
            "whole numbers stay whole"
        );
    }

    #[test]
    fn a_list_is_as_it_is_written() {
        let over = Over::read("scheme.K=20.k=10pkt, 20pkt")
            .map_err(|_| ())
            .expect("a list");
        assert_eq!(over.path, "scheme.K=20.k");
        assert_eq!(over.values(9), ["10pkt", "20pkt"]);
        assert!(!over.is_free());
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "a.b",
            "a.b=400us..10us",
            "a.b=1us..1KB",
            "a.b=..",
            "a.b=1,,2",
            "=1,2",
        ] {
            assert!(Over::read(text).is_err(), "{text}");
        }
    }
}
