// SPDX-License-Identifier: MIT OR Apache-2.0
//! Guarantees of `cemark run`, also when it is killed or its files are damaged. Each test simulates
//! `data/small.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

/// An empty directory that is removed on drop.
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
    // Enough flows for 99th percentiles.
    let many = ["--format", "json", "--set", "workload.flows=100"];
    let doc = json(&run(&scratch.0.join("run"), &many));
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
            // A tail of fewer values is the largest of them.
            for (stat, fewest) in [("mean", 1), ("p50", 1), ("p95", 20), ("p99", 100)] {
                assert_eq!(c[stat].is_number(), count >= fewest, "{class} {stat}: {c}");
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

/// Starts a program and sends it `signal` once the first of its points in `dir` is on disk. Returns
/// the exit code and the number of finished points.
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

/// A figure of twelve small points; its answer is compared without the cost.
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
fn ctrl_c_keeps_points_of_a_figure_and_is_exit_130() {
    let scratch = Scratch::new();
    let mut figure = Command::new(env!("CARGO_BIN_EXE_cemark"));
    figure
        .args(["figure", "ecnsharp-4", "--quick", "--out"])
        .arg(&scratch.0);
    let (code, kept) = end_half_way(figure, &scratch.0, "-INT");
    // The figure has twelve points, and may be complete before the signal.
    assert!(kept == 12 || code == Some(130), "{code:?}, {kept} points");
    assert!(kept > 0);
}

#[test]
fn ctrl_c_keeps_points_and_is_exit_130() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let (code, kept) = end_half_way(command(&dir, &[]), &dir, "-INT");
    // On a fast machine the run may be over before the signal; then there is nothing to check.
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

/// A warning is printed on standard error and stored with the results; the run succeeds.
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
    assert!(report.contains("<b>Warning.</b> <code>DCTCP-RED</code> never marks"));
}

#[test]
fn an_unwritable_directory_is_exit_1() {
    // No user can make a directory in /proc, not even root.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let o = run(Path::new("/proc/cemark-run"), &[]);
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// The points of a run directory.
fn points(dir: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(dir.join("points")).expect("points").flatten();
    let mut points: Vec<PathBuf> = found.map(|e| e.path()).collect();
    points.sort();
    points
}

/// The files of a finished run that do not depend on the date.
fn documents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let tables = ["flows.parquet", "queues.parquet", "links.parquet"];
    let tables = tables.iter().map(|name| dir.join(name));
    let all = tables.map(|path| (path.clone(), fs::read(&path).expect("a table")));
    all.collect()
}

/// Flipped bits and cuts anywhere in the file of a point: the point is run again, with a note, and
/// the results are those of the undamaged run.
#[test]
fn damaged_points_are_run_again_with_the_same_result() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let json_of = ["--format", "json"];
    let whole = json(&run(&dir, &json_of));
    let tables = documents(&dir);
    for round in 0..4_usize {
        let points = points(&dir);
        for (i, point) in points.iter().enumerate().skip(round).step_by(4) {
            let mut bytes = fs::read(point).expect("a point");
            // The middle of the flows' columns, the footer, the checksum itself; and a cut.
            let at = [bytes.len() / 3, bytes.len() - 300, bytes.len() - 60][i % 3];
            match round {
                3 => bytes.truncate(at),
                _ => bytes[at] ^= 1 << round,
            }
            fs::write(point, bytes).expect("damage");
        }
        let o = run(&dir, &json_of);
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert_eq!(said.matches("is damaged: the point").count(), 3, "{said}");
        let again = json(&o);
        assert_eq!(again["cost"]["resumed"], points.len() - 3);
        assert_eq!(again["digest"], whole["digest"]);
        for (a, b) in again["points"]
            .as_array()
            .unwrap()
            .iter()
            .zip(whole["points"].as_array().unwrap())
        {
            assert_eq!(
                (&a["fct_us"], &a["hottest_port"], &a["digest"]),
                (&b["fct_us"], &b["hottest_port"], &b["digest"])
            );
        }
        assert_eq!(documents(&dir), tables);
    }
}

#[test]
fn a_damaged_manifest_costs_the_manifest() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let whole = json(&run(&dir, &["--format", "json"]));
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let digest = whole["scenario_digest"].as_str().expect("a digest");
    // A digest with one wrong digit is damage, too, and not the digest of another scenario.
    let flipped = text.replacen(digest, &format!("0{}", &digest[1..]), 1);
    assert_ne!(flipped.find(digest), text.find(digest));
    for damage in ["", "{", &flipped] {
        fs::write(&manifest, damage).expect("damage");
        let o = run(&dir, &["--format", "json"]);
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(said.contains("manifest.json is lost or damaged"), "{said}");
        let again = json(&o);
        assert_eq!(again["cost"]["resumed"], 12);
        assert_eq!(again["digest"], whole["digest"]);
        let kept: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).expect("JSON");
        assert_eq!(kept["digest"], whole["digest"]);
    }
    // An undamaged one of another scenario.
    let o = run(&dir, &["--set", "workload.flows=301"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&o.stderr).contains("--fresh"));
}

/// The directory is consistent: its manifest describes the stored points, and every document is
/// there.
fn belongs_together(dir: &Path, digest: &Value) {
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(dir.join(name)).expect(name)).expect("JSON")
    };
    let (manifest, summary) = (read("manifest.json"), read("summary.json"));
    assert_eq!(&manifest["digest"], digest);
    assert_eq!(&summary["digest"], digest);
    assert_eq!(manifest["scenario_digest"], summary["scenario_digest"]);
    assert_eq!(
        points(dir).len() as u64,
        manifest["points"].as_u64().unwrap()
    );
    assert!(dir.join("report.html").is_file());
    assert_eq!(documents(dir).len(), 3);
    let left = fs::read_dir(dir).unwrap().flatten();
    let left = left.filter(|e| e.file_name().to_string_lossy().starts_with(".cemark-tmp"));
    assert_eq!(left.count(), 0);
}

/// Outputs of two processes, read at the same time: a pipe has no room for the document of one that
/// the other waits for.
fn outputs(both: [Child; 2]) -> [Output; 2] {
    let ends = |child: Child| move || child.wait_with_output().expect("it ends");
    let both = both.map(|child| std::thread::spawn(ends(child)));
    both.map(|thread| thread.join().expect("a thread"))
}

/// Two processes at once: the same scenario is done once and answered twice.
#[test]
fn equal_runs_share_a_directory() {
    let scratch = Scratch::new();
    let args = ["--format", "json", "--seed", "1"];
    let digest = json(&run(&scratch.0.join("alone"), &args))["digest"].clone();
    for pair in 0..5 {
        let dir = scratch.0.join(format!("pair{pair}"));
        let start = || {
            let mut c = command(&dir, &args);
            c.stdout(Stdio::piped()).stderr(Stdio::piped());
            c.spawn().expect("the program runs")
        };
        // The pipes are read one after the other, and a document is larger than a pipe: a run that
        // waits for its reader must not hold the directory.
        let both = [start(), start()].map(|c| c.wait_with_output().expect("it ends"));
        let said: Vec<_> = both
            .iter()
            .map(|o| String::from_utf8_lossy(&o.stderr).into_owned())
            .collect();
        assert!(said.iter().all(|s| !s.contains("panicked")), "{said:?}");
        let docs = both.each_ref().map(json);
        assert!(docs.iter().all(|d| d["digest"] == digest), "{said:?}");
        // The second process found all points, and had said that it waits.
        let resumed = docs
            .each_ref()
            .map(|d| d["cost"]["resumed"].as_u64().unwrap());
        assert!(
            resumed == [0, 4] || resumed == [4, 0],
            "{resumed:?} {said:?}"
        );
        belongs_together(&dir, &digest);
    }
}

/// The lock ends with its process, even after SIGKILL: the waiting process continues with the
/// points that the killed one has finished.
#[test]
fn a_killed_run_frees_its_directory() {
    let scratch = Scratch::new();
    let args = ["--format", "json", "--jobs", "1"];
    let digest = json(&run(&scratch.0.join("alone"), &args))["digest"].clone();
    let dir = scratch.0.join("run");
    let mut first = command(&dir, &args);
    let mut first = first
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    while kept(&dir) == 0 && first.try_wait().expect("its state").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut second = command(&dir, &args);
    let second = second
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(200));
    first.kill().expect("kill");
    first.wait().expect("it ends");
    let doc = json(&second.wait_with_output().expect("it ends"));
    assert_eq!(doc["digest"], digest);
    assert!(
        doc["cost"]["resumed"].as_u64().is_some_and(|n| n > 0),
        "{}",
        doc["cost"]
    );
    belongs_together(&dir, &digest);
}

/// Figures lock their directories as well.
#[test]
fn equal_figures_share_their_directories() {
    let scratch = Scratch::new();
    let start = || {
        let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
        c.args([
            "figure",
            "ecnsharp-4",
            "--quick",
            "--format",
            "json",
            "--out",
        ]);
        c.arg(&scratch.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        c.spawn().expect("the program runs")
    };
    let both = outputs([start(), start()]);
    let said = both
        .each_ref()
        .map(|o| String::from_utf8_lossy(&o.stderr).into_owned());
    let docs = both.each_ref().map(json);
    assert_eq!(docs[0]["rows"], docs[1]["rows"]);
    let waited = said
        .iter()
        .filter(|s| s.contains("waiting until it ends"))
        .count();
    assert_eq!(waited, 1, "{said:?}");
}

/// Two different scenarios: one gets the directory and the other is refused.
#[test]
fn different_runs_do_not_share_a_directory() {
    let scratch = Scratch::new();
    let seeds = ["1", "2"];
    let args = |seed| ["--format", "json", "--seed", seed];
    let alone = seeds.map(|s| json(&run(&scratch.0.join(s), &args(s)))["digest"].clone());
    for pair in 0..5 {
        let dir = scratch.0.join(format!("pair{pair}"));
        let start = |seed| {
            let mut c = command(&dir, &args(seed));
            c.stdout(Stdio::piped()).stderr(Stdio::piped());
            c.spawn().expect("the program runs")
        };
        let both = outputs(seeds.map(start));
        let codes = both.each_ref().map(|o| o.status.code());
        let winner = codes
            .iter()
            .position(|c| *c == Some(0))
            .expect("one of them");
        assert_eq!(codes[1 - winner], Some(2), "{codes:?}");
        let said = String::from_utf8_lossy(&both[1 - winner].stderr).into_owned();
        assert!(
            said.contains("--out") && said.contains("holds a run of"),
            "{said}"
        );
        assert_eq!(json(&both[winner])["digest"], alone[winner]);
        belongs_together(&dir, &alone[winner]);
    }
}

/// `--fresh` refuses a directory in which another process is running, and deletes only files of
/// cemark.
#[test]
fn fresh_spares_living_processes_and_foreign_files() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let args = ["--seed", "1"];
    assert_eq!(run(&dir, &args).status.code(), Some(0));
    let mine = [dir.join("notes.txt"), dir.join("points/notes.txt")];
    for file in &mine {
        fs::write(file, "mine").expect("a file");
    }
    let lock = fs::OpenOptions::new()
        .write(true)
        .open(dir.join(".cemark-lock"))
        .expect("the lock");
    lock.lock().expect("free after a run");
    let before = points(&dir);
    let o = run(&dir, &[&args[..], &["--fresh"]].concat());
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(2), "{said}");
    assert!(
        said.contains("another cemark (process ") && said.contains("--out"),
        "{said}"
    );
    assert_eq!(points(&dir), before);
    drop(lock);
    let o = run(
        &dir,
        &[&args[..], &["--fresh", "--format", "json"]].concat(),
    );
    assert_eq!(json(&o)["cost"]["resumed"], 0);
    for file in &mine {
        assert_eq!(fs::read_to_string(file).expect("still there"), "mine");
    }
}

/// More threads than cores only wait for each other: ten thousand took a minute for two points.
#[test]
fn jobs_are_at_most_the_cores() {
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let scratch = Scratch::new();
    let cores = std::thread::available_parallelism()
        .expect("a number")
        .get();
    let mut c = command(&scratch.0.join("run"), &["--jobs", "10000"]);
    let mut child = c
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("its state").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let threads = text.lines().find_map(|l| l.strip_prefix("Threads:"));
        most = most.max(threads.and_then(|t| t.trim().parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    // The main thread, the one for Ctrl-C, the one for the progress bar.
    assert!(
        most >= 2 && most <= cores + 3,
        "{most} threads on {cores} cores"
    );
    let help = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["run", "--help"])
        .output();
    let help = String::from_utf8_lossy(&help.expect("it runs").stdout).into_owned();
    assert!(help.contains("at most one per core"), "{help}");
}

/// An axis that concerns one of two schemes: the other one is simulated once, and shown under every
/// value.
#[test]
fn points_that_an_axis_does_not_concern_run_once() {
    let scratch = Scratch::new();
    let dir = scratch.0.join("run");
    let axis = "scheme.ECN#.pst_target=20us,80us";
    let args = [
        "--set",
        "workload.load=0.5",
        "--set",
        axis,
        "--seeds",
        "2",
        "--format",
        "json",
    ];
    let doc = json(&run(&dir, &args));
    let points = doc["points"].as_array().expect("points");
    assert_eq!(
        (points.len(), kept(&dir)),
        (8, 6),
        "2 values x 2 schemes x 2 seeds"
    );
    assert_eq!(
        (&doc["cost"]["points"], &doc["cost"]["simulated"]),
        (&8.into(), &6.into())
    );
    for p in points {
        let Some(i) = p["same_as"].as_u64() else {
            assert!(p.get("same_as").is_none() && p["cpu_seconds"].as_f64() > Some(0.0));
            continue;
        };
        let first = &points[i as usize];
        assert_ne!(p["axes"], first["axes"]);
        for key in [
            "scheme",
            "seed",
            "digest",
            "fct_us",
            "packet_hops",
            "hottest_port",
        ] {
            assert_eq!(p[key], first[key], "{key}");
        }
    }
    let own = |p: &&Value| p.get("same_as").is_none();
    let hops: u64 = points
        .iter()
        .filter(own)
        .filter_map(|p| p["packet_hops"].as_u64())
        .sum();
    assert_eq!(doc["cost"]["packet_hops"], hops);
    // The same digest as with every point by itself, and again when all is found in the directory.
    let again = json(&run(&dir, &args));
    assert_eq!(
        (&again["digest"], &again["cost"]["resumed"]),
        (&doc["digest"], &6.into())
    );
    let comparisons = |doc: &Value| doc["comparisons"].as_array().map(Vec::len);
    assert!(comparisons(&doc) > Some(0) && comparisons(&doc) == comparisons(&again));
}
