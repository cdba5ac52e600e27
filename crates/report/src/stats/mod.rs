// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of flows: exact, and the same on every machine.
//!
//! A percentile is the nearest rank: the smallest value with at least `p` of all values at or below
//! it, so it is always a value that occurred. Unfinished flows have no value: they are counted and
//! never averaged in.

mod batches;
mod difference;
mod own;
mod paired;
mod queries;
pub mod sequential;
mod student;
mod unpaired;

pub use batches::FEWEST as FEWEST_IN_BATCHES;
pub use difference::{Comparison, Method};
pub use own::{Own, own, own_scalars};
pub use paired::{compare, compare_at, compare_scalars, compare_scalars_at, half_by_flows, pairs};
pub use queries::{Query, pairs_of_queries, queries};
pub use student::{ALPHA, t_two_sided};
pub use unpaired::{compare_unpaired, compare_unpaired_scalars};

use cemark_sim::outcome::FlowRecord;
use serde::{Deserialize, Serialize};

/// Flows by size, as the ECN# paper cuts them (KB = 1000 B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeClass {
    /// Every flow.
    All,
    /// Below 100 KB.
    Short,
    /// From 100 KB to 10 MB, ends included.
    Medium,
    /// Above 10 MB.
    Large,
}

impl SizeClass {
    /// All four, in the order of reports.
    pub const EACH: [SizeClass; 4] = [
        SizeClass::All,
        SizeClass::Short,
        SizeClass::Medium,
        SizeClass::Large,
    ];

    /// Whether a flow of this many payload bytes belongs to the class.
    pub fn has(self, bytes: u64) -> bool {
        match self {
            SizeClass::All => true,
            SizeClass::Short => bytes < 100_000,
            SizeClass::Medium => (100_000..=10_000_000).contains(&bytes),
            SizeClass::Large => bytes > 10_000_000,
        }
    }

    /// Its name in JSON (`short`).
    pub fn key(self) -> &'static str {
        match self {
            SizeClass::All => "all",
            SizeClass::Short => "short",
            SizeClass::Medium => "medium",
            SizeClass::Large => "large",
        }
    }
}

/// Statistic that summarises many numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Nearest-rank percentile, 0 < p <= 1.
    Percentile(f64),
}

impl Statistic {
    /// Whether the nearest rank among `n` values is the largest: a 99th percentile of fewer than
    /// 100 values, a 95th of fewer than 20.
    pub fn is_maximum(self, n: u64) -> bool {
        match self {
            Statistic::Mean => false,
            Statistic::Percentile(p) => n > 0 && rank(n as usize, p) as u64 == n,
        }
    }

    /// The statistic of `values`; `None` where there are none.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        match self {
            Statistic::Mean => mean(values),
            Statistic::Percentile(p) => {
                let mut v = values.to_vec();
                v.sort_unstable_by(f64::total_cmp);
                percentile(&v, p)
            }
        }
    }
}

/// Arithmetic mean; `None` of nothing. Summed in order, so that it is reproducible to the bit.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard error of the mean of three values or more.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values)?);
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (values.len() >= 3).then(|| (variance / n).sqrt())
}

/// Nearest-rank percentile of values in rising order; `None` of nothing.
pub fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted[rank(sorted.len(), p) - 1])
}

/// Nearest-rank percentile of values in any order, which their selection changes; `None` of
/// nothing.
pub fn select(values: &mut [f64], p: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let last = rank(values.len(), p) - 1;
    Some(*values.select_nth_unstable_by(last, f64::total_cmp).1)
}

/// The nearest rank, from 1 to `n`: ceil(p n), guarded against p n being an integer that floating
/// point overshoots.
pub(crate) fn rank(n: usize, p: f64) -> usize {
    ((p * n as f64 - 1e-9).ceil() as usize).clamp(1, n)
}

/// A distribution as reports print it. The fields are `null` where `count` is zero, `p95` where it
/// is below 20 and `p99` where it is below 100: the nearest rank is the largest value there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many values.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
}

impl Distribution {
    /// Distribution of any values, in any order.
    pub fn of(mut values: Vec<f64>) -> Self {
        let mean = mean(&values);
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as u64;
        let p = |p| percentile(&values, p);
        let tail = |share| p(share).filter(|_| !Statistic::Percentile(share).is_maximum(n));
        Distribution {
            count: n,
            mean,
            p50: p(0.50),
            p95: tail(0.95),
            p99: tail(0.99),
        }
    }
}

/// Completion times in microseconds of the finished flows of a class.
pub fn fct_us(flows: &[FlowRecord], class: SizeClass) -> Vec<f64> {
    flows
        .iter()
        .filter(|f| class.has(f.bytes))
        .filter_map(fct)
        .collect()
}

/// Completion time of a flow in microseconds; `None` while it is unfinished.
pub fn fct(flow: &FlowRecord) -> Option<f64> {
    flow.fct.map(|t| t.as_micros_f64())
}

/// Completion time of a flow over that of the empty network; `None` while the flow is unfinished.
pub fn slowdown(flow: &FlowRecord) -> Option<f64> {
    let fct = flow.fct.filter(|_| flow.ideal.0 > 0);
    fct.map(|t| t.0 as f64 / flow.ideal.0 as f64)
}

/// Slowdowns of the finished flows of a class.
pub fn slowdowns(flows: &[FlowRecord], class: SizeClass) -> Vec<f64> {
    let of_class = flows.iter().filter(|f| class.has(f.bytes));
    of_class.filter_map(slowdown).collect()
}

/// The 95 % interval of the mean over replications, by Student's t; from three replications on. In
/// a run with a stated precision `look` is the number of replications at its look, whose level the
/// interval has.
pub fn interval_of_mean(values: &[f64], look: Option<u32>) -> Option<(f64, f64)> {
    match look {
        None => paired::over_seeds(values),
        Some(look) => sequential::compare_replications(values, look, 0)?.interval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let v: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&v, 0.99), Some(99.0));
        assert_eq!(percentile(&v, 0.50), Some(50.0));
        assert_eq!(percentile(&v, 1.0), Some(100.0));
        assert_eq!(percentile(&v[..3], 0.5), Some(2.0));
        assert_eq!(percentile(&v[..1], 0.99), Some(1.0));
        assert_eq!(percentile(&[], 0.5), None);
        for p in [0.5, 0.9, 0.99, 1.0] {
            let mut mixed: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100 + 1)).collect();
            assert_eq!(select(&mut mixed, p), percentile(&v, p));
        }
        assert_eq!(select(&mut [], 0.5), None);
    }

    #[test]
    fn every_size_is_in_one_class() {
        for (bytes, class) in [
            (1, SizeClass::Short),
            (99_999, SizeClass::Short),
            (100_000, SizeClass::Medium),
            (10_000_000, SizeClass::Medium),
            (10_000_001, SizeClass::Large),
        ] {
            let of: Vec<_> = SizeClass::EACH[1..]
                .iter()
                .filter(|c| c.has(bytes))
                .collect();
            assert_eq!(of, [&class], "{bytes}");
        }
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(Distribution::of(vec![]), Distribution::default());
        assert_eq!(Distribution::of(vec![2.0, 4.0]).mean, Some(3.0));
    }
}
