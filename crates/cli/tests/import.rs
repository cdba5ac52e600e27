// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark import` as a user types it.

use std::fs;
use std::path::PathBuf;

use crate::common::{cemark, line};

/// An empty directory with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    crate::common::folder(&format!("import-{name}"), files)
}

/// Nodes 0 and 1 are the switches.
const TOPOLOGY: &str = "6 2 5\n0 1\n0 1 25Gbps 0.002ms 0\n0 2 25Gbps 1us 0\n0 3 25Gbps 1us 0\n\
                        1 4 25Gbps 1us 0\n1 5 25Gbps 1us 0\n\nFirst line: nodes\n";
const FLOWS: &str = "3\n2 4 3 100 20000 2\n3 4 3 100 30000 2.00001\n5 2 4 100 1000 2.0000000005\n";
const CONFIG: &str = "CC_MODE 1\nKMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\n\
                      PMAX_MAP 1 25000000000 0.2\nBUFFER_SIZE 8\nPACKET_PAYLOAD_SIZE 1000\n\
                      RATE_AI 50Mb/s\nEWMA_GAIN 0.00390625\nRP_TIMER 900\nCLAMP_TARGET_RATE 0\n";

#[test]
fn files_of_hpcc_become_a_scenario_that_runs() {
    let files = [
        ("topology.txt", TOPOLOGY),
        ("flow.txt", FLOWS),
        ("config.txt", CONFIG),
    ];
    let dir = folder("hpcc", &files);
    let o = cemark(&dir, &["import", "flow.txt", "topology.txt", "config.txt"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(line(&o.stderr).contains("topology.txt: 1 lines behind the links"));
    assert!(line(&o.stdout).contains("imported.toml: 4 hosts, 2 switches, 5 links; 3 flows"));
    let text = fs::read_to_string(dir.join("imported.toml")).expect("the scenario");
    for part in [
        "the nodes 2 to 5, in this order",
        "kind = \"graph\"\nfile = \"topology.txt\"\n",
        "Starts are 2s earlier",
        "{ at = \"10us\", src = 1, dst = 2, size = \"30000B\" }",
        "name = \"priority-4\"\nclass = 1\nflow = [\n  { at = \"500ps\", src = 3, dst = 0,",
        "control = \"dcqcn\"",
        "mss = \"1000B\"",
        "header = \"48B\"",
        "rate-ai = \"50Mbps\"",
        "rate-timer = \"900us\"",
        "clamp-target = false",
        "pool = \"8388608B\"",
        "queues = 2",
        "min = \"100KB\"\nmax = \"400KB\"\ndrop-probability = \"20%\"\nhook = \"dequeue\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let o = cemark(&dir, &["check", "imported.toml"]);
    assert_eq!((o.status.code(), line(&o.stderr)), (Some(0), String::new()));
    let o = cemark(&dir, &["run", "imported.toml", "--out", "run"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    // With DCTCP a flow ends at its sender.
    let other = CONFIG.replace("CC_MODE 1", "CC_MODE 8");
    fs::write(dir.join("dctcp.txt"), other).expect("a file");
    let args = [
        "import",
        "topology.txt",
        "flow.txt",
        "dctcp.txt",
        "--out",
        "dctcp.toml",
    ];
    let o = cemark(&dir, &args);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let text = fs::read_to_string(dir.join("dctcp.toml")).expect("the scenario");
    for part in [
        "control = \"dctcp\"",
        "\ng = 0.00390625",
        "fct = \"last-ack\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let o = cemark(&dir, &["run", "dctcp.toml", "--out", "run-dctcp"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    // A second import would overwrite what may have been changed since.
    let o = cemark(&dir, &["import", "topology.txt"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(
        line(&o.stderr).contains("imported.toml exists"),
        "{}",
        line(&o.stderr)
    );
    let o = cemark(&dir, &["import", "topology.txt", "--force"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let o = cemark(&dir, &["check", "imported.toml"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
}

#[test]
fn files_of_htsim_become_a_scenario_that_runs() {
    let topo = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n\
                Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 300\nTier 1\n\
                Downlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 1\nDownlink_Latency_ns 1000\n\
                Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1001\n";
    let matrix = "Nodes 8\nConnections 2\n0->7 id 1 start 0 size 20000\n1->7 start 5 size 1\n";
    let dir = folder("htsim", &[("a.topo", topo), ("a.cm", matrix)]);
    let o = cemark(&dir, &["import", "a.topo", "a.cm", "--out", "a.toml"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(line(&o.stderr).contains("a.topo: half of each Switch_Latency_ns"));
    let text = fs::read_to_string(dir.join("a.toml")).expect("the scenario");
    for part in [
        "kind = \"graph\"\nfile = \"a.topo\"\n",
        "at = \"5ps\", src = 1, dst = 7, size = \"1B\"",
        "hook = \"dequeue\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let o = cemark(&dir, &["check", "a.toml"]);
    assert_eq!((o.status.code(), line(&o.stderr)), (Some(0), String::new()));
    let o = cemark(&dir, &["run", "a.toml", "--out", "run"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
}

#[test]
fn mistakes_name_file_and_line() {
    let files = [
        ("topology.txt", TOPOLOGY),
        ("other.txt", TOPOLOGY),
        (
            "errors.txt",
            "3 1 2\n0\n0 1 1Gbps 1us 0\n0 2 1Gbps 1us 0.5\n",
        ),
        ("flow.txt", FLOWS),
        ("switch.txt", "1\n0 4 3 100 20000 2\n"),
        ("control.txt", "1\n2 4 0 100 20000 2\n"),
        ("timely.txt", "CC_MODE 7\n"),
        ("a.cm", "Nodes 2\nConnections 1\n0->1 start 0 size 1\n"),
        ("notes.md", "# Notes\nthis and that\n"),
        ("empty.txt", ""),
    ];
    let dir = folder("mistakes", &files);
    fs::write(dir.join("binary"), [b'1', b'\n', 0xff, 0xfe]).expect("a file");
    for (given, message, help) in [
        (
            &["errors.txt"][..],
            "errors.txt:4: the error rate 0.5",
            "[[fault]]",
        ),
        (
            &["topology.txt", "switch.txt"],
            "switch.txt:2: node 0 is no host",
            "no switches",
        ),
        (
            &["topology.txt", "control.txt"],
            "control.txt:2: priority 0",
            "1 to 7",
        ),
        (
            &["topology.txt", "timely.txt"],
            "timely.txt:1: CC_MODE 7 is TIMELY",
            "CC_MODE 1",
        ),
        (
            &["topology.txt", "other.txt"],
            "other.txt is the second topology.txt",
            "name one",
        ),
        (&["topology.txt", "a.cm"], "two simulators", "files of one"),
        (&["flow.txt"], "no file has a topology", "topology.txt"),
        (
            &["notes.md"],
            "notes.md:2: this begins no file that is imported",
            ".topo",
        ),
        (&["empty.txt"], "empty.txt: the file is empty", "known are"),
        (&["binary"], "binary:2: this is not UTF-8", "text"),
        (&["absent.txt"], "absent.txt:", "name a file"),
        (&["."], ". is a directory", "name its files"),
        (
            &["topology.txt", "--out", "a.txt"],
            "it ends in .toml",
            "a.txt.toml",
        ),
        (
            &["topology.txt", "--out", "no/a.toml"],
            "no directory no",
            "make it",
        ),
    ] {
        let o = cemark(&dir, &[&["import"], given].concat());
        assert_eq!(o.status.code(), Some(2), "{given:?} {}", line(&o.stderr));
        let text = line(&o.stderr);
        assert!(
            text.contains(message) && text.contains(help),
            "{given:?}: {text}"
        );
        assert!(!dir.join("imported.toml").exists(), "{given:?}");
    }
}

#[test]
fn a_long_list_is_a_file_beside_the_scenario() {
    // Flows a nanosecond apart, in two priorities.
    let flow = |i: u64| format!("2 4 {} 100 {} 2.{i:09}\n", 3 + i % 2, i + 1);
    let list = |n: u64| format!("{n}\n{}", (0..n).map(flow).collect::<String>());
    let (long, short) = (list(10_001), list(10_000));
    let files = [
        ("topology.txt", TOPOLOGY),
        ("long.txt", &long),
        ("short.txt", &short),
    ];
    let dir = folder("long", &files);
    let o = cemark(
        &dir,
        &["import", "topology.txt", "short.txt", "--out", "short.toml"],
    );
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(!dir.join("short.flows.csv").exists());
    let import = ["import", "topology.txt", "long.txt", "--out", "long.toml"];
    let o = cemark(&dir, &import);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(line(&o.stdout).contains("10001 flows, in long.flows.csv"));
    let text = fs::read_to_string(dir.join("long.toml")).expect("the scenario");
    assert!(
        text.contains("kind = \"list\"\nfile = \"long.flows.csv\"\n"),
        "{text}"
    );
    assert!(text.contains("class 0 is priority 3, class 1 is priority 4"));
    let csv = fs::read_to_string(dir.join("long.flows.csv")).expect("the flows");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 10_003);
    assert_eq!(lines[1], "at_ps,src,dst,size_bytes,class");
    assert_eq!(lines[2], "0,0,2,1,0");
    assert_eq!(lines[3], "1000,0,2,2,1");
    // `check` reads both files from another folder too.
    let o = cemark(
        dir.parent().expect("a folder"),
        &["check", dir.join("long.toml").to_str().expect("a path")],
    );
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    // Neither file is overwritten, and a list alone is enough to stop.
    fs::remove_file(dir.join("long.toml")).expect("the scenario");
    let o = cemark(&dir, &import);
    assert_eq!(o.status.code(), Some(2));
    assert!(
        line(&o.stderr).contains("long.flows.csv exists"),
        "{}",
        line(&o.stderr)
    );
    assert!(dir.join("long.flows.csv").exists() && !dir.join("long.toml").exists());
}
