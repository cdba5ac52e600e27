// SPDX-License-Identifier: MIT OR Apache-2.0
//! A number with its 95 % interval, and the arithmetic that rows need on such numbers.
//!
//! A statistic is taken in each seed; the schemes compared have identical flows and random draws.
//! Sums and differences are formed seed by seed, so that what the seeds share cancels. From three
//! seeds on, the interval is Student's t over seeds. A percentile depends on few flows, and a few
//! seeds may agree on it by chance, so its interval is the wider of that and of the bootstrap over
//! flows. With fewer seeds the mean of paired flows has an interval from batches of each run, and a
//! percentile has none (see [`cemark_report::stats`]). A look of a full run has intervals of a
//! higher level ([`super::looks`]); those from flows, which are formed at 95 %, are widened for
//! it.

use cemark_report::stats::{ALPHA, Method, mean, standard_error, t_two_sided};

/// Statistic over the seeds of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Its value in each seed, in order of seeds.
    pub seeds: Vec<f64>,
    /// Half the interval that the flows of each seed give: a bootstrap for a percentile, batches
    /// for a mean; empty without.
    flows: Vec<f64>,
    /// The statistic is a percentile, so its interval takes flows into account as well as seeds.
    tail: bool,
    /// The statistic takes few values, so its interval is that of the median over seeds.
    few: bool,
    /// The interval, where it is not to be formed from the seeds.
    fixed: Option<(f64, f64)>,
    /// Out of how many comparisons this one was picked for being the largest.
    picked_of: usize,
}

impl Estimate {
    /// A computed number, which has no random error.
    pub fn exact(value: f64) -> Self {
        Estimate {
            fixed: Some((value, value)),
            ..Estimate::of_seeds(vec![value])
        }
    }

    /// Estimate from numbers, one for each seed.
    pub fn of_seeds(seeds: Vec<f64>) -> Self {
        Estimate {
            seeds,
            flows: Vec::new(),
            tail: false,
            few: false,
            fixed: None,
            picked_of: 1,
        }
    }

    /// Estimate from numbers, one for each seed, each with half the interval that its flows give:
    /// by a bootstrap for a percentile, by batches for a mean.
    pub fn of_flows(seeds: Vec<(f64, f64)>, tail: bool) -> Self {
        let (seeds, flows) = seeds.into_iter().unzip();
        Estimate {
            flows,
            tail,
            ..Estimate::of_seeds(seeds)
        }
    }

    /// Estimate from numbers, one for each seed, of a statistic that takes few values (such as a
    /// fan-in of a sweep). The interval is the median's by its order among the seeds; of few seeds
    /// it is their whole range.
    pub fn of_range(seeds: Vec<f64>) -> Self {
        Estimate {
            few: true,
            ..Estimate::of_seeds(seeds)
        }
    }

    /// The largest of this many comparisons. One of many looks large even where all differences are
    /// noise, so the interval covers all of them at once (Bonferroni).
    pub fn picked_of(mut self, comparisons: usize) -> Self {
        self.picked_of = comparisons.max(1);
        self
    }

    /// The number: the mean over seeds.
    pub fn value(&self) -> f64 {
        mean(&self.seeds).unwrap_or(f64::NAN)
    }

    /// The 95 % interval; `None` with fewer than three seeds and nothing from flows.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.interval_at(0.05)
    }

    /// The interval that misses with probability `alpha`.
    pub fn interval_at(&self, alpha: f64) -> Option<(f64, f64)> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        if self.few {
            return median_within(&self.seeds, alpha);
        }
        let by_seeds = self.half_by_seeds(alpha);
        let by_flows = self.half_by_flows(alpha);
        let half = match (by_seeds, by_flows) {
            (Some(seeds), Some(flows)) if self.tail => seeds.max(flows),
            (Some(seeds), _) => seeds,
            (None, flows) => flows?,
        };
        Some((self.value() - half, self.value() + half))
    }

    /// Where the interval comes from.
    pub fn method(&self) -> Method {
        match (self.half_by_seeds(0.05), self.half_by_flows(0.05)) {
            _ if self.fixed.is_some() || (self.few && self.seeds.len() >= 2) => Method::Seeds,
            (None, None) => Method::None,
            (Some(seeds), Some(flows)) if self.tail && flows > seeds => Method::Flows,
            (None, Some(_)) if self.tail => Method::Flows,
            (None, Some(_)) => Method::Batches,
            _ => Method::Seeds,
        }
    }

    fn half_by_seeds(&self, alpha: f64) -> Option<f64> {
        let error = standard_error(&self.seeds)?;
        Some(t_two_sided(alpha / self.picked_of as f64, self.seeds.len() - 1) * error)
    }

    /// From halves of 95 %. A tail's comes from very many flows, one of batches from at least five:
    /// the quantile of these degrees of freedom says how much wider that of another level is.
    fn half_by_flows(&self, alpha: f64) -> Option<f64> {
        let n = self.flows.len();
        let freedom = if self.tail { 120 } else { 4 };
        let wider = t_two_sided(alpha, freedom) / t_two_sided(ALPHA, freedom);
        (n > 0 && n == self.seeds.len())
            .then(|| wider * self.flows.iter().map(|h| h * h).sum::<f64>().sqrt() / n as f64)
    }

    /// `shift + scale * self`.
    pub fn linear(mut self, shift: f64, scale: f64) -> Self {
        self.seeds.iter_mut().for_each(|v| *v = shift + scale * *v);
        self.flows.iter_mut().for_each(|h| *h *= scale.abs());
        self.fixed = self.fixed.map(|(a, b)| {
            let (a, b) = (shift + scale * a, shift + scale * b);
            (a.min(b), a.max(b))
        });
        self
    }

    /// The sum of `weight * estimate`, seed by seed. `None` where there is nothing, or the seeds
    /// differ in number.
    pub fn weighted_sum(terms: &[(f64, &Estimate)]) -> Option<Self> {
        let n = terms.first()?.1.seeds.len();
        if terms.iter().any(|(_, e)| e.seeds.len() != n) {
            return None;
        }
        let seeds = (0..n)
            .map(|i| terms.iter().map(|(w, e)| w * e.seeds[i]).sum())
            .collect();
        let resampled = terms.iter().all(|(_, e)| e.flows.len() == n);
        let flows = (0..if resampled { n } else { 0 })
            .map(|i| {
                terms
                    .iter()
                    .map(|(w, e)| (w * e.flows[i]).powi(2))
                    .sum::<f64>()
                    .sqrt()
            })
            .collect();
        let exact = terms
            .iter()
            .all(|(_, e)| e.fixed.is_some_and(|(a, b)| a == b));
        let mut sum = Estimate {
            flows,
            tail: terms.iter().any(|(_, e)| e.tail),
            ..Estimate::of_seeds(seeds)
        };
        sum.fixed = exact.then(|| (sum.value(), sum.value()));
        Some(sum)
    }

    /// The mean of several, seed by seed.
    pub fn average(all: &[Estimate]) -> Option<Self> {
        let weight = 1.0 / all.len() as f64;
        Estimate::weighted_sum(&all.iter().map(|e| (weight, e)).collect::<Vec<_>>())
    }

    /// `self - other`, seed by seed.
    pub fn minus(&self, other: &Estimate) -> Option<Self> {
        Estimate::weighted_sum(&[(1.0, self), (-1.0, other)])
    }

    /// `self / other`, the ratio of the means, with the interval of its linear approximation. Where
    /// `other` is not two standard deviations of its mean away from zero the ratio says nothing:
    /// any value is in its interval. `None` where the seeds differ in number.
    pub fn over(&self, other: &Estimate) -> Option<Self> {
        let n = self.seeds.len();
        if n != other.seeds.len() || n == 0 {
            return None;
        }
        let (over, under) = (self.value(), other.value());
        let variance = other.seeds.iter().map(|v| (v - under).powi(2)).sum::<f64>();
        let deviation = (variance / (n * n.saturating_sub(1)) as f64).sqrt();
        let ratio = over / under;
        let residual = |(a, b): (&f64, &f64)| ratio + (a - ratio * b) / under;
        let mut result =
            Estimate::of_seeds(self.seeds.iter().zip(&other.seeds).map(residual).collect());
        // Also where there is one seed, and the deviation is not a number.
        if !(under.abs() >= 2.0 * deviation && under != 0.0) {
            result.fixed = Some((f64::NEG_INFINITY, f64::INFINITY));
        }
        Some(result)
    }
}

/// The interval of the median that misses with probability `alpha`, by the order of the values: the
/// median is below the k-th smallest with the probability that fewer than k of n fair coins show
/// heads. The whole range where even that misses more often; `None` of fewer than two values.
fn median_within(values: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut k, mut below, mut term) = (0, 0.0, 0.5_f64.powi(n as i32));
    while 2 * (k + 1) <= n && 2.0 * (below + term) <= alpha {
        below += term;
        term *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    let k = k.max(1);
    Some((sorted[k - 1], sorted[n - k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    /// Three seeds 1, 2, 3: 2 ± 4.3027 / sqrt(3).
    #[test]
    fn student_over_seeds() {
        let e = Estimate::of_seeds(vec![1.0, 2.0, 3.0]);
        let (low, high) = e.interval().unwrap();
        near(e.value(), 2.0);
        near(high - 2.0, 4.3027 / 3f64.sqrt());
        near(low + high, 4.0);
        assert_eq!(Estimate::of_seeds(vec![1.0, 2.0]).interval(), None);
        assert_eq!(Estimate::exact(5.0).interval(), Some((5.0, 5.0)));
    }

    /// Printed tables of Student's t.
    #[test]
    fn quantiles_of_student() {
        for (freedom, tails, t) in [
            (1, 0.1, 6.3138),
            (2, 0.01, 9.9248),
            (2, 0.1, 2.9200),
            (3, 0.01, 5.8409),
            (4, 0.02, 3.7469),
            (5, 0.01, 4.0321),
            (9, 0.001, 4.7809),
        ] {
            near(t_two_sided(tails, freedom) / t, 1.0);
        }
        let wide = Estimate::of_seeds(vec![1.0, 2.0, 3.0])
            .picked_of(15)
            .interval()
            .unwrap();
        near((wide.1 - 2.0) * 3f64.sqrt(), t_two_sided(0.05 / 15.0, 2));
        assert!(wide.1 > 11.0);
    }

    /// Equal seeds make a mean certain, but not a percentile that depends on few flows.
    #[test]
    fn the_wider_one_for_percentiles() {
        let seeds = vec![(10.0, 3.0); 4];
        let tail = Estimate::of_flows(seeds.clone(), true);
        assert_eq!(tail.method(), Method::Flows);
        near(tail.interval().unwrap().1, 11.5);
        let mean = Estimate::of_flows(seeds, false);
        assert_eq!(
            (mean.method(), mean.interval()),
            (Method::Seeds, Some((10.0, 10.0)))
        );
        near(
            Estimate::of_flows(vec![(10.0, 3.0)], false)
                .interval()
                .unwrap()
                .0,
            7.0,
        );
    }

    /// Variation that both estimates have in each seed cancels in a difference.
    #[test]
    fn differences_are_paired() {
        let a = Estimate::of_seeds(vec![11.0, 21.0, 31.0]);
        let b = Estimate::of_seeds(vec![10.0, 20.0, 30.0]);
        assert_eq!(a.minus(&b).unwrap().interval(), Some((1.0, 1.0)));
        assert_eq!(a.minus(&Estimate::of_seeds(vec![1.0])), None);
        let ratio = b.linear(1.0, 0.01);
        near(ratio.value(), 1.2);
        let gain = a.linear(0.0, -1.0).interval().unwrap();
        assert!(gain.0 < -21.0 && gain.1 > -21.0);
    }

    /// (10 + 2 e) / (20 + e) over e = -1, 0, 1; and a denominator that may be zero.
    #[test]
    fn ratios_of_differences() {
        let over = Estimate::of_seeds(vec![8.0, 10.0, 12.0]);
        let under = Estimate::of_seeds(vec![19.0, 20.0, 21.0]);
        let ratio = over.over(&under).unwrap();
        near(ratio.value(), 0.5);
        // Each seed lies (2 - 0.5) / 20 = 0.075 from the next.
        near(
            ratio.interval().unwrap().1,
            0.5 + 4.3027 * 0.075 / 3f64.sqrt(),
        );
        let unclear = Estimate::of_seeds(vec![-1.0, 0.5, 1.5]);
        let all = Some((f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(over.over(&unclear).unwrap().interval(), all);
        let one = Estimate::of_seeds(vec![3.0]);
        assert_eq!(
            one.over(&one).unwrap().interval(),
            all,
            "one seed tells nothing"
        );
        assert_eq!(over.over(&one), None);
    }

    /// Intervals of medians by rank: of nine values the second and the eighth hold the median
    /// 96.1 % of the time; of twelve the third and the tenth do at 95 %, the second and the
    /// eleventh at 98.75 %.
    #[test]
    fn medians_of_statistics_with_few_values() {
        let of = |n: u32, alpha| {
            Estimate::of_range((1..=n).rev().map(f64::from).collect()).interval_at(alpha)
        };
        assert_eq!(of(1, 0.05), None);
        assert_eq!(of(5, 0.05), Some((1.0, 5.0)));
        assert_eq!(of(9, 0.05), Some((2.0, 8.0)));
        assert_eq!(of(12, 0.05), Some((3.0, 10.0)));
        assert_eq!(of(12, 0.0125), Some((2.0, 11.0)));
        assert_eq!(of(12, 1e-9), Some((1.0, 12.0)));
    }

    /// A higher level widens whatever the interval comes from.
    #[test]
    fn levels_widen_intervals() {
        let half = |e: &Estimate, alpha| e.interval_at(alpha).unwrap().1 - e.value();
        let seeds = Estimate::of_seeds(vec![1.0, 2.0, 3.0]);
        near(half(&seeds, 0.01) / half(&seeds, 0.05), 9.9248 / 4.3027);
        let batches = Estimate::of_flows(vec![(10.0, 3.0)], false);
        near(half(&batches, 0.01), 3.0 * 4.6041 / 2.7764);
        let tail = Estimate::of_flows(vec![(10.0, 3.0)], true);
        near(half(&tail, 0.01) / 3.0, 2.6174 / 1.9799);
        assert_eq!(Estimate::exact(5.0).interval_at(0.01), Some((5.0, 5.0)));
    }

    #[test]
    fn ranges_and_averages() {
        let onset = Estimate::of_range(vec![75.0, 100.0, 100.0]);
        assert_eq!(onset.interval(), Some((75.0, 100.0)));
        let all = [
            Estimate::of_flows(vec![(2.0, 3.0)], true),
            Estimate::of_flows(vec![(4.0, 4.0)], true),
        ];
        let mean = Estimate::average(&all).unwrap();
        near(mean.value(), 3.0);
        near(mean.interval().unwrap().1, 5.5);
        assert_eq!(Estimate::average(&[]), None);
    }
}
