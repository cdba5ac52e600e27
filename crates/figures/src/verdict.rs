// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a published number is reproduced.

use std::fmt;

use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

/// The verdict on a row. Of several conditions the highest one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowVerdict {
    /// All its conditions are `report`: a comparison of our own, with nothing published to
    /// reproduce.
    Measured,
    /// A closed form or a printed table gives the published number. Nothing was simulated, so no
    /// change of cemark could have made it fail, and the row does not count.
    ByConstruction,
    /// The whole 95 % interval is in the row's band.
    Reproduced,
    /// The interval has an end of the band inside, or the number has no interval.
    NotDecided,
    /// The whole 95 % interval is outside the band.
    NotReproduced,
    /// A free parameter was fitted on this row, so it proves nothing.
    Calibrated,
}

impl RowVerdict {
    /// Its name in JSON and TSV.
    pub fn key(self) -> &'static str {
        match self {
            RowVerdict::Reproduced => "reproduced",
            RowVerdict::NotReproduced => "not_reproduced",
            RowVerdict::NotDecided => "not_decided",
            RowVerdict::Calibrated => "calibrated",
            RowVerdict::ByConstruction => "by_construction",
            RowVerdict::Measured => "measured",
        }
    }

    /// Whether a row with this verdict is one of those of which a share is reproduced.
    pub fn counts(self) -> bool {
        use RowVerdict::{NotDecided, NotReproduced, Reproduced};
        matches!(self, Reproduced | NotReproduced | NotDecided)
    }

    /// The verdict of that name.
    pub fn parse(key: &str) -> Option<Self> {
        let name: StrDeserializer<'_, serde::de::value::Error> = key.into_deserializer();
        RowVerdict::deserialize(name).ok()
    }

    /// Verdict of a row with several conditions that decide: reproduced if all are, not reproduced
    /// if any is not. Without any the row is measured.
    pub fn all(parts: impl IntoIterator<Item = RowVerdict>) -> RowVerdict {
        parts.into_iter().max().unwrap_or(RowVerdict::Measured)
    }
}

impl fmt::Display for RowVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.key().replace('_', " "))
    }
}

/// The values that a row accepts, ends included; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Smallest.
    pub lo: f64,
    /// Largest.
    pub hi: f64,
}

impl Band {
    /// The verdict on an interval.
    pub fn judge(&self, interval: Option<(f64, f64)>) -> RowVerdict {
        match interval {
            Some((low, high)) if low >= self.lo && high <= self.hi => RowVerdict::Reproduced,
            Some((low, high)) if high < self.lo || low > self.hi => RowVerdict::NotReproduced,
            _ => RowVerdict::NotDecided,
        }
    }

    /// The verdict on the largest of many differences. Small ones are noise, so an interval that
    /// contains zero counts as inside the band if it is narrow enough to show a difference of the
    /// band's size.
    pub fn judge_spread(&self, interval: Option<(f64, f64)>) -> RowVerdict {
        match interval {
            Some((low, high)) if low <= 0.0 && high - low <= 2.0 * self.hi => {
                RowVerdict::Reproduced
            }
            interval => self.judge(interval),
        }
    }
}

/// Whether the interval contains a value within a tenth of the published number.
pub fn matches_value(published: Option<f64>, interval: Option<(f64, f64)>) -> Option<bool> {
    let (value, (low, high)) = (published?, interval?);
    let slack = 0.1 * value.abs();
    Some(high >= value - slack && low <= value + slack)
}

/// Whether the interval meets two thirds to one and a half times the published number, with its
/// sign. `None` where that is zero ("similar"), where there is none, and without an interval.
pub fn near(published: Option<f64>, interval: Option<(f64, f64)>) -> Option<bool> {
    let (value, (low, high)) = (published.filter(|p| *p != 0.0)?, interval?);
    let (one, other) = (value / 1.5, value * 1.5);
    Some(high >= one.min(other) && low <= one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    #[test]
    fn the_whole_interval_decides() {
        let band = Band {
            lo: 8.0,
            hi: f64::INFINITY,
        };
        for (interval, verdict) in [
            (Some((8.0, 30.0)), RowVerdict::Reproduced),
            (Some((7.9, 30.0)), RowVerdict::NotDecided),
            (Some((-3.0, 7.9)), RowVerdict::NotReproduced),
            (Some((-3.0, 8.0)), RowVerdict::NotDecided),
            (None, RowVerdict::NotDecided),
        ] {
            assert_eq!(band.judge(interval), verdict, "{interval:?}");
        }
        assert_eq!(
            Band { lo: -1.0, hi: 1.0 }.judge(Some((1.5, 2.0))),
            RowVerdict::NotReproduced
        );
        assert_eq!(
            band.judge(Some((f64::NAN, f64::NAN))),
            RowVerdict::NotDecided
        );
    }

    #[test]
    fn conditions_combine() {
        use RowVerdict::{ByConstruction as B, Calibrated as C, Measured as M, NotDecided as U};
        use RowVerdict::{NotReproduced as N, Reproduced as R};
        for (parts, verdict) in [
            (&[R, R][..], R),
            (&[R, U], U),
            (&[U, N, R], N),
            (&[R, N, U], N),
            (&[C, N], C),
            (&[N, C], C),
            (&[], M),
            (&[M, M], M),
            (&[M, R, M], R),
            (&[N, M], N),
            (&[B, B], B),
            (&[B, M], B),
            (&[B, R], R),
            (&[N, B], N),
        ] {
            assert_eq!(RowVerdict::all(parts.iter().copied()), verdict, "{parts:?}");
        }
        for v in [R, N, U, C, B, M] {
            assert_eq!(RowVerdict::parse(v.key()), Some(v));
        }
    }

    #[test]
    fn a_tenth_around_the_value() {
        assert_eq!(matches_value(Some(23.4), Some((10.0, 21.1))), Some(true));
        assert_eq!(matches_value(Some(23.4), Some((10.0, 21.0))), Some(false));
        assert_eq!(matches_value(Some(-10.0), Some((-9.5, -2.0))), Some(true));
        assert_eq!(matches_value(None, Some((0.0, 1.0))), None);
    }

    #[test]
    fn near_is_within_a_half() {
        assert_eq!(near(Some(30.0), Some((10.0, 20.0))), Some(true));
        assert_eq!(near(Some(30.0), Some((10.0, 19.9))), Some(false));
        assert_eq!(near(Some(30.0), Some((45.1, 50.0))), Some(false));
        assert_eq!(near(Some(-30.0), Some((-20.0, 5.0))), Some(true));
        assert_eq!(near(Some(-30.0), Some((20.0, 45.0))), Some(false));
        assert_eq!(near(Some(0.0), Some((-1.0, 1.0))), None);
        assert_eq!(near(None, Some((-1.0, 1.0))), None);
        assert_eq!(near(Some(1.0), None), None);
    }

    /// Noise around zero is no spread, unless it is too wide to tell.
    #[test]
    fn spreads() {
        let band = Band { lo: 0.0, hi: 2.0 };
        let of = |seeds: [f64; 3]| band.judge_spread(Estimate::of_seeds(seeds.to_vec()).interval());
        assert_eq!(of([0.1, -0.1, 0.2]), RowVerdict::Reproduced);
        assert_eq!(of([1.0, 1.1, 0.9]), RowVerdict::Reproduced);
        assert_eq!(of([9.0, -9.0, 3.0]), RowVerdict::NotDecided);
        assert_eq!(of([5.0, 5.1, 4.9]), RowVerdict::NotReproduced);
    }
}
