// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a run by `cemark check`, and the refusal of runs that the machine's memory cannot hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn cemark(args: &[&str]) -> Output {
    let mut c = Command::new(env!("CARGO_BIN_EXE_cemark"));
    c.args(args).output().expect("the program runs")
}

fn small() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.toml");
    path.display().to_string()
}

/// A file of its own in a directory of its own.
fn written(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cemark-check-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary directory");
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path
}

/// A quarter of the measured flows costs two thirds of the run, unless `hold` ends the load early.
#[test]
fn a_check_names_a_long_tail() {
    let says = |set: &str| {
        let mut args = vec!["check", "rtt-variation"];
        args.extend(set.split(' ').flat_map(|s| ["--set", s]));
        let out = cemark(&args);
        assert_eq!(out.status.code(), Some(0), "{set}");
        let text = String::from_utf8_lossy(&out.stdout).replace('\n', " ");
        text.contains("come after the last measured flow has started")
    };
    assert!(says("workload.flows=500"));
    assert!(says("workload.flows=500 workload.hold=1000s"));
    assert!(!says("workload.flows=500 workload.hold=1ms"));
    assert!(!says("workload.flows=2000"));
}

#[test]
fn a_check_names_packet_hops_cpu_and_memory() {
    let out = cemark(&["check", &small(), "--format", "json"]);
    assert_eq!(out.status.code(), Some(0));
    let all: Value = serde_json::from_slice(&out.stdout).expect("one document");
    let number = |v: &Value, key: &str| v[key].as_f64().unwrap_or_else(|| panic!("{key} in {v}"));
    let points = all["points"].as_array().expect("points");
    assert!(!points.is_empty());
    for key in ["estimated_packet_hops", "estimated_cpu_seconds"] {
        let sum: f64 = points.iter().map(|p| number(p, key)).sum();
        assert!(
            sum > 0.0 && (sum / number(&all, key) - 1.0).abs() < 1e-9,
            "{key}"
        );
    }
    let key = "estimated_peak_memory_bytes";
    let largest = points.iter().map(|p| number(p, key)).fold(0.0, f64::max);
    assert!(largest > 0.0 && number(&all, key) > largest);

    let out = cemark(&["check", &small()]);
    let text = String::from_utf8_lossy(&out.stdout);
    let head = text
        .lines()
        .find(|l| l.contains("packet-hops"))
        .expect("a head");
    assert!(
        head.contains("packet-hops") && head.contains("CPU") && head.contains("memory"),
        "{head}"
    );
    let last = text
        .lines()
        .find(|l| l.contains("points, about"))
        .expect("a sum");
    assert!(
        last.contains("of CPU") && last.contains("of memory"),
        "{last}"
    );
}

/// Ten million samples a second of one port for a thousand seconds: more than any machine holds.
const HUGE: &str = r#"
max-time = "1000s"
seeds = [1]
[topology]
kind = "star"
hosts = 2
rate = "10Gbps"
delay = "1us"
[[workload]]
kind = "long"
[[scheme]]
marker = "none"
[measure]
queue-interval = "10ns"
trace = "hosts"
trace-hosts = [0, 1]
"#;

#[cfg(target_os = "linux")]
#[test]
fn what_the_memory_cannot_hold_is_refused() {
    let file = written("huge.toml", HUGE).display().to_string();
    let runs = file.replace("huge.toml", "runs");
    let check = cemark(&["check", &file]);
    let run = cemark(&["run", &file, "--out", &runs]);
    for out in [&check, &run] {
        assert_eq!(out.status.code(), Some(2));
        let said = String::from_utf8_lossy(&out.stderr);
        for part in [
            "huge needs about",
            "of memory",
            "there are",
            "--anyway",
            "queue-interval",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    // The check has printed its table anyway: it shows which points need the memory.
    assert!(String::from_utf8_lossy(&check.stdout).contains("of memory"));
    assert!(!Path::new(&runs).exists(), "nothing was begun");
    assert_eq!(cemark(&["check", &file, "--anyway"]).status.code(), Some(0));
    // So is a figure: the outcomes of 15,000 points of a large fabric.
    let figure = [
        "figure",
        "ecnsharp-14",
        "--out",
        &runs,
        "--seeds=5000",
        "--set=topology.leaves=60",
        "--set=topology.spines=1000",
        "--set=topology.hosts-per-leaf=1000",
    ];
    let out = cemark(&figure);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(
        said.contains("ecnsharp-14 needs about") && said.contains("fewer seeds"),
        "{said}"
    );
    let _ = fs::remove_dir_all(Path::new(&file).parent().expect("its folder"));
}

#[test]
fn anyway_runs_what_fits_as_well() {
    let runs = std::env::temp_dir().join(format!("cemark-anyway-{}", std::process::id()));
    let out = runs.display().to_string();
    let done = cemark(&["run", &small(), "--seeds", "1", "--anyway", "--out", &out]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    let _ = fs::remove_dir_all(&runs);
}

/// The cost of the largest possible fabric is estimated without building it.
#[test]
fn a_check_does_not_build_the_fabric() {
    let text = "max-time = \"1ms\"\n\
        [topology]\nkind = \"fat-tree\"\nk = 64\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
        [[workload]]\nkind = \"list\"\nflow = [{ src = 0, dst = 1, size = \"1KB\" }]\n\
        [[scheme]]\nmarker = \"none\"\n";
    let file = std::env::temp_dir().join(format!("cemark-k64-{}.toml", std::process::id()));
    fs::write(&file, text).expect("a file");
    let name = file.display().to_string();
    let out = cemark(&[
        "check", &name, "--format", "json", "--anyway", "--seed", "1",
    ]);
    fs::remove_file(&file).expect("its own file");
    let all: Value = serde_json::from_slice(&out.stdout).expect("one document");
    // 65,536 hosts and 327,680 switch ports, of which few are used: 670 MB were measured.
    let bytes = all["estimated_peak_memory_bytes"]
        .as_f64()
        .expect("a number");
    assert!((0.5e9..1.0e9).contains(&bytes), "{bytes}");
    let hops = all["estimated_packet_hops"].as_f64().expect("a number");
    assert!((4.0..40.0).contains(&hops), "{hops}");
}

/// Editors read the schema from standard output; it needs no scenario.
#[test]
fn the_schema_for_editors() {
    let out = cemark(&["check", "--schema"]);
    assert_eq!(out.status.code(), Some(0));
    let schema: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    let hosts = &schema["definitions"]["topology"]["properties"]["hosts"];
    assert_eq!(hosts["type"], "integer");
    // One or the other.
    for args in [&["check"][..], &["check", &small(), "--schema"]] {
        assert_eq!(cemark(args).status.code(), Some(2), "{args:?}");
    }
}

/// Base RTTs of a file are printed before anything is simulated.
#[test]
fn a_check_prints_the_base_rtts_of_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/measured-rtts.toml");
    let root = root.display().to_string();
    let out = cemark(&["check", &root]);
    assert_eq!(
        out.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8_lossy(&out.stdout);
    let line = "base RTTs from 500 samples: min 60.2 µs, mean 94.7 µs, p50 89.8 µs, p90 124 µs, \
                max 218 µs";
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(line), "{text}");
    let out = cemark(&[
        "check",
        &root,
        "--format",
        "json",
        "--set",
        "rtt.file=rtts.prom",
    ]);
    let all: Value = serde_json::from_slice(&out.stdout).expect("one document");
    let rtts = &all["base_rtts"][0];
    assert!(
        rtts["samples"].is_null() && rtts["max_us"] == 300.0,
        "{rtts}"
    );
}

/// Flow control is printed as the simulator lays it out: 1500 B of a packet, 128 B of frames and
/// 2 us at the rate of the link, and 3 packets more.
#[test]
fn a_check_prints_the_headroom_of_flow_control() {
    let text = "max-time = \"1ms\"\nseeds = [1]\n\
        [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts-per-leaf = 4\n\
        rate = \"10Gbps\"\nuplink-rate = \"40Gbps\"\ndelay = \"1us\"\n\
        [[workload]]\nkind = \"long\"\n[switch]\nbuffer-policy = \"dynamic\"\n\
        pool = \"8MB\"\npfc = true\n[[scheme]]\nmarker = \"none\"\n";
    let file = written("pfc.toml", text).display().to_string();
    let json = |set: &[&str]| -> Value {
        let args = [&["check", &file, "--format", "json"], set].concat();
        let out = cemark(&args);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{said}");
        serde_json::from_slice(&out.stdout).expect("one document")
    };
    let all = json(&[]);
    let flow = &all["flow_control"][0];
    assert_eq!(
        (&flow["points"], &flow["lossless_queues"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&flow["alpha"], &flow["xon_offset_bytes"]),
        (&0.125.into(), &3000.into())
    );
    let links = flow["links"].as_array().expect("kinds of links");
    // 1628 + 2500 + 4500 at 10 Gb/s, 1628 + 10000 + 4500 at 40 Gb/s.
    let (slow, fast) = (8_628, 16_128);
    for (first, count, headroom, reserved) in [
        ("host0->leaf0", 8, slow, 4 * slow + fast),
        ("leaf0->spine0", 2, fast, 2 * fast),
        ("spine0->leaf0", 2, fast, 4 * slow + fast),
    ] {
        let kind = links.iter().find(|l| l["first"] == first);
        let kind = kind.unwrap_or_else(|| panic!("{first} in {flow}"));
        assert_eq!(
            (&kind["links"], &kind["delay_us"]),
            (&count.into(), &1.0.into())
        );
        assert_eq!(kind["headroom_bytes"], headroom, "{first}");
        assert_eq!(kind["switch_headroom_bytes"], reserved, "{first}");
        assert_eq!(
            (&kind["xoff_bytes"], &kind["pool_bytes"]),
            (&1_000_000.into(), &8_000_000.into())
        );
    }
    assert_eq!(links.len(), 3);
    let out = cemark(&["check", &file]);
    let said = String::from_utf8_lossy(&out.stdout);
    let words: Vec<&str> = said.split_whitespace().collect();
    for part in [
        "Flow control: XOFF is 0.125 of the free pool, XON 3000 B below; 1 lossless queue",
        "8 host0->leaf0 10.0 Gb/s 1.00 µs 8628 B 1000000 B 8000000 B",
    ] {
        assert!(words.join(" ").contains(part), "{part}: {said}");
    }
    // Values of the scenario are those of the simulator, and a sweep has one table for each.
    let set = [
        "--set",
        "switch.pfc-headroom=20KB",
        "--set",
        "switch.pfc-xoff=100KB,200KB",
    ];
    let all = json(&set);
    let flows = all["flow_control"].as_array().expect("a list");
    let found: Vec<&Value> = flows.iter().map(|f| &f["links"][0]["xoff_bytes"]).collect();
    assert_eq!(found, [100_000, 200_000]);
    assert!(
        flows
            .iter()
            .all(|f| f["alpha"].is_null() && f["points"] == 1)
    );
    assert_eq!(flows[0]["links"][0]["headroom_bytes"], 20_000);
    assert!(json(&["--set", "switch.pfc=false"])["flow_control"].is_null());
}
