// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparisons of two samples whose flows are not the same, such as two runs with unlike workloads.
//!
//! Each seed of a sample gives one value, and the difference is that of the means over seeds. Its
//! interval is Welch's from three seeds of each sample on: the samples may have unlike variances
//! and unlike numbers of seeds. In addition to seeds
//!
//! * a **percentile** uses the bootstrap over flows, as a paired one does, and the wider interval
//!   counts;
//! * a **mean** of one or two seeds has the batches of each sample.

use super::own::own;
use super::paired::half_by_flows;
use super::{ALPHA, Comparison, Method, Statistic, mean, standard_error, t_two_sided};

/// Compares a statistic of the flows of each seed: `base` is the baseline, `other` what is compared
/// with it. The interval misses with probability `alpha`; only [`ALPHA`] takes batches and
/// bootstrap, whose intervals are of 95 %. `None` where a sample has no flow or the baseline is
/// zero.
pub fn compare_unpaired(
    base: &[Vec<f64>],
    other: &[Vec<f64>],
    statistic: Statistic,
    alpha: f64,
) -> Option<Comparison> {
    let of =
        |seeds: &[Vec<f64>]| -> Vec<f64> { seeds.iter().filter_map(|s| statistic.of(s)).collect() };
    let (b, o) = (of(base), of(other));
    let by_seeds = compare_unpaired_scalars(&b, &o, alpha)?;
    if alpha != ALPHA {
        return Some(by_seeds);
    }
    let ends = Ends::of(&b, &o)?;
    let half = |of: fn(&[Vec<f64>], Statistic) -> Option<f64>| {
        Some(ends.half(of(base, statistic)?, of(other, statistic)?))
    };
    let (flows, method) = match (statistic, by_seeds.interval) {
        (Statistic::Mean, None) => (half(by_batches), Method::Batches),
        (Statistic::Percentile(_), Some(_)) => (half(by_flows), Method::Flows),
        _ => (None, Method::None),
    };
    let seeds = by_seeds
        .interval
        .map_or(0.0, |(low, high)| 0.5 * (high - low));
    Some(match flows {
        Some(flows) if flows > seeds => within(by_seeds, flows, method),
        _ => by_seeds,
    })
}

/// Compares one number a seed: a queue length, a rate. The interval, from three seeds of each on,
/// misses with probability `alpha`.
pub fn compare_unpaired_scalars(base: &[f64], other: &[f64], alpha: f64) -> Option<Comparison> {
    let ends = Ends::of(base, other)?;
    let plain = Comparison {
        percent: 100.0 * (ends.ratio() - 1.0),
        interval: None,
        method: Method::None,
        seeds: base.len().min(other.len()) as u32,
        pairs: 0,
    };
    Some(match welch(base, other, ends, alpha) {
        Some(half) => within(plain, half, Method::Welch),
        None => plain,
    })
}

/// Means of the two samples.
#[derive(Clone, Copy)]
struct Ends {
    base: f64,
    other: f64,
}

impl Ends {
    fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let (base, other) = (mean(base)?, mean(other)?);
        (base > 0.0).then_some(Ends { base, other })
    }

    fn ratio(self) -> f64 {
        self.other / self.base
    }

    /// Half of the interval of the difference in percent, from an independent half (or standard
    /// error) of each mean.
    fn half(self, base: f64, other: f64) -> f64 {
        100.0 * (self.ratio() * base).hypot(other) / self.base
    }
}

/// Half of Welch's interval in percent.
fn welch(base: &[f64], other: &[f64], ends: Ends, alpha: f64) -> Option<f64> {
    let (b, o) = (standard_error(base)?, standard_error(other)?);
    let (u, v) = ((ends.ratio() * b).powi(2), o.powi(2));
    let spread = |x: f64, n: usize| x * x / (n - 1) as f64;
    let freedom = (u + v) * (u + v) / (spread(u, base.len()) + spread(v, other.len()));
    // Two samples without variance.
    let freedom = if freedom.is_finite() { freedom } else { 2.0 };
    // Whole degrees below Welch and Satterthwaite's are wider.
    Some(t_two_sided(alpha, (freedom + 1e-9) as usize) * ends.half(b, o))
}

fn within(c: Comparison, half: f64, method: Method) -> Comparison {
    Comparison {
        interval: Some((c.percent - half, c.percent + half)),
        method,
        ..c
    }
}

/// Half of the interval of a sample's own mean.
fn by_batches(seeds: &[Vec<f64>], statistic: Statistic) -> Option<f64> {
    let (low, high) = own(seeds, statistic, None)?.interval?;
    Some(0.5 * (high - low))
}

/// Half of the interval that the bootstrap gives to a sample's own percentile.
fn by_flows(seeds: &[Vec<f64>], statistic: Statistic) -> Option<f64> {
    let halves = seeds.iter().map(|values| {
        let units: Vec<_> = values.iter().map(|x| (1.0, *x)).collect();
        Some(half_by_flows(&units, statistic)? / 100.0)
    });
    let halves: Vec<f64> = halves.collect::<Option<_>>()?;
    Some(halves.iter().map(|h| h * h).sum::<f64>().sqrt() / seeds.len() as f64)
}

#[cfg(test)]
mod tests {
    use cemark_wire::hash::SplitMix64;

    use super::*;

    fn half(c: &Comparison) -> f64 {
        let (low, high) = c.interval.expect("an interval");
        0.5 * (high - low)
    }

    /// Samples of unlike variances and numbers, worked out by hand.
    #[test]
    fn welch_by_hand() {
        // Means 100 and 110, variances of the means 4/3 and 25/3; that of the base counts 1.1
        // squared times.
        let (base, other) = ([98.0, 100.0, 102.0], [105.0, 105.0, 115.0, 115.0]);
        let c = compare_unpaired_scalars(&base, &other, ALPHA).unwrap();
        let (u, v) = (1.21 * 4.0 / 3.0, 100.0 / 3.0 / 4.0);
        let freedom: f64 = (u + v) * (u + v) / (u * u / 2.0 + v * v / 3.0);
        assert_eq!(freedom as usize, 4);
        assert!((c.percent - 10.0).abs() < 1e-9);
        assert!((half(&c) - 2.7764 * (u + v).sqrt()).abs() < 1e-9, "{c:?}");
        assert_eq!((c.method, c.seeds, c.pairs), (Method::Welch, 3, 0));
        let strict = compare_unpaired_scalars(&base, &other, 0.01).unwrap();
        assert!(half(&strict) > half(&c));
        // Two seeds have no interval, and zero is no baseline.
        let two = compare_unpaired_scalars(&base[..2], &other, ALPHA).unwrap();
        assert_eq!((two.interval, two.method), (None, Method::None));
        assert_eq!(compare_unpaired_scalars(&[0.0], &other, ALPHA), None);
        let equal = compare_unpaired_scalars(&[5.0; 3], &[6.0; 4], ALPHA).unwrap();
        assert_eq!(equal.interval, Some((equal.percent, equal.percent)));
    }

    /// Draws with a long tail, times a factor.
    fn sample(rng: &mut SplitMix64, seeds: usize, flows: usize, factor: f64) -> Vec<Vec<f64>> {
        let mut one = || factor * 100.0 / ((rng.below(1_000_000) as f64 + 1.0) / 1e6).powf(0.3);
        (0..seeds)
            .map(|_| (0..flows).map(|_| one()).collect())
            .collect()
    }

    #[test]
    fn an_interval_holds_the_truth_about_as_often_as_it_says() {
        let mut rng = SplitMix64::new(7);
        for (seeds, flows, statistic, method) in [
            (4, 50, Statistic::Mean, Method::Welch),
            (1, 400, Statistic::Mean, Method::Batches),
        ] {
            let hits = (0..300).filter(|_| {
                let base = sample(&mut rng, seeds, flows, 1.0);
                let other = sample(&mut rng, seeds, flows, 0.8);
                let c = compare_unpaired(&base, &other, statistic, ALPHA).unwrap();
                assert_eq!(c.method, method);
                let (low, high) = c.interval.unwrap();
                low <= -20.0 && -20.0 <= high
            });
            let hits = hits.count();
            assert!((276..=300).contains(&hits), "{seeds} seeds: {hits} of 300");
        }
    }

    #[test]
    fn a_tail_is_never_surer_than_its_flows() {
        let one = sample(&mut SplitMix64::new(9), 1, 400, 1.0).remove(0);
        let seeds = vec![one.clone(), one.clone(), one];
        let tail = Statistic::Percentile(0.99);
        let c = compare_unpaired(&seeds, &seeds, tail, ALPHA).unwrap();
        assert_eq!((c.percent, c.method), (0.0, Method::Flows));
        assert!(half(&c) > 0.5, "{c:?}");
        let two = compare_unpaired(&seeds[..2], &seeds, tail, ALPHA).unwrap();
        assert_eq!(two.interval, None);
        assert_eq!(compare_unpaired(&[], &seeds, tail, ALPHA), None);
    }
}
