// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of every built-in scenario, at the widths of terminals: each column that a sentence names
//! is there.

use cemark_report::metrics::{self, Better, Cells, Metric};
use cemark_report::table::{Look, tables};
use cemark_report::{Comparisons, Finished};
use cemark_scenario::{Overrides, Plan, builtins, load};
use cemark_sim::Outcome;
use cemark_sim::outcome::{LongRecord, ProbeRecord};
use cemark_wire::Picos;

use crate::common::{FACTORS, outcome};

/// An outcome with a value of every metric: flows of each class, endless flows and probes.
fn with_everything(plan: &Plan, i: usize) -> Finished {
    let point = &plan.points[i];
    let scheme = plan.schemes.iter().position(|s| *s == point.scheme);
    let factors = FACTORS[scheme.expect("a scheme of the plan") % FACTORS.len()];
    let bytes = (1e9 * factors[2] * (1.0 + 0.01 * point.seed as f64)) as u64;
    let probe = |k: u64| ProbeRecord {
        workload: 0,
        sent: Picos(k * 1_000_000),
        rtt: Picos((50_000_000.0 * factors[0]) as u64 + k * 10_007 + point.seed),
    };
    let outcome = Outcome {
        long_flows: vec![LongRecord {
            id: 0,
            src: 0,
            dst: 1,
            class: 0,
            delivered: bytes,
            arrived: bytes,
            intervals: Vec::new(),
            timeouts: 0,
            workload: 0,
        }],
        probes: (0..200).map(probe).collect(),
        ..outcome(point, factors)
    };
    Finished::new(point, outcome, 0.1)
}

/// The places of the heads of a line, each from its first character to the next head's.
fn spans(line: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let letters: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == ' ' {
            at += 1;
            continue;
        }
        let rest = &letters[at..];
        let gap = rest.windows(2).position(|w| w == [' ', ' ']);
        let length = gap.unwrap_or(rest.len());
        found.push((at, rest[..length].iter().collect()));
        at += length;
    }
    found
}

/// Whether a table has the column of a metric: its second head is under its first one.
fn has_column(text: &str, metric: &Metric) -> bool {
    let (first, second) = metric.heading();
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).any(|pair| {
        let heads = spans(pair[0]);
        let Some(i) = heads.iter().position(|(_, head)| head == first) else {
            return false;
        };
        let (from, until) = (heads[i].0, heads.get(i + 1).map_or(usize::MAX, |h| h.0));
        // A number is on the right of its column, so a head of several columns begins before.
        let under = |(at, stat): &(usize, String)| stat == second && (from..until).contains(at);
        pair[1].starts_with("scheme") && spans(pair[1]).iter().any(under)
    })
}

#[test]
fn every_column_that_a_sentence_names_is_visible() {
    let mut named = 0;
    for scenario in builtins() {
        let overrides = Overrides {
            seeds: Some(3),
            ..Overrides::default()
        };
        let plan = load(scenario.name, &overrides).expect("a built-in scenario");
        let done: Vec<_> = (0..plan.points.len())
            .map(|i| with_everything(&plan, i))
            .collect();
        let comparisons = Comparisons::new(&plan, &done);
        for width in [60, 80, 100, 120] {
            let look = Look {
                width,
                color: false,
            };
            let text = tables(&plan, &comparisons, look);
            for line in text.lines() {
                assert!(
                    line.chars().count() <= width,
                    "{} at {width}: {line}",
                    scenario.name
                );
            }
            let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for metric in metrics::compared() {
                let name = metric.name();
                let is_named = [" (", " is ", " and ", ","].map(|end| format!(" {name}{end}"));
                if is_named.iter().any(|words| said.contains(words)) {
                    named += 1;
                    assert!(
                        has_column(&text, metric),
                        "{} at {width}: no column for {name}\n{text}",
                        scenario.name
                    );
                }
            }
        }
    }
    assert!(named > 200, "{named} names");
}

/// Terminal and report judge by the same metrics, so each of them has a column in both.
#[test]
fn every_metric_that_is_judged_has_a_column_in_the_terminal() {
    for metric in metrics::all() {
        let Some(column) = &metric.column else {
            continue;
        };
        if column.cells == Cells::Comparison && metric.better != Better::Neither {
            assert_eq!(column.report, column.terminal, "{}", metric.key);
        }
    }
}

#[test]
fn heads_are_found_in_their_places() {
    let text = "        short < 100 KB       medium\nscheme    mean     p99        mean\n";
    let is_there = |key| has_column(text, crate::common::metric(key));
    assert!(is_there("short.mean") && is_there("short.p99") && is_there("medium.mean"));
    assert!(!is_there("medium.p99") && !is_there("large.mean"));
}

#[test]
fn parts_of_a_wide_table_repeat_their_keys() {
    let row = |name: &str| -> Vec<String> {
        let cells = (0..6).map(|i| format!("{name}{i}"));
        cells.collect()
    };
    let rows = [row("head"), row("cell")];
    for (width, parts) in [(80, 1), (20, 3), (6, 5)] {
        let text = cemark_report::text::folded(&rows, 1, width, |_| false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 * parts, "{text}");
        assert!(
            lines.iter().step_by(2).all(|l| l.starts_with("head0")),
            "{text}"
        );
        for cell in 1..6 {
            assert_eq!(text.matches(&format!("cell{cell}")).count(), 1, "{text}");
        }
        let fits = |l: &&str| l.len() <= width.max("head0  head1".len());
        assert!(lines.iter().all(fits), "{text}");
    }
}
