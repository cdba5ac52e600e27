// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run --threads`: a run on several threads leaves what a run on one leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A leaf-spine fabric under three schemes, of which one needs queues with a timer.
const FABRIC: &str = "
title = \"A small fabric\"
seeds = [1]
max-time = \"40ms\"
[topology]
kind = \"leaf-spine\"
leaves = 4
spines = 2
hosts-per-leaf = 4
rate = \"10Gbps\"
delay = \"5us\"
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.6
flows = 60
[[workload]]
kind = \"incast\"
senders = 8
receiver = 2
size = \"64KB\"
at = \"100us\"
repeat = 2
every = \"1ms\"
[[scheme]]
marker = \"threshold\"
k = \"65pkt\"
[[scheme]]
marker = \"ecn_sharp\"
[[scheme]]
marker = \"pie\"
";

/// An empty directory that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cemark-threads-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        fs::write(path.join("fabric.toml"), FABRIC).expect("a file");
        Scratch(path)
    }

    fn cemark(&self, args: &[&str]) -> Output {
        let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
        c.args(args).current_dir(&self.0).env("COLUMNS", "100");
        c.output().expect("the program runs")
    }

    /// Runs the scenario into a directory of its own and returns what it prints.
    fn run(&self, dir: &str, more: &[&str]) -> Output {
        let args = [&["run", "fabric.toml", "--out", dir], more].concat();
        let o = self.cemark(&args);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        o
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.0.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// The summary without what is measured on the machine.
    fn summary(&self, dir: &str) -> Value {
        let text = self.read(&format!("{dir}/summary.json"));
        let mut doc: Value = serde_json::from_slice(&text).expect("JSON");
        for key in ["cpu_seconds", "wall_seconds"] {
            doc["cost"][key] = Value::Null;
        }
        // Of the whole document, costs included.
        doc["checksum"] = Value::Null;
        for point in doc["points"].as_array_mut().expect("points") {
            point["cpu_seconds"] = Value::Null;
            // Each shard has some events of its own.
            point["events"] = Value::Null;
        }
        doc
    }

    /// The report without the lines that name costs and the command.
    fn report(&self, dir: &str) -> String {
        let text = String::from_utf8(self.read(&format!("{dir}/report.html"))).expect("text");
        let timed = |l: &&str| !l.contains("of CPU time") && !l.contains("<dt>command");
        text.lines().filter(timed).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Standard error as one line.
fn stderr(o: &Output) -> String {
    let text = String::from_utf8_lossy(&o.stderr).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The table, without the lines about cost and directory.
fn table(o: &Output) -> String {
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    let (table, _) = text.split_once("\ncost ").expect("a cost");
    table.to_owned()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

#[test]
fn a_run_leaves_the_same_on_any_number_of_threads() {
    let s = Scratch::new();
    let one = s.run("one", &["--threads", "1"]);
    for (dir, threads) in [("two", "2"), ("many", "64")] {
        let several = s.run(dir, &["--threads", threads]);
        assert_eq!(table(&one), table(&several), "{threads}");
        assert_eq!(s.summary("one"), s.summary(dir), "{threads}");
        assert_eq!(s.report("one"), s.report(dir), "{threads}");
        for file in ["links.parquet", "points.parquet"] {
            let same = s.read(&format!("one/{file}")) == s.read(&format!("{dir}/{file}"));
            assert!(same, "{file} on {threads} threads");
        }
        assert_eq!(names(&s.0.join("one")), names(&s.0.join(dir)));
    }
    // Points of a run on one thread are those of a run on several.
    let again = s.run("one", &["--threads", "2"]);
    assert_eq!(table(&one), table(&again));
}

/// Closed forms and points of two figures; a session continues with points of another number of
/// threads.
#[test]
fn a_figure_has_the_same_rows_on_any_number_of_threads() {
    let s = Scratch::new();
    let rows = |out: &str, threads: &str| {
        let quick = [
            "figure",
            "mqecn-zero",
            "mqecn-numbers",
            "--quick",
            "--format",
            "json",
        ];
        let o = s.cemark(&[&quick[..], &["--out", out, "--threads", threads]].concat());
        let doc: Value = serde_json::from_slice(&o.stdout).expect("JSON");
        assert!(doc["points"].as_u64() > Some(0), "{}", stderr(&o));
        (doc["rows"].clone(), doc["packet_hops"].clone())
    };
    let one = rows("one", "1");
    assert_eq!(rows("two", "2"), one);
    assert_eq!(rows("one", "2"), one);
}

/// Names of the files below a directory.
fn names(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(names(&path)),
            false => all.push(path.file_name().expect("a name").display().to_string()),
        }
    }
    all.sort();
    all
}

/// Note on points that run on one core: it comes once, and not unasked. crates/runner checks its
/// words.
#[test]
fn what_runs_on_one_core_is_said_once() {
    if cores() < 2 {
        return;
    }
    let s = Scratch::new();
    // Connections that persist, with drawn RTTs and pauses, are not divided.
    let fabric = FABRIC.replace("flows = 60", "flows = 60\nconnections = \"persistent\"");
    let kept = format!(
        "{fabric}[switch]\npfc = true\nbuffer-policy = \"dynamic\"\npool = \"2MB\"\n\
         [rtt]\nmodel = \"variation\"\nmin = \"40us\"\nmax = \"90us\"\n"
    );
    fs::write(s.0.join("fabric.toml"), kept).expect("a file");
    let asked = stderr(&s.run("asked", &["--threads", "2"]));
    assert_eq!(
        asked.matches("run on one core each: ").count(),
        1,
        "{asked}"
    );
    for more in [
        &["--threads", "1"][..],
        &["--threads", "2", "--quiet"],
        &["--jobs", "1"],
    ] {
        let o = s.run("other", &[more, &["--fresh"]].concat());
        assert!(!stderr(&o).contains("core"), "{more:?}: {}", stderr(&o));
    }
}

#[test]
fn a_number_that_means_nothing_is_refused() {
    let s = Scratch::new();
    for (args, says) in [
        (&["--threads", "0"][..], "--threads"),
        (&["--threads", "two"], "--threads"),
        (&["--thread", "2"], "--threads"),
    ] {
        let o = s.cemark(&[&["run", "fabric.toml"], args].concat());
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        assert!(stderr(&o).contains(says), "{args:?}: {}", stderr(&o));
    }
    let help = String::from_utf8_lossy(&s.cemark(&["run", "--help"]).stdout).into_owned();
    assert!(help.contains("--threads <N>"), "{help}");
}
