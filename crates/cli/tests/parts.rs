// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run --part` and `cemark merge`: the parts of a run, merged, are that run.

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
            "cemark-parts-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    /// Runs `cemark` here.
    fn cemark(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
        c.args(args).current_dir(&self.0);
        c
    }

    /// Runs `cemark` here with success; returns its JSON answer.
    fn json(&self, args: &[&str]) -> Value {
        let o = self.cemark(&[args, &["--format", "json"]].concat());
        assert_eq!(o.status.code(), Some(0), "{}", error(&o));
        serde_json::from_slice(&o.stdout).expect("one JSON document")
    }

    /// The directories of the parts, in order of their names.
    fn parts(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("runs")).expect("runs");
        let names = entries.map(|e| e.expect("an entry").file_name());
        let names = names.map(|n| format!("runs/{}", n.to_string_lossy()));
        let mut parts: Vec<String> = names.filter(|n| n.contains("-part")).collect();
        parts.sort();
        parts
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn data(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(file)
        .display()
        .to_string()
}

fn error(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// An error on one line, as `miette` wraps it.
fn unwrapped(o: &Output) -> String {
    let text = error(o);
    let lines = text
        .lines()
        .map(|l| l.trim_start_matches([' ', '│', '×', '╰', '─', '▶']));
    lines.collect::<Vec<_>>().join(" ")
}

/// A document without what depends on the clock.
fn timeless(mut doc: Value) -> Value {
    doc["cost"]["cpu_seconds"] = Value::Null;
    doc["cost"]["wall_seconds"] = Value::Null;
    for point in doc["points"].as_array_mut().expect("points") {
        point["cpu_seconds"] = Value::Null;
    }
    doc
}

/// A small sweep of twelve points, in three parts.
fn three() -> (Scratch, Vec<String>) {
    let s = Scratch::new();
    for part in ["1/3", "2/3", "3/3"] {
        s.json(&["run", &data("small.toml"), "--part", part]);
    }
    let parts = s.parts();
    assert_eq!(parts.len(), 3, "{parts:?}");
    (s, parts)
}

fn merge<'a>(dirs: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let dirs = dirs.iter().map(String::as_str);
    ["merge"]
        .into_iter()
        .chain(dirs)
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn five_hundred_points_in_four_parts_have_the_digest_of_one_run() {
    let s = Scratch::new();
    let file = data("tiny.toml");
    let whole = s.json(&["run", &file, "--out", "whole"]);
    assert_eq!(whole["points"].as_array().map(Vec::len), Some(500));
    let children: Vec<_> = (1..=4)
        .map(|i| {
            let part = format!("{i}/4");
            let mut c = s.command(&["run", &file, "--quiet", "--part", &part]);
            c.stdout(Stdio::null()).spawn().expect("the program runs")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let parts = s.parts();
    assert_eq!(parts.len(), 4, "{parts:?}");
    let merged = s.json(&merge(&parts, &[]));
    assert_eq!(merged["digest"], whole["digest"]);
    assert_eq!(timeless(merged), timeless(whole));
    // The directory is the one that a single run would have written.
    let dir = parts[0].split("-part").next().expect("a name").to_owned();
    let files = |dir: &str| {
        let entries = fs::read_dir(s.0.join(dir)).expect("a run directory");
        let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files(&dir), files("whole"));
    for name in ["flows.parquet", "points.parquet", "links.parquet"] {
        let read = |dir: &str| fs::read(s.0.join(dir).join(name)).expect("a table");
        assert!(read(&dir) == read("whole"), "{name} differs");
    }
}

#[test]
fn a_part_says_what_is_there_and_what_to_type_next() {
    let s = Scratch::new();
    let o = s.cemark(&["run", &data("small.toml"), "--part", "2/4"]);
    assert_eq!(o.status.code(), Some(0), "{}", error(&o));
    let text = String::from_utf8(o.stdout).expect("UTF-8");
    assert!(
        text.contains("part    2 of 4 of small: 2 of 12 points"),
        "{text}"
    );
    let next = text
        .lines()
        .find(|l| l.starts_with("next"))
        .expect("a next");
    let stem = next.split("cemark merge ").nth(1).expect("a command");
    assert!(stem.starts_with("runs/small-"), "{next}");
    assert!(stem.contains("-part*of4"), "{next}");
    let doc = s.json(&["run", &data("small.toml"), "--part", "2/4"]);
    assert_eq!((&doc["part"], &doc["parts"]), (&2.into(), &4.into()));
    assert_eq!(
        (&doc["points"], &doc["points_of_all"]),
        (&2.into(), &12.into())
    );
    assert_eq!(doc["resumed"], 2);
    let manifest = fs::read(s.0.join(&s.parts()[0]).join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["part"]["part"], 2);
    // A part beyond the points has nothing to do, so an array of tasks may be too large.
    let doc = s.json(&["run", &data("small.toml"), "--part", "13/13"]);
    assert_eq!(doc["points"], 0);
}

#[test]
fn a_wrong_part_is_refused() {
    let s = Scratch::new();
    for (part, says) in [
        ("5/4", "1 to 4"),
        ("2", "for example 2/4"),
        ("1/0", "1 to 10000"),
    ] {
        let o = s.cemark(&["run", &data("small.toml"), "--part", part]);
        assert_eq!(o.status.code(), Some(2), "{part}");
        assert!(error(&o).contains(says), "{part}: {}", error(&o));
    }
}

#[test]
fn a_run_with_a_precision_has_no_parts() {
    let s = Scratch::new();
    let file = data("small.toml");
    let o = s.cemark(&["run", &file, "--part", "1/2", "--precision", "50"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(unwrapped(&o).contains("--seeds N"), "{}", unwrapped(&o));
    assert!(!s.0.join("runs").exists(), "nothing is written");
}

#[test]
fn a_missing_part_is_named_with_its_command() {
    let (s, parts) = three();
    let two = [parts[0].clone(), parts[2].clone()];
    let o = s.cemark(&merge(&two, &[]));
    assert_eq!(o.status.code(), Some(2));
    let text = unwrapped(&o);
    for says in [
        "4 of 12 points are in none",
        "part 2 of 3 is not there",
        "--part 2/3",
        "small.toml",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let dir = parts[0].split("-part").next().expect("a name");
    assert!(!s.0.join(dir).exists(), "nothing is written");
}

#[test]
fn a_part_that_was_interrupted_is_named_with_its_points() {
    let (s, parts) = three();
    let points = s.0.join(&parts[1]).join("points");
    let one = fs::read_dir(&points).expect("points").next();
    fs::remove_file(one.expect("a point").expect("an entry").path()).expect("removed");
    let o = s.cemark(&merge(&parts, &[]));
    assert_eq!(o.status.code(), Some(2));
    let text = unwrapped(&o);
    assert!(
        text.contains("part 2 of 3 lacks 1 of its 4 points"),
        "{text}"
    );
    assert!(text.contains("seed"), "{text}");
    assert!(text.contains("--part 2/3"), "{text}");
    // The command that it names runs the missing point.
    s.json(&["run", &data("small.toml"), "--part", "2/3"]);
    s.json(&merge(&parts, &[]));
}

#[test]
fn a_damaged_point_is_no_point() {
    let (s, parts) = three();
    let points = s.0.join(&parts[0]).join("points");
    let one = fs::read_dir(&points).expect("points").next();
    let path = one.expect("a point").expect("an entry").path();
    let mut bytes = fs::read(&path).expect("a point");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("written");
    let o = s.cemark(&merge(&parts, &[]));
    assert_eq!(o.status.code(), Some(2));
    let text = unwrapped(&o);
    assert!(text.contains("is damaged"), "{text}");
    assert!(text.contains("part 1 of 3 lacks 1"), "{text}");
    // Another directory that holds it is as good.
    let whole = s.json(&["run", &data("small.toml"), "--out", "whole"]);
    let mut all = parts.clone();
    all.push("whole".to_owned());
    let merged = s.json(&merge(&all, &["--out", "merged"]));
    assert_eq!(merged["digest"], whole["digest"]);
}

#[test]
fn parts_may_overlap_and_be_merged_twice() {
    let (s, parts) = three();
    for part in ["1/2", "2/2"] {
        s.json(&["run", &data("small.toml"), "--part", part]);
    }
    let all = s.parts();
    assert_eq!(all.len(), 5);
    let whole = s.json(&["run", &data("small.toml"), "--out", "whole"]);
    let twice: Vec<String> = [&all[..], &all[..]].concat();
    for dirs in [&parts, &all, &twice] {
        let merged = s.json(&merge(dirs, &["--out", "merged"]));
        assert_eq!(timeless(merged), timeless(whole.clone()));
    }
    // The merged directory is a run like any other.
    let again = s.json(&["run", &data("small.toml"), "--out", "merged"]);
    assert_eq!(again["cost"]["resumed"], 12);
    assert_eq!(again["digest"], whole["digest"]);
}

#[test]
fn wrong_directories_are_refused() {
    let (s, parts) = three();
    fs::create_dir(s.0.join("empty")).expect("a directory");
    let other = s.json(&["run", &data("small.toml"), "--seed", "9", "--out", "other"]);
    assert!(other["digest"].is_string());
    for (dir, says) in [
        ("empty", "no manifest.json"),
        ("nowhere", "there is no directory"),
        ("other", "merge only the parts of one scenario"),
    ] {
        let mut dirs = parts.clone();
        dirs.push(dir.to_owned());
        let o = s.cemark(&merge(&dirs, &[]));
        assert_eq!(o.status.code(), Some(2), "{dir}");
        assert!(unwrapped(&o).contains(says), "{dir}: {}", unwrapped(&o));
    }
    // The directory of another run is not overwritten.
    let o = s.cemark(&merge(&parts, &["--out", "other"]));
    assert_eq!(o.status.code(), Some(2), "{}", error(&o));
    let manifest = s.0.join(&parts[0]).join("manifest.json");
    fs::write(&manifest, "{}").expect("written");
    let o = s.cemark(&merge(&parts, &[]));
    assert_eq!(o.status.code(), Some(2));
    assert!(
        unwrapped(&o).contains("manifest is damaged"),
        "{}",
        unwrapped(&o)
    );
}

#[test]
fn a_merge_that_is_killed_goes_on() {
    let s = Scratch::new();
    let file = data("tiny.toml");
    for part in ["1/2", "2/2"] {
        s.json(&["run", &file, "--part", part, "--quiet"]);
    }
    let parts = s.parts();
    let whole = s.json(&merge(&parts, &["--out", "whole"]));
    let mut killed = s
        .command(&merge(&parts, &["--out", "merged"]))
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let points = s.0.join("merged/points");
    let there = || fs::read_dir(&points).into_iter().flatten().count();
    while there() == 0 && killed.try_wait().expect("its state").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    // It may have ended before.
    let _ = killed.kill();
    killed.wait().expect("it ends");
    assert!(there() > 0);
    // Two at once wait for each other.
    let second = s
        .command(&merge(&parts, &["--out", "merged"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let merged = s.json(&merge(&parts, &["--out", "merged"]));
    assert_eq!(timeless(merged), timeless(whole));
    assert!(second.expect("it runs").wait().expect("it ends").success());
}
