// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every statistic on outcomes made by hand.

use std::collections::BTreeMap;

use cemark_report::metrics::Restriction;
use cemark_report::stats::Method;
use cemark_sim::Outcome;
use cemark_sim::config::{Measure, TracePorts};
use cemark_sim::outcome::{FlowRecord, LongRecord, PortReport, ProbeRecord, Spread};
use cemark_sim::workload::{ClassMap, List, Workload};
use cemark_wire::{Picos, Rate};

use super::*;

/// A point: its load, scheme, and the completion times in microseconds of flows that are short
/// unless they are above 10 ms.
struct Made {
    axes: BTreeMap<String, String>,
    scheme: &'static str,
    outcome: Outcome,
}

fn flow(id: u64, micros: f64) -> FlowRecord {
    FlowRecord {
        id,
        workload: (id % 2) as u16,
        query: None,
        class: 0,
        src: 0,
        dst: 1,
        bytes: if micros > 10_000.0 {
            20_000_000
        } else {
            10_000
        },
        start: Picos::ZERO,
        fct: Some(Picos::from_nanos((micros * 1e3) as u64)),
        ideal: Picos::from_micros(1),
        extra: Picos::ZERO,
        marks: 0,
        retransmits: id as u32,
        timeouts: 0,
    }
}

fn made(load: &str, scheme: &'static str, micros: &[f64]) -> Made {
    let port = |name: &str, mean| PortReport {
        name: name.to_owned(),
        rate: Rate::gbps(10),
        packets: 1,
        bytes: 1,
        marks: 0,
        drops: 0,
        utilisation: 0.985,
        queue: Spread {
            count: 1,
            mean,
            p50: 0.0,
            p99: 0.0,
            max: 0.0,
            min: 3_000.0,
        },
        sojourn: Spread::default(),
    };
    let mut outcome = Outcome {
        flows: micros
            .iter()
            .enumerate()
            .map(|(i, m)| flow(i as u64, *m))
            .collect(),
        ports: vec![
            port("leaf0->host1", 1_500.0),
            port("leaf0->host2", 15_000.0),
        ],
        ..Outcome::default()
    };
    outcome.probes = [10, 20, 30]
        .map(|rtt| ProbeRecord {
            workload: 0,
            sent: Picos::ZERO,
            rtt: Picos::from_micros(rtt),
        })
        .into();
    outcome.totals.drops.insert("tail", micros.len() as u64 - 2);
    Made {
        axes: BTreeMap::from([("workload.load".to_owned(), load.to_owned())]),
        scheme,
        outcome,
    }
}

fn measured() -> Measure {
    Measure {
        queue_interval: Picos::ZERO,
        trace: TracePorts::None,
        from: Picos::ZERO,
        until: Picos::MAX,
        fct: cemark_sim::config::Fct::LastByte,
        goodput_interval: Picos::ZERO,
    }
}

fn row(text: &str) -> Row {
    toml::from_str(&format!("id = \"X\"\n{text}")).unwrap()
}

fn ask(points: &[Made], text: &str) -> Result<Estimate, RowError> {
    let workload = |name: &str| Workload {
        name: name.to_owned(),
        kind: List::default().into(),
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    };
    let workloads = [workload("even"), workload("odd")];
    let measure = measured();
    let cells = points
        .iter()
        .enumerate()
        .map(|(i, p)| Cell {
            axes: &p.axes,
            scheme: p.scheme,
            seed: i as u64,
            sample: Sample {
                workloads: &workloads,
                measure: &measure,
                lossless: false,
                outcome: &p.outcome,
                only: Restriction::default(),
            },
        })
        .collect();
    evaluate(&row(text), &Data { cells, alpha: 0.05 })
}

fn value(points: &[Made], text: &str) -> f64 {
    ask(points, text).unwrap().value()
}

/// Two loads, two schemes, three seeds; `new` is 20 % faster at load 0.5 and 40 % at 0.9.
fn two_schemes() -> Vec<Made> {
    let mut all = Vec::new();
    for (load, share) in [("0.5", 0.8), ("0.90", 0.6)] {
        for (scheme, share) in [("old", 1.0), ("new", share)] {
            for seed in [1.0, 1.1, 1.2] {
                all.push(made(
                    load,
                    scheme,
                    &[100.0 * seed * share, 300.0 * seed * share, 40_000.0],
                ));
            }
        }
    }
    all
}

const NEW: &str = "metric = \"short.mean\"\nscheme = \"new\"\nagainst = \"old\"\n";

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

/// With one or two seeds only the mean of enough flows has an interval. A percentile has one from
/// three seeds on, which accounts for the number of its flows.
#[test]
fn few_seeds_have_intervals_for_means_only() {
    let points = |seeds: usize, flows: u64| -> Vec<Made> {
        ["old", "new"]
            .into_iter()
            .flat_map(|scheme| (0..seeds).map(move |_| scheme))
            .map(|scheme| {
                let share = |i: u64| match scheme {
                    "new" => 0.7 + 0.1 * ((i * 7 % 11) as f64 / 10.0),
                    _ => 1.0,
                };
                let micros = (0..flows).map(|i| (100 + i * 13 % 90) as f64 * share(i));
                made("0.5", scheme, &micros.collect::<Vec<_>>())
            })
            .collect()
    };
    let ask = |seeds, flows, metric: &str| {
        let text = format!(
            "statistic = \"gain\"\nmetric = \"{metric}\"\nscheme = \"new\"\nagainst = \"old\""
        );
        ask(&points(seeds, flows), &text).unwrap()
    };
    for seeds in [1, 2] {
        let mean = ask(seeds, 200, "short.mean");
        assert_eq!(mean.method(), Method::Batches);
        let (low, high) = mean.interval().unwrap();
        assert!(low > 20.0 && high < 30.0, "{low} to {high}");
        assert_eq!(ask(seeds, 99, "short.mean").interval(), None);
        let tail = ask(seeds, 200, "short.p99");
        assert_eq!((tail.method(), tail.interval()), (Method::None, None));
    }
    // Three equal seeds would say that nothing is by chance.
    let tail = ask(3, 200, "short.p99");
    assert_eq!(tail.method(), Method::Flows);
    assert_eq!(ask(3, 200, "short.mean").method(), Method::Seeds);
}

#[test]
fn comparisons_are_paired() {
    let points = two_schemes();
    let gain = ask(
        &points,
        &format!("statistic = \"gain\"\n{NEW}where = {{ load = 0.9 }}"),
    )
    .unwrap();
    near(gain.value(), 40.0);
    let (low, high) = gain.interval().unwrap();
    assert!(
        high - low < 1e-6,
        "seeds differ, the schemes' ratio does not: {low} {high}"
    );
    near(
        value(
            &points,
            &format!("statistic = \"ratio\"\n{NEW}where = {{ load = 0.5 }}"),
        ),
        0.8,
    );
    near(
        value(
            &points,
            &format!("statistic = \"excess\"\n{NEW}where = {{ load = 0.5 }}"),
        ),
        -20.0,
    );
    near(
        value(
            &points,
            &format!("statistic = \"excess\"\n{NEW}where = {{ load = 0.5 }}")
                .replace("short", "large"),
        ),
        0.0,
    );
}

#[test]
fn differences_in_the_metrics_unit_and_between_classes() {
    let points = two_schemes();
    let at = "where = { load = 0.5 }";
    // 200 x 1.1 us on average, of which a fifth is gained.
    near(
        value(&points, &format!("statistic = \"difference\"\n{NEW}{at}")),
        -44.0,
    );
    let beyond = format!("statistic = \"gain-beyond\"\nother-metric = \"large.mean\"\n{NEW}{at}");
    near(value(&points, &beyond), 20.0);
    near(
        value(
            &points,
            &beyond
                .replace("\"large", "\"x")
                .replace("\"short", "\"large")
                .replace("\"x", "\"short"),
        ),
        -20.0,
    );
}

/// A single noisy cell does not exceed anything clearly, however large its mean.
#[test]
fn the_highest_low_asks_for_intervals() {
    let mut points = Vec::new();
    for (load, noise) in [("0.5", 0.0), ("0.9", 0.5)] {
        for (scheme, sign) in [("old", 0.0), ("new", 1.0)] {
            for seed in [-1.0, 0.0, 1.4] {
                let micros = 100.0 * (1.0 + sign * (0.05 + noise * seed));
                points.push(made(load, scheme, &[micros, micros, 40_000.0]));
            }
        }
    }
    let text = format!("statistic = \"excess\"\nover = \"highest-low\"\n{NEW}");
    near(value(&points, &text), 5.0);
    points.truncate(1);
    points.push(made("0.5", "new", &[1.0, 1.0, 40_000.0]));
    let text = text.replace("excess", "difference");
    let said = ask(&points, &text).unwrap_err().to_string();
    assert!(said.contains("no interval"), "{said}");
}

#[test]
fn cells_become_one_number() {
    let points = two_schemes();
    for (over, expected) in [
        ("mean", 30.0),
        ("max", 40.0),
        ("min", 20.0),
        ("farthest", 40.0),
        ("median", 20.0),
        ("next-to-max", 20.0),
        ("highest-low", 40.0),
    ] {
        near(
            value(
                &points,
                &format!("statistic = \"gain\"\nover = \"{over}\"\n{NEW}"),
            ),
            expected,
        );
    }
    near(
        value(
            &points,
            &format!(
                "statistic = \"gain\"\n{NEW}where = {{ load = 0.9 }}\nminus = {{ load = 0.5 }}"
            ),
        ),
        20.0,
    );
    assert!(
        ask(&points, &format!("statistic = \"gain\"\n{NEW}"))
            .unwrap_err()
            .to_string()
            .contains("2 cells")
    );
    assert!(
        ask(
            &points,
            &format!("statistic = \"gain\"\n{NEW}where = {{ load = 0.7 }}")
        )
        .unwrap_err()
        .to_string()
        .contains("no point")
    );
    assert!(
        ask(
            &points,
            &format!("statistic = \"gain\"\n{NEW}where = {{ laod = 0.5 }}")
        )
        .unwrap_err()
        .to_string()
        .contains("no axis `laod`")
    );
    assert!(
        ask(
            &points,
            &format!("statistic = \"gain\"\n{NEW}").replace("new", "newer")
        )
        .unwrap_err()
        .to_string()
        .contains("`newer`")
    );
}

#[test]
fn values_of_points() {
    let points = [made("0.5", "a", &[100.0, 200.0, 300.0, 40_000.0])];
    for (text, expected) in [
        ("metric = \"overall.mean\"", 10_150.0),
        ("metric = \"short.p99\"", 300.0),
        ("metric = \"short.mean\"\nworkload = \"even\"", 200.0),
        ("metric = \"drops\"", 2.0),
        ("metric = \"lost\"\nworkload = \"odd\"", 4.0),
        ("metric = \"queue.mean\"", 10.0),
        ("metric = \"queue.mean\"\nport = \"->host1\"", 1.0),
        ("metric = \"queue.min\"\nport = \"->host1\"\nunit = 4", 0.5),
        ("metric = \"utilisation\"", 98.5),
        ("metric = \"rtt.mean\"", 20.0),
        ("metric = \"rtt.p99\"\nbase = 12.5", 17.5),
    ] {
        near(
            value(
                &points,
                &format!("statistic = \"value\"\nscheme = \"a\"\n{text}"),
            ),
            expected,
        );
    }
    for (text, said) in [
        (
            "metric = \"short.mean\"\nworkload = \"none\"",
            "no workload is called `none`",
        ),
        (
            "metric = \"medium.mean\"",
            "no flow of this size class has finished",
        ),
        (
            "metric = \"queue.mean\"\nport = \"->host9\"",
            "leaf0->host2",
        ),
        ("metric = \"speed\"", "no metric is called `speed`"),
    ] {
        let error = ask(
            &points,
            &format!("statistic = \"value\"\nscheme = \"a\"\n{text}"),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn statistics_over_schemes() {
    // Short flows are best under a, large under c; b is second in both.
    let points: Vec<Made> = [
        ("a", 100.0, 90_000.0),
        ("b", 110.0, 66_000.0),
        ("c", 140.0, 60_000.0),
    ]
    .into_iter()
    .flat_map(|(scheme, short, large)| {
        (0..3).map(move |_| made("0.5", scheme, &[short, short, large]))
    })
    .collect();
    let all = "schemes = [\"a\", \"b\", \"c\"]\n";
    near(
        value(
            &points,
            &format!(
                "statistic = \"argmin-differs\"\nmetric = \"short.mean\"\nother-metric = \
                     \"large.mean\"\n{all}"
            ),
        ),
        40.0,
    );
    near(
        value(
            &points,
            "statistic = \"argmin-differs\"\nmetric = \"short.mean\"\nother-metric = \
                 \"large.mean\"\nschemes = [\"b\"]",
        ),
        0.0,
    );
    near(
        value(
            &points,
            &format!("statistic = \"spread\"\nmetric = \"short.mean\"\n{all}"),
        ),
        40.0,
    );
    near(
        value(
            &points,
            &format!("statistic = \"smallest-step\"\nmetric = \"short.mean\"\n{all}"),
        ),
        10.0,
    );
    near(
        value(
            &points,
            &format!(
                "statistic = \"excess-over-best\"\nscheme = \"b\"\nmetric = \"short.mean\"\n{all}"
            ),
        ),
        10.0,
    );
    near(
        value(
            &points,
            &format!(
                "statistic = \"excess-over-best\"\nscheme = \"a\"\nmetric = \"large.mean\"\n{all}"
            ),
        ),
        50.0,
    );
}

#[test]
fn onsets() {
    // Drops are the number of flows less two.
    let mut points = Vec::new();
    for (x, losses) in [("25", [2, 2]), ("50", [2, 3]), ("75", [4, 5])] {
        points.extend(losses.map(|n| made(x, "a", &vec![1.0; n])));
        points.extend([made(x, "b", &[1.0; 2]), made(x, "b", &[1.0; 2])]);
    }
    let onset = |scheme| {
        ask(
            &points,
            &format!(
                "statistic = \"onset\"\nmetric = \"drops\"\naxis = \"load\"\nscheme = \"{scheme}\""
            ),
        )
        .unwrap()
    };
    assert_eq!(onset("a").interval(), Some((50.0, 75.0)));
    assert_eq!(
        onset("b").interval(),
        Some((100.0, 100.0)),
        "one step beyond the last"
    );
    assert_eq!(
        onset("a\"\nagainst = \"b").interval(),
        Some((-50.0, -25.0)),
        "seed by seed"
    );
}

/// 100, 50 and 60 us: four fifths of the way; and a gap that is none.
#[test]
fn the_part_of_a_gap_that_is_closed() {
    let mut points = Vec::new();
    for more in [0.0, 1.0, -1.0] {
        points.push(made("0.5", "from", &[100.0; 3]));
        points.push(made("0.5", "to", &[50.0 + more; 3]));
        points.push(made("0.5", "ours", &[60.0; 3]));
        points.push(made("0.5", "near", &[100.0 + more; 3]));
    }
    let gap = |to: &str| {
        ask(
            &points,
            &format!(
                "statistic = \"gap-closed\"\nmetric = \"overall.mean\"\nscheme = \
                     \"ours\"\nschemes = [\"from\", \"{to}\"]"
            ),
        )
        .unwrap()
    };
    near(gap("to").value(), 0.8);
    assert_eq!(
        gap("near").interval(),
        Some((f64::NEG_INFINITY, f64::INFINITY))
    );
}

/// A mean completion time of x, of the root of x, and of 8 / x.
#[test]
fn growths() {
    let mut points = Vec::new();
    for (written, x) in [("2 Gb/s", 2.0), ("8 Gb/s", 8.0), ("32 Gb/s", 32.0)] {
        points.push(made(written, "line", &[x; 3]));
        points.push(made(written, "root", &[f64::sqrt(x); 3]));
        points.push(made(written, "inverse", &[8.0 / x; 3]));
    }
    let ask = |scheme: &str, more: &str| {
        ask(
            &points,
            &format!(
                "statistic = \"growth\"\nmetric = \"overall.mean\"\naxis = \"load\"\nscheme = \
                     \"{scheme}\"{more}"
            ),
        )
    };
    for (scheme, slope) in [("line", 1.0), ("root", 0.5), ("inverse", -1.0)] {
        let found = ask(scheme, "").unwrap().value();
        assert!((found - slope).abs() < 1e-3, "{scheme}: {found}");
    }
    assert!(ask("line", "\nwhere = { load = \"8 Gb/s\" }").is_err());
}

#[test]
fn flows_without_an_end_are_counted() {
    let mut point = made("0.5", "a", &[100.0, 200.0]);
    point.outcome.flows[1].fct = None;
    let measure = measured();
    let cells = vec![Cell {
        axes: &point.axes,
        scheme: "a",
        seed: 1,
        sample: Sample {
            workloads: &[],
            measure: &measure,
            lossless: false,
            outcome: &point.outcome,
            only: Restriction::default(),
        },
    }];
    assert_eq!(unfinished(&Data { cells, alpha: 0.05 }), (1, 2));
    near(
        value(
            &[point],
            "statistic = \"value\"\nscheme = \"a\"\nmetric = \"overall.mean\"",
        ),
        100.0,
    );
}

/// Endless flows that delivered so much, each of them.
fn endless(scheme: &'static str, delivered: &[u64]) -> Made {
    let mut point = made("0.5", scheme, &[1.0, 2.0]);
    let flow = |(id, bytes): (usize, &u64)| LongRecord {
        id: id as u64,
        src: 0,
        dst: 1,
        class: 0,
        delivered: *bytes,
        arrived: *bytes,
        intervals: Vec::new(),
        timeouts: 0,
        workload: 0,
    };
    point.outcome.long_flows = delivered.iter().enumerate().map(flow).collect();
    point
}

#[test]
fn quantiles_are_compared_in_order_of_flows() {
    let of = |ours: &[u64], theirs: &[u64]| {
        let points = [endless("A", ours), endless("B", theirs)];
        let row = "statistic = \"quantiles-above\"\nmetric = \"delivered\"\nscheme = \
             \"A\"\nagainst = \"B\"";
        ask(&points, row).map(|e| e.value())
    };
    // Sorted: 10 20 30 40 against 9 19 31 39. A tie is not above.
    assert_eq!(of(&[40, 10, 30, 20], &[9, 19, 31, 39]), Ok(75.0));
    assert_eq!(of(&[1, 2], &[1, 2]), Ok(0.0));
    assert!(of(&[1, 2], &[1, 2, 3]) == Err(RowError::EndlessFlows));
    assert!(of(&[], &[]).is_err());
}

#[test]
fn the_last_flow_against_an_equal_part() {
    let row = "statistic = \"value\"\nmetric = \"delivered.last-of-fair\"\nscheme = \"A\"";
    let of = |all: &[u64]| ask(&[endless("A", all)], row).map(|e| e.value());
    // An equal part of 80 is 26.7.
    assert_eq!(of(&[30, 40, 10]), Ok(100.0 * 10.0 * 3.0 / 80.0));
    assert_eq!(of(&[20, 20, 20]), Ok(100.0));
    assert!(of(&[]).is_err());
}
