// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark compare` and `cemark plot --format fct` as a user types them.

use std::fs;
use std::path::PathBuf;

use crate::common::{cemark, line};

const SCENARIO: &str = r#"
[topology]
kind = "star"
hosts = 3

[[workload]]
kind = "list"
flow = [
  { at = "1us", src = 0, dst = 1, size = "20KB" },
  { at = "2us", src = 2, dst = 1, size = "300KB" },
]

[[scheme]]
label = "one"
marker = "threshold"
"#;

const MONITOR: &str = "<?xml version=\"1.0\" ?>\n<FlowMonitor>\n  <FlowStats>\n\
    <Flow flowId=\"1\" timeFirstTxPacket=\"+2e+09ns\" timeLastRxPacket=\"+2.00004e+09ns\" \
    txBytes=\"20560\" txPackets=\"14\" rxPackets=\"14\">\n    </Flow>\n\
    </FlowStats>\n</FlowMonitor>\n";

/// An empty directory with a finished run.
fn folder(name: &str) -> PathBuf {
    let dir = crate::common::folder(&format!("compare-{name}"), &[("my.toml", SCENARIO)]);
    let o = cemark(&dir, &["run", "my.toml", "--out", "run"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    dir
}

/// A run's flows, written as HPCC's and read again, have the times of the run.
#[test]
fn flows_of_a_run_are_written_and_read_again() {
    let dir = folder("again");
    let o = cemark(&dir, &["plot", "run", "--format", "fct", "--out", "."]);
    assert_eq!((o.status.code(), line(&o.stderr)), (Some(0), String::new()));
    let file = "fct-one-seed-1.txt";
    let text = fs::read_to_string(dir.join(file)).expect("the file");
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(' ').collect()).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!(
        rows[0][..6],
        ["0b000001", "0b000101", "10000", "100", "20000", "1000"]
    );
    assert_eq!(
        rows[1][..6],
        ["0b000201", "0b000101", "10001", "100", "300000", "2000"]
    );
    for row in &rows {
        let number = |i: usize| row[i].parse::<u64>().expect("a number");
        assert!(number(6) >= number(7) && number(7) > 0, "{text}");
    }
    // Charts are written without being asked for, these files are not.
    let o = cemark(&dir, &["plot", "run", "--out", "plots"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let names = fs::read_dir(dir.join("plots")).expect("a folder");
    let names: Vec<PathBuf> = names.flatten().map(|entry| entry.path()).collect();
    assert!(!names.is_empty() && names.iter().all(|p| p.extension() != Some("txt".as_ref())));

    fs::write(dir.join("monitor.xml"), MONITOR).expect("a file");
    let args = ["compare", "run", file, "monitor.xml", "--format", "csv"];
    let o = cemark(&dir, &args);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(
        line(&o.stderr).contains("times have six digits"),
        "{}",
        line(&o.stderr)
    );
    let csv = String::from_utf8(o.stdout).expect("text");
    let rows: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
    let of = |name: &str, class: &str| {
        let row = rows.iter().find(|row| row[..2] == [name, class]);
        row.unwrap_or_else(|| panic!("{name} {class}: {csv}"))[2..].to_vec()
    };
    for class in ["all", "short", "medium", "large"] {
        let (run, file) = (of("one", class), of(file, class));
        assert_eq!(run[0], file[0], "as many flows");
        let near = |(a, b): (&&str, &&str)| match (a.parse::<f64>(), b.parse::<f64>()) {
            // The file has whole nanoseconds.
            (Ok(a), Ok(b)) => (a - b).abs() < 0.001,
            _ => a == b,
        };
        assert!(run[1..].iter().zip(&file[1..]).all(near), "{csv}");
    }
    assert_eq!(of("monitor.xml", "short"), ["1", "40", "40", "40"]);
    assert_eq!(of("monitor.xml", "large"), ["0", "-", "-", "-"]);
    let o = cemark(&dir, &["compare", "run", "monitor.xml"]);
    assert!(
        line(&o.stdout).contains("monitor.xml short 1 40.0 40.0 40.0"),
        "{}",
        line(&o.stdout)
    );
}

#[test]
fn mistakes_name_file_and_line() {
    let dir = folder("mistakes");
    fs::write(
        dir.join("a.txt"),
        "0b000001 0b000101 10000 100 20000 1000 x 1\n",
    )
    .expect("a file");
    fs::write(dir.join("my.cfg"), SCENARIO).expect("a file");
    fs::write(dir.join("a.xml"), MONITOR.replace("20560", "many")).expect("a file");
    for (args, message) in [
        (&["run", "a.txt"][..], "a.txt:1: `x` is no completion time"),
        (&["run", "my.cfg"], "my.cfg:2: this is no line of fct.txt"),
        (&["run", "a.xml"], "a.xml:4: txBytes is `many`"),
        (&["run", "none.txt"], "none.txt"),
        (&["nowhere", "a.txt"], "nowhere"),
        (&["run"], "FILE"),
    ] {
        let o = cemark(&dir, &[&["compare"], args].concat());
        let text = line(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?} {text}");
        assert!(text.contains(message), "{args:?}: {text}");
    }
}

/// Poisson flows of all three classes under two schemes, three seeds.
const TWO: &str = r#"
seeds = 3
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.6
flows = 60
[measure]
queue-interval = "10us"
[[scheme]]
label = "step"
marker = "threshold"
k = "30KB"
[[scheme]]
label = "other"
marker = "threshold"
k = "200KB"
"#;

/// A directory with runs of [`TWO`] under these changes.
fn runs(name: &str, changes: &[(&str, &[&str])]) -> PathBuf {
    let dir = crate::common::folder(&format!("compare-{name}"), &[("two.toml", TWO)]);
    for (out, change) in changes {
        let o = cemark(
            &dir,
            &[&["run", "two.toml", "--out", out], *change].concat(),
        );
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    }
    dir
}

fn document(dir: &std::path::Path, a: &str, b: &str) -> serde_json::Value {
    let o = cemark(dir, &["compare", a, b, "--format", "json"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    serde_json::from_slice(&o.stdout).expect("a document")
}

/// Another threshold of one scheme: the setting is named, flows are paired, and the other scheme
/// has equal results.
#[test]
fn two_runs_with_another_parameter() {
    let change = ["--set", "scheme.step.k=120KB"];
    let dir = runs("two", &[("a", &[]), ("b", &change), ("again", &[])]);
    let found = document(&dir, "a", "b");
    assert_eq!(found["equal_results"], false);
    let settings = &found["settings"];
    assert_eq!(settings[0]["key"], "scheme.step.k", "{settings}");
    assert_eq!(
        (&settings[0]["a"], &settings[0]["b"]),
        (&"30KB".into(), &"120KB".into())
    );
    assert_eq!(settings.as_array().map(Vec::len), Some(1), "{settings}");
    let (step, other) = (&found["blocks"][0], &found["blocks"][1]);
    assert_eq!(
        (&step["scheme"], &step["paired"]),
        (&"step".into(), &true.into())
    );
    let metric = |block: &serde_json::Value, key: &str| {
        let all = block["metrics"].as_array().expect("metrics").clone();
        all.into_iter()
            .find(|m| m["metric"] == key)
            .expect("the metric")
    };
    // The larger threshold keeps the longer queue.
    let queue = metric(step, "queue.mean");
    assert_eq!(
        (&queue["verdict"], &queue["unit"]),
        (&"worse".into(), &"bytes".into())
    );
    assert!(queue["low"].as_f64() > Some(0.0) && queue["percent"].as_f64() > Some(0.0));
    let tail = metric(step, "overall.p99");
    assert_eq!(tail["largest_of"], 60);
    assert_eq!(tail["verdict"], "not_decided");
    for metric in other["metrics"].as_array().expect("metrics") {
        assert_eq!(metric["verdict"], "equal", "{metric}");
    }
    let text = line(&cemark(&dir, &["compare", "a", "b"]).stdout);
    for said in [
        "settings that differ scheme.step.k: A 30KB, B 120KB",
        "step paired, 3 seeds",
        "max of 60 not decided",
        "A and B have equal results here.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let csv = cemark(&dir, &["compare", "a", "b", "--format", "csv"]).stdout;
    let csv = String::from_utf8(csv).expect("text");
    let equal = csv
        .lines()
        .filter(|l| l.starts_with("other,") && l.ends_with(",equal"));
    assert_eq!(
        equal.count(),
        other["metrics"].as_array().map_or(0, Vec::len),
        "{csv}"
    );
    // The same scenario in another directory.
    let o = cemark(&dir, &["compare", "a", "again"]);
    assert!(
        line(&o.stdout).contains("The runs have equal results"),
        "{}",
        line(&o.stdout)
    );
    assert!(line(&o.stdout).contains("No setting differs."));
}

/// Another load has other flows; a sweep meets the run that writes one of its values.
#[test]
fn runs_with_other_flows_and_other_axes() {
    let sweep = ["--set", "workload.load=0.6,0.7"];
    let dir = runs(
        "axes",
        &[
            ("a", &[]),
            ("b", &["--set", "workload.load=0.5"]),
            ("swept", &sweep),
        ],
    );
    let found = document(&dir, "a", "b");
    assert_eq!(found["blocks"][0]["paired"], false);
    assert_eq!(found["settings"][0]["key"], "workload.load");
    let found = document(&dir, "a", "swept");
    assert_eq!(found["blocks"].as_array().map(Vec::len), Some(2));
    assert_eq!(found["blocks"][0]["axes"]["workload.load"], "0.6");
    assert_eq!(found["blocks"][0]["metrics"][0]["verdict"], "equal");
    assert_eq!(found["only_b"].as_array().map(Vec::len), Some(2));
    let text = line(&cemark(&dir, &["compare", "a", "swept"]).stdout);
    assert!(
        text.contains("only in B: step at load 0.7, other at load 0.7"),
        "{text}"
    );
}

/// A swept parameter that one scheme does not read: a run simulates the other scheme once, and each
/// reader finds all of its points.
#[test]
fn points_of_the_same_configuration_are_read() {
    let sweep = ["--set", "scheme.step.k=30KB,90KB", "--seeds", "1"];
    let dir = runs("shared", &[("a", &sweep), ("b", &["--seeds", "1"])]);
    let found = document(&dir, "a", "b");
    assert_eq!(found["blocks"].as_array().map(Vec::len), Some(2));
    for block in found["blocks"].as_array().expect("blocks") {
        assert_eq!(block["metrics"][0]["verdict"], "equal", "{block}");
    }
    let o = cemark(&dir, &["plot", "a", "--format", "csv", "--out", "plots"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
}

#[test]
fn runs_that_cannot_be_compared() {
    let dir = runs("refused", &[("a", &["--seeds", "1"])]);
    let o = cemark(&dir, &["run", "two.toml", "--part", "1/2", "--out", "part"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let renamed = TWO
        .replace("\"step\"", "\"red\"")
        .replace("\"other\"", "\"blue\"");
    fs::write(dir.join("renamed.toml"), renamed).expect("a file");
    let o = cemark(
        &dir,
        &["run", "renamed.toml", "--seeds", "1", "--out", "renamed"],
    );
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let o = cemark(&dir, &["figure", "mqecn-numbers", "--out", "figures"]);
    assert!(o.status.code() < Some(2), "{}", line(&o.stderr));
    fs::write(
        dir.join("fct.txt"),
        "0b000001 0b000101 10000 100 20000 1000 5 1\n",
    )
    .expect("a file");
    for (args, message) in [
        (
            &["a", "renamed"][..],
            "no scheme at the same value of the axes in common",
        ),
        (
            &["a", "part"],
            "it is part 1 of 2 (0 of 3 points are missing)",
        ),
        (&["a", "figures/mqecn-numbers-quick"], "is a figure"),
        (&["a", "nowhere"], "there is no directory nowhere"),
        (&["a", "two.toml"], "two.toml has not been run here"),
        (&["a", "a", "fct.txt"], "is not the only thing to compare"),
        (&["a", "fct.txt", "--format", "json"], "have no JSON"),
    ] {
        let o = cemark(&dir, &[&["compare"], args].concat());
        let text = line(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?} {text}");
        assert!(text.contains(message), "{args:?}: {text}");
    }
}
