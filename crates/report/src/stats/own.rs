// SPDX-License-Identifier: MIT OR Apache-2.0
//! A number of one sample with its interval: the mean over seeds of a statistic.
//!
//! The methods are those of paired comparisons, against a baseline that is one for every flow. The
//! bootstrap of a percentile draws the percentile itself: the k-th smallest of n flows drawn with
//! replacement is the flow at place floor(n U) of the sorted flows, where U, the k-th smallest of n
//! uniform numbers, has the beta distribution of k and n + 1 - k. The logarithm and the cosine are
//! those of the machine's library, so an end of such an interval may differ between machines.

use cemark_wire::hash::SplitMix64;

use super::paired::{RESAMPLES, compare, compare_at, compare_scalars, compare_scalars_at};
use super::paired::{over_seeds, wider};
use super::{Comparison, Method, Statistic, mean, percentile, rank};

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
    if let (Statistic::Percentile(share), None) = (statistic, look) {
        return of_percentile(seeds, share);
    }
    let units = |values: &Vec<f64>| values.iter().map(|x| (1.0, *x)).collect();
    let pairs: Vec<Vec<(f64, f64)>> = seeds.iter().map(units).collect();
    let with_one = match look {
        None => compare(&pairs, statistic),
        Some(look) => compare_at(&pairs, statistic, look),
    };
    let values: Vec<f64> = seeds.iter().filter_map(|s| statistic.of(s)).collect();
    Own::of(&values, with_one?)
}

fn of_percentile(seeds: &[Vec<f64>], share: f64) -> Option<Own> {
    let with_flows = seeds.iter().filter(|s| !s.is_empty());
    let seeds: Vec<Vec<f64>> = with_flows
        .map(|seed| {
            let mut sorted = seed.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        })
        .collect();
    let values: Vec<f64> = seeds.iter().filter_map(|s| percentile(s, share)).collect();
    let value = mean(&values)?;
    let (interval, method) = match over_seeds(&values) {
        Some(by_seeds) => wider(value, by_seeds, bootstrap(&seeds, share)),
        None => (None, Method::None),
    };
    Some(Own {
        value,
        interval,
        method,
        seeds: values.len() as u32,
    })
}

/// The interval of the mean over seeds of a percentile when the flows of each seed, in rising
/// order, are drawn again with replacement. `None` of a handful of flows.
fn bootstrap(seeds: &[Vec<f64>], share: f64) -> Option<(f64, f64)> {
    if seeds.iter().map(Vec::len).sum::<usize>() < 10 {
        return None;
    }
    let mut rng = SplitMix64::new(0x00ce_0000_a12c_0001);
    let mut draw = |seed: &Vec<f64>| {
        let place = uniform_of_rank(&mut rng, rank(seed.len(), share), seed.len());
        seed[((place * seed.len() as f64) as usize).min(seed.len() - 1)]
    };
    let resample = |_| seeds.iter().map(&mut draw).sum::<f64>() / seeds.len() as f64;
    let mut means: Vec<f64> = (0..RESAMPLES).map(resample).collect();
    means.sort_unstable_by(f64::total_cmp);
    Some((percentile(&means, 0.025)?, percentile(&means, 0.975)?))
}

/// The k-th smallest of n uniform numbers: x / (x + y) of two gamma numbers of shapes k and
/// n + 1 - k.
fn uniform_of_rank(rng: &mut SplitMix64, k: usize, n: usize) -> f64 {
    let (x, y) = (gamma(rng, k as f64), gamma(rng, (n + 1 - k) as f64));
    x / (x + y)
}

/// A gamma number of a shape from 1 on (Marsaglia and Tsang, A Simple Method for Generating Gamma
/// Variables, 2000).
fn gamma(rng: &mut SplitMix64, shape: f64) -> f64 {
    // From above 0 to 1.
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && uniform().ln() < 0.5 * normal * normal + d - d * v + d * v.ln() {
            return d * v;
        }
    }
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

    /// The k-th smallest of n uniform numbers has mean k / (n + 1) and variance
    /// k (n + 1 - k) / ((n + 1)^2 (n + 2)).
    #[test]
    fn a_rank_is_drawn_with_its_mean_and_spread() {
        let mut rng = SplitMix64::new(1);
        for (k, n) in [(1, 1), (1, 10), (5, 10), (198, 200), (9900, 10_000)] {
            let draws: Vec<f64> = (0..20_000)
                .map(|_| uniform_of_rank(&mut rng, k, n))
                .collect();
            let (kf, nf) = (k as f64, n as f64);
            let variance = kf * (nf + 1.0 - kf) / ((nf + 1.0) * (nf + 1.0) * (nf + 2.0));
            let middle = mean(&draws).unwrap();
            assert!((middle - kf / (nf + 1.0)).abs() < 4.0 * (variance / 20_000.0).sqrt());
            let spread = draws.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / 20_000.0;
            assert!(
                (spread / variance - 1.0).abs() < 0.06,
                "{k} of {n}: {spread}"
            );
        }
    }

    /// The interval of a percentile is that of resampled flows as [`compare`] draws them, one by
    /// one, against a baseline of ones.
    #[test]
    fn a_percentile_has_the_interval_of_resampled_flows() {
        let mut rng = SplitMix64::new(7);
        let mut seed = || {
            let value = |_| 1e3 / ((rng.below(1_000_000) + 1) as f64 / 1e6).sqrt();
            (0..900).map(value).collect::<Vec<f64>>()
        };
        // Equal seeds, so that the flows decide.
        let one = seed();
        let seeds = [one.clone(), one.clone(), one];
        for share in [0.5, 0.95, 0.99] {
            let own = own(&seeds, Statistic::Percentile(share), None).unwrap();
            let ones = |s: &Vec<f64>| s.iter().map(|x| (1.0, *x)).collect::<Vec<_>>();
            let pairs: Vec<_> = seeds.iter().map(ones).collect();
            let drawn = compare(&pairs, Statistic::Percentile(share)).unwrap();
            assert_eq!((own.method, drawn.method), (Method::Flows, Method::Flows));
            let (low, high) = own.interval.unwrap();
            let (low_drawn, high_drawn) = drawn.interval.unwrap();
            let ends = [(low, low_drawn), (high, high_drawn)];
            for (end, percent) in ends {
                let drawn = 1.0 + percent / 100.0;
                let width = (high - low) / own.value;
                assert!(
                    (end - drawn).abs() / own.value < 0.2 * width,
                    "{end} {drawn}"
                );
            }
        }
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
