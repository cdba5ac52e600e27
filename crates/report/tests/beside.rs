// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two runs side by side: pairing is decided by the flows, and what is printed fits.

use cemark_report::beside::{Line, Verdict};
use cemark_report::rundir::{self, Manifest, Run};
use cemark_report::stats::Method;
use cemark_report::table::{Look, beside};
use cemark_report::{Beside, Finished, Provenance, RunDir};
use cemark_scenario::{Overrides, Plan, parse};
use std::path::Path;

use crate::common::{FACTORS, Factors, Scratch, finished, outcome, plan};

fn manifest(plan: &Plan, source: &str, digest: &str) -> Manifest {
    Manifest {
        schema: 1,
        scenario: plan.name.clone(),
        title: plan.title.clone(),
        scenario_digest: "5ce0a210".to_owned(),
        digest: Some(digest.to_owned()),
        seeds: vec![1, 2, 3],
        schemes: plan.schemes.clone(),
        points: plan.points.len() as u64,
        part: None,
        warnings: Vec::new(),
        markers: Vec::new(),
        provenance: Provenance {
            version: "0.1.0".to_owned(),
            build: "b1".to_owned(),
            command: vec!["cemark".to_owned(), "run".to_owned(), "x.toml".to_owned()],
        },
        source: source.to_owned(),
    }
}

fn run(loads: &[&str], seeds: &[u64], factors: [Factors; 3], source: &str) -> Run {
    let plan = plan(loads, seeds);
    Run {
        manifest: manifest(&plan, source, &format!("{factors:?}")),
        finished: finished(&plan, factors),
        plan,
    }
}

fn beside(a: &Run, b: &Run) -> Beside {
    Beside::new((Path::new("runs/a"), a), (Path::new("runs/b"), b)).expect("something in common")
}

fn line<'a>(beside: &'a Beside, scheme: &str, metric: &str) -> &'a Line {
    let block = beside
        .blocks
        .iter()
        .find(|b| b.combination.scheme == scheme);
    let metrics = &block.expect("the scheme").metrics;
    metrics
        .iter()
        .find(|l| l.metric.key == metric)
        .expect("the metric")
}

/// Every flow of the second run takes 20 % longer under one scheme, the other two are as they were.
const SLOWER: [Factors; 3] = [FACTORS[0], [0.96, 1.08, 1.2], FACTORS[2]];

#[test]
fn equal_flows_are_paired_and_a_factor_is_the_difference() {
    let (a, b) = (
        run(&["0.9"], &[1, 2, 3], FACTORS, "k = 1\n"),
        run(&["0.9"], &[1, 2, 3], SLOWER, "k = 2\ntitle = \"x\"\n"),
    );
    let found = beside(&a, &b);
    assert!(!found.equal_results);
    assert!(found.blocks.iter().all(|b| b.paired && b.seeds_a == 3));
    let slower = line(&found, "ECN#", "short.mean");
    assert!((slower.percent.unwrap() - 20.0).abs() < 1.0, "{slower:?}");
    assert_eq!(
        (slower.verdict, slower.method),
        (Verdict::Worse, Method::Seeds)
    );
    assert_eq!((slower.count_a, slower.counted), (900, "flows"));
    let same = line(&found, "CoDel", "large.p99");
    assert_eq!((same.percent, same.verdict), (Some(0.0), Verdict::Equal));
    let settings: Vec<&str> = found.settings.iter().map(|s| &s.key[..]).collect();
    assert_eq!(settings, ["k"], "a title changes no result");
    let other = beside(&b, &a);
    assert_eq!(line(&other, "ECN#", "short.mean").verdict, Verdict::Better);
    assert!(beside(&a, &a).equal_results);
}

#[test]
fn unlike_flows_are_not_paired() {
    let a = run(&["0.9"], &[1, 2, 3], FACTORS, "");
    let mut b = run(&["0.9"], &[1, 2, 3, 4], SLOWER, "");
    for done in &mut b.finished {
        done.outcome.flows[7].bytes += 1;
    }
    let found = beside(&a, &b);
    for block in &found.blocks {
        assert_eq!((block.paired, block.seeds_a, block.seeds_b), (false, 3, 4));
    }
    let slower = line(&found, "ECN#", "short.mean");
    assert!((slower.percent.unwrap() - 20.0).abs() < 2.0, "{slower:?}");
    assert_eq!(
        (slower.verdict, slower.method),
        (Verdict::Worse, Method::Welch)
    );
    let same = line(&found, "CoDel", "short.mean");
    assert_eq!(same.verdict, Verdict::NotDecided);
    // One more seed with the same flows leaves three pairs.
    let more = run(&["0.9"], &[1, 2, 3, 4], SLOWER, "");
    let found = beside(&a, &more);
    assert!(found.blocks.iter().all(|b| b.paired && b.seeds_b == 3));
    // A seed of each run that the other lacks leaves none.
    let shifted = run(&["0.9"], &[2, 3, 4], SLOWER, "");
    assert!(beside(&a, &shifted).blocks.iter().all(|b| !b.paired));
}

/// A run that sweeps the load meets one that writes one of its values, as another number would.
#[test]
fn combinations_meet_by_their_values() {
    let swept = run(&["0.5", "0.9"], &[1, 2, 3], FACTORS, "");
    let mut written = run(&["0.9"], &[1, 2, 3], FACTORS, "[[workload]]\nload = 0.90\n");
    written.plan.axes.clear();
    written.plan.points.iter_mut().for_each(|p| p.axes.clear());
    let found = beside(&swept, &written);
    assert_eq!(
        (found.blocks.len(), found.only_a.len(), found.only_b.len()),
        (3, 3, 0)
    );
    assert_eq!(found.blocks[0].combination.axes["workload.load"], "0.9");
    assert_eq!(found.only_a[0].words(), "DCTCP-RED-Tail at load 0.5");
    // A run that does not say its load meets none.
    written.manifest.source.clear();
    let (a, b) = ((Path::new("a"), &swept), (Path::new("b"), &written));
    let said = Beside::new(a, b).expect_err("nothing in common");
    let help = "does not sweep workload.load has to write its value";
    assert!(said.help.contains(help), "{}", said.help);
    let mut others = run(&["0.9"], &[1, 2, 3], FACTORS, "");
    for point in &mut others.plan.points {
        point.scheme += " 2";
    }
    let said = Beside::new(a, (Path::new("b"), &others)).expect_err("other labels");
    assert!(said.to_string().contains("in common"), "{said}");
    assert!(said.help.contains("ECN# 2 at load 0.9"), "{}", said.help);
}

/// A 99th percentile of 30 flows is their largest: it is printed with the number, and decides
/// nothing.
#[test]
fn the_largest_of_few_decides_nothing() {
    let few = |factors| {
        let mut run = run(&["0.9"], &[1, 2, 3], factors, "");
        let each = run.plan.points.iter().zip(&mut run.finished);
        for (point, done) in each {
            let mut outcome = done.outcome.clone();
            outcome.flows.truncate(90);
            *done = Finished::new(point, outcome, 0.1);
        }
        run
    };
    let found = beside(&few(FACTORS), &few(SLOWER));
    let tail = line(&found, "ECN#", "short.p99");
    assert_eq!((tail.largest_of, tail.low), (Some(30), None));
    assert_eq!((tail.verdict, tail.count_a), (Verdict::NotDecided, 90));
    assert!((tail.percent.unwrap() - 20.0).abs() < 1.0);
    assert!(beside::text(&found, Look::default()).contains("max of 30"));
}

#[test]
fn the_text_fits_the_terminal_and_says_what_is_decided() {
    let a = run(
        &["0.5", "0.9"],
        &[1, 2, 3],
        FACTORS,
        "[[scheme]]\nlabel = \"ECN#\"\nk = 1\n",
    );
    let b = run(
        &["0.9"],
        &[1, 2, 3],
        SLOWER,
        "[[scheme]]\nlabel = \"ECN#\"\nk = 2\n",
    );
    let found = beside(&a, &b);
    for width in [60, 80, 100, 120] {
        let look = Look {
            width,
            color: false,
        };
        let text = beside::text(&found, look);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "scheme.ECN#.k: A 1, B 2",
            "paired, 3 seeds",
            "B is worse in overall mean (+",
            "A and B have equal results here.",
            "only in A: DCTCP-RED-Tail at load 0.5",
        ] {
            assert!(joined.contains(said), "{said} at {width}:\n{text}");
        }
        assert!(
            text.lines()
                .any(|l| l.starts_with("short mean") && l.ends_with("worse"))
        );
    }
    let coloured = beside::text(
        &found,
        Look {
            width: 80,
            color: true,
        },
    );
    assert!(coloured.contains("\u{1b}[31mworse\u{1b}[0m"));
    let csv = beside::table(&found).csv();
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].starts_with("workload.load,scheme,metric,unit,A,B,"),
        "{}",
        rows[0]
    );
    assert_eq!(
        rows.len(),
        1 + found.blocks.iter().map(|b| b.metrics.len()).sum::<usize>()
    );
    let document = serde_json::to_value(&found).expect("a document");
    assert_eq!(document["blocks"][0]["scheme"], "DCTCP-RED-Tail");
    assert_eq!(document["blocks"][0]["axes"]["workload.load"], "0.9");
    assert_eq!(document["blocks"][1]["metrics"][0]["verdict"], "worse");
}

const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\n\
    [[workload]]\nkind = \"poisson\"\nsizes = \"20KB\"\nload = 0.5\nflows = 10\n\
    [[scheme]]\nmarker = \"tcn\"\n[[scheme]]\nmarker = \"none\"\n";

/// A run that has not ended is refused with the number of its missing points and its command.
#[test]
fn an_unfinished_run_says_what_is_missing() {
    let scratch = Scratch::new();
    let overrides = Overrides {
        seeds: Some(2),
        ..Overrides::default()
    };
    let plan = parse(STAR, "star.toml", &overrides).expect("a scenario");
    let who = manifest(&plan, "", "").provenance;
    let dir = RunDir::open(&scratch.0, &plan, &who, false, &()).expect("a directory");
    let done = Finished::new(&plan.points[1], outcome(&plan.points[1], FACTORS[0]), 0.1);
    dir.store(&plan.points[1], &done).expect("stored");
    drop(dir);
    let said = rundir::read(&scratch.0).expect_err("not finished");
    assert!(said.what.contains("(3 of 4 points are missing)"), "{said}");
    assert_eq!(said.help, "continue it first: cemark run x.toml");
}
