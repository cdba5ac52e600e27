// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark advise`: thresholds by the rules, their comparison with those of today, and the walk of
//! docs/operators.md as it is written.
#![allow(missing_docs)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(common::folder(&format!("advise-{name}"), &[]))
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    fn cemark(&self, args: &[&str]) -> Output {
        common::cemark(&self.0, args)
    }

    fn ok(&self, args: &[&str]) -> String {
        let done = self.cemark(args);
        assert!(done.status.success(), "{args:?}: {}", said(&done));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn json(&self, args: &[&str]) -> Value {
        let args = [&["advise"], args, &["--format", "json"]].concat();
        serde_json::from_str(&self.ok(&args)).expect("JSON")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const FABRIC: [&str; 10] = [
    "--rate",
    "25G",
    "--uplink",
    "100G",
    "--rtt",
    "p50=12us,p99=95us",
    "--class",
    "storage:dcqcn:26",
    "--class",
    "rest:dctcp",
];

/// A curve of a class: lower and upper end in bytes, percent.
fn curve(document: &Value, class: &str, rule: &str) -> (u64, u64, f64) {
    let classes = document["thresholds"]["classes"]
        .as_array()
        .expect("classes");
    let class = classes
        .iter()
        .find(|c| c["class"] == class)
        .expect("a class");
    let curves = class["curves"].as_array().expect("curves");
    let curve = curves.iter().find(|c| c["rule"] == rule).expect("a rule");
    let bytes = |key: &str| curve[key].as_u64().expect("bytes");
    let percent = curve["probability_percent"].as_f64().expect("percent");
    (bytes("low_bytes"), bytes("high_bytes"), percent)
}

/// 40 us at 25 Gb/s are 125,000 bytes. Worked out by hand, for RTTs that are all alike.
#[test]
fn thresholds_are_those_of_the_rules() {
    let scratch = Scratch::new("rules");
    let one = ["--rules", "--rate", "25G", "--rtt", "40us"];
    let found = scratch.json(&one);
    assert_eq!(
        curve(&found, "all", "ECN# as a ramp"),
        (125_000, 125_000, 100.0)
    );
    assert_eq!(
        curve(&found, "all", "0.17 C RTT, p90"),
        (21_250, 21_250, 100.0)
    );
    assert_eq!(curve(&found, "all", "nvue"), (150_000, 1_500_000, 100.0));
    assert_eq!(found["beside"], Value::Null);
    let cells = scratch.json(&[&one[..], &["--cell", "256B", "--buffer", "65536cells"]].concat());
    assert_eq!(curve(&cells, "all", "ECN# as a ramp").0, 488 * 256);
    // A port's buffer of 100 KB leaves 50 KB for a threshold.
    let small = scratch.json(&[&one[..], &["--buffer", "100KB/port"]].concat());
    assert_eq!(curve(&small, "all", "lambda C RTT, p90").0, 50_000);
    let text = scratch.ok(&[&["advise"], &one[..], &["--buffer", "100KB/port"]].concat());
    assert!(text.contains("the choice, limited by the buffer"), "{text}");
}

/// A rule by the rate is in proportion at uplinks, and fits there.
#[test]
fn uplinks_have_thresholds_in_proportion() {
    let scratch = Scratch::new("uplinks");
    let args = [&FABRIC[..], &["--rules", "--write", "fabric.toml"]].concat();
    let found = scratch.json(&args);
    assert_eq!(curve(&found, "storage", "hpcc"), (100_000, 400_000, 20.0));
    let export = [
        "export",
        "fabric.toml",
        "--scheme",
        "by rule",
        "--as",
        "sonic",
    ];
    let tables = |more: &[&str]| -> Value {
        let text = scratch.ok(&[&export[..], more].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let (hosts, uplinks) = (tables(&[]), tables(&["--rate", "100G"]));
    let high = |tables: &Value, name: &str| {
        let text = &tables["WRED_PROFILE"][name]["green_max_threshold"];
        text.as_str()
            .and_then(|t| t.parse::<u64>().ok())
            .expect("bytes")
    };
    assert_eq!(high(&hosts, "CEMARK_3"), 400_000);
    assert_eq!(high(&uplinks, "CEMARK_3_100G"), 1_600_000);
    let no = scratch.cemark(&[&export[..5], &["nxos", "--rate", "100G"]].concat());
    assert_eq!(no.status.code(), Some(2), "{}", said(&no));
    // 1.6 MB are above XOFF of a switch with 4 MB.
    let small = scratch.json(&[&FABRIC[..], &["--rules", "--buffer", "4MB"]].concat());
    assert_eq!(curve(&small, "storage", "hpcc").1, 4_000_000 / 9 / 4);
}

/// Every way in which people have RTTs.
#[test]
fn rtts_come_from_files_and_percentiles() {
    let scratch = Scratch::new("rtts");
    scratch.write("rtts.csv", "rtt_us\n20\n40\n60\n");
    let histogram = "# TYPE rtt_seconds histogram\n\
                     rtt_seconds_bucket{le=\"0.00002\"} 0\n\
                     rtt_seconds_bucket{le=\"0.00004\"} 90\n\
                     rtt_seconds_bucket{le=\"0.00008\"} 100\n\
                     rtt_seconds_bucket{le=\"+Inf\"} 100\n";
    scratch.write("rtts.prom", histogram);
    let connection = "ESTAB 0 0 10.0.0.1:22 10.0.0.2:5000\n\t cubic rtt:0.5/0.2 minrtt:0.04\n";
    scratch.write("ss.txt", connection);
    let tail = |rtt: &str| {
        let found = scratch.json(&["--rules", "--rate", "25G", "--rtt", rtt]);
        found["thresholds"]["rtt_us"]["p90"]
            .as_f64()
            .expect("a time")
    };
    let near = |x: f64, y: f64| assert!((x - y).abs() < 0.1, "{x} is not {y}");
    near(tail("rtts.csv"), 60.0);
    near(tail("rtts.prom"), 40.0);
    near(tail("ss.txt"), 40.0);
    near(tail("p50=40us,p90=80us"), 80.0);
    // Two peers: a fifth of all values is above 40 us.
    let peers = "# TYPE rtt_seconds histogram\n\
                 rtt_seconds_bucket{peer=\"a\",le=\"0.00004\"} 100\n\
                 rtt_seconds_bucket{peer=\"a\",le=\"0.00008\"} 100\n\
                 rtt_seconds_bucket{peer=\"a\",le=\"+Inf\"} 100\n\
                 rtt_seconds_bucket{peer=\"b\",le=\"0.00004\"} 0\n\
                 rtt_seconds_bucket{peer=\"b\",le=\"0.00008\"} 25\n\
                 rtt_seconds_bucket{peer=\"b\",le=\"+Inf\"} 25\n";
    scratch.write("peers.prom", peers);
    let rules = ["--rules", "--rate", "25G", "--rtt", "peers.prom"];
    let refused = scratch.cemark(&[&["advise"], &rules[..]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    let found = scratch.json(&[&rules[..], &["--rtt-key", "series=sum"]].concat());
    let tail = found["thresholds"]["rtt_us"]["p90"].as_f64();
    assert!(tail > Some(40.0) && tail < Some(80.0), "{found}");
}

/// Today's thresholds are above the buffer, so that queues grow. A search names a better multiple
/// of the rule, whose thresholds are two packets.
#[test]
fn the_comparison_says_what_to_do() {
    let scratch = Scratch::new("beside");
    let star = [
        "--rate", "1G", "--rtt", "20us", "--kind", "star", "--hosts", "4", "--quiet",
    ];
    let load = [
        "--sizes", "200KB", "--load", "0.8", "--budget", "20s", "--buffer", "1MB",
    ];
    let found = scratch.json(&[&star[..], &load, &["--search"]].concat());
    let metrics = found["beside"]["metrics"].as_array().expect("metrics");
    let queue = metrics.iter().find(|m| m["metric"] == "queue.mean");
    let queue = queue.expect("queues");
    assert!(
        queue["difference"]["percent"].as_f64() < Some(-50.0),
        "{found}"
    );
    let sentence = found["beside"]["sentence"].as_str().expect("a sentence");
    assert!(
        sentence.contains("overall mean") || sentence.contains("queues"),
        "{sentence}"
    );
    assert_ne!(found["beside"]["replications"], 0);
    let searched = found["search"]["at"].as_array().expect("three searches");
    let factors: Vec<f64> = searched
        .iter()
        .filter_map(|s| s["rtt_factor"].as_f64())
        .collect();
    assert_eq!(factors, [1.0, 0.8, 1.2]);
    let best = searched[0]["best"].as_str().expect("a multiple");
    assert!(["x2", "x4", "x8"].contains(&best), "{found}");
}

#[test]
fn what_cannot_be_advised_says_what_to_write() {
    let scratch = Scratch::new("wrong");
    let cases: [(&[&str], &str); 9] = [
        (
            &["--rate", "25G", "--rtt", "20us", "--queues", "4"],
            "a --class for each queue",
        ),
        (&["--rate", "25G"], "--rtt p50=12us"),
        (&["--rtt", "20us"], "--rate 25G"),
        (
            &["--rate", "25G", "--rtt", "20us", "--class", "a:cubic"],
            "does not react to marks",
        ),
        (
            &["--rate", "25G", "--rtt", "20us", "--class", "a:dctcp:99"],
            "a DSCP is 0 to 63",
        ),
        (
            &[
                "--rate",
                "25G",
                "--rtt",
                "20us",
                "--class",
                "a:dctcp",
                "--class",
                "b:dcqcn:0",
            ],
            "both have DSCP 0",
        ),
        (
            &["--rate", "25G", "--rtt", "20us", "--against", "sonik"],
            "sonic",
        ),
        (
            &["--rate", "25G", "--rtt", "20us", "--write", "a.txt"],
            "ends in .toml",
        ),
        (
            &[
                "--rate", "25G", "--rtt", "20us", "--kind", "star", "--uplink", "100G",
            ],
            "has no uplinks",
        ),
    ];
    for (args, instead) in cases {
        let done = scratch.cemark(&[&["advise", "--rules"], args].concat());
        let text = common::line(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(instead), "{args:?}: {text}");
    }
}

/// Scripts of the page, in order.
fn scripts(page: &str) -> Vec<String> {
    let parts = page.split("```sh\n").skip(1);
    parts
        .map(|part| part.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// docs/operators.md, as it is written.
#[test]
fn the_walk_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operators.md");
    let page = fs::read_to_string(page).expect("docs/operators.md");
    let scripts = scripts(&page);
    assert!(scripts.len() >= 5);
    let scratch = Scratch::new("walk");
    let program = Path::new(env!("CARGO_BIN_EXE_cemark"));
    let folder = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut output = String::new();
    // Short flows and few seconds: the page waits half a minute for the comparison.
    let (shown, brief) = ("--budget 30s", "--budget 5s --sizes 20KB");
    assert_eq!(scripts.concat().matches(shown).count(), 1);
    for script in scripts {
        let script = script.replace(shown, brief);
        let done = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .env("PATH", format!("{folder}:{path}"))
            .env("COLUMNS", "100")
            .current_dir(&scratch.0)
            .output()
            .expect("bash");
        assert!(done.status.success(), "{script}\n{}", said(&done));
        output += &said(&done);
    }
    // The page shows these lines.
    for shown in [
        "warning[CE09]",
        "hpcc *       100KB     400KB         20 %  the choice",
        "ECN# as a ramp *      103.64KB   249234B        100 %  the choice",
        "no finding in what was read",
        "headroom a queue",
    ] {
        assert!(output.contains(shown), "{shown}\n{output}");
    }
    // A busy machine may not finish one replication in the time of the page.
    let ends = ["switches marked", "before the first replication"];
    assert!(ends.iter().any(|end| output.contains(end)), "{output}");
}
