// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark search`: what it chooses and claims, against every candidate simulated in full.
#![allow(missing_docs)]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

/// A small switch whose threshold trades short flows for large ones.
const STAR: &str = r#"
title = "A star"
max-time = "1s"
[topology]
kind = "star"
hosts = 6
rate = "10Gbps"
delay = "10us"
[switch]
buffer = "300KB"
[[workload]]
kind = "poisson"
sizes = "20KB"
load = 0.2
flows = 80
[[workload]]
kind = "poisson"
sizes = "1MB"
load = 0.5
flows = 10
[[scheme]]
label = "step"
marker = "threshold"
k = "100KB"
[[scheme]]
label = "other"
marker = "threshold"
k = "50KB"
"#;

/// A folder with the scenario.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("search-{name}");
        Scratch(common::folder(&name, &[("star.toml", STAR)]))
    }

    fn cemark(&self, args: &[&str]) -> Output {
        common::cemark(&self.0, args)
    }

    fn json(&self, args: &[&str]) -> Value {
        let args = [args, &["--format", "json"]].concat();
        let done = self.cemark(&args);
        assert!(done.status.success(), "{args:?}: {}", said(&done));
        serde_json::from_slice(&done.stdout).expect("JSON")
    }
}

fn said(output: &Output) -> String {
    common::line(&[&output.stdout[..], &output.stderr].concat())
}

const SEARCH: [&str; 8] = [
    "search",
    "star.toml",
    "--over",
    "scheme.step.k=5KB..320KB",
    "--for",
    "short.mean",
    "--candidates",
    "7",
];

/// The numbers that a search claims, without what its course changes.
fn claims(mut document: Value) -> Value {
    for key in ["cpu_seconds", "points", "directory"] {
        document.as_object_mut().expect("an object").remove(key);
    }
    document
}

/// Each candidate's value is that of the same points in a run, and the best is the best of those
/// that came as far.
#[test]
fn estimates_are_those_of_a_run() {
    let scratch = Scratch::new("run");
    let found = scratch.json(&SEARCH);
    let candidates = found["candidates"].as_array().expect("candidates");
    assert_eq!(candidates.len(), 8, "seven, and the scenario's own");
    let values: Vec<&str> = candidates
        .iter()
        .map(|c| c["values"]["scheme.step.k"].as_str().expect("a value"))
        .collect();
    let set = format!("scheme.step.k={}", values.join(","));
    let run = scratch.json(&["run", "star.toml", "--set", &set, "--seeds", "4"]);
    let points = run["points"].as_array().expect("points");
    for candidate in candidates {
        let value = &candidate["values"]["scheme.step.k"];
        let n = candidate["replications"].as_u64().expect("a number");
        let own = points.iter().filter(|p| {
            let seed = p["seed"].as_u64().expect("a seed");
            p["scheme"] == "step" && p["axes"]["scheme.step.k"] == *value && seed <= n
        });
        let means: Vec<f64> = own
            .filter_map(|p| p["fct_us"]["short"]["mean"].as_f64())
            .collect();
        assert_eq!(means.len() as u64, n, "{candidate}");
        let mean = means.iter().sum::<f64>() / n as f64;
        let claimed = candidate["value"].as_f64().expect("a mean");
        assert!((claimed / mean - 1.0).abs() < 1e-9, "{candidate}: {mean}");
    }
    let most = |c: &&Value| c["baseline"] == false && c["replications"] == 4;
    let finalists: Vec<&Value> = candidates.iter().filter(most).collect();
    assert_eq!(finalists.len(), 2);
    let percent = |c: &&&Value| c["percent"].as_f64().expect("a difference");
    let best = finalists
        .iter()
        .min_by(|a, b| percent(a).total_cmp(&percent(b)));
    assert_eq!(found["best"], best.expect("a finalist")["values"]);
    // Short flows gain by a lower threshold, beyond doubt.
    assert!(
        found["confirmed"]["goal"]["high"].as_f64() < Some(0.0),
        "{found}"
    );
    let text = said(&scratch.cemark(&SEARCH));
    assert!(text.contains("Use k "), "{text}");
    assert!(
        text.contains("cemark run star.toml --set scheme.step.k="),
        "{text}"
    );
}

/// The claim about the best is of held-out seeds.
#[test]
fn the_claim_is_of_held_out_replications() {
    let scratch = Scratch::new("fresh");
    let found = scratch.json(&SEARCH);
    let best = found["best"]["scheme.step.k"].as_str().expect("a value");
    let n = found["confirmed"]["replications"]
        .as_u64()
        .expect("a number");
    // Seven candidates: rounds with 1, 2 and 4 replications.
    let (set, seeds) = (format!("scheme.step.k={best},100KB"), (4 + n).to_string());
    let run = scratch.json(&["run", "star.toml", "--set", &set, "--seeds", &seeds]);
    let points = run["points"].as_array().expect("points");
    let mean = |k: &str, seed: u64| {
        let mut own = points.iter().filter(|p| {
            p["scheme"] == "step" && p["axes"]["scheme.step.k"] == k && p["seed"] == seed
        });
        let mean = &own.next().expect("a point")["fct_us"]["short"]["mean"];
        mean.as_f64().expect("a mean")
    };
    let fresh = 5..5 + n;
    let difference = |seed| 100.0 * (mean(best, seed) / mean("100KB", seed) - 1.0);
    let differences: Vec<f64> = fresh.map(difference).collect();
    let mean = differences.iter().sum::<f64>() / n as f64;
    let claimed = found["confirmed"]["goal"]["percent"]
        .as_f64()
        .expect("a number");
    assert!((claimed - mean).abs() < 1e-6, "{claimed} {mean}");
}

#[test]
fn a_search_is_the_same_on_any_number_of_cores_and_after_an_end_in_between() {
    let scratch = Scratch::new("same");
    let bound = [&SEARCH[..], &["--bound", "medium.mean<=+3%"]].concat();
    let first = scratch.json(&[&bound[..], &["--jobs", "1"]].concat());
    let second = scratch.json(&[&bound[..], &["--fresh"]].concat());
    assert_eq!(claims(first.clone()), claims(second));
    // A third of the points is lost: the search simulates them again.
    let directory = scratch
        .0
        .join(first["directory"].as_str().expect("a directory"));
    let points = fs::read_dir(directory.join("points")).expect("points");
    let mut files: Vec<PathBuf> = points.map(|p| p.expect("a file").path()).collect();
    files.sort();
    for file in files.iter().step_by(3) {
        fs::remove_file(file).expect("a file");
    }
    let third = scratch.json(&bound);
    assert_eq!(third["points"], first["points"]);
    assert_eq!(claims(first), claims(third));
}

/// A bound keeps what would break it from being chosen.
#[test]
fn a_bound_excludes() {
    let scratch = Scratch::new("bound");
    let free = scratch.json(&SEARCH);
    let key = "scheme.step.k";
    let loose = free["best"][key].as_str().expect("a value").to_owned();
    let bound = [&SEARCH[..], &["--bound", "queue.mean>=+0%"]].concat();
    let found = scratch.json(&bound);
    assert_ne!(found["best"][key], loose.as_str(), "{found}");
    let candidates = found["candidates"].as_array().expect("candidates");
    for candidate in candidates {
        let percent = candidate["bounds"][0].as_f64().expect("a difference");
        assert_eq!(candidate["holds"], percent >= 0.0, "{candidate}");
    }
}

/// Keys of any section, lists, and a metric of one scheme of several.
#[test]
fn any_key_can_be_searched() {
    let scratch = Scratch::new("any");
    let found = scratch.json(&[
        "search",
        "star.toml",
        "--scheme",
        "other",
        "--set",
        "transport.init-window=10",
        "--over",
        "transport.init-window=2,10,40",
        "--over",
        "switch.buffer=100KB,300KB",
        "--for",
        "overall.mean",
        "--within",
        "50",
    ]);
    assert_eq!(found["candidates"].as_array().map(Vec::len), Some(6));
    assert_eq!(found["scheme"], "other");
    let own = found["candidates"].as_array().expect("candidates").iter();
    let own: Vec<&Value> = own.filter(|c| c["baseline"] == true).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0]["values"]["switch.buffer"], "300KB");
    assert_eq!(own[0]["percent"], 0.0);
}

#[test]
fn a_budget_that_ends_early_says_so_and_continues() {
    let scratch = Scratch::new("budget");
    fs::write(
        scratch.0.join("long.toml"),
        STAR.replace("flows = 80", "flows = 2000"),
    )
    .expect("a file");
    let args = [
        "search",
        "long.toml",
        "--over",
        "scheme.step.k=5KB..320KB",
        "--for",
        "short.mean",
        "--budget",
        "1s",
        "--candidates",
        "64",
    ];
    let first = scratch.json(&args);
    assert_eq!(first["end"], "budget", "{first}");
    assert!(first["lacks_cpu_seconds"].as_f64() > Some(0.0));
    let text = said(&scratch.cemark(&args));
    assert!(
        text.contains("Not decided") && text.contains("--budget"),
        "{text}"
    );
    let second = scratch.json(&args);
    assert!(
        second["points"].as_u64() > first["points"].as_u64(),
        "{second}"
    );
}

#[test]
fn what_cannot_be_searched_says_what_to_write() {
    let scratch = Scratch::new("wrong");
    let over = "scheme.step.k=5KB..320KB";
    let cases: [(&[&str], &str, &str); 11] = [
        (
            &["--over", over, "--for", "shrot.mean"],
            "no metric",
            "short.mean",
        ),
        (
            &["--over", over, "--for", "short.mean@gold"],
            "no traffic class",
            "",
        ),
        (
            &["--over", "scheme.step.k=9KB..1KB", "--for", "short.mean"],
            "no two ends",
            "--over",
        ),
        (
            &["--over", "scheme.step.kk=1KB..9KB", "--for", "short.mean"],
            "writes no value",
            "--set",
        ),
        (
            &["--over", "switch.buffer=1MB..9MB", "--for", "short.mean"],
            "name none",
            "step, other",
        ),
        (
            &[
                "--over",
                over,
                "--over",
                "scheme.other.k=1KB..9KB",
                "--for",
                "short.mean",
            ],
            "of 2 schemes",
            "one scheme",
        ),
        (
            &[
                "--over",
                over,
                "--for",
                "short.mean",
                "--bound",
                "large.mean",
            ],
            "no bound",
            "+3%",
        ),
        (
            &["--over", over, "--for", "short.mean", "--scheme", "stp"],
            "no scheme",
            "`step`",
        ),
        (
            &["--over", over, "--for", "short.mean", "--budget", "5"],
            "--budget",
            "5min",
        ),
        (
            &[
                "--over",
                over,
                "--for",
                "short.mean",
                "--set",
                "topology.rate=1Gbps,2Gbps",
            ],
            "sweeps topology.rate",
            "choose a value",
        ),
        (
            &["--over", "scheme.step.k=100KB", "--for", "short.mean"],
            "1 combinations",
            "2 to 256",
        ),
    ];
    for (args, why, instead) in cases {
        let done = scratch.cemark(&[&["search", "star.toml"], args].concat());
        let text = said(&done);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(why), "{args:?}: {text}");
        assert!(text.contains(instead), "{args:?}: {text}");
    }
}
