// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes: their unit, the part of them that is shown, and the numbers along them.

use std::ops::Range;

use plotters::coord::ranged1d::{
    BoldPoints, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter,
};
use plotters::coord::types::RangedCoordf64;

use super::font;
use crate::metrics;

/// Size of the numbers along an axis and of its title.
pub(super) const SIZE: f64 = 12.0;
/// Least distance between two numbers.
const GAP: f64 = 10.0;
/// Where the largest value is this many times the smallest or more, each number of a logarithmic
/// axis has a unit of its own.
const WIDE: f64 = 100.0;
/// Most numbers along an axis.
const MOST: usize = 7;

/// Unit of the numbers on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Unit {
    /// Percent of difference: with sign.
    Percent,
    /// Microseconds; shown in ns, µs, ms or s.
    Micros,
    /// Bytes; shown in B, KB, MB or GB (KB = 1000 B).
    Bytes,
    /// Bits per second; shown in kb/s, Mb/s or Gb/s.
    BitsPerSecond,
    /// Any other, shown as it is; empty: a number without unit.
    Other(String),
}

impl Default for Unit {
    fn default() -> Self {
        Unit::Other(String::new())
    }
}

impl Unit {
    /// By how much values are divided, and the unit that they have then, where the largest is
    /// `most`.
    fn shown(&self, most: f64) -> (f64, String) {
        let steps = match self {
            Unit::Percent => return (1.0, String::new()),
            Unit::Other(name) => return (1.0, name.clone()),
            _ => self.steps(),
        };
        let fits = steps.iter().rev().find(|(factor, _)| most >= 2.0 * factor);
        let (factor, name) = fits.unwrap_or(match self {
            // Nothing but zeros.
            Unit::Micros => &steps[1],
            _ => &steps[0],
        });
        (*factor, (*name).to_owned())
    }
}

impl Unit {
    /// Units of small and of large values with their factors; empty where all values have one.
    fn steps(&self) -> &'static [(f64, &'static str)] {
        match self {
            Unit::Percent | Unit::Other(_) => &[],
            Unit::Micros => &[(1e-3, "ns"), (1.0, "µs"), (1e3, "ms"), (1e6, "s")],
            Unit::Bytes => &[(1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB")],
            Unit::BitsPerSecond => &[(1.0, "bit/s"), (1e3, "kb/s"), (1e6, "Mb/s"), (1e9, "Gb/s")],
        }
    }

    /// A value with the largest of the units in which it is at least 1.
    fn written(&self, value: f64) -> String {
        let steps = self.steps();
        let fits = |(factor, _): &&(f64, &str)| value >= factor * (1.0 - 1e-9);
        let (factor, name) = steps.iter().rev().find(fits).unwrap_or(&steps[0]);
        format!("{} {name}", crate::units::number(value / factor))
    }
}

/// Units of a metric as those of an axis.
pub fn unit_of(unit: metrics::Unit) -> Unit {
    match unit {
        metrics::Unit::Micros => Unit::Micros,
        metrics::Unit::Bytes => Unit::Bytes,
        metrics::Unit::BitsPerSecond => Unit::BitsPerSecond,
        metrics::Unit::Slowdown => Unit::default(),
        other => Unit::Other(metrics::Unit::name(other).to_owned()),
    }
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity on the axis, without unit: `load`, `time`.
    pub label: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Whether equal steps are equal factors. Only for values above zero.
    pub log: bool,
    /// Names of the places 0, 1, 2 … of an axis without numbers; empty otherwise.
    pub names: Vec<String>,
    /// Values that have a number if there is room; empty: round ones.
    pub at: Vec<f64>,
    /// The part that is shown; `None`: what the values need.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>, unit: Unit) -> Self {
        Axis {
            label: label.into(),
            unit,
            ..Axis::default()
        }
    }
}

/// The part of an axis that a panel shows, with the numbers along it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    log: bool,
    /// First and last place: values, or their logarithms.
    pub low: f64,
    pub high: f64,
    /// (place, number), in rising order.
    pub ticks: Vec<(f64, String)>,
    /// Label and unit.
    pub title: String,
}

impl Scale {
    /// The scale of an axis from `low` to `high`, with the numbers that fit into `room` beside each
    /// other, or, where the axis is `upright`, above each other.
    pub fn new(axis: &Axis, (low, high): (f64, f64), room: f64, upright: bool) -> Self {
        let is_wide = axis.log && !axis.unit.steps().is_empty() && high >= WIDE * low;
        let (divisor, unit) = match is_wide {
            true => (1.0, String::new()),
            false => axis.unit.shown(low.abs().max(high.abs())),
        };
        let mut scale = Scale {
            log: axis.log,
            low: 0.0,
            high: 0.0,
            ticks: Vec::new(),
            title: match (&axis.label[..], &unit[..]) {
                (label, "") => label.to_owned(),
                ("", unit) => unit.to_owned(),
                (label, unit) => format!("{label} ({unit})"),
            },
        };
        (scale.low, scale.high) = (scale.place(low), scale.place(high));
        if !axis.names.is_empty() {
            let names = axis.names.iter().enumerate();
            let slot = room / axis.names.len() as f64;
            let named = names.map(|(i, name)| (i as f64, font::fitted(name, SIZE, slot - 4.0)));
            scale.ticks = named.collect();
            return scale;
        }
        for most in (2..=MOST).rev() {
            let values = scale.values(axis, (low, high), divisor, most);
            let texts = match is_wide {
                true => values.iter().map(|v| axis.unit.written(*v)).collect(),
                false => numbers(&values, divisor, &axis.unit),
            };
            let places = values.iter().map(|v| scale.place(*v));
            scale.ticks = places.zip(texts).collect();
            if scale.fits(room, upright) {
                break;
            }
        }
        if !scale.fits(room, upright) {
            scale.ticks.truncate(1);
        }
        scale
    }

    /// Where a value is.
    pub fn place(&self, value: f64) -> f64 {
        match self.log {
            true => value.max(f64::MIN_POSITIVE).log10(),
            false => value,
        }
    }

    /// At most `most` values that have a number.
    fn values(&self, axis: &Axis, (low, high): (f64, f64), divisor: f64, most: usize) -> Vec<f64> {
        if !axis.at.is_empty() && axis.at.len() <= 2 * MOST {
            let stride = axis.at.len().div_ceil(most);
            let every = axis.at.iter().step_by(stride);
            return every
                .copied()
                .filter(|v| (low..=high).contains(v))
                .collect();
        }
        if let Some(values) = axis.log.then(|| decades(low, high, most)).flatten() {
            return values;
        }
        let shown: RangedCoordf64 = (low / divisor..high / divisor).into();
        let round = shown.key_points(BoldPoints(most));
        round.into_iter().map(|v| v * divisor).collect()
    }

    /// Whether the numbers are far enough from each other.
    fn fits(&self, room: f64, upright: bool) -> bool {
        let per_place = room / (self.high - self.low);
        self.ticks.windows(2).all(|pair| {
            let apart = (pair[1].0 - pair[0].0) * per_place;
            let taken = match upright {
                true => SIZE + 4.0,
                false => {
                    let widths = pair.iter().map(|(_, text)| font::width(text, SIZE));
                    widths.sum::<f64>() / 2.0 + GAP
                }
            };
            apart >= taken
        })
    }

    /// Width of the widest number.
    pub fn widest(&self) -> f64 {
        let widths = self.ticks.iter().map(|(_, text)| font::width(text, SIZE));
        widths.fold(0.0, f64::max)
    }
}

/// As plotters asks for it: the places of the numbers are the lines of the grid.
impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.low..self.high).map(place, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.iter().map(|t| t.0).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, place: &f64) -> String {
        let tick = self.ticks.iter().find(|t| t.0 == *place);
        tick.map(|t| t.1.clone()).unwrap_or_default()
    }
}

/// Powers of ten between `low` and `high`, with multiples of these where they are few; `None` where
/// even these are few.
fn decades(low: f64, high: f64, most: usize) -> Option<Vec<f64>> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let of = |digits: &[f64]| -> Vec<f64> {
        let all = (first..=last).flat_map(|p| digits.iter().map(move |d| d * 10_f64.powi(p)));
        all.filter(|v| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9))
            .collect()
    };
    let every: Vec<f64> = (1..10).map(f64::from).collect();
    let choices = [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0], &every].map(of);
    let fits = choices.iter().find(|c| (3..=most).contains(&c.len()));
    // Of more decades than there is room for, every second, third … is named.
    let thinned = || {
        let stride = choices[0].len().div_ceil(most.max(1)).max(1);
        let some: Vec<f64> = choices[0].iter().copied().step_by(stride).collect();
        (stride > 1 && some.len() > 1).then_some(some)
    };
    fits.cloned().or_else(thinned)
}

/// The numbers of an axis, with as many digits as tell them apart.
fn numbers(values: &[f64], divisor: f64, unit: &Unit) -> Vec<String> {
    // Beside the largest number, a smaller difference is one of rounding.
    let most = values.iter().fold(0.0_f64, |most, v| most.max(v.abs())) / divisor;
    let is_exact = |shown: f64, digits: usize| {
        let read: f64 = format!("{shown:.digits$}").parse().unwrap_or(f64::NAN);
        (read - shown).abs() <= 1e-9 * most
    };
    let exact = |digits: usize| values.iter().all(|v| is_exact(v / divisor, digits));
    let digits = (0..9).find(|d| exact(*d)).unwrap_or(3);
    values
        .iter()
        .map(|v| {
            let shown = v / divisor;
            // A log axis has small and large numbers beside each other.
            let own = (0..=digits).find(|d| is_exact(shown, *d));
            let digits = match *unit {
                Unit::Percent => digits,
                _ => own.unwrap_or(digits),
            };
            let text = format!("{shown:.digits$}").replace('-', "−");
            match unit {
                Unit::Percent if shown.abs() <= 1e-9 * most => "0".to_owned(),
                Unit::Percent if shown > 0.0 => format!("+{text} %"),
                Unit::Percent => format!("{text} %"),
                _ => text,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, text)| &text[..]).collect()
    }

    #[test]
    fn an_axis_has_a_unit_and_round_numbers() {
        let time = Axis::new("time", Unit::Micros);
        let scale = Scale::new(&time, (0.0, 41_000.0), 500.0, false);
        assert_eq!(scale.title, "time (ms)");
        assert_eq!(labels(&scale), ["0", "10", "20", "30", "40"]);
        let percent = Axis::new("difference", Unit::Percent);
        let scale = Scale::new(&percent, (-45.0, 22.0), 300.0, false);
        assert_eq!(scale.title, "difference");
        assert_eq!(
            labels(&scale),
            ["−40 %", "−30 %", "−20 %", "−10 %", "0", "+10 %", "+20 %"]
        );
        let empty = Scale::new(&time, (0.0, 1e-9), 100.0, true);
        assert_eq!(empty.title, "time (µs)");
    }

    #[test]
    fn numbers_do_not_touch() {
        for unit in [Unit::Percent, Unit::Micros, Unit::Other(String::new())] {
            for room in [30.0, 60.0, 100.0, 300.0] {
                for range in [(-1e-4, 3e-4), (0.0, 1.0), (-250.0, 1e4), (0.0, 1e12)] {
                    let axis = Axis::new("x", unit.clone());
                    let scale = Scale::new(&axis, range, room, false);
                    assert!(scale.fits(room, false), "{unit:?} {room} {range:?}");
                }
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_has_powers_of_ten() {
        let axis = Axis {
            log: true,
            ..Axis::new("delay", Unit::Micros)
        };
        let scale = Scale::new(&axis, (10.0, 10_000.0), 400.0, false);
        assert_eq!(labels(&scale), ["10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(scale.title, "delay");
        assert_eq!((scale.low, scale.high), (1.0, 4.0));
        let sizes = Axis {
            log: true,
            ..Axis::new("flow size", Unit::Bytes)
        };
        let scale = Scale::new(&sizes, (800.0, 3e7), 400.0, false);
        let words = ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"];
        assert_eq!(
            (labels(&scale), &scale.title[..]),
            (words.to_vec(), "flow size")
        );
        // Less than a decade has round numbers, and not its ends.
        let axis = Axis {
            log: true,
            ..Axis::new("slowdown", Unit::default())
        };
        let scale = Scale::new(&axis, (1.02, 6.98), 400.0, false);
        assert_eq!(labels(&scale), ["2", "3", "4", "5", "6"]);
        let scale = Scale::new(&axis, (1.02, 1.31), 400.0, false);
        assert_eq!(
            labels(&scale),
            ["1.05", "1.1", "1.15", "1.2", "1.25", "1.3"]
        );
        // The values of the sweep where they are few.
        let axis = Axis {
            at: vec![0.3, 0.6, 0.9],
            ..Axis::new("load", Unit::Other(String::new()))
        };
        let scale = Scale::new(&axis, (0.3, 0.9), 400.0, false);
        assert_eq!(labels(&scale), ["0.3", "0.6", "0.9"]);
    }
}
