// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with a stated precision stops by its own intervals, and these hold the truth all the same
//! with 95 % probability.
//!
//! Whole runs are played: each draws its replications, with replacement, from many simulated seeds
//! of a real workload, looks where `cemark run` looks, and stops by the same rule. The truth is the
//! mean over all seeds that are drawn from, which is known exactly. The precisions that are asked
//! for are multiples of the spread over seeds, so that runs stop at early, middle and late looks.
//!
//! `CEMARK_COVERAGE_SEEDS` says how many seeds are simulated and `CEMARK_COVERAGE_RUNS` how many
//! runs are played for each row; `cargo xtask proof coverage-looks` takes many. The result follows
//! from these two: it is the same on every machine.

use super::coverage::least::least;
use super::coverage::runs;
use cemark_report::comparison::precision::{Known, Standing};
use cemark_report::metrics;
use cemark_report::stats::{self, Comparison, SizeClass, Statistic, sequential};
use cemark_scenario::{Overrides, parse};
use cemark_sim::outcome::FlowRecord;
use cemark_wire::hash::SplitMix64;
use rayon::prelude::*;

/// Metrics that are compared. The first two decide, as in `rtt-variation`; the percentile only has
/// an interval.
const METRICS: [(&str, SizeClass, Statistic); 3] = [
    ("short.mean", SizeClass::Short, Statistic::Mean),
    ("large.mean", SizeClass::Large, Statistic::Mean),
    ("short.p99", SizeClass::Short, Statistic::Percentile(0.99)),
];
const DECIDE: usize = 2;
const MOST: u32 = 64;

/// Precisions in standard deviations of the metric that varies most.
const ASKED: [f64; 5] = [3.0, 1.5, 1.0, 0.7, 0.5];

/// The share of runs that is to hold the truth.
const NOMINAL: f64 = 0.95;

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |n| n.parse().expect("a whole number"))
}

/// For each metric the percent difference of each seed.
fn simulate(file: &str, text: &str, seeds: usize) -> Vec<Vec<f64>> {
    let plan = parse(text, file, &Overrides::default()).expect("a scenario");
    assert_eq!(plan.schemes.len(), 2, "a baseline and a scheme");
    let runs = runs::of(&plan, seeds);
    let of = |(_, class, statistic): &(&str, SizeClass, Statistic)| {
        let percent = |[baseline, scheme]: &[Vec<FlowRecord>; 2]| {
            let pairs = stats::pairs(baseline, scheme, |f| class.has(f.bytes), stats::fct);
            let one = stats::compare(&[pairs], *statistic);
            one.expect("each seed has flows of each class").percent
        };
        runs.par_iter().map(percent).collect()
    };
    METRICS.iter().map(of).collect()
}

/// How one run ended.
struct Ended {
    replications: u32,
    /// For each metric whether the interval at the end holds the truth.
    held: Vec<bool>,
    /// Whether those of all looks do, for the metrics that decide.
    all_looks: [bool; DECIDE],
    /// Whether ordinary 95 % intervals would hold it in a run that stops as soon as these are
    /// narrow.
    ordinary: [bool; DECIDE],
}

/// Plays a run. `within` is in percentage points, and `data` has one list a metric.
fn play(rng: &mut SplitMix64, data: &[Vec<f64>], truth: &[f64], within: f64) -> Ended {
    let holds = |c: &Comparison, m: usize| {
        c.interval
            .is_some_and(|(low, high)| low <= truth[m] && truth[m] <= high)
    };
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); data.len()];
    let mut all_looks = [true; DECIDE];
    let mut ordinary = None;
    for look in sequential::looks(MOST) {
        while (values[0].len() as u32) < look {
            let seed = rng.below(data[0].len() as u64) as usize;
            for (own, all) in values.iter_mut().zip(data) {
                own.push(all[seed]);
            }
        }
        let compared = |v: &Vec<f64>| sequential::compare_replications(v, look, 0);
        let found: Vec<Comparison> = values.iter().filter_map(compared).collect();
        for m in 0..DECIDE {
            all_looks[m] &= found[m].interval.is_none() || holds(&found[m], m);
        }
        let fixed: Vec<Comparison> = values.iter().filter_map(|v| plain(v)).collect();
        let last = look == MOST;
        if ordinary.is_none() && (last || standing(&fixed, look, within).stops()) {
            ordinary = Some([holds(&fixed[0], 0), holds(&fixed[1], 1)]);
        }
        if standing(&found, look, within).stops() {
            return Ended {
                replications: look,
                held: (0..data.len()).map(|m| holds(&found[m], m)).collect(),
                all_looks,
                // The ordinary intervals are narrower, so they have ended their run by now.
                ordinary: ordinary.expect("it stops no later"),
            };
        }
    }
    unreachable!("a run stops after the most replications");
}

/// A comparison whose interval knows nothing of looks.
fn plain(values: &[f64]) -> Option<Comparison> {
    let scalars: Vec<(f64, f64)> = values.iter().map(|v| (100.0, 100.0 + v)).collect();
    stats::compare_scalars(&scalars)
}

/// The rule of `cemark run`.
fn standing(found: &[Comparison], replications: u32, within: f64) -> Standing {
    let known = |m: usize| Known {
        metric: metrics::find(METRICS[m].0).expect("a metric"),
        present: true,
        half: found[m].interval.map(|(low, high)| 0.5 * (high - low)),
    };
    Standing {
        replications,
        most: MOST,
        within,
        metrics: (0..DECIDE).map(known).collect(),
    }
}

fn spread(values: &[f64]) -> (f64, f64) {
    let mean = stats::mean(values).expect("there are seeds");
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / values.len() as f64).sqrt())
}

/// The table of one workload; what is wrong.
fn prove(file: &str, text: &str) -> Vec<String> {
    let (seeds, runs) = (
        number("CEMARK_COVERAGE_SEEDS", 10),
        number("CEMARK_COVERAGE_RUNS", 300),
    );
    let data = simulate(file, text, seeds);
    let spreads: Vec<(f64, f64)> = data.iter().map(|values| spread(values)).collect();
    let truth: Vec<f64> = spreads.iter().map(|s| s.0).collect();
    println!("{file}: {seeds} seeds, {runs} runs a row");
    for ((name, ..), (mean, deviation)) in METRICS.iter().zip(&spreads) {
        println!("  {name:10} {mean:+.2} %, {deviation:.1} points over seeds");
    }
    println!(
        "  {:>7} {:>12}  {:>10} {:>10} {:>10}  {:>9} {:>10} {:>6}",
        "asked",
        "replications",
        METRICS[0].0,
        METRICS[1].0,
        METRICS[2].0,
        "all looks",
        "ordinary",
        "least"
    );
    let widest = spreads[..DECIDE].iter().fold(0.0_f64, |w, s| w.max(s.1));
    let mut wrong = Vec::new();
    for (row, times) in ASKED.iter().enumerate() {
        let within = times * widest;
        let ended: Vec<Ended> = (0..runs)
            .into_par_iter()
            .map(|run| {
                let start = 1 + row as u64 * 1_000_003 + run as u64;
                play(&mut SplitMix64::new(start), &data, &truth, within)
            })
            .collect();
        let share = |of: &dyn Fn(&Ended) -> bool| {
            let held = ended.iter().filter(|e| of(e)).count();
            (held, 100.0 * held as f64 / runs as f64)
        };
        let held: Vec<(usize, f64)> = (0..METRICS.len()).map(|m| share(&|e| e.held[m])).collect();
        let looks: Vec<(usize, f64)> = (0..DECIDE).map(|m| share(&|e| e.all_looks[m])).collect();
        let ordinary: Vec<(usize, f64)> = (0..DECIDE).map(|m| share(&|e| e.ordinary[m])).collect();
        let mean = ended.iter().map(|e| f64::from(e.replications)).sum::<f64>() / runs as f64;
        let bound = least(runs, NOMINAL);
        println!(
            "  ±{within:>6.2} {mean:>12.1}  {:>10.1} {:>10.1} {:>10.1}  {:>9.1} {:>10.1} {:>6.1}",
            held[0].1,
            held[1].1,
            held[2].1,
            looks[0].1.min(looks[1].1),
            ordinary[0].1.min(ordinary[1].1),
            100.0 * bound as f64 / runs as f64
        );
        for m in 0..DECIDE {
            for (what, found) in [("its last look", held[m].0), ("all looks", looks[m].0)] {
                if found < bound {
                    wrong.push(format!(
                        "{file}, ±{within:.2}: {found} of {runs} runs hold the truth of {} at \
                         {what}, {bound} at least are needed",
                        METRICS[m].0
                    ));
                }
            }
        }
    }
    wrong
}

#[test]
fn a_busy_bottleneck() {
    let wrong = prove("star.toml", include_str!("coverage/star.toml"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_fabric_with_losses() {
    let wrong = prove("leaf-spine.toml", include_str!("coverage/leaf-spine.toml"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reason for looks: ordinary intervals that are looked at again and again, and end the run once
/// they are narrow, miss the truth in 10 % of the runs instead of 5 %, and intervals of looks do
/// not. The values are normal, as sums of twelve uniform ones.
#[test]
fn looking_often_has_its_price() {
    let mut rng = SplitMix64::new(7);
    let mut uniform = || rng.below(1 << 32) as f64 / (1_u64 << 32) as f64 - 0.5;
    let mut normal = |_| (0..12).map(|_| uniform()).sum::<f64>();
    // All metrics are the same, so that one of them decides.
    let values: Vec<f64> = (0..2000).map(&mut normal).collect();
    let data = vec![values; METRICS.len()];
    let truth: Vec<f64> = data.iter().map(|values| spread(values).0).collect();
    let runs = 2000;
    let play = |run: u64| play(&mut SplitMix64::new(run), &data, &truth, 0.7);
    let ended: Vec<Ended> = (0..runs).map(play).collect();
    let share =
        |of: fn(&Ended) -> bool| ended.iter().filter(|e| of(e)).count() as f64 / runs as f64;
    assert!(
        share(|e| e.ordinary[0]) < 0.93,
        "{}",
        share(|e| e.ordinary[0])
    );
    let bound = least(runs as usize, NOMINAL) as f64 / runs as f64;
    assert!(share(|e| e.held[0]) > bound, "{}", share(|e| e.held[0]));
}
