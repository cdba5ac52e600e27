// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paired comparisons: the same flows under two schemes.
//!
//! For each seed the statistic is taken of the same flows under the baseline and under the scheme
//! (flows that both finished); the percent difference of a comparison is the mean over seeds of the
//! per-seed differences. Its 95 % interval comes from
//!
//! * **seeds**: Student's t over the per-seed differences, where there are at least three seeds. It
//!   accounts for flows that share queues and so are not independent;
//! * **flows**: for a percentile, in addition to seeds: a paired bootstrap, which draws flows with
//!   replacement within each seed (the same draws for both schemes). It accounts for how few flows
//!   make a 99th percentile, which three seeds may hide by chance, but it assumes independent
//!   flows. The wider of the two is used;
//! * **batches**: for a mean of one or two seeds, see [`super::batches`];
//! * **looks**: in a run with a stated precision, which stops by its own intervals, Student's t
//!   over replications at the level of the look, see [`super::sequential`].
//!
//! A percentile of one or two seeds has no interval: two values say almost nothing about their
//! spread, and resampling the flows of one run does not show what they share.
//! `cargo xtask proof coverage` measures how often each interval contains the truth, and
//! `cargo xtask proof coverage-tails` where it falls short: three seeds of a percentile that
//! depends on a few bursts of timeouts.

use cemark_sim::outcome::FlowRecord;
use cemark_wire::hash::SplitMix64;

use super::difference::{Comparison, Method};
use super::student::{ALPHA, t_two_sided};
use super::{Statistic, batches, rank, sequential};

/// Resamples of the bootstrap: the 2.5th percentile is then the 13th smallest of 500.
pub(super) const RESAMPLES: usize = 500;

/// Numbers (baseline, scheme) of the flows that pass `keep` and have a number under both, so
/// finished under both. Both lists are in order of id.
pub fn pairs<'a>(
    baseline: impl IntoIterator<Item = &'a FlowRecord>,
    scheme: impl IntoIterator<Item = &'a FlowRecord>,
    keep: impl Fn(&FlowRecord) -> bool,
    of: fn(&FlowRecord) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let mut others = scheme.into_iter().peekable();
    let mut out = Vec::new();
    for b in baseline.into_iter().filter(|f| keep(f)) {
        while others.next_if(|s| s.id < b.id).is_some() {}
        let Some(s) = others.next_if(|s| s.id == b.id) else {
            continue;
        };
        out.extend(of(b).zip(of(s)));
    }
    out
}

/// Compares a statistic over the pairs of each seed. `None` where no seed has a pair or the
/// baseline is zero.
pub fn compare(seeds: &[Vec<(f64, f64)>], statistic: Statistic) -> Option<Comparison> {
    let seeds: Vec<Sorted> = seeds
        .iter()
        .filter(|p| !p.is_empty())
        .map(|p| Sorted::new(p))
        .collect();
    let of_seeds: Vec<f64> = seeds
        .iter()
        .filter_map(|s| s.percent(statistic, None))
        .collect();
    let percent = super::mean(&of_seeds)?;
    let (interval, method) = match (over_seeds(&of_seeds), statistic) {
        (Some(by_seeds), Statistic::Mean) => (Some(by_seeds), Method::Seeds),
        (Some(by_seeds), Statistic::Percentile(_)) => {
            wider(percent, by_seeds, bootstrap(&seeds, statistic))
        }
        (None, Statistic::Mean) => {
            let runs: Vec<&[(f64, f64)]> = seeds.iter().map(|s| &s.pairs[..]).collect();
            match batches::half(&runs, percent) {
                Some(half) => (Some((percent - half, percent + half)), Method::Batches),
                None => (None, Method::None),
            }
        }
        (None, Statistic::Percentile(_)) => (None, Method::None),
    };
    let pairs = seeds.iter().map(|s| s.pairs.len() as u64).sum();
    Some(Comparison {
        percent,
        interval,
        method,
        seeds: of_seeds.len() as u32,
        pairs,
    })
}

/// Compares a statistic as [`compare`] does, in a run with a stated precision that looks after this
/// many replications. `None` where no replication has a pair or the baseline is zero.
pub fn compare_at(
    seeds: &[Vec<(f64, f64)>],
    statistic: Statistic,
    replications: u32,
) -> Option<Comparison> {
    let of_seeds: Vec<f64> = seeds
        .iter()
        .filter_map(|p| percent_of(p, statistic))
        .collect();
    let pairs = seeds.iter().map(|p| p.len() as u64).sum();
    sequential::compare_replications(&of_seeds, replications, pairs)
}

/// The percent difference of one seed; `None` without pairs or where the baseline is zero.
fn percent_of(pairs: &[(f64, f64)], statistic: Statistic) -> Option<f64> {
    let side = |of: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(of).collect();
        statistic.of(&values)
    };
    let (b, s) = (side(|p| p.0)?, side(|p| p.1)?);
    (b > 0.0).then(|| 100.0 * (s / b - 1.0))
}

/// The wider interval. All resamples of a tail may be on one side of the number itself, so the
/// interval is extended to contain it.
pub(super) fn wider(
    percent: f64,
    by_seeds: (f64, f64),
    by_flows: Option<(f64, f64)>,
) -> (Option<(f64, f64)>, Method) {
    let width = |(low, high): (f64, f64)| high - low;
    let by_flows = by_flows.map(|(low, high)| (low.min(percent), high.max(percent)));
    match by_flows {
        Some(flows) if width(flows) > width(by_seeds) => (by_flows, Method::Flows),
        _ => (Some(by_seeds), Method::Seeds),
    }
}

/// Half the interval that the bootstrap over the flows of one seed gives to a percentile's
/// difference, the larger side; `None` where there are too few flows. It is no interval of its own:
/// it assumes independent flows, and shows how few flows a tail depends on.
pub fn half_by_flows(pairs: &[(f64, f64)], statistic: Statistic) -> Option<f64> {
    let seed = Sorted::new(pairs);
    let percent = seed.percent(statistic, None)?;
    let (low, high) = bootstrap(&[seed], statistic)?;
    Some((high - percent).max(percent - low))
}

/// Compares one number a seed as [`compare_scalars`] does, in a run with a stated precision that
/// looks after this many replications.
pub fn compare_scalars_at(seeds: &[(f64, f64)], replications: u32) -> Option<Comparison> {
    let of_seeds = percents(seeds);
    sequential::compare_replications(&of_seeds, replications, of_seeds.len() as u64)
}

/// The percent difference of each seed whose baseline is not zero.
fn percents(seeds: &[(f64, f64)]) -> Vec<f64> {
    let measured = seeds.iter().filter(|(b, _)| *b > 0.0);
    measured.map(|(b, s)| 100.0 * (s / b - 1.0)).collect()
}

/// Compares one number a seed, (baseline, scheme): a queue length, a rate. Interval only from three
/// seeds on.
pub fn compare_scalars(seeds: &[(f64, f64)]) -> Option<Comparison> {
    let of_seeds = percents(seeds);
    let percent = super::mean(&of_seeds)?;
    let interval = over_seeds(&of_seeds);
    let method = if interval.is_some() {
        Method::Seeds
    } else {
        Method::None
    };
    Some(Comparison {
        percent,
        interval,
        method,
        seeds: of_seeds.len() as u32,
        pairs: of_seeds.len() as u64,
    })
}

/// Student's t interval of the mean; from three values on.
pub(super) fn over_seeds(values: &[f64]) -> Option<(f64, f64)> {
    let half = t_two_sided(ALPHA, values.len().max(1) - 1) * super::standard_error(values)?;
    let mean = super::mean(values)?;
    Some((mean - half, mean + half))
}

/// The pairs of one seed and both orders of rank, so that a resample's percentile is found by
/// walking down the tail.
struct Sorted {
    pairs: Vec<(f64, f64)>,
    by_baseline: Vec<u32>,
    by_scheme: Vec<u32>,
}

impl Sorted {
    fn new(pairs: &[(f64, f64)]) -> Self {
        let order = |key: fn(&(f64, f64)) -> f64| {
            let mut index: Vec<u32> = (0..pairs.len() as u32).collect();
            index.sort_by(|a, b| key(&pairs[*b as usize]).total_cmp(&key(&pairs[*a as usize])));
            index
        };
        Sorted {
            pairs: pairs.to_vec(),
            by_baseline: order(|p| p.0),
            by_scheme: order(|p| p.1),
        }
    }

    /// The percent difference; `counts` says how often each pair was drawn (once, without).
    fn percent(&self, statistic: Statistic, counts: Option<&[u32]>) -> Option<f64> {
        let (b, s) = match statistic {
            Statistic::Mean => {
                let times = |i: usize| counts.map_or(1.0, |c| f64::from(c[i]));
                self.pairs
                    .iter()
                    .enumerate()
                    .fold((0.0, 0.0), |(b, s), (i, p)| {
                        (b + times(i) * p.0, s + times(i) * p.1)
                    })
            }
            Statistic::Percentile(p) => {
                let from_top = self.pairs.len() - rank(self.pairs.len(), p) + 1;
                (
                    self.pairs[walk(&self.by_baseline, counts, from_top)].0,
                    self.pairs[walk(&self.by_scheme, counts, from_top)].1,
                )
            }
        };
        (b > 0.0).then(|| 100.0 * (s / b - 1.0))
    }
}

/// The pair that holds the `from_top`-th largest draw.
fn walk(falling: &[u32], counts: Option<&[u32]>, from_top: usize) -> usize {
    let mut seen = 0;
    for &i in falling {
        seen += counts.map_or(1, |c| c[i as usize] as usize);
        if seen >= from_top {
            return i as usize;
        }
    }
    falling[falling.len() - 1] as usize
}

fn bootstrap(seeds: &[Sorted], statistic: Statistic) -> Option<(f64, f64)> {
    // The resamples of a handful of flows give a meaningless interval.
    if seeds.iter().map(|s| s.pairs.len()).sum::<usize>() < 10 {
        return None;
    }
    // A fixed seed, so that a report is the same on every machine.
    let mut rng = SplitMix64::new(0x00ce_0000_a12c_0001);
    let mut means = Vec::with_capacity(RESAMPLES);
    let mut counts = Vec::new();
    for _ in 0..RESAMPLES {
        let mut percents = Vec::with_capacity(seeds.len());
        for seed in seeds {
            counts.clear();
            counts.resize(seed.pairs.len(), 0_u32);
            for _ in 0..seed.pairs.len() {
                counts[rng.below(seed.pairs.len() as u64) as usize] += 1;
            }
            percents.extend(seed.percent(statistic, Some(&counts)));
        }
        means.extend(super::mean(&percents));
    }
    means.sort_unstable_by(f64::total_cmp);
    Some((
        super::percentile(&means, 0.025)?,
        super::percentile(&means, 0.975)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with a long tail, and the same times `factor` with random noise for the scheme.
    fn seed(rng: &mut SplitMix64, n: usize, factor: f64, wobble: f64) -> Vec<(f64, f64)> {
        let mut uniform = || (rng.below(1_000_000) as f64 + 1.0) / 1e6;
        (0..n)
            .map(|_| {
                let b = 100.0 / uniform().sqrt();
                (b, b * factor * (1.0 + wobble * (uniform() - 0.5)))
            })
            .collect()
    }

    fn half(c: &Comparison) -> f64 {
        let (low, high) = c.interval.unwrap();
        0.5 * (high - low)
    }

    #[test]
    fn a_common_factor_is_found_exactly() {
        let mut rng = SplitMix64::new(1);
        let seeds: Vec<_> = (0..3).map(|_| seed(&mut rng, 500, 0.75, 0.0)).collect();
        for statistic in [Statistic::Mean, Statistic::Percentile(0.99)] {
            let c = compare(&seeds, statistic).unwrap();
            assert!((c.percent + 25.0).abs() < 1e-9, "{c:?}");
            assert!(half(&c) < 1e-6 && c.below(), "{c:?}");
        }
    }

    #[test]
    fn three_seeds_use_students_t() {
        // Differences of 1, 2 and 3 percent: mean 2, standard error 1/sqrt(3), t = 4.3027.
        let seeds: Vec<_> = [1.01, 1.02, 1.03]
            .map(|f| vec![(100.0, 100.0 * f)])
            .to_vec();
        let c = compare(&seeds, Statistic::Mean).unwrap();
        assert!((c.percent - 2.0).abs() < 1e-9);
        assert!((half(&c) - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-4, "{c:?}");
        assert_eq!((c.method, c.above()), (Method::Seeds, false));
    }

    #[test]
    fn a_tail_is_never_surer_than_its_flows() {
        // Three seeds that happen to agree must not hide how few flows make a 99th percentile.
        let one = seed(&mut SplitMix64::new(9), 400, 1.0, 0.8);
        let c = compare(
            &[one.clone(), one.clone(), one],
            Statistic::Percentile(0.99),
        )
        .unwrap();
        assert_eq!(c.method, Method::Flows);
        assert!(half(&c) > 0.5, "{c:?}");
    }

    /// Independent flows; crates/report/tests/coverage.rs has those of real runs.
    #[test]
    fn an_interval_holds_the_truth_about_as_often_as_it_says() {
        let mut rng = SplitMix64::new(5);
        let hits = (0..200)
            .filter(|_| {
                let c = compare(&[seed(&mut rng, 200, 0.9, 0.5)], Statistic::Mean).unwrap();
                let (low, high) = c.interval.unwrap();
                low <= -10.0 && -10.0 <= high
            })
            .count();
        assert!((185..=199).contains(&hits), "{hits} of 200");
    }

    /// With one or two seeds a mean of enough flows has an interval from batches, and a percentile
    /// has none.
    #[test]
    fn one_or_two_seeds_speak_for_means_only() {
        let mut rng = SplitMix64::new(3);
        let mut of = |flows: usize| seed(&mut rng, flows, 0.8, 0.5);
        let (one, two, few) = (of(400), of(400), of(99));
        for seeds in [vec![one.clone()], vec![one.clone(), two.clone()]] {
            let mean = compare(&seeds, Statistic::Mean).unwrap();
            assert_eq!((mean.method, mean.below()), (Method::Batches, true));
            let (low, high) = mean.interval.unwrap();
            assert!((high + low - 2.0 * mean.percent).abs() < 1e-9, "symmetric");
            let tail = compare(&seeds, Statistic::Percentile(0.99)).unwrap();
            assert_eq!((tail.interval, tail.method), (None, Method::None));
            assert_eq!(tail.printed_interval(), "");
            assert!(!tail.above() && !tail.below());
        }
        let c = compare(&[few], Statistic::Mean).unwrap();
        assert_eq!((c.interval, c.method), (None, Method::None));
        let three = compare(&[one.clone(), two, one], Statistic::Percentile(0.99)).unwrap();
        assert!(three.interval.is_some());
    }

    #[test]
    fn a_number_lies_in_its_interval() {
        let seeds = (-3.0, 1.0);
        let (interval, method) = wider(-1.0, seeds, Some((-0.5, 9.0)));
        assert_eq!((interval, method), (Some((-1.0, 9.0)), Method::Flows));
        let (interval, method) = wider(-1.0, seeds, Some((-2.0, 0.0)));
        assert_eq!((interval, method), (Some(seeds), Method::Seeds));
    }

    /// A run that looks and one with fixed seeds have the same numbers and other intervals.
    #[test]
    fn a_look_compares_the_same_seeds() {
        let mut rng = SplitMix64::new(11);
        let seeds: Vec<_> = (0..6).map(|_| seed(&mut rng, 300, 0.8, 0.5)).collect();
        for statistic in [Statistic::Mean, Statistic::Percentile(0.99)] {
            let (look, fixed) = (
                compare_at(&seeds, statistic, 6).unwrap(),
                compare(&seeds, statistic).unwrap(),
            );
            assert!((look.percent - fixed.percent).abs() < 1e-9);
            assert_eq!((look.seeds, look.pairs), (fixed.seeds, fixed.pairs));
            assert_eq!(look.method, Method::Looks);
            if statistic == Statistic::Mean {
                assert!(half(&look) > half(&fixed), "{look:?} {fixed:?}");
            }
        }
        let scalars = [(10.0, 11.0), (0.0, 1.0), (10.0, 12.0), (10.0, 13.0)];
        let look = compare_scalars_at(&scalars, 4).unwrap();
        assert_eq!((look.seeds, look.method), (3, Method::Looks));
        assert_eq!(compare_at(&[vec![], vec![]], Statistic::Mean, 3), None);
    }

    #[test]
    fn two_seeds_of_a_scalar_have_no_interval() {
        let c = compare_scalars(&[(10.0, 11.0), (10.0, 12.0)]).unwrap();
        assert!((c.percent - 15.0).abs() < 1e-9);
        assert_eq!((c.interval, c.method), (None, Method::None));
        assert_eq!(compare_scalars(&[(0.0, 1.0)]), None);
    }
}
