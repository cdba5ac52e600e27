// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cemark run` promises on good and bad days. These need the engine: each simulates `data/small.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

/// An empty directory that goes away with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cemark-cli-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn small() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/small.toml")
        .display()
        .to_string()
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
    c.args(["run", &small(), "--out"]).arg(dir).args(args);
    c
}

fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().expect("the program runs")
}

fn json(o: &Output) -> Value {
    assert_eq!(
        o.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&o.stderr)
    );
    serde_json::from_slice(&o.stdout).expect("one JSON document")
}

#[test]
fn json_has_what_scripts_read() {
    let scratch = Scratch::new();
    let doc = json(&run(&scratch.0.join("run"), &["--format", "json"]));
    assert_eq!(doc["schema"], 1);
    assert_eq!(doc["scenario"], "small");
    let points = doc["points"].as_array().expect("points");
    assert_eq!(points.len(), 2 * 2 * 3, "loads x schemes x seeds");
    for p in points {
        assert!(
            p["axes"].is_object()
                && p["scheme"].is_string()
                && p["load"].is_number()
                && p["seed"].is_number()
        );
        assert!(p["flows"].as_u64().is_some_and(|n| n > 0));
        for class in ["all", "short", "medium", "large"] {
            let c = &p["fct_us"][class];
            let count = c["count"].as_u64().expect("a count");
            for stat in ["mean", "p50", "p95", "p99"] {
                assert_eq!(c[stat].is_number(), count > 0, "{class} {stat}: {c}");
            }
        }
        assert!(p["marks"].is_u64() && p["drops"].is_object() && p["timeouts"].is_u64());
        assert_eq!(p["digest"].as_str().map(str::len), Some(16));
    }
}

#[test]
fn the_directory_holds_every_document() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let o = run(&dir, &[]);
    assert_eq!(
        o.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&o.stderr)
    );
    for name in [
        "manifest.json",
        "summary.json",
        "flows.parquet",
        "report.html",
    ] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    let text = String::from_utf8(o.stdout).expect("UTF-8");
    for word in [
        "short < 100 KB",
        "queue, hottest port",
        "timeouts",
        "points",
        "report.html",
    ] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 120), "{text}");
    assert!(!text.contains('\x1b'), "no colour into a pipe");
}

#[test]
fn jobs_do_not_change_the_digest() {
    let scratch = Scratch::new();
    let of = |jobs: &str| {
        json(&run(
            &scratch.0.join(jobs),
            &["--format", "json", "--jobs", jobs],
        ))["digest"]
            .clone()
    };
    assert_eq!(of("1"), of("2"));
}

#[test]
fn another_seed_is_another_result() {
    let scratch = Scratch::new();
    let of = |seed: &str| {
        json(&run(
            &scratch.0.join(seed),
            &["--format", "json", "--seed", seed],
        ))["digest"]
            .clone()
    };
    assert_ne!(of("1"), of("2"));
}

/// Starts a program, ends it with `signal` after the first of its points in `dir` is on disk, and gives what finished by then.
fn end_half_way(mut program: Command, dir: &Path, signal: &str) -> (Option<i32>, usize) {
    let mut child = program
        .args(["--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    for _ in 0..2000 {
        if kept(dir) > 0 || child.try_wait().expect("its state").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .expect("kill");
    let _ = killed;
    (child.wait().expect("it ends").code(), kept(dir))
}

/// How many points a run directory holds, or all run directories of a folder.
fn kept(dir: &Path) -> usize {
    let folders = fs::read_dir(dir).into_iter().flatten().flatten();
    let points = folders.filter(|e| e.path().is_dir()).flat_map(|e| {
        let inner = e.path().join("points");
        let folder = if inner.is_dir() { inner } else { e.path() };
        fs::read_dir(folder).into_iter().flatten().flatten()
    });
    points
        .filter(|e| e.path().extension().is_some_and(|x| x == "parquet"))
        .filter(|e| !e.file_name().to_string_lossy().starts_with('.'))
        .count()
}

#[test]
fn a_killed_run_continues_with_the_same_digest() {
    let scratch = Scratch::new();
    let whole = json(&run(&scratch.0.join("whole"), &["--format", "json"]));
    let dir = scratch.0.join("killed");
    let (_, kept) = end_half_way(command(&dir, &[]), &dir, "-KILL");
    assert!(kept > 0);
    let rest = json(&run(&dir, &["--format", "json"]));
    assert_eq!(rest["digest"], whole["digest"]);
    assert!(
        rest["cost"]["resumed"]
            .as_u64()
            .is_some_and(|n| n >= kept as u64),
        "{}",
        rest["cost"]
    );
    for (a, b) in rest["points"]
        .as_array()
        .unwrap()
        .iter()
        .zip(whole["points"].as_array().unwrap())
    {
        assert_eq!((&a["fct_us"], &a["digest"]), (&b["fct_us"], &b["digest"]));
    }
}

/// A figure of twelve small points, its answer without what it cost.
#[test]
fn a_killed_figure_continues_with_the_same_rows() {
    let scratch = Scratch::new();
    let figure = |out: &Path| {
        let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
        c.args(["figure", "ecnsharp-4", "--quick", "--format", "json"]);
        c.arg("--out").arg(out);
        c
    };
    let answer = |out: &Path| {
        let mut value = json(&figure(out).output().expect("the program runs"));
        let document = value.as_object_mut().expect("an object");
        document.remove("cpu_seconds");
        document.remove("reports");
        let run = fs::read_dir(out).unwrap().next().unwrap().unwrap().path();
        let manifest = fs::read(run.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        assert!(manifest["digest"].is_string());
        (value, manifest["digest"].clone())
    };
    let (whole, killed) = (scratch.0.join("whole"), scratch.0.join("killed"));
    let (_, finished) = end_half_way(figure(&killed), &killed, "-KILL");
    assert!(finished > 0);
    assert_eq!(answer(&killed), answer(&whole));
}

#[test]
fn ctrl_c_keeps_points_and_is_exit_130() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let (code, kept) = end_half_way(command(&dir, &[]), &dir, "-INT");
    // A machine so fast that the run was over before the signal has nothing to show here.
    if kept < 12 {
        assert_eq!(code, Some(130));
    }
    assert!(kept > 0);
}

#[test]
fn a_file_in_the_way_is_exit_2_and_stays() {
    let scratch = Scratch::new();
    let file = scratch.0.join("mine");
    fs::write(&file, "mine").expect("a file");
    let o = run(&file, &[]);
    assert_eq!(o.status.code(), Some(2));
    assert!(o.stdout.is_empty() && String::from_utf8_lossy(&o.stderr).contains("--out"));
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine");
}

/// A warning goes to standard error and stays with the results; the run itself is a success.
#[test]
fn a_warning_is_said_and_kept() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let asked = ["--seed", "1", "--set", "scheme.k=600KB"];
    let o = run(&dir, &[&asked[..], &["--format", "json"]].concat());
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        said.contains("warning: `DCTCP-RED` never marks: k is 600KB") && said.contains("help: "),
        "{said}"
    );
    let doc = json(&o);
    let kept = doc["warnings"][0].as_str().expect("a warning");
    assert!(kept.contains("(in 2 of 4 points)"), "{kept}");
    let text = fs::read_to_string(dir.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(manifest["warnings"], doc["warnings"]);
    let report = fs::read_to_string(dir.join("report.html")).expect("a report");
    assert!(report.contains("<b>Warning.</b> `DCTCP-RED` never marks"));
}

#[test]
fn an_unwritable_directory_is_exit_1() {
    // Nobody can make a directory in /proc, root included.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let o = run(Path::new("/proc/cemark-run"), &[]);
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
