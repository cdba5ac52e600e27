// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of the user's own as schemes: the page docs/own-marker.md as it is written, leave to run
//! machine code, and run directories without the marker's file.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// An empty directory that is removed on drop; commands run in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cemark-own-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    fn cemark(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .current_dir(&self.0)
            .output()
            .expect("the program runs")
    }

    /// A command that must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let o = self.cemark(args);
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", said(&o));
        String::from_utf8_lossy(&o.stdout).into_owned()
    }

    /// A command that must be refused.
    fn refused(&self, args: &[&str]) -> String {
        let o = self.cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", said(&o));
        said(&o)
    }

    /// The marker that `cemark init` writes, compiled.
    fn compiled(&self) {
        self.ok(&["init", "mine.c"]);
        self.shell("cc -O2 -fPIC -shared -Wall -Wextra -Werror mine.c -o mine.so");
    }

    fn shell(&self, script: &str) {
        let program = Path::new(env!("CARGO_BIN_EXE_cemark"));
        let folder = program.parent().expect("a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let done = Command::new("bash")
            .args(["-euo", "pipefail", "-c", script])
            .env("PATH", format!("{folder}:{path}"))
            .current_dir(&self.0)
            .output()
            .expect("bash");
        assert!(done.status.success(), "{script}\n{}", said(&done));
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Standard error without line breaks and frames.
fn said(o: &Output) -> String {
    let text = String::from_utf8_lossy(&o.stderr).replace(['│', '×', '╰', '├', '─', '▶'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const SCENARIO: &str = r#"
seeds = 1
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "5us"
[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.8
flows = 60
[[scheme]]
marker = "threshold"
k = "65pkt"
[[scheme]]
marker = "c:mine.so"
label = "mine"
"#;

/// The commands of the page, each console block as one script.
fn page() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-marker.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split("```console\n").skip(1);
    let script = |block: &str| {
        let lines = block.split("\n```").next().unwrap_or_default().lines();
        let lines = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    blocks.map(script).collect()
}

#[test]
fn the_page_works_as_it_is_written() {
    let scratch = Scratch::new("page");
    let scripts = page();
    assert_eq!(scripts.len(), 4, "{scripts:?}");
    let has_clang = Command::new("clang").arg("--version").output().is_ok();
    assert!(
        has_clang || std::env::var_os("CEMARK_CLANG").is_none(),
        "CEMARK_CLANG is set, and there is no clang: apt-get install clang"
    );
    for script in scripts {
        if script.starts_with("clang") && !has_clang {
            continue;
        }
        scratch.shell(&script);
    }
    // The page ends in a figure, with its numbers beside it.
    let figure = "plots/short-mean-over-scheme.mine.low";
    let drawn = fs::read(scratch.0.join(format!("{figure}.pdf"))).expect("the figure");
    assert!(drawn.starts_with(b"%PDF"));
    let data = fs::read_to_string(scratch.0.join(format!("{figure}-data.csv"))).expect("its data");
    let of_mine = data
        .lines()
        .filter(|line| line.starts_with("mine,"))
        .count();
    assert_eq!(of_mine, 3, "a value of low each: {data}");
}

#[test]
fn machine_code_of_a_scenario_needs_leave() {
    let scratch = Scratch::new("leave");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    let run = ["run", "s.toml", "--out", "run", "--format", "json"];
    let why = scratch.refused(&run);
    assert!(
        why.contains("mine.so") && why.contains("--allow-native"),
        "{why}"
    );
    assert!(!scratch.0.join("run").exists(), "nothing was begun");
    let capture = [
        "capture",
        "s.toml",
        "--link",
        "switch->*",
        "--scheme",
        "mine",
    ];
    assert!(scratch.refused(&capture).contains("--allow-native"));
    // Nothing is loaded to check a scenario.
    assert!(scratch.ok(&["check", "s.toml"]).contains("mine"));
    let allowed = scratch.ok(&[&run[..], &["--allow-native"]].concat());
    let doc: Value = serde_json::from_str(&allowed).expect("JSON");
    // Whoever names the file wants it to run.
    let with = scratch.ok(&[
        "run",
        "s.toml",
        "--out",
        "named",
        "--format",
        "json",
        "--marker",
        "c:mine.so",
        "--fresh",
    ]);
    let named: Value = serde_json::from_str(&with).expect("JSON");
    let of = |doc: &Value, scheme: &str| {
        let points = doc["points"].as_array().expect("points");
        let found = points.iter().find(|p| p["scheme"] == scheme);
        found.unwrap_or_else(|| panic!("no {scheme}"))["fct_us"].clone()
    };
    assert_eq!(of(&doc, "mine"), of(&named, "mine"));
    assert_eq!(of(&doc, "mine"), of(&named, "c:mine.so"));
}

/// `check` names the command that runs, and tells the parameters; `schemes` reads the declaration.
#[test]
fn a_declaration_is_told_without_running_the_code() {
    let scratch = Scratch::new("told");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    let checked = scratch.ok(&["check", "s.toml"]);
    for line in [
        "next    cemark run s.toml --allow-native\n",
        "mine: high = 97.5KB (default), low = 60KB (default)\n",
    ] {
        assert!(checked.contains(line), "{line}: {checked}");
    }
    // A file that the command line names needs no more consent.
    let named = scratch.ok(&["check", "rtt-variation", "--marker", "c:mine.so"]);
    assert!(
        named.contains("next    cemark run rtt-variation\n"),
        "{named}"
    );
    let shown = scratch.ok(&["schemes", "c:mine.so"]);
    for part in [
        "c:mine.so (mine)",
        "high        97500B  bytes",
        "Queue length below which marking ends.",
        "From 1B to 1GB.",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let text = scratch.ok(&["schemes", "c:mine.so", "--format", "json"]);
    let doc: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(doc[0]["name"], "mine");
    assert_eq!(doc[0]["parameters"][1]["stored_default"], 60_000, "{doc}");
    for marker in ["c:gone.so", "bpf:gone.o"] {
        for args in [
            &["schemes", marker][..],
            &["check", "s.toml", "--marker", marker],
        ] {
            let why = scratch.refused(args);
            for part in ["gone", "`cemark init mine.c`", "-c mine.c -o mine.o"] {
                let c = part.starts_with('-') && marker.starts_with("c:");
                let part = if c {
                    "cc -O2 -fPIC -shared mine.c -o mine.so"
                } else {
                    part
                };
                assert!(why.contains(part), "{args:?}: {part}: {why}");
            }
            assert!(!why.contains("dataplane"), "{why}");
        }
    }
}

/// A figure takes a further scheme, which the directory of its points has, and expects nothing.
#[test]
fn a_figure_takes_an_own_marker() {
    let scratch = Scratch::new("figure");
    scratch.compiled();
    let figure = [
        "figure",
        "mqecn-zero",
        "--quick",
        "--format",
        "json",
        "--quiet",
    ];
    let with = |more: &[&str]| -> Value {
        let text = scratch.ok(&[&figure[..], more].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let (plain, own) = (with(&[]), with(&["--marker", "c:mine.so"]));
    let report = |doc: &Value| doc["reports"][0].as_str().expect("a report").to_owned();
    assert_ne!(report(&plain), report(&own));
    let page = fs::read_to_string(scratch.0.join(report(&own))).expect("the report");
    assert!(page.contains("mine"), "the report has the scheme");
    for (plain, own) in plain["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(own["rows"].as_array().into_iter().flatten())
    {
        assert_eq!(plain["parts"][0]["measured"], own["parts"][0]["measured"]);
        assert!(
            !plain["expected"].is_null() && own["expected"].is_null(),
            "{own}"
        );
    }
    // The directory is read without the file.
    let dir = Path::new(&report(&own))
        .parent()
        .expect("a directory")
        .display()
        .to_string();
    fs::rename(scratch.0.join("mine.so"), scratch.0.join("moved.so")).expect("the file moves");
    let plot = [
        "plot", &dir, "--metric", "goodput", "--format", "csv", "--out", "plots",
    ];
    scratch.ok(&plot);
    let data = fs::read_to_string(scratch.0.join("plots/comparison-data.csv"));
    assert!(data.is_ok_and(|text| text.contains(",mine,")));
    // A path of --set begins in the working directory; what a scenario names needs consent.
    let set = "scheme.0.marker=c:moved.so";
    let why = scratch.refused(&[&figure[..], &["--set", set]].concat());
    assert!(!why.contains("No such file"), "{why}");
    assert!(why.contains("--marker c:moved.so"), "{why}");
    let python = [&figure[..], &["--marker", "python:mine"]].concat();
    assert!(
        scratch.refused(&python).contains("cemark.run("),
        "a class is not run"
    );
    let record = [
        &figure[..],
        &["--marker", "c:moved.so", "--record", "x.tsv"],
    ]
    .concat();
    assert!(scratch.refused(&record).contains("--record"));
}

/// Two builds of a file are told apart by their hashes and declarations.
#[test]
fn compare_names_the_file_that_changed() {
    let scratch = Scratch::new("compare");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    let run = |out: &str, more: &[&str]| {
        let run = ["run", "s.toml", "--allow-native", "--out", out];
        scratch.ok(&[&run[..], more].concat());
    };
    run("a", &[]);
    run("set", &["--set", "scheme.mine.low=10pkt"]);
    let source = fs::read_to_string(scratch.0.join("mine.c")).expect("the source");
    scratch.write("mine.c", &source.replace("40pkt", "20pkt"));
    scratch.shell("cc -O2 -fPIC -shared mine.c -o mine.so");
    run("b", &[]);
    let told = scratch.ok(&["compare", "a", "b"]);
    assert!(told.contains("file of mine: A "), "{told}");
    assert!(
        told.contains("default of mine.low: A 40pkt, B 20pkt"),
        "{told}"
    );
    // The threshold's flows are equal, which takes one line.
    let equal = "DCTCP-RED   paired, 1 seed; A and B have equal results here.";
    assert!(told.contains(equal), "{told}");
    assert_eq!(told.matches("\nsent again").count(), 1, "{told}");
    let told = scratch.ok(&["compare", "a", "set"]);
    let line = "scheme.mine.low: A 40pkt (default), B 10pkt";
    assert!(told.contains(line), "{told}");
    assert!(!told.contains("file of mine"), "{told}");
}

#[test]
fn an_own_marker_has_no_form_for_a_platform() {
    let scratch = Scratch::new("export");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    for target in ["sonic", "tc", "p4"] {
        let export = ["export", "s.toml", "--scheme", "mine", "--as", target];
        let why = scratch.refused(&export);
        let says = format!("mine is a marker of your own, and {target} has no form of it");
        assert!(why.contains(&says) && !why.contains("sweep"), "{why}");
    }
}

#[test]
fn a_run_directory_is_read_without_the_file_and_a_changed_file_is_another_scheme() {
    let scratch = Scratch::new("gone");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    let run = ["run", "s.toml", "--allow-native", "--out", "run"];
    scratch.ok(&run);
    fs::remove_file(scratch.0.join("mine.so")).expect("the file goes");
    scratch.ok(&["plot", "run", "--out", "plots", "--format", "csv"]);
    let table = fs::read_to_string(scratch.0.join("plots/comparison.csv")).expect("a table");
    assert!(table.contains("mine"), "{table}");
    assert!(scratch.refused(&run).contains("mine.so"));
    let source = fs::read_to_string(scratch.0.join("mine.c")).expect("the source");
    scratch.write(
        "mine.c",
        &source.replace("65pkt", "9pkt").replace("40pkt", "5pkt"),
    );
    scratch.shell("cc -O2 -fPIC -shared mine.c -o mine.so");
    let why = scratch.refused(&run);
    assert!(why.contains("the directory holds a run"), "{why}");
}

#[test]
fn parts_are_merged_without_the_file() {
    let scratch = Scratch::new("parts");
    scratch.compiled();
    scratch.write("s.toml", SCENARIO);
    for part in ["1/2", "2/2"] {
        scratch.ok(&["run", "s.toml", "--part", part, "--allow-native"]);
    }
    fs::remove_file(scratch.0.join("mine.so")).expect("the file goes");
    let parts = fs::read_dir(scratch.0.join("runs")).expect("parts");
    let parts: Vec<String> = parts
        .map(|entry| entry.expect("a part").path().display().to_string())
        .collect();
    let mut merge = vec!["merge", "--out", "whole", "--format", "json"];
    merge.extend(parts.iter().map(String::as_str));
    let doc: Value = serde_json::from_str(&scratch.ok(&merge)).expect("JSON");
    assert_eq!(doc["points"].as_array().map(Vec::len), Some(2), "{doc}");
}

#[test]
fn init_writes_a_marker_that_compiles() {
    let scratch = Scratch::new("init");
    scratch.compiled();
    let shown = scratch.ok(&["check", "rtt-variation", "--marker", "c:mine.so"]);
    assert!(shown.contains("  mine  "), "{shown}");
    assert!(scratch.refused(&["init", "mine.c"]).contains("--force"));
    assert!(scratch.refused(&["init", "9.c"]).contains("no name in C"));
    assert!(
        scratch
            .refused(&["init", "a.c", "--hosts", "9"])
            .contains("a fabric")
    );
    scratch.ok(&["init", "marker"]);
    scratch.ok(&["init", "mine.py"]);
    for file in ["marker.c", "mine.py", "cemark/marker.h"] {
        assert!(scratch.0.join(file).is_file(), "{file}");
    }
}

/// Nothing is written where one of the files cannot be.
#[test]
fn init_writes_all_or_nothing() {
    let scratch = Scratch::new("atomic");
    scratch.write("cemark", "a file");
    let why = scratch.refused(&["init", "marker"]);
    assert!(why.contains("cemark is a file"), "{why}");
    fs::remove_file(scratch.0.join("cemark")).expect("removed");
    fs::create_dir_all(scratch.0.join("cemark/marker.h")).expect("a directory");
    scratch.refused(&["init", "marker"]);
    fs::remove_dir(scratch.0.join("cemark/marker.h")).expect("removed");
    scratch.write("cemark/marker.h", "a header of somebody else\n");
    scratch.refused(&["init", "marker"]);
    assert!(!scratch.0.join("marker.c").exists(), "half of a marker");
    fs::remove_dir_all(scratch.0.join("cemark")).expect("removed");
    fs::create_dir(scratch.0.join("marker.c")).expect("a directory");
    scratch.refused(&["init", "marker"]);
    scratch.refused(&["init", "no/such/mine.c"]);
    assert!(!scratch.0.join("cemark").exists() && !scratch.0.join("no").exists());
}

#[test]
fn a_class_of_python_is_not_run_by_the_program() {
    let scratch = Scratch::new("python");
    scratch.write("s.toml", &SCENARIO.replace("c:mine.so", "python:mine"));
    for command in ["run", "check"] {
        let why = scratch.refused(&[command, "s.toml"]);
        assert!(
            why.contains("cemark.run(\"my.toml\", markers={\"mine\": Mine})"),
            "{why}"
        );
    }
}

/// A retune changes the parameters of one label, and the other label of the same file stays.
#[test]
fn a_retune_reaches_an_own_marker() {
    let scratch = Scratch::new("retune");
    let object = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dataplane/bpf/markers");
    let marker = format!("bpf:{}", object.join("own_marker.o").display());
    let fabric = SCENARIO.replace("c:mine.so", &marker);
    scratch.write(
        "s.toml",
        &format!(
            "{fabric}\n[[scheme]]\nmarker = \"{marker}\"\nlabel = \"steady\"\n\
             [[retune]]\nscheme = \"mine\"\nat = \"1ms\"\nhigh = \"10pkt\"\nlow = \"5pkt\"\n"
        ),
    );
    let out = scratch.ok(&["run", "s.toml", "--out", "run", "--format", "json"]);
    let doc: Value = serde_json::from_str(&out).expect("JSON");
    let marks = |scheme: &str| {
        let mut points = doc["points"].as_array().expect("points").iter();
        let point = points.find(|p| p["scheme"] == scheme).expect(scheme);
        point["marks"].as_u64().expect("a count")
    };
    assert!(marks("mine") > marks("steady"), "{doc}");
}
