// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs with a stated precision: when they stop depends on nothing but the scenario and the
//! precision. Each test simulates `data/precise.toml`, whose two loads stop at different looks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

/// An empty directory that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cemark-anytime-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn data(name: &str) -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    tests.join(name).display().to_string()
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
    c.args(["run", &data("precise.toml"), "--out"]).arg(dir);
    c.args(args);
    c
}

fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(o: &Output) -> Value {
    assert_eq!(o.status.code(), Some(0), "{}", text(&o.stderr));
    serde_json::from_slice(&o.stdout).expect("one JSON document")
}

/// The document without what a run cost.
fn answer(dir: &Path, args: &[&str]) -> Value {
    let mut doc = json(&run(dir, &[&["--format", "json"], args].concat()));
    let points = doc["points"].as_array_mut().expect("points");
    for point in points {
        point
            .as_object_mut()
            .expect("a point")
            .remove("cpu_seconds");
    }
    doc.as_object_mut().expect("a document").remove("cost");
    doc
}

fn replications(doc: &Value) -> Vec<u64> {
    let blocks = doc["precision"]["blocks"].as_array().expect("blocks");
    let each = blocks.iter().map(|b| b["replications"].as_u64());
    each.map(|n| n.expect("a number")).collect()
}

#[test]
fn each_block_stops_by_itself_whatever_the_number_of_jobs() {
    let scratch = Scratch::new();
    let one = answer(&scratch.dir("one"), &["--jobs", "1"]);
    assert_eq!(one["precision"]["within"], 10.0);
    assert_eq!(one["precision"]["reached"], true);
    let replications = replications(&one);
    assert_eq!(replications.len(), 2);
    assert_ne!(replications[0], replications[1], "{replications:?}");
    let points = one["points"].as_array().expect("points").len() as u64;
    assert_eq!(points, 2 * replications.iter().sum::<u64>());
    for block in one["precision"]["blocks"].as_array().expect("blocks") {
        for metric in ["overall.mean", "queue.mean"] {
            let half = block["half_widths"][metric].as_f64().expect("a half");
            assert!(half <= 10.0, "{block}");
        }
    }
    // Every interval is that of the look, also those that decide nothing.
    for line in one["comparisons"].as_array().expect("comparisons") {
        assert!(
            line["low"].is_number() && line["high"].is_number(),
            "{line}"
        );
    }
    assert_eq!(one, answer(&scratch.dir("two"), &["--jobs", "2"]));
    // A run that is there already is only read.
    let again = json(&run(&scratch.dir("one"), &["--format", "json"]));
    assert_eq!(again["digest"], one["digest"]);
    assert_eq!(again["cost"]["resumed"], again["cost"]["points"]);
}

#[test]
fn a_tighter_precision_continues_the_same_run() {
    let scratch = Scratch::new();
    let at_once = answer(&scratch.dir("once"), &["--precision", "5"]);
    let dir = scratch.dir("steps");
    let loose = answer(&dir, &["--precision", "20 %"]);
    assert!(replications(&loose) < replications(&at_once));
    let tight = json(&run(&dir, &["--precision", "5", "--format", "json"]));
    assert_eq!(
        tight["cost"]["resumed"].as_u64().map(|n| n > 0),
        Some(true),
        "{}",
        tight["cost"]
    );
    assert_eq!(answer(&dir, &["--precision", "5"]), at_once);
    assert_eq!(tight["digest"], at_once["digest"]);
    // And a looser one after it shows what it would have shown alone.
    assert_eq!(answer(&dir, &["--precision", "20"]), loose);
    // The directory is the same without --out, too.
    assert_eq!(loose["scenario_digest"], at_once["scenario_digest"]);
}

/// Blocks that share simulations: the other scheme is the same at every value of the parameter.
#[test]
fn a_point_that_two_blocks_need_is_simulated_once() {
    let scratch = Scratch::new();
    let args = [
        "--set",
        "workload.load=0.2",
        "--set",
        "scheme.low.k=4pkt,100pkt",
        "--precision",
        "7",
    ];
    let one = answer(&scratch.dir("one"), &[&args[..], &["--jobs", "1"]].concat());
    let two = answer(&scratch.dir("two"), &[&args[..], &["--jobs", "2"]].concat());
    assert_eq!(one, two);
    let points = one["points"].as_array().expect("points");
    let shared = points.iter().filter(|p| p["same_as"].is_number()).count();
    let least = replications(&one).into_iter().min().expect("blocks");
    assert_eq!(
        shared as u64, least,
        "the baseline of the block that stops first"
    );
    let again = json(&run(
        &scratch.dir("one"),
        &[&args[..], &["--format", "json"]].concat(),
    ));
    assert_eq!(again["digest"], one["digest"]);
    assert_eq!(again["cost"]["resumed"], again["cost"]["simulated"]);
}

/// How many points a run directory holds.
fn kept(dir: &Path) -> usize {
    let files = fs::read_dir(dir.join("points"))
        .into_iter()
        .flatten()
        .flatten();
    files
        .filter(|e| e.file_name().to_string_lossy().ends_with(".parquet"))
        .filter(|e| !e.file_name().to_string_lossy().starts_with('.'))
        .count()
}

/// Starts a run and sends it `signal` once this many points are on disk.
fn end_early(dir: &Path, args: &[&str], points: usize, signal: &str) -> Output {
    let child = command(dir, args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    for _ in 0..6000 {
        if kept(dir) >= points {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(killed.is_ok());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_killed_run_continues_to_the_same_answer() {
    let scratch = Scratch::new();
    let dir = scratch.dir("killed");
    let args = ["--precision", "5"];
    let o = end_early(&dir, &args, 7, "-KILL");
    assert_ne!(o.status.code(), Some(0), "it was killed");
    assert_eq!(answer(&dir, &args), answer(&scratch.dir("whole"), &args));
}

#[test]
fn ctrl_c_ends_with_the_table_so_far() {
    let scratch = Scratch::new();
    let dir = scratch.dir("run");
    // All first replications, 2 loads of 2 schemes, and some of the second ones.
    let args = [
        "--precision",
        "0.1",
        "--set",
        "precision.most=256",
        "--jobs",
        "1",
    ];
    let o = end_early(&dir, &args, 6, "-INT");
    let (out, err) = (text(&o.stdout), text(&o.stderr));
    assert_eq!(o.status.code(), Some(130), "{err}");
    assert!(
        out.contains("load 0.2   ") && out.contains("load 0.6   "),
        "{out}"
    );
    assert!(out.contains("replication"), "{out}");
    assert!(
        err.contains("interrupted before the precision was reached"),
        "{err}"
    );
    assert!(err.contains("the same command continues"), "{err}");
    assert!(!dir.join("report.html").exists(), "the run is not finished");
    // With a precision that these points reach, the rest is shown.
    let done = run(&dir, &["--precision", "30"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(dir.join("report.html").exists());
}

#[test]
fn looks_are_reported_and_the_end_is_explained() {
    let scratch = Scratch::new();
    let o = run(
        &scratch.dir("run"),
        &["--precision", "2", "--set", "precision.most=6"],
    );
    let (out, err) = (text(&o.stdout), text(&o.stderr));
    assert_eq!(o.status.code(), Some(0), "{err}");
    for line in [
        "load 0.2: 1 replication (asked ±2)",
        "load 0.6: 3 replications: overall mean ±",
        "load 0.6: 6 replications: overall mean ±",
    ] {
        assert!(err.contains(line), "{line}: {err}");
    }
    assert!(!err.contains("8 replications"), "{err}");
    for line in [
        "load 0.2   6 replications, 240 flows per scheme",
        "Precision: not reached after the most replications, 6",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let report = fs::read_to_string(scratch.dir("run").join("report.html")).expect("a report");
    assert!(report.contains("Precision: not reached"));
}

#[test]
fn fixed_seeds_need_no_precision_and_a_precision_no_section() {
    let scratch = Scratch::new();
    let fixed = answer(&scratch.dir("fixed"), &["--seeds", "3"]);
    assert_eq!(fixed["points"].as_array().map(Vec::len), Some(2 * 2 * 3));
    assert!(fixed["precision"].is_null());
    // `small.toml` has three seeds and no precision.
    let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
    c.args([
        "run",
        &data("small.toml"),
        "--precision",
        "50",
        "--format",
        "json",
    ]);
    c.args(["--set", "workload.flows=100", "--out"]);
    let doc = json(&c.arg(scratch.dir("small")).output().expect("it runs"));
    assert_eq!(doc["precision"]["within"], 50.0);
    assert!(
        replications(&doc).iter().all(|n| *n >= 3),
        "{}",
        doc["precision"]
    );
}

#[test]
fn mistakes_have_code_two() {
    let scratch = Scratch::new();
    for (args, words) in [
        (
            &["--full"][..],
            &["no section [full]", "workload.flows"][..],
        ),
        (
            &["--precision", "narrow"],
            &["`narrow` is not a precision", "percentage points"],
        ),
        (&["--precision", "0"], &["out of range", "0.1 to 100"]),
        (
            &["--precision", "5", "--seeds", "3"],
            &["cannot be used with"],
        ),
        (&["--precision", "5", "--full"], &["cannot be used with"]),
        (&["--precision", "5", "--set", "seeds=3"], &["contradict"]),
        (&["--set", "precision.metrics=short.p99"], &["metrics"]),
    ] {
        let o = run(&scratch.dir("none"), args);
        let err = text(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {err}");
        assert!(o.stdout.is_empty());
        // Where lines break depends on the path of the checkout.
        let flat: Vec<&str> = err.split_whitespace().filter(|w| *w != "│").collect();
        let flat = flat.join(" ");
        for word in words {
            assert!(flat.contains(word), "{args:?}: {word}: {err}");
        }
    }
    assert!(!scratch.dir("none").exists(), "nothing was begun");
}

#[test]
fn check_says_what_a_look_costs() {
    let check = |args: &[&str]| {
        let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
        let o = c.args(["check", &data("precise.toml")]).args(args).output();
        let o = o.expect("the program runs");
        assert_eq!(o.status.code(), Some(0), "{}", text(&o.stderr));
        text(&o.stdout)
    };
    let table = check(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "until overall.mean, queue.mean are known to ±10 percentage points, 32 at most",
        "One of everything, as above: 4 points",
        "looks after 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 replications",
        "At most 128 points",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let doc: Value = serde_json::from_str(&check(&["--format", "json"])).expect("a document");
    assert_eq!(doc["precision"]["most"], 32);
    assert_eq!(doc["precision"]["looks"].as_array().map(Vec::len), Some(10));
    assert_eq!(doc["points"].as_array().map(Vec::len), Some(128));
    let fixed: Value =
        serde_json::from_str(&check(&["--format", "json", "--seeds", "2"])).expect("a document");
    assert!(fixed["precision"].is_null());
}
