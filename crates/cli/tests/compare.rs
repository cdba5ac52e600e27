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
    fs::write(dir.join("a.xml"), MONITOR.replace("20560", "many")).expect("a file");
    for (args, message) in [
        (&["run", "a.txt"][..], "a.txt:1: `x` is no completion time"),
        (&["run", "my.toml"], "my.toml:2: this is no line of fct.txt"),
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
