// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terminal table says what the flows say, within the width it was given.

use crate::common::{FACTORS, finished, metric, plan};
use cemark_report::Comparisons;
use cemark_report::stats::{Comparison, Method};
use cemark_report::table::{Look, tables};

#[test]
fn a_factor_on_every_flow_is_the_percent_in_the_table() {
    let plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    let all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    assert_eq!(all.groups.len(), 2);
    for group in &all.groups {
        let percent = |row: usize, m| group.rows[row].cell(m).against.unwrap().percent;
        assert!((percent(1, metric("short.mean")) + 20.0).abs() < 1.0);
        assert!((percent(1, metric("short.p99")) + 20.0).abs() < 1.0);
        assert!(percent(1, metric("large.mean")).abs() < 0.01);
        assert!((percent(2, metric("large.mean")) - 10.0).abs() < 1.0);
        assert!(group.rows[2].cell(metric("large.mean")).worse());
        assert!(!group.rows[1].cell(metric("large.mean")).worse());
        assert!(group.rows[1].cell(metric("short.mean")).better());
    }
}

#[test]
fn published_values_find_their_cells() {
    let plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    let all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    let at = |g: usize| {
        all.groups[g].rows[1]
            .cell(metric("short.mean"))
            .published
            .as_ref()
            .map(|p| p.percent)
    };
    assert_eq!((at(0), at(1)), (None, Some(-23.4)));
}

#[test]
fn tables_fit_the_terminal() {
    let plan = plan(&["0.5", "0.9"], &[1, 2, 3]);
    let all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    for width in [80, 120] {
        let text = tables(
            &plan,
            &all,
            Look {
                width,
                color: false,
            },
        );
        for line in text.lines() {
            assert!(
                line.chars().count() <= width,
                "{} > {width}: {line}",
                line.chars().count()
            );
        }
        for word in [
            "worse",
            "ECN# Fig 9b",
            "-23.4 %",
            "-20.0 %",
            "drops",
            "timeouts",
            "load 0.9",
        ] {
            assert!(text.contains(word), "{word} is missing at {width}:\n{text}");
        }
    }
}

/// Every number of the table and its interval, with all columns that there are: the widest case.
#[test]
fn lopsided_intervals_are_printed_by_their_ends_and_fit() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let mut all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    for row in all.groups[0].rows.iter_mut().filter(|r| !r.baseline) {
        row.scheme = format!("{} with its longest label", row.scheme);
        for cell in &mut row.cells {
            cell.absolute = Some(1234.5);
            cell.against = Some(Comparison {
                percent: -40.8,
                interval: Some((-84.0, -19.0)),
                method: Method::Flows,
                seeds: 3,
                pairs: 900,
            });
        }
    }
    for width in [80, 100, 120, 200] {
        let text = tables(
            &plan,
            &all,
            Look {
                width,
                color: false,
            },
        );
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        // Two schemes, eight columns; the published numbers that have no column are others.
        let cells = text.matches("-40.8 % [-84, -19]").count();
        assert!(cells >= 16, "{cells} at {width}:\n{text}");
        assert!(!text.contains('±'), "{text}");
        for head in ["p99", "goodput", "probe", "timeouts", "queue"] {
            assert!(text.contains(head), "{head} is missing at {width}:\n{text}");
        }
        // What the interval decides is what the sentence says.
        assert!(
            sentence_of(&text)
                .contains("label is better in overall mean (-40.8 %), short mean (-40.8 %)"),
            "{text}"
        );
    }
    // The same difference with an interval that reaches zero decides nothing.
    for row in all.groups[0].rows.iter_mut().filter(|r| !r.baseline) {
        for cell in &mut row.cells {
            cell.against.as_mut().unwrap().interval = Some((-84.0, 0.3));
        }
    }
    let text = tables(&plan, &all, Look::default());
    assert!(text.contains("-40.8 % [-84, 0.3]"), "{text}");
    assert!(
        sentence_of(&text).contains("Nothing is decided for ECN# with its longest label and"),
        "{text}"
    );
}

/// A single seed has intervals for means of many flows and for nothing else, and the table says so.
#[test]
fn one_seed_says_what_it_leaves_open() {
    let plan = |seeds: &[u64]| plan(&["0.9"], seeds);
    let one = plan(&[1]);
    let all = Comparisons::new(&one, &finished(&one, FACTORS));
    let cell = |key| all.groups[0].rows[1].cell(key).against.unwrap();
    assert_eq!(cell(metric("short.mean")).method, Method::Batches);
    assert_eq!(cell(metric("short.p99")).interval, None);
    let text = tables(&one, &all, Look::default());
    let hint = "have an interval from three seeds on (--seeds 3)";
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined(&text).contains(hint), "{text}");
    assert!(
        sentence_of(&text).contains("short p99, large mean, queue mean and queue p99 are not"),
        "{text}"
    );
    let three = plan(&[1, 2, 3]);
    let all = Comparisons::new(&three, &finished(&three, FACTORS));
    assert!(!joined(&tables(&three, &all, Look::default())).contains(hint));
}

#[test]
fn colour_is_only_on_request() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let all = Comparisons::new(&plan, &finished(&plan, FACTORS));
    let plain = tables(
        &plan,
        &all,
        Look {
            width: 120,
            color: false,
        },
    );
    let coloured = tables(
        &plan,
        &all,
        Look {
            width: 120,
            color: true,
        },
    );
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[31m"));
    let mut stripped = coloured;
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"] {
        stripped = stripped.replace(code, "");
    }
    let trim = |s: &str| s.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trim(&stripped), trim(&plain));
}

#[test]
fn the_sentence_claims_only_what_the_intervals_do() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let clear = tables(
        &plan,
        &Comparisons::new(&plan, &finished(&plan, FACTORS)),
        Look::default(),
    );
    assert!(
        clear.contains("  ECN# is better in overall mean (-0.6 %), short mean (-20.1 %)"),
        "{clear}"
    );
    assert!(
        sentence_of(&clear)
            .contains("CoDel is worse in overall mean (+10.1 %), short mean (+30.1 %), short p99"),
        "{clear}"
    );
    let same = finished(&plan, [[1.0; 3]; 3]);
    let quiet = tables(&plan, &Comparisons::new(&plan, &same), Look::default());
    assert!(
        quiet.contains("Nothing is decided for ECN# and CoDel."),
        "{quiet}"
    );
    assert!(!quiet.contains("worse"), "{quiet}");
}

/// With one seed a queue has no interval, so a queue twice as long is not yet a finding; and a
/// tail, of which one seed says nothing either, is named as open, not as equal.
#[test]
fn the_sentence_says_what_is_not_decided() {
    let plan = plan(&["0.9"], &[1]);
    let mut done = finished(&plan, FACTORS);
    for d in &mut done {
        // Endless flows only: what is left to compare are numbers of which a seed has one.
        d.outcome.flows.clear();
    }
    let done: Vec<_> = plan
        .points
        .iter()
        .zip(&done)
        .map(|(p, d)| cemark_report::Finished::new(p, d.outcome.clone(), 0.0))
        .collect();
    let text = tables(&plan, &Comparisons::new(&plan, &done), Look::default());
    let said = sentence_of(&text);
    assert!(
        said.contains("Nothing is decided for ECN# and CoDel."),
        "{text}"
    );
    assert!(
        !said.contains("better") && !said.contains("worse"),
        "{text}"
    );

    // ECN# helps short flows for certain; what it does to large ones is random noise.
    let mut done = finished(&plan, FACTORS);
    let ecn_sharp = done
        .iter_mut()
        .find(|d| d.summary.scheme == "ECN#")
        .unwrap();
    for f in ecn_sharp
        .outcome
        .flows
        .iter_mut()
        .filter(|f| f.bytes > 10_000_000)
    {
        let noise = if f.id % 2 == 0 { 4 } else { 1 };
        f.fct = f.fct.map(|t| cemark_wire::Picos(t.0 * noise * 2 / 5));
    }
    let text = tables(&plan, &Comparisons::new(&plan, &done), Look::default());
    let said = sentence_of(&text);
    assert!(
        said.contains("ECN# is better in short mean (") && said.contains("short p99, large mean"),
        "{text}"
    );
}

/// A table for each of many loads ends with what they show together: how often, and how much.
#[test]
fn many_tables_are_summarised() {
    let of = |loads: &[&str]| {
        let plan = plan(loads, &[1, 2, 3]);
        let mut done = finished(&plan, FACTORS);
        // At the first load CoDel does what the baseline does.
        let same = finished(&plan, [[1.0; 3]; 3]);
        for (i, point) in plan.points.iter().enumerate() {
            if point.scheme == "CoDel" && point.axes["workload.load"] == "0.5" {
                done[i] = same[i].clone();
            }
        }
        tables(&plan, &Comparisons::new(&plan, &done), Look::default())
    };
    let text = of(&["0.5", "0.6", "0.7", "0.8"]);
    let at = text.find("Over 4 combinations of load, against DCTCP-RED-Tail:");
    let end = text[at.expect("a summary")..]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        end.contains(
            "ECN# is better in overall mean everywhere (-0.6 %), short mean everywhere (-20.1 %)"
        ),
        "{end}"
    );
    assert!(
        end.contains("(+10.1 to +10.2 %), short mean at 3 of 4 (+30.1 %), short p99 at 3 of 4"),
        "{end}"
    );
    assert!(!of(&["0.5", "0.9"]).contains("combinations"));
}

/// The sentence under the table, its lines joined.
fn sentence_of(text: &str) -> String {
    let at = text.find("At load").expect("a sentence");
    text[at..].split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn unfinished_flows_are_named_and_left_out() {
    let plan = plan(&["0.9"], &[1, 2, 3]);
    let mut done = finished(&plan, FACTORS);
    // The slowest flow of CoDel never ends: that must not make its mean look better against the
    // baseline's same flow.
    let codel = done
        .iter_mut()
        .find(|d| d.summary.scheme == "CoDel")
        .unwrap();
    let slow = codel.outcome.flows.iter().max_by_key(|f| f.fct).unwrap().id as usize;
    codel.outcome.flows[slow].fct = None;
    let (point, outcome) = (&plan.points[6], codel.outcome.clone());
    done[6] = cemark_report::Finished::new(point, outcome, 0.0);
    let all = Comparisons::new(&plan, &done);
    assert!(
        (all.groups[0].rows[2]
            .cell(metric("large.mean"))
            .against
            .unwrap()
            .percent
            - 10.0)
            .abs()
            < 1.0
    );
    let text = tables(&plan, &all, Look::default());
    assert!(
        text.contains("unfinished: 1 of 2700 flows under CoDel"),
        "{text}"
    );
}
