// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark export`: what each target writes, that `cemark doctor` reads it without a finding, and
//! that `cemark run --switch` marks as written.
#![allow(missing_docs)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// Every platform, with the end of its files.
const PLATFORMS: [(&str, &str); 5] = [
    ("sonic", "json"),
    ("nvue", "txt"),
    ("eos", "cfg"),
    ("nxos", "cfg"),
    ("openconfig", "json"),
];

/// RoCE beside TCP at 100 Gb/s; every value is whole bytes and whole percents.
const CLASSES: &str = r#"
title = "Storage beside TCP"
max-time = "1s"
seeds = 1
[topology]
kind = "star"
hosts = 8
rate = "100Gbps"
delay = "1us"
[switch]
scheduler = "dwrr"
buffer-policy = "dynamic"
pool = "16MB"
pfc = true
[[switch.class]]
name = "services"
dscp = [0, 8]
queue = 0
[[switch.class]]
name = "storage"
dscp = [24, 26]
queue = 3
lossless = true
profile = { marker = "wred", min = "400KB", max = "1600KB", drop-probability = "20%" }
[[workload]]
name = "web"
kind = "poisson"
dscp = 0
sizes = "web-search"
load = 0.4
flows = 20
[[workload]]
name = "blocks"
kind = "poisson"
class = "storage"
sizes = "web-search"
load = 0.4
flows = 20
[workload.transport]
control = "dcqcn"
[[scheme]]
label = "step"
marker = "threshold"
k = "300KB"
[[scheme]]
label = "ramp"
marker = "wred"
min = "50KB"
max = "200KB"
drop-probability = "40%"
[[scheme]]
label = "TCN"
marker = "tcn"
threshold = "24us"
[[scheme]]
label = "ECN#"
marker = "ecn_sharp"
ins_target = "24us"
pst_target = "8us"
pst_interval = "24us"
[[scheme]]
label = "CoDel"
marker = "codel"
"#;

/// A queue and a scheme.
const SINGLE: &str = r#"
max-time = "1s"
seeds = 1
[topology]
kind = "star"
hosts = 4
rate = "25Gbps"
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.6
flows = 40
[[scheme]]
marker = "red"
kmin = "100KB"
kmax = "400KB"
pmax = "1.4%"
weight = 1
"#;

/// An empty directory that is removed on drop; commands run in it.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("cemark-export-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary directory");
        fs::write(path.join("classes.toml"), CLASSES).expect("a file");
        fs::write(path.join("single.toml"), SINGLE).expect("a file");
        Scratch(path)
    }

    fn cemark(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .env("COLUMNS", "100")
            .current_dir(&self.0)
            .output()
            .expect("the program runs")
    }

    /// A command that must succeed; its answer.
    fn ok(&self, args: &[&str]) -> String {
        let o = self.cemark(args);
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", said(&o));
        String::from_utf8_lossy(&o.stdout).into_owned()
    }

    /// A command that must be refused; its message.
    fn refused(&self, args: &[&str]) -> String {
        let o = self.cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", said(&o));
        assert!(o.stdout.is_empty(), "{args:?}");
        String::from_utf8_lossy(&o.stderr).into_owned()
    }
}

fn said(o: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&o.stdout) + &text(&o.stderr)
}

#[test]
fn the_doctor_finds_nothing_in_what_is_written() {
    let dir = Scratch::new("doctor");
    for scenario in ["classes.toml", "single.toml"] {
        for scheme in ["step", "ramp", "TCN", "ECN#"] {
            for (platform, end) in PLATFORMS {
                let file = format!("{platform}.{end}");
                let mut args = vec![
                    "export", scenario, "--as", platform, "--out", &file, "--force",
                ];
                if scenario == "classes.toml" {
                    args.extend(["--scheme", scheme]);
                }
                dir.ok(&args);
                let answer = dir.ok(&["doctor", &file]);
                assert!(
                    answer.contains("no finding"),
                    "{scheme} {platform}: {answer}"
                );
            }
        }
    }
}

/// A switch as exported gives the flows of the scheme that was exported, each number of them.
#[test]
fn a_run_with_the_switch_marks_as_written() {
    let dir = Scratch::new("run");
    for (platform, end) in PLATFORMS {
        let file = format!("{platform}.{end}");
        dir.ok(&[
            "export",
            "classes.toml",
            "--scheme",
            "ramp",
            "--as",
            platform,
            "--out",
            &file,
        ]);
        let args = [
            "run",
            "classes.toml",
            "--switch",
            &file,
            "--fresh",
            "--quiet",
            "--format",
            "json",
            "--out",
            "r",
        ];
        let json: Value = serde_json::from_str(&dir.ok(&args)).expect("JSON");
        let points = json["points"].as_array().expect("points");
        let row = |label: &str| {
            let row = points.iter().find(|row| row["scheme"] == label);
            row.unwrap_or_else(|| panic!("{label}: {json}"))
        };
        let (written, configured, other) = (row("ramp"), row("as configured"), row("TCN"));
        for field in ["fct_us", "marks", "slowdown"] {
            assert!(!written[field].is_null(), "{field}");
            assert_eq!(written[field], configured[field], "{platform} {field}");
            assert_ne!(other[field], configured[field], "{platform} {field}");
        }
    }
}

#[test]
fn sonic_has_three_forms_and_three_schemas() {
    let dir = Scratch::new("sonic");
    let export = |more: &[&str]| {
        let mut args = vec![
            "export",
            "single.toml",
            "--as",
            "sonic",
            "--ports",
            "Ethernet0,Ethernet4",
        ];
        args.extend(more);
        dir.ok(&args)
    };
    let tables: Value = serde_json::from_str(&export(&[])).expect("JSON");
    let profile = &tables["WRED_PROFILE"]["AZURE_LOSSLESS"];
    assert_eq!(profile["green_min_threshold"], "100000");
    assert_eq!(profile["wred_green_enable"], "true");
    assert_eq!(
        tables["QUEUE"]["Ethernet4|0"]["wred_profile"],
        "AZURE_LOSSLESS"
    );
    assert!(tables.get("PORT_QOS_MAP").is_none());
    let ecn: Value = serde_json::from_str(&export(&["--sonic-schema", "ecn"])).expect("JSON");
    let ect: Value = serde_json::from_str(&export(&["--sonic-schema", "ect"])).expect("JSON");
    let of = |tables: &Value, field: &str| tables["WRED_PROFILE"]["AZURE_LOSSLESS"][field].clone();
    assert_eq!(of(&ecn, "ecn_green_max_threshold"), "400000");
    assert_eq!(of(&ect, "green_ect_mark_probability"), "1");
    fs::write(dir.0.join("patch.json"), export(&["--form", "patch"])).expect("a file");
    assert!(dir.ok(&["doctor", "patch.json"]).contains("no finding"));
    let lines = export(&["--form", "ecnconfig"]);
    assert!(lines.contains("ecnconfig -p AZURE_LOSSLESS -gmin 100000 -gmax 400000 -gdrop 1\n"));
    assert!(lines.contains("'WRED_PROFILE|AZURE_LOSSLESS' wred_green_enable true"));
    let refused = dir.refused(&[
        "export",
        "classes.toml",
        "--scheme",
        "TCN",
        "--as",
        "sonic",
        "--form",
        "patch",
    ]);
    assert!(refused.contains("--form load"), "{refused}");
    dir.refused(&[
        "export",
        "single.toml",
        "--as",
        "sonic",
        "--form",
        "patch",
        "--sonic-schema",
        "ecn",
    ]);
}

#[test]
fn what_is_rounded_or_lost_is_said() {
    let dir = Scratch::new("said");
    // In comments where the platform has some, otherwise on standard error.
    for (platform, _) in PLATFORMS {
        let o = dir.cemark(&["export", "single.toml", "--as", platform]);
        assert!(
            said(&o).contains("1.40 % is written as 1 %"),
            "{platform}: {}",
            said(&o)
        );
        let o = dir.cemark(&[
            "export",
            "classes.toml",
            "--scheme",
            "ECN#",
            "--as",
            platform,
        ]);
        let text = said(&o).replace("\n! ", " ").replace("\n# ", " ");
        assert!(
            text.contains("persistent marks cannot be said"),
            "{platform}: {text}"
        );
        assert!(text.contains("docs/p4.md"), "{platform}: {text}");
        let json = platform == "sonic" || platform == "openconfig";
        assert_eq!(o.stderr.is_empty(), !json, "{platform}: {}", said(&o));
    }
    let refused = dir.refused(&["export", "classes.toml", "--scheme", "CoDel", "--as", "eos"]);
    assert!(
        refused.contains("no curve over the queue length"),
        "{refused}"
    );
}

/// The cost that a comment states is the one that the page of approximations has.
#[test]
fn the_cost_of_the_ramp_is_that_of_the_page() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/p4.md"));
    let page = page.expect("docs/p4.md");
    let row = "| ramp from 10 us to 220 us, up to 100 % | 125 % (121 to 129) |";
    let found = page
        .lines()
        .find(|line| line.starts_with(row))
        .expect("a row");
    assert!(found.contains("| 0 % ±2 |"), "{found}");
    let dir = Scratch::new("cost");
    let o = dir.cemark(&[
        "export",
        "classes.toml",
        "--scheme",
        "ECN#",
        "--as",
        "sonic",
    ]);
    let text = said(&o);
    assert!(
        text.contains("125 % (121 to 129)") && text.contains("0 % (± 2)"),
        "{text}"
    );
}

#[test]
fn linux_p4_c_and_bytecode_are_targets_too() {
    let dir = Scratch::new("targets");
    let tc = dir.ok(&["export", "single.toml", "--as", "tc", "--ports", "eth1"]);
    assert!(
        tc.starts_with("tc qdisc replace dev eth1 root cemark scheme red kmin 100000b"),
        "{tc}"
    );
    let header = dir.ok(&["export", "single.toml"]);
    assert_eq!(header, dir.ok(&["export", "red"]));
    let o = dir.cemark(&["export", "single.toml", "--as", "bpf", "--out", "red.o"]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(said(&o).contains("kmin = 100KB"), "{}", said(&o));
    assert!(
        fs::read(dir.0.join("red.o"))
            .expect("an object")
            .starts_with(b"\x7fELF")
    );
    let p4 = dir.ok(&["export", "rtt-variation", "--scheme", "ECN#", "--as", "p4"]);
    assert!(p4.contains("targets") && p4.contains("220000"), "{p4}");
    dir.refused(&["export", "rtt-variation", "--scheme", "TCN", "--as", "p4"]);
    let queues = dir.ok(&["export", "classes.toml", "--scheme", "TCN", "--as", "tc"]);
    for part in [
        "root cemark scheme tcn threshold 24000ns queues 4 scheduler dwrr by dscp map 1:0 ",
        // DSCP 24 and 26 go to the last queue without an entry.
        " 23:0 25:0 27:0 ",
        " queue 3 scheme wred min 400000b max 1600000b ",
    ] {
        assert!(queues.contains(part), "{part}\n{queues}");
    }
    let wfq = [
        "--set",
        "switch.scheduler=wfq",
        "--scheme",
        "TCN",
        "--as",
        "tc",
    ];
    dir.refused(&[&["export", "classes.toml"], &wfq[..]].concat());
}

/// Names of profiles have no point, priorities are below 8, traffic classes below 16: SONiC's YANG
/// models (`cargo xtask proof yang`).
#[test]
fn sonic_gets_names_and_numbers_that_its_models_accept() {
    let dir = Scratch::new("models");
    let sonic = ["--scheme", "ramp", "--as", "sonic"];
    let of_rate = ["export", "classes.toml", "--rate", "2.5G"];
    let text = dir.ok(&[&of_rate[..], &sonic].concat());
    assert!(text.contains("\"CEMARK_0_2500M\""), "{text}");
    for (from, to) in [("queue = 3", "queue = 9"), ("queue = 0", "queue = 17")] {
        fs::write(dir.0.join("far.toml"), CLASSES.replace(from, to)).expect("a file");
        dir.refused(&[&["export", "far.toml"], &sonic[..]].concat());
    }
    // A DSCP without a class goes where best effort goes, not into a strict queue.
    let strict = CLASSES
        .replace("dscp = [0, 8]\nqueue = 0", "dscp = [0, 8]\nqueue = 1")
        .replace(
            "[[workload]]\nname = \"web\"",
            "[[switch.class]]\nname = \"control\"\ndscp = 48\nqueue = 0\nstrict = true\n\
         [[workload]]\nname = \"web\"",
        );
    fs::write(dir.0.join("strict.toml"), strict).expect("a file");
    let strict = ["export", "strict.toml"];
    let text = dir.ok(&[&strict[..], &sonic].concat());
    assert!(
        text.contains("\"47\": \"1\"") && text.contains("\"48\": \"0\""),
        "{text}"
    );
    let nxos = dir.ok(&[&strict[..], &["--scheme", "ramp", "--as", "nxos"]].concat());
    assert!(
        nxos.contains("class class-default\n    set qos-group 1\n"),
        "{nxos}"
    );
    let qdisc = dir.ok(&[&strict[..], &["--scheme", "ramp", "--as", "tc"]].concat());
    assert!(
        qdisc.contains(" 47:1 48:0 49:1 ") && qdisc.contains(" strict 1 "),
        "{qdisc}"
    );
    let lossy = CLASSES
        .replace("lossless = true\n", "")
        .replace("pfc = true\n", "");
    fs::write(dir.0.join("lossy.toml"), lossy).expect("a file");
    let o = dir.cemark(&[&["export", "lossy.toml"], &sonic[..]].concat());
    assert!(said(&o).contains("`pfc_enable` is empty"), "{}", said(&o));
}

#[test]
fn mistakes_are_refused_with_what_to_write() {
    let dir = Scratch::new("refused");
    for (args, word) in [
        (
            &["export", "classes.toml", "--as", "eos"][..],
            "step, ramp, TCN",
        ),
        (
            &["export", "classes.toml", "--scheme", "TNC", "--as", "eos"],
            "TCN",
        ),
        (
            &["export", "ecn_sharp", "--as", "sonic"],
            "cemark export my.toml",
        ),
        (&["export", "missing.toml", "--as", "sonic"], "missing.toml"),
        (&["export", "single.toml", "--as", "eso"], "eos"),
        (
            &["export", "single.toml", "--as", "eos", "--ports", "a;b"],
            "Ethernet1",
        ),
        (
            &[
                "export",
                "rtt-variation",
                "--scheme",
                "DCTCP-RED-Tail",
                "--as",
                "eos",
                "--set",
                "scheme.DCTCP-RED-Tail.k=100KB,200KB",
            ],
            "--set",
        ),
    ] {
        let message = dir.refused(args);
        assert!(message.contains(word), "{args:?}: {message}");
    }
    fs::write(dir.0.join("mine.cfg"), "not of cemark\n").expect("a file");
    dir.refused(&["export", "single.toml", "--as", "eos", "--out", "mine.cfg"]);
    let kept = fs::read_to_string(dir.0.join("mine.cfg")).expect("a file");
    assert_eq!(kept, "not of cemark\n");
}

#[test]
fn a_switch_that_does_not_fit_is_refused() {
    let dir = Scratch::new("fit");
    dir.ok(&[
        "export",
        "classes.toml",
        "--scheme",
        "step",
        "--as",
        "eos",
        "--out",
        "two.cfg",
    ]);
    dir.ok(&["export", "single.toml", "--as", "eos", "--out", "one.cfg"]);
    let message = dir.refused(&["check", "single.toml", "--switch", "two.cfg"]);
    assert!(message.contains("several curves"), "{message}");
    let message = dir.refused(&["check", "classes.toml", "--switch", "one.cfg"]);
    assert!(message.contains("sorts packets by DSCP"), "{message}");
    let answer = dir.ok(&["check", "single.toml", "--switch", "one.cfg"]);
    assert!(answer.contains("as configured"), "{answer}");
    dir.refused(&["check", "single.toml", "--switch", "classes.toml"]);
}
