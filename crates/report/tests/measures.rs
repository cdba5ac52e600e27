// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every metric of a run with its unit, number of values and interval, in JSON and in Parquet.

use cemark_report::metrics::{self, Sample};
use cemark_report::stats::Method;
use cemark_report::summary::Cost;
use cemark_report::summary::measures::Measure;
use cemark_report::{Comparisons, Finished, RunSummary};
use cemark_scenario::Plan;
use cemark_sim::outcome::FlowRecord;

use crate::common::{FACTORS, finished, plan};

fn measures(plan: &Plan, done: &[Finished]) -> Vec<Measure> {
    let comparisons = Comparisons::new(plan, done);
    RunSummary::new(plan, done, &comparisons, "0.1.0", Cost::default()).measures
}

fn of<'a>(all: &'a [Measure], scheme: &str, metric: &str) -> &'a Measure {
    let found = all
        .iter()
        .find(|m| m.scheme == scheme && m.metric == metric);
    found.unwrap_or_else(|| panic!("{scheme} has no {metric}"))
}

/// A mean over three seeds, and Student's t of two degrees of freedom.
#[test]
fn three_seeds_have_students_interval() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let all = measures(&plan, &done);
    let point = |i: usize| done[i].summary.fct_us.short.mean.expect("short flows");
    let values = [point(0), point(1), point(2)];
    let mean = values.iter().sum::<f64>() / 3.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0;
    let half = 4.3027 * (variance / 3.0).sqrt();
    let short = of(&all, "DCTCP-RED-Tail", "short.mean");
    assert!((short.value - mean).abs() < 1e-9 * mean);
    assert!(
        (short.high.unwrap() - mean - half).abs() < 1e-6 * mean,
        "{short:?}"
    );
    assert!(
        (mean - short.low.unwrap() - half).abs() < 1e-6 * mean,
        "{short:?}"
    );
    assert_eq!(
        (short.unit.as_str(), short.count, short.replications),
        ("µs", 900, 3)
    );
    assert_eq!(
        (short.counted.as_str(), short.method),
        ("flows", Method::Seeds)
    );
    let queue = of(&all, "ECN#", "queue.mean");
    assert_eq!(
        (queue.count, queue.counted.as_str()),
        (3000, "queue samples")
    );
    let marks = of(&all, "ECN#", "marks");
    assert_eq!((marks.count, marks.counted.as_str()), (3, "replications"));
    assert!((marks.value - 9314.0).abs() < 1e-9, "{marks:?}");
}

/// A single seed has batches for a mean, and nothing for a percentile. Of 30 flows the 99th
/// percentile is the largest, which the number says.
#[test]
fn a_percentile_of_few_values_carries_their_number() {
    let plan = plan(&["0.9"], &[1]);
    let mut done = finished(&plan, FACTORS);
    let all = measures(&plan, &done);
    assert_eq!(of(&all, "ECN#", "short.mean").method, Method::Batches);
    let tail = of(&all, "ECN#", "short.p99");
    assert_eq!((tail.low, tail.largest_of, tail.count), (None, None, 300));
    for (point, done) in plan.points.iter().zip(&mut done) {
        let mut outcome = done.outcome.clone();
        outcome.flows.truncate(90);
        outcome.ports.iter_mut().for_each(|p| p.queue.count = 99);
        *done = Finished::new(point, outcome, 0.1);
    }
    let all = measures(&plan, &done);
    let tail = of(&all, "ECN#", "short.p99");
    let slowest = done[1].outcome.flows.iter().filter(|f| f.bytes < 100_000);
    let slowest = slowest.filter_map(|f| f.fct).max().expect("short flows");
    assert_eq!(
        (tail.largest_of, tail.count, tail.low),
        (Some(30), 30, None)
    );
    assert_eq!(tail.value, slowest.as_micros_f64());
    assert_eq!(of(&all, "ECN#", "queue.p99").largest_of, Some(99));
    assert_eq!(of(&all, "ECN#", "queue.mean").largest_of, None);
    // The fields of the point have no number there, and say how many samples there were.
    let port = done[1].summary.hottest_port.as_ref().expect("a port");
    assert_eq!((port.queue_p99_bytes, port.queue_samples), (None, 99));
    assert_eq!(done[1].summary.fct_us.short.count, 30);
}

/// Every metric has an entry wherever a point has a value; the table shows that value.
#[test]
fn every_metric_has_an_entry() {
    let plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let comparisons = Comparisons::new(&plan, &done);
    let all = measures(&plan, &done);
    let mut entries = 0;
    for group in &comparisons.groups {
        for row in &group.rows {
            for metric in metrics::all() {
                let known = |m: &&Measure| {
                    m.axes == group.axes && m.scheme == row.scheme && m.metric == *metric.key
                };
                let found = all.iter().find(known);
                let values = row.points.iter().filter_map(|&i| {
                    let sample = Sample::new(&plan.points[i], &done[i].outcome);
                    metric.value(&sample).ok()
                });
                let has_value = values.count() > 0;
                assert_eq!(found.is_some(), has_value, "{}", metric.key);
                entries += usize::from(has_value);
                if metrics::compared().any(|m| m == metric) {
                    let shown = row.cell(metric).absolute;
                    assert_eq!(found.map(|m| m.value), shown, "{}", metric.key);
                }
            }
        }
    }
    assert_eq!(all.len(), entries);
    let use_of_port = of(&all, "ECN#", "utilisation");
    assert_eq!(
        (
            use_of_port.counted.as_str(),
            use_of_port.count,
            use_of_port.unit.as_str()
        ),
        ("replications", 3, "%")
    );
}

/// Slowdowns of short flows against those taken from the flows by hand.
#[test]
fn slowdowns_have_percentiles_and_intervals() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let done = finished(&plan, FACTORS);
    let all = measures(&plan, &done);
    let of_seed = |i: usize| {
        let short = done[i].outcome.flows.iter().filter(|f| f.bytes < 100_000);
        let slowdown = |f: &FlowRecord| Some(f.fct?.0 as f64 / f.ideal.0 as f64);
        let mut values: Vec<f64> = short.filter_map(slowdown).collect();
        values.sort_by(f64::total_cmp);
        // The nearest rank.
        values[(0.95 * values.len() as f64).ceil() as usize - 1]
    };
    let by_hand = (0..3).map(of_seed).sum::<f64>() / 3.0;
    let p95 = of(&all, "DCTCP-RED-Tail", "slowdown.short.p95");
    assert!((p95.value - by_hand).abs() < 1e-9, "{p95:?} {by_hand}");
    assert_eq!((p95.unit.as_str(), p95.count), ("ratio", 900));
    assert!(
        p95.low.unwrap() < p95.value && p95.value < p95.high.unwrap(),
        "{p95:?}"
    );
}
