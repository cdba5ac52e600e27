// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output on pauses: deadlocks, storms, a line for each scheme.

use std::path::Path;
use std::process::{Command, Output};

fn run(name: &str) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&out);
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["run", "examples/pfc-deadlock.toml", "--out"])
        .arg(&out)
        .current_dir(root)
        .output()
        .expect("the program runs")
}

/// Without line breaks and the frame around messages.
fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_deadlock_is_named_and_ends_the_run_with_1() {
    let o = run("deadlock");
    assert_eq!(o.status.code(), Some(1));
    assert!(o.stdout.is_empty());
    let said = words(&o.stderr);
    let ring = "switch0->switch1 waits for switch1->switch2 waits for switch2->switch0 waits for \
                switch0->switch1";
    assert!(
        said.contains("deadlock after") && said.contains(ring),
        "{said}"
    );
}

/// The description of the example says what to change; the test makes exactly these changes.
#[test]
fn the_example_says_what_helps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("examples/pfc-deadlock.toml")).expect("a file");
    let options: Vec<&str> = text
        .split('`')
        .filter(|part| part.starts_with("--set "))
        .collect();
    assert_eq!(options.len(), 2, "{options:?}");
    let go = |options: &[&str]| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helps");
        let _ = std::fs::remove_dir_all(&out);
        Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args([
                "run",
                "examples/pfc-deadlock.toml",
                "--format",
                "json",
                "--out",
            ])
            .arg(&out)
            .args(options)
            .current_dir(&root)
            .output()
            .expect("the program runs")
    };
    let point = |options: &str| -> serde_json::Value {
        let options: Vec<&str> = options.split_whitespace().collect();
        let o = go(&options);
        assert_eq!(o.status.code(), Some(0), "{}", words(&o.stderr));
        let json: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
        json["points"][0].clone()
    };
    let drops = |point: &serde_json::Value| -> u64 {
        let reasons = point["drops"].as_object().expect("a table");
        reasons.values().filter_map(serde_json::Value::as_u64).sum()
    };
    let lossy = point(options[0]);
    assert!(drops(&lossy) > 0);
    let marked = point(options[1]);
    assert_eq!((marked["pauses"].as_u64(), drops(&marked)), (Some(0), 0));
    // Each part by itself is not enough.
    for part in options[1].split("--set ").filter(|p| !p.is_empty()) {
        assert_eq!(go(&["--set", part.trim()]).status.code(), Some(1), "{part}");
    }
}

/// The speed of a run that stopped early would mean nothing.
#[test]
fn a_deadlock_ends_a_bench_with_1() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["bench", "--runs", "1", "--format", "json"])
        .arg("examples/pfc-deadlock.toml")
        .current_dir(root)
        .output()
        .expect("the program runs");
    let said = words(&o.stderr);
    assert_eq!(o.status.code(), Some(1), "{said}");
    assert!(o.stdout.is_empty());
    assert!(
        said.contains("deadlock after") && said.contains("switch0->switch1 waits for"),
        "{said}"
    );
}

#[test]
fn storms_are_warnings_and_pauses_are_below_the_table() {
    // Receivers one switch nearer: no cycle. There are no marks, so pauses come first.
    let one_hop = "pairs = [[0, 2], [1, 3], [2, 4], [3, 5], [4, 0], [5, 1]]";
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pfc-deadlock.toml"),
    )
    .expect("the example");
    let pairs = text
        .lines()
        .find(|l| l.starts_with("pairs"))
        .expect("its pairs");
    let text = text.replace(pairs, one_hop);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-hop.toml");
    std::fs::write(&file, text).expect("a temporary file");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("storm");
    let _ = std::fs::remove_dir_all(&out);
    let go = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(["run", "--out"])
            .arg(&out)
            .arg(&file)
            .args(args)
            .output()
            .expect("the program runs")
    };
    let o = go(&[]);
    let said = words(&o.stderr);
    assert_eq!(o.status.code(), Some(0), "{said}");
    assert!(
        said.contains("warning: pause storm: host") && said.contains("longer than 10.0 %"),
        "{said}"
    );
    let table = words(&o.stdout);
    assert!(table.contains("pauses drop-tail:"), "{table}");
    // From the files of the first run: the same numbers.
    let json: serde_json::Value =
        serde_json::from_slice(&go(&["--format", "json"]).stdout).expect("JSON");
    let point = &json["points"][0];
    assert!(point["pauses"].as_u64().is_some_and(|n| n > 0));
    let share = point["most_paused"]["share"]
        .as_f64()
        .expect("a port was paused");
    assert!((0.1..1.0).contains(&share));
    assert_eq!(json["cost"]["resumed"], 1);
}
