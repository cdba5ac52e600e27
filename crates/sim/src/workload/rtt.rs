// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base RTTs: the shapes of ECN# (2x to 5x), the five measured cases of its Table 1, and further
//! models.
//!
//! A draw is rounded to whole nanoseconds, as `netem` delays are, so that it stays a multiple of
//! the simulator's tick.

use cemark_wire::Picos;

use super::Samples;
use super::random::{Stream, exp, ln};

/// Mean of the exponential in [`RttModel::Variation`], as a share of the range: it gives ECN#'s
/// mean of 137 and 90th percentile of 220 microseconds for 80 to 240.
const SHAPE: f64 = 0.38;

/// The five cases of ECN# Table 1, in its order.
pub const CASES: &[&str] = &["stack", "slb", "hypervisor", "slb-hypervisor", "high-load"];

/// Probabilities of the quantile tables.
const AT: [f64; 9] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// RTTs in tenths of a microsecond at [`AT`], one row a case: mean, deviation, 90th and 99th
/// percentile as in Table 1.
const TABLES: [[u64; 9]; 5] = [
    [173, 268, 325, 359, 407, 590, 595, 790, 1062],
    [296, 423, 525, 602, 707, 870, 958, 1210, 1653],
    [376, 480, 575, 653, 761, 910, 1023, 1300, 1851],
    [411, 680, 854, 970, 1105, 1290, 1377, 1610, 1950],
    [590, 776, 911, 1006, 1135, 1380, 1461, 1780, 2288],
];

/// (loc, mu, sigma, floor) of the shifted lognormal fits, one row a case; microseconds.
const FITS: [(f64, f64, f64, u64); 5] = [
    (5.42, 3.4969, 0.3427, 0),
    (15.39, 3.8088, 0.3662, 0),
    (28.85, 3.5757, 0.4494, 0),
    (-40.25, 4.9230, 0.1639, 40),
    (33.50, 4.2337, 0.3177, 0),
];

/// Base RTT of a flow, drawn once for its life. The part above its path's propagation delay is
/// added behind the sender's NIC; before the receiver where switches pause their senders.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum RttModel {
    /// RTT of the path, nothing added.
    Path,
    /// RTT of all flows.
    Fixed(Picos),
    /// `lo + (hi - lo) * min(Exp(mean 0.38), 1)`: the shape of ECN# (2x to 5x).
    Variation {
        /// Smallest base RTT.
        lo: Picos,
        /// Largest.
        hi: Picos,
    },
    /// An inverse distribution function, linear between the points (probability, RTT).
    Quantiles(Vec<(f64, Picos)>),
    /// `loc + exp(N(mu, sigma))` microseconds, never below `floor`.
    Lognormal {
        /// Shift in microseconds.
        loc: f64,
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Smallest value.
        floor: Picos,
    },
    /// RTTs, drawn uniformly.
    Classes(Vec<Picos>),
    /// RTTs by sender: host i has number i; hosts beyond the list begin again.
    BySender(Vec<Picos>),
    /// Measured RTTs, drawn uniformly.
    Samples(Samples),
}

/// Base RTTs that a table contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Number of samples; `None` for a table of quantiles.
    pub samples: Option<usize>,
    /// Smallest.
    pub min: Picos,
    /// Mean.
    pub mean: Picos,
    /// Median.
    pub p50: Picos,
    /// 90th percentile.
    pub p90: Picos,
    /// Largest.
    pub max: Picos,
}

/// The smallest RTT, in whole nanoseconds, that more than `share` of the flows do not exceed;
/// `below` is the share of the flows below an RTT. No base RTT is above 1000 s.
pub fn rtt_quantile(below: impl Fn(Picos) -> f64, share: f64) -> Picos {
    let (mut low, mut high) = (0_u64, 1_000_000_000_000);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match below(Picos::from_nanos(middle)) > share {
            true => high = middle,
            false => low = middle,
        }
    }
    Picos::from_nanos(low)
}

impl RttModel {
    /// A measured case of ECN# Table 1 as a quantile table (see [`CASES`]); `None` for another
    /// name.
    pub fn measured(case: &str) -> Option<RttModel> {
        let row = &TABLES[CASES.iter().position(|&c| c == case)?];
        Some(RttModel::Quantiles(
            AT.iter()
                .zip(row)
                .map(|(&p, &tenths)| (p, Picos(tenths * 100_000)))
                .collect(),
        ))
    }

    /// A case as a shifted lognormal: smooth, and up to 4 % (`stack`) or 1.6 % (the others)
    /// off Table 1.
    pub fn fitted(case: &str) -> Option<RttModel> {
        let (loc, mu, sigma, floor) = FITS[CASES.iter().position(|&c| c == case)?];
        Some(RttModel::Lognormal {
            loc,
            mu,
            sigma,
            floor: Picos::from_micros(floor),
        })
    }

    /// The base RTT of one flow, or `None` where nothing is added to the path's.
    pub fn draw(&self, stream: &mut Stream) -> Option<Picos> {
        Some(match self {
            RttModel::Path => return None,
            RttModel::Fixed(rtt) => *rtt,
            RttModel::Variation { lo, hi } => {
                let share = (SHAPE * stream.exponential()).min(1.0);
                whole_nanos(lo.0 as f64 + hi.0.saturating_sub(lo.0) as f64 * share)
            }
            RttModel::Quantiles(rows) => quantile(rows, stream.uniform()),
            RttModel::Lognormal {
                loc,
                mu,
                sigma,
                floor,
            } => {
                let micros = loc + exp(mu + sigma * stream.normal());
                whole_nanos(micros * 1e6).max(*floor)
            }
            RttModel::Classes(classes) | RttModel::BySender(classes) => {
                *classes.get(stream.below(classes.len() as u64) as usize)?
            }
            RttModel::Samples(samples) => samples.draw(stream),
        })
    }

    /// The RTT of a flow from host `src`. Only [`RttModel::BySender`] depends on it, and draws
    /// nothing.
    pub fn of_sender(&self, src: u32, stream: &mut Stream) -> Option<Picos> {
        match self {
            RttModel::BySender(hosts) if !hosts.is_empty() => {
                Some(hosts[src as usize % hosts.len()])
            }
            _ => self.draw(stream),
        }
    }

    /// Share of draws below `rtt`, 0 to 1 (the lognormal within 1e-6); zero for [`RttModel::Path`],
    /// which draws nothing.
    pub fn share_below(&self, rtt: Picos) -> f64 {
        let step = |holds: bool| f64::from(u8::from(holds));
        match self {
            RttModel::Path => 0.0,
            RttModel::Fixed(fixed) => step(*fixed < rtt),
            RttModel::Variation { lo, hi } => {
                if rtt <= *lo {
                    0.0
                } else if rtt > *hi {
                    1.0
                } else {
                    let share = (rtt.0 - lo.0) as f64 / (hi.0 - lo.0) as f64;
                    1.0 - exp(-share / SHAPE)
                }
            }
            RttModel::Quantiles(rows) => {
                let after = rows.partition_point(|row| row.1 < rtt);
                let (Some(before), Some(row)) = (after.checked_sub(1), rows.get(after)) else {
                    return step(after > 0);
                };
                let (p, low) = rows[before];
                p + (row.0 - p) * ((rtt.0 - low.0) as f64 / (row.1.0 - low.0) as f64)
            }
            RttModel::Lognormal {
                loc,
                mu,
                sigma,
                floor,
            } => {
                if rtt <= *floor {
                    return 0.0;
                }
                let above = rtt.as_micros_f64() - loc;
                if *sigma == 0.0 || above <= 0.0 {
                    return step(above > 0.0 && ln(above) > *mu);
                }
                normal_share((ln(above) - mu) / sigma)
            }
            RttModel::Classes(classes) | RttModel::BySender(classes) => {
                let below = classes.iter().filter(|class| **class < rtt).count();
                below as f64 / classes.len().max(1) as f64
            }
            RttModel::Samples(samples) => samples.count_below(rtt) as f64 / samples.count() as f64,
        }
    }

    /// Mean base RTT in picoseconds over many draws; zero for [`RttModel::Path`].
    pub fn mean(&self) -> f64 {
        match self {
            RttModel::Path => 0.0,
            RttModel::Fixed(rtt) => rtt.0 as f64,
            // E min(theta X, 1) = theta (1 - exp(-1/theta)).
            RttModel::Variation { lo, hi } => {
                lo.0 as f64 + hi.0.saturating_sub(lo.0) as f64 * SHAPE * (1.0 - exp(-1.0 / SHAPE))
            }
            RttModel::Quantiles(rows) => rows
                .windows(2)
                .map(|w| 0.5 * (w[0].1.0 as f64 + w[1].1.0 as f64) * (w[1].0 - w[0].0))
                .sum(),
            RttModel::Lognormal {
                loc,
                mu,
                sigma,
                floor,
            } => ((loc + exp(mu + 0.5 * sigma * sigma)) * 1e6).max(floor.0 as f64),
            RttModel::Classes(classes) | RttModel::BySender(classes) => {
                classes.iter().map(|rtt| rtt.0 as f64).sum::<f64>() / classes.len().max(1) as f64
            }
            RttModel::Samples(samples) => samples.mean(),
        }
    }

    /// Spread of a list of samples or a table of quantiles; `None` for the other models, which
    /// are described by their parameters.
    pub fn spread(&self) -> Option<Spread> {
        let at: &dyn Fn(f64) -> Picos = match self {
            RttModel::Samples(samples) => &|p| samples.quantile(p),
            RttModel::Quantiles(rows) => &|p| quantile(rows, p),
            _ => return None,
        };
        let samples = match self {
            RttModel::Samples(samples) => Some(samples.count()),
            _ => None,
        };
        Some(Spread {
            samples,
            min: at(0.0),
            mean: Picos(self.mean() as u64),
            p50: at(0.5),
            p90: at(0.9),
            max: at(1.0),
        })
    }
}

/// Share of a standard normal variate below `x` (Abramowitz and Stegun 26.2.17, within 1e-7).
fn normal_share(x: f64) -> f64 {
    const B: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let above = exp(-0.5 * x * x) / (2.0 * core::f64::consts::PI).sqrt() * series;
    if x > 0.0 { 1.0 - above } else { above }
}

/// Picoseconds rounded to the nearest nanosecond.
fn whole_nanos(picos: f64) -> Picos {
    Picos::from_nanos(((picos / 1000.0 + 0.5).max(0.0) as u64).min(u64::MAX / 1000))
}

fn quantile(rows: &[(f64, Picos)], p: f64) -> Picos {
    let after = rows.partition_point(|row| row.0 < p);
    let Some(&(p_hi, hi)) = rows.get(after) else {
        return rows.last().map_or(Picos::ZERO, |row| row.1);
    };
    match after.checked_sub(1).map(|before| rows[before]) {
        Some((p_lo, lo)) => {
            whole_nanos(lo.0 as f64 + (hi.0 as f64 - lo.0 as f64) * ((p - p_lo) / (p_hi - p_lo)))
        }
        None => hi,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Samples;

    /// Mean, deviation, 90th and 99th percentile of a million draws, in microseconds.
    fn sample(model: &RttModel) -> [f64; 4] {
        let mut stream = Stream::new(11, "rtt", 0);
        let mut all: Vec<f64> = (0..1_000_000)
            .map(|_| model.draw(&mut stream).unwrap().as_micros_f64())
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        [mean, variance.sqrt(), all[900_000], all[990_000]]
    }

    fn near(measured: [f64; 4], expected: [f64; 4], share: f64, what: &str) {
        for (m, e) in measured.iter().zip(expected) {
            assert!(
                (m / e - 1.0).abs() <= share,
                "{what}: {measured:?} is not {expected:?}"
            );
        }
    }

    const TABLE_1: [[f64; 4]; 5] = [
        [39.3, 12.2, 59.0, 79.0],
        [63.9, 18.3, 87.0, 121.0],
        [69.3, 18.8, 91.0, 130.0],
        [99.2, 23.0, 129.0, 161.0],
        [105.5, 23.6, 138.0, 178.0],
    ];

    /// Targets T01 to T05.
    #[test]
    fn table_1_of_ecn_sharp() {
        for (case, expected) in CASES.iter().zip(TABLE_1) {
            near(
                sample(&RttModel::measured(case).unwrap()),
                expected,
                0.005,
                case,
            );
            let share = if *case == "stack" { 0.041 } else { 0.016 };
            near(
                sample(&RttModel::fitted(case).unwrap()),
                expected,
                share,
                case,
            );
        }
        assert!(RttModel::measured("wifi").is_none());
    }

    /// Spec C: mean and 90th percentile of the same shape.
    #[test]
    fn variations_of_ecn_sharp() {
        for (lo, hi, mean, p90) in [
            (80, 240, 136.4, 220.0),
            (70, 140, 94.7, 131.2),
            (70, 210, 119.4, 192.5),
            (70, 280, 144.1, 253.7),
            (70, 350, 168.7, 315.0),
        ] {
            let model = RttModel::Variation {
                lo: Picos::from_micros(lo),
                hi: Picos::from_micros(hi),
            };
            let [m, _, p, top] = sample(&model);
            assert!((m / mean - 1.0).abs() < 0.003, "{lo}-{hi}: mean {m}");
            assert!((p / p90 - 1.0).abs() < 0.004, "{lo}-{hi}: p90 {p}");
            assert_eq!(top, hi as f64, "7.2 % of the flows sit at the maximum");
            assert!(
                (model.mean() * 1e-6 / mean - 1.0).abs() < 0.001,
                "{}",
                model.mean()
            );
        }
    }

    #[test]
    fn means_agree_with_draws() {
        for model in [
            RttModel::measured("slb").unwrap(),
            RttModel::fitted("hypervisor").unwrap(),
            RttModel::Fixed(Picos::from_micros(85)),
            RttModel::Classes(vec![Picos::from_micros(82), Picos::from_micros(241)]),
        ] {
            let [mean, ..] = sample(&model);
            assert!(
                (model.mean() * 1e-6 / mean - 1.0).abs() < 0.002,
                "{model:?}"
            );
        }
        assert_eq!(RttModel::Path.draw(&mut Stream::new(0, "", 0)), None);
        assert_eq!(
            RttModel::Classes(vec![]).draw(&mut Stream::new(0, "", 0)),
            None
        );
    }

    /// The closed form of each model against counting draws.
    #[test]
    fn shares_below_count_draws() {
        let models = [
            RttModel::measured("slb").unwrap(),
            RttModel::fitted("slb-hypervisor").unwrap(),
            RttModel::fitted("stack").unwrap(),
            RttModel::Fixed(Picos::from_micros(85)),
            RttModel::Classes(vec![Picos::from_micros(40), Picos::from_micros(90)]),
            RttModel::Samples(
                Samples::new([30, 55, 55, 100].map(Picos::from_micros)).expect("samples"),
            ),
            RttModel::Variation {
                lo: Picos::from_micros(30),
                hi: Picos::from_micros(150),
            },
        ];
        for model in models {
            let mut stream = Stream::new(3, "below", 0);
            let draws: Vec<Picos> = (0..100_000)
                .map(|_| model.draw(&mut stream).unwrap())
                .collect();
            for micros in [1, 30, 40, 55, 60, 85, 86, 100, 150, 151, 5_000] {
                let rtt = Picos::from_micros(micros);
                let counted = draws.iter().filter(|d| **d < rtt).count() as f64 / 100_000.0;
                let share = model.share_below(rtt);
                assert!(
                    (share - counted).abs() < 0.006,
                    "{model:?} below {micros}: {share}, counted {counted}"
                );
            }
        }
        assert_eq!(RttModel::Path.share_below(Picos::MAX), 0.0);
    }

    #[test]
    fn tables_say_what_they_contain() {
        let us = Picos::from_micros;
        let samples = RttModel::Samples(Samples::new([50, 20, 30].map(us)).expect("samples"));
        let spread = samples.spread().expect("a list");
        assert_eq!(
            (spread.samples, spread.min, spread.max),
            (Some(3), us(20), us(50))
        );
        assert_eq!((spread.p50, spread.p90), (us(30), us(50)));
        assert_eq!(spread.mean, Picos(33_333_333));
        let table = RttModel::Quantiles(vec![(0.0, us(10)), (0.5, us(20)), (1.0, us(40))]);
        let spread = table.spread().expect("a table");
        assert_eq!(
            (spread.samples, spread.min, spread.mean),
            (None, us(10), us(22) + Picos(500_000))
        );
        assert_eq!(
            (spread.p50, spread.p90, spread.max),
            (us(20), us(36), us(40))
        );
        assert_eq!(RttModel::Path.spread(), None);
    }

    #[test]
    fn draws_are_whole_nanoseconds() {
        let mut stream = Stream::new(5, "rtt", 0);
        for model in [
            RttModel::measured("stack").unwrap(),
            RttModel::fitted("stack").unwrap(),
        ] {
            for _ in 0..1000 {
                assert_eq!(model.draw(&mut stream).unwrap().0 % 1000, 0);
            }
        }
    }
}
