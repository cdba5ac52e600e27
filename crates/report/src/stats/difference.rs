// SPDX-License-Identifier: MIT OR Apache-2.0
//! A difference in percent with its interval.

use serde::{Deserialize, Serialize};

use crate::units;

/// Where a comparison's interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// No interval: too few seeds, and no mean of enough flows.
    None,
    /// Student's t over seeds.
    Seeds,
    /// Paired bootstrap over flows within seeds.
    Flows,
    /// Student's t over batches of flows within seeds.
    Batches,
    /// Student's t over the replications of a run with a stated precision, at the level of its
    /// look.
    Looks,
    /// Welch's interval over the seeds of two samples without common flows.
    Welch,
}

impl Method {
    /// Name of the method in documents.
    pub fn name(self) -> &'static str {
        match self {
            Method::None => "none",
            Method::Seeds => "seeds",
            Method::Flows => "flows",
            Method::Batches => "batches",
            Method::Looks => "looks",
            Method::Welch => "welch",
        }
    }
}

/// A signed percent difference against the baseline with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// 100 (scheme / baseline - 1), mean over seeds.
    pub percent: f64,
    /// Lower and upper end of the interval in percent.
    pub interval: Option<(f64, f64)>,
    /// Where the interval comes from.
    pub method: Method,
    /// Seeds compared.
    pub seeds: u32,
    /// Pairs compared, all seeds.
    pub pairs: u64,
}

impl Comparison {
    /// The difference alone.
    pub fn without_interval(self) -> Self {
        Comparison {
            interval: None,
            method: Method::None,
            ..self
        }
    }

    /// The interval as tables print it behind the number; empty without.
    pub fn printed_interval(&self) -> String {
        self.interval
            .map(|i| units::interval(self.percent, i))
            .unwrap_or_default()
    }

    /// The difference with its interval in a sentence: `-12.1 % (±1.2)`.
    pub fn in_words(&self) -> String {
        let interval = match self.interval {
            Some(_) => self.printed_interval(),
            None => "no interval".to_owned(),
        };
        format!("{} ({interval})", units::percent(self.percent))
    }

    /// Whether it is decided that the scheme is above the baseline: the interval, which is what is
    /// printed, is above zero.
    pub fn above(&self) -> bool {
        self.interval.is_some_and(|(low, _)| low > 0.0)
    }

    /// Whether it is decided that the scheme is below the baseline: the printed interval is below
    /// zero.
    pub fn below(&self) -> bool {
        self.interval.is_some_and(|(_, high)| high < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_follows_the_interval_that_is_printed() {
        let of = |percent, interval| Comparison {
            percent,
            interval,
            method: Method::Flows,
            seeds: 3,
            pairs: 100,
        };
        let decided = |c: Comparison| (c.below(), c.above(), c.printed_interval());
        for (percent, interval, below, above, printed) in [
            (2.0, Some((1.0, 3.0)), false, true, "±1.0"),
            (-2.0, Some((-3.0, -1.0)), true, false, "±1.0"),
            (2.0, Some((-0.1, 4.1)), false, false, "±2.1"),
            // Asymmetric: both ends are printed, and both are on one side.
            (2.0, Some((1.0, 4.5)), false, true, "[1.0, 4.5]"),
            (-40.8, Some((-84.0, -19.0)), true, false, "[-84, -19]"),
            (-40.8, Some((-84.0, 0.3)), false, false, "[-84, 0.3]"),
            (2.0, None, false, false, ""),
        ] {
            let found = decided(of(percent, interval));
            assert_eq!(found, (below, above, printed.to_owned()), "{interval:?}");
        }
    }
}
