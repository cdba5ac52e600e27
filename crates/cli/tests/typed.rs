// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names that are typed on the command line, and readers that go while a run is at work.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{cemark, folder, line};

const STAR: &str = r#"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.5
flows = 200
[[scheme]]
marker = "threshold"
label = "K=20"
k = "20pkt"
[[scheme]]
marker = "threshold"
label = "K=2.5"
k = "30KB"
"#;

/// A mistyped file name is answered with the files of its folder.
#[test]
fn scenarios_of_the_folder_are_offered() {
    let dir = folder("typed-near", &[("mine.toml", STAR), ("sub.txt", "")]);
    std::fs::create_dir(dir.join("deep")).expect("a directory");
    std::fs::write(dir.join("deep/other.toml"), STAR).expect("a file");
    for (typed, offered) in [
        ("mine.tml", "did you mean `mine.toml`"),
        ("mien.toml", "did you mean `mine.toml`"),
        ("mine", "did you mean `mine.toml`"),
        ("deep/othr.toml", "did you mean `deep/other.toml`"),
        ("rtt-variatoin", "did you mean `rtt-variation`"),
    ] {
        let o = cemark(&dir, &["check", typed]);
        assert_eq!(o.status.code(), Some(2), "{typed}");
        assert!(
            line(&o.stderr).contains(offered),
            "{typed}: {}",
            line(&o.stderr)
        );
    }
}

/// A label may hold `=` and `.`, and is addressed as it is written.
#[test]
fn a_label_with_an_equals_sign_is_addressed() {
    let dir = folder("typed-label", &[("mine.toml", STAR)]);
    for (set, shown) in [
        ("scheme.K=20.k=10pkt", "K=20: k = 15KB"),
        ("scheme.K=2.5.k=44KB", "K=2.5: k = 44KB"),
        ("scheme.1.k=12KB", "K=2.5: k = 12KB"),
    ] {
        let o = cemark(&dir, &["check", "mine.toml", "--set", set]);
        let said = line(&o.stdout);
        assert!(o.status.success(), "{set}: {}", line(&o.stderr));
        assert!(said.contains(shown), "{set}: {said}");
    }
}

/// Words that no option takes are answered in the form of every other mistake.
#[test]
fn mistyped_options_are_answered() {
    let dir = folder("typed-options", &[("mine.toml", STAR)]);
    let cases: [(&[&str], &str, &str); 15] = [
        (
            &["runn", "mine.toml"],
            "no command `runn`",
            "did you mean `run`?",
        ),
        (
            &["p4", "tabels"],
            "no command `tabels`",
            "did you mean `tables`?",
        ),
        (&["p4"], "`cemark p4` needs a command", "`tables`"),
        (
            &["plot", "x", "--slowdown"],
            "`cemark plot` has no option `--slowdown`",
            "--help",
        ),
        (
            &["run", "mine.toml", "--job=2"],
            "`cemark run` has no option `--job`",
            "did you mean `--jobs`?",
        ),
        (
            &["run", "mine.toml", "-j"],
            "`cemark run` has no option `-j`",
            "--help",
        ),
        (
            &["run", "mine.toml", "other.toml"],
            "`cemark run` has no place for `other.toml`",
            "--help",
        ),
        (
            &["run", "mine.toml", "--jobs", "x"],
            "`x` is no value of `--jobs <N>`: invalid digit",
            "--help",
        ),
        (
            &["schemes", "--format", "jsn"],
            "`jsn` is no value of `--format <FORMAT>`",
            "did you mean `json`?",
        ),
        (
            &["schemes", "--format="],
            "`--format <FORMAT>` needs a value",
            "`json`",
        ),
        (&["run", "mine.toml", "--jobs"], "--jobs <N>", "--help"),
        (&["run"], "`cemark run` needs `<SCENARIO>`", "--help"),
        (
            &["run", "mine.toml", "--seed", "1", "--seed", "2"],
            "`--seed <N>` is given more than once",
            "--help",
        ),
        (
            &["run", "mine.toml", "--seed", "1", "--seeds", "2"],
            "`--seed <N>` cannot be used with `--seeds <N>`",
            "leave one of them out",
        ),
        (
            &["run", "mine.toml", "--no\u{1b}[2J"],
            "has no option `--no\\u{1b}[2J`",
            "--help",
        ),
    ];
    for (args, wrong, help) in cases {
        let o = cemark(&dir, args);
        let said = line(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {said}");
        assert!(o.stdout.is_empty(), "{args:?}");
        assert!(said.trim_start().starts_with('×'), "{args:?}: {said}");
        assert!(said.contains(wrong), "{args:?}: {said}");
        let answer = said.split("help: ").nth(1).unwrap_or_default();
        assert!(answer.contains(help), "{args:?}: {said}");
        for foreign in ["error:", "tip:", "Usage:", "\u{1b}[2J"] {
            assert!(!said.contains(foreign), "{args:?}: {said}");
        }
    }
}

/// `cemark sweep … 2>&1 | head -2`: the run stops when its reader has gone, and what is finished is
/// kept.
#[test]
fn a_run_stops_when_the_reader_of_standard_error_has_gone() {
    let dir = folder("typed-pipe", &[("mine.toml", STAR)]);
    let mut run = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["run", "mine.toml", "--precision", "0.1", "--jobs", "1"])
        .args(["--set", "workload.flows=2000"])
        .current_dir(&dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut said = BufReader::new(run.stderr.take().expect("a pipe"));
    let mut first = String::new();
    said.read_line(&mut first).expect("a line");
    drop(said);
    for _ in 0..6_000 {
        if let Some(status) = run.try_wait().expect("a child") {
            assert_eq!(status.code(), Some(130));
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().expect("it is there");
    panic!("the run continues for a reader that has gone; it had said: {first}");
}
