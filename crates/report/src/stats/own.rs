// SPDX-License-Identifier: MIT OR Apache-2.0
//! A number of one sample with its interval: the mean over seeds of a statistic.
//!
//! The methods are those of paired comparisons, against a baseline that is one for every flow.

use super::paired::{compare, compare_at, compare_scalars, compare_scalars_at};
use super::{Comparison, Method, Statistic, mean};

/// Mean over seeds with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    /// The mean.
    pub value: f64,
    /// Lower and upper end of the interval.
    pub interval: Option<(f64, f64)>,
    /// Where the interval comes from.
    pub method: Method,
    /// Seeds with a value.
    pub seeds: u32,
}

impl Own {
    /// The comparison with one, and the values of the seeds.
    fn of(values: &[f64], with_one: Comparison) -> Option<Self> {
        let end = |percent: f64| 1.0 + percent / 100.0;
        Some(Own {
            value: mean(values)?,
            interval: with_one.interval.map(|(low, high)| (end(low), end(high))),
            method: with_one.method,
            seeds: with_one.seeds,
        })
    }
}

/// A statistic of the values of each seed; `None` where no seed has a value. `look`: the
/// replications after which a run with a stated precision looks.
pub fn own(seeds: &[Vec<f64>], statistic: Statistic, look: Option<u32>) -> Option<Own> {
    let units = |values: &Vec<f64>| values.iter().map(|x| (1.0, *x)).collect();
    let pairs: Vec<Vec<(f64, f64)>> = seeds.iter().map(units).collect();
    let with_one = match look {
        None => compare(&pairs, statistic),
        Some(look) => compare_at(&pairs, statistic, look),
    };
    let values: Vec<f64> = seeds.iter().filter_map(|s| statistic.of(s)).collect();
    Own::of(&values, with_one?)
}

/// Mean over seeds of a number that each seed has once: a queue length, a counter.
pub fn own_scalars(values: &[f64], look: Option<u32>) -> Option<Own> {
    let pairs: Vec<(f64, f64)> = values.iter().map(|x| (1.0, *x)).collect();
    let with_one = match look {
        None => compare_scalars(&pairs),
        Some(look) => compare_scalars_at(&pairs, look),
    };
    Own::of(values, with_one?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_students_interval() {
        // Mean 2, standard error 1/sqrt(3), t = 4.3027.
        let own = own_scalars(&[1.0, 2.0, 3.0], None).unwrap();
        let (low, high) = own.interval.unwrap();
        assert_eq!((own.value, own.method, own.seeds), (2.0, Method::Seeds, 3));
        assert!((high - 2.0 - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-4);
        assert!((low + high - 4.0).abs() < 1e-9);
        assert_eq!(own_scalars(&[4.0, 5.0], None).unwrap().interval, None);
        assert_eq!(own_scalars(&[], None), None);
        let look = own_scalars(&[1.0, 2.0, 3.0], Some(3)).unwrap();
        assert_eq!(look.method, Method::Looks);
        assert!(look.interval.unwrap().1 > high);
    }

    #[test]
    fn one_seed_has_batches_for_a_mean_and_nothing_for_a_percentile() {
        let seed: Vec<f64> = (0..200).map(|i| f64::from(i % 7)).collect();
        let seeds = [seed.clone(), vec![]];
        let of = |statistic| own(&seeds[..1], statistic, None).unwrap();
        let middle = of(Statistic::Mean);
        let (low, high) = middle.interval.unwrap();
        assert!((middle.value - mean(&seed).unwrap()).abs() < 1e-12);
        assert!(low < middle.value && middle.value < high && high - low < 1.0);
        assert_eq!(middle.method, Method::Batches);
        let tail = of(Statistic::Percentile(0.99));
        assert_eq!((tail.value, tail.interval), (6.0, None));
        assert_eq!(own(&seeds, Statistic::Mean, None).unwrap().seeds, 1);
        assert_eq!(own(&seeds[1..], Statistic::Mean, None), None);
    }
}
