// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts over equal bins with an exact mean, for lengths that have a known bound.

use crate::outcome::Spread;

const BINS: usize = 2048;

/// Values from zero to about a bound; what lies above it counts in the last bin.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    width: u64,
    bins: Vec<u32>,
    count: u64,
    sum: u64,
    max: u64,
    min: u64,
}

impl Histogram {
    pub fn new(bound: u64) -> Self {
        Histogram {
            width: (bound / BINS as u64).max(1),
            bins: vec![0; BINS + 1],
            count: 0,
            sum: 0,
            max: 0,
            min: u64::MAX,
        }
    }

    pub fn add(&mut self, value: u64) {
        let bin = ((value / self.width) as usize).min(BINS);
        self.bins[bin] += 1;
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
        self.min = self.min.min(value);
    }

    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// The value that a share `q` of all values does not exceed, to within a bin (1/2048 of the
    /// bound).
    fn quantile(&self, q: f64) -> f64 {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (i, &n) in self.bins.iter().enumerate() {
            seen += u64::from(n);
            if seen >= rank {
                let upper = (i as u64 + 1) * self.width - 1;
                return upper.min(self.max) as f64;
            }
        }
        self.max as f64
    }

    pub fn spread(&self) -> Spread {
        if self.count == 0 {
            return Spread::default();
        }
        Spread {
            count: self.count,
            mean: self.mean(),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            max: self.max as f64,
            min: self.min as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_a_bin() {
        let mut h = Histogram::new(204_800);
        for v in 0..=1000 {
            h.add(v * 100);
        }
        let s = h.spread();
        assert_eq!(
            (s.count, s.mean, s.max, s.min),
            (1001, 50_000.0, 100_000.0, 0.0)
        );
        assert!(
            (s.p50 - 50_000.0).abs() <= 100.0 && (s.p99 - 99_000.0).abs() <= 100.0,
            "{s:?}"
        );
        h.add(10_000_000);
        assert_eq!(h.spread().max, 10_000_000.0);
    }
}
