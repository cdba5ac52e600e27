// SPDX-License-Identifier: MIT OR Apache-2.0
//! By which factors points differ from what was estimated: one factor for all of them, one for each
//! cell of the sweep and one for each scheme, fitted in logarithms. Each is drawn towards one, the
//! more so the fewer points tell of it.

use super::estimate::Job;

/// Steps towards the best fit; they converge quickly, and a remainder does no harm.
const STEPS: usize = 12;

/// How much the factors differ, as standard deviations of their logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// All points together.
    pub(super) all: f64,
    /// Cells.
    pub(super) cells: f64,
    /// Schemes.
    pub(super) schemes: f64,
    /// What is left of a single point.
    pub(super) point: f64,
}

/// The logarithm of a factor that was seen, and the variance of what may be wrong about it.
pub(super) struct Seen {
    cell: usize,
    scheme: usize,
    factor: f64,
    variance: f64,
}

impl Seen {
    /// At a point.
    pub(super) fn of(job: &Job, factor: f64, variance: f64) -> Self {
        Seen {
            cell: job.cell,
            scheme: job.scheme,
            factor,
            variance,
        }
    }
}

/// The factors, as logarithms.
pub(super) struct Factors {
    spread: Spread,
    all: f64,
    cells: Vec<f64>,
    schemes: Vec<f64>,
}

impl Factors {
    /// Those that fit best, of this number of cells and of schemes.
    pub(super) fn fitted(cells: usize, schemes: usize, spread: Spread, seen: &[Seen]) -> Self {
        let mut factors = Factors {
            spread,
            all: 0.0,
            cells: vec![0.0; cells],
            schemes: vec![0.0; schemes],
        };
        for _ in 0..STEPS {
            factors.improve(seen);
        }
        factors
    }

    /// That of a point.
    pub(super) fn of(&self, job: &Job) -> f64 {
        self.at(job.cell, job.scheme)
    }

    fn at(&self, cell: usize, scheme: usize) -> f64 {
        self.all + self.cells[cell] + self.schemes[scheme]
    }

    /// A step towards the factors that fit best to what was seen: each kind in turn takes what the
    /// others leave.
    fn improve(&mut self, seen: &[Seen]) {
        let spread = self.spread;
        let rest = |f: &Factors, s: &Seen| s.factor - f.at(s.cell, s.scheme);
        let mut all = Means::new(1, spread.all, spread.point);
        for s in seen {
            all.add(0, rest(self, s) + self.all, s.variance);
        }
        self.all = all.values()[0];
        let mut cells = Means::new(self.cells.len(), spread.cells, spread.point);
        for s in seen {
            cells.add(s.cell, rest(self, s) + self.cells[s.cell], s.variance);
        }
        self.cells = cells.values();
        let mut schemes = Means::new(self.schemes.len(), spread.schemes, spread.point);
        for s in seen {
            schemes.add(s.scheme, rest(self, s) + self.schemes[s.scheme], s.variance);
        }
        self.schemes = schemes.values();
    }
}

/// Means of groups, each drawn towards zero.
struct Means {
    sums: Vec<(f64, f64)>,
    /// Weight of the zero.
    zero: f64,
    /// Variance of a single point.
    point: f64,
}

impl Means {
    fn new(groups: usize, spread: f64, point: f64) -> Self {
        Means {
            sums: vec![(0.0, 0.0); groups],
            zero: 1.0 / (spread * spread),
            point: point * point,
        }
    }

    fn add(&mut self, group: usize, value: f64, variance: f64) {
        let weight = 1.0 / (self.point + variance);
        self.sums[group].0 += weight * value;
        self.sums[group].1 += weight;
    }

    fn values(&self) -> Vec<f64> {
        let of = |(sum, weight): &(f64, f64)| sum / (weight + self.zero);
        self.sums.iter().map(of).collect()
    }
}

/// The mean of a normal variable (`mean`, `deviation`) of which is known that it is above `least`.
pub(super) fn beyond(least: f64, mean: f64, deviation: f64) -> f64 {
    mean + deviation * hazard((least - mean) / deviation)
}

/// Density over upper tail of the standard normal distribution, within 2 %.
fn hazard(z: f64) -> f64 {
    if z < -6.0 {
        return 0.0;
    }
    // Abramowitz and Stegun 26.2.17 for the tail; beyond 4 the asymptotic form.
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z > 4.0 {
        return z + 1.0 / z - 2.0 / z.powi(3);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let tail = density(z) * t * series.iter().rev().fold(0.0, |sum, c| sum * t + c);
    density(z) / if z >= 0.0 { tail } else { 1.0 - tail }
}
