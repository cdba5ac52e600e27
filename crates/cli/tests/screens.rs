// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of commands that simulate nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

fn cemark(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn stdout(o: &Output) -> String {
    String::from_utf8(o.stdout.clone()).expect("UTF-8")
}

fn stderr(o: &Output) -> String {
    String::from_utf8(o.stderr.clone()).expect("UTF-8")
}

#[test]
fn nothing_typed_shows_what_to_type() {
    let o = cemark(&[]);
    assert_eq!(o.status.code(), Some(0));
    assert!(stdout(&o).contains("cemark run rtt-variation"));
    assert!(o.stderr.is_empty());
}

#[test]
fn mistakes_on_the_command_line_are_exit_code_2() {
    for args in [
        &["nonsense"][..],
        &["run"],
        &["run", "rtt-variation", "--jobs", "0"],
        &["run", "rtt-variation", "--format", "xml"],
        &["run", "no-such-scenario"],
        &["check", "no/such/file.toml"],
        &["check", "rtt-variation", "--set", "no-equals-sign"],
        &["schemes", "no-such-scheme"],
        &["theory", "no-such-theory"],
        &["theory", "cedm", "n"],
        &["theory", "cedm", "speed=10Gbps"],
        &["theory", "cedm", "rate=10"],
        &["theory", "cedm", "rate=0Gbps"],
        &["theory", "cedm", "n=1"],
        &["theory", "cedm", "n=2,4", "beta=0.3,0.5"],
    ] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(o.stdout.is_empty(), "{args:?}");
        assert!(!o.stderr.is_empty(), "{args:?}");
        assert!(!stderr(&o).contains("panicked"), "{args:?}");
    }
}

#[test]
fn schemes_as_json_are_what_scripts_read() {
    let o = cemark(&["schemes", "--format", "json"]);
    assert_eq!(o.status.code(), Some(0));
    let list: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let list = list.as_array().expect("an array");
    assert_eq!(list.len(), cemark_marking::catalogue::ALL.len());
    for (scheme, spec) in list.iter().zip(cemark_marking::catalogue::ALL) {
        assert!(
            scheme["name"] == spec.name && scheme["paper"].is_string(),
            "{scheme}"
        );
        let parameters = scheme["parameters"].as_array().expect("parameters");
        assert_eq!(parameters.len(), spec.params.len());
        for (p, known) in parameters.iter().zip(spec.params) {
            assert_eq!(p["stored_default"], known.default, "{p}");
            assert_eq!(p["stored_min"], known.min, "{p}");
            assert_eq!(p["stored_max"], known.max, "{p}");
            let unit = match p["unit"].as_str() {
                Some("time") => "ns",
                Some("bytes") => "bytes",
                Some("fraction") => "1/65536",
                Some("count") => "1",
                Some("flag") => "0 or 1",
                _ => "index of choices",
            };
            assert_eq!(p["stored_unit"], unit, "{p}");
            assert!(
                p["name"].is_string()
                    && p["unit"].is_string()
                    && !p["default"].is_null()
                    && p["doc"].is_string()
            );
        }
    }
}

#[test]
fn a_scheme_answers_to_every_name_it_has() {
    for spec in cemark_marking::catalogue::ALL {
        for name in spec.aliases.iter().chain([&spec.name, &spec.title]) {
            let o = cemark(&["schemes", name]);
            assert_eq!(o.status.code(), Some(0), "{name}: {}", stderr(&o));
            for p in spec.params {
                assert!(
                    stdout(&o).contains(p.name),
                    "{name} does not show {}",
                    p.name
                );
            }
        }
    }
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .arg("schemes")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let o = child.wait_with_output().expect("it ends");
    assert!(!stderr(&o).contains("panicked"), "{}", stderr(&o));
    assert_eq!(o.status.code(), Some(0));
}

/// A full disk is a failure of the machine, whatever is written.
#[test]
fn help_into_a_full_disk_is_exit_code_1() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["--version"],
        &[],
        &["schemes"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("open");
        let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .stdout(full)
            .output()
            .expect("the program runs");
        assert_eq!(o.status.code(), Some(1), "{args:?}: {}", stderr(&o));
        assert!(
            stderr(&o).contains("cannot write to standard output"),
            "{args:?}"
        );
    }
    for args in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(0));
        assert!(!o.stdout.is_empty() && o.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn near_names_are_offered() {
    for (args, offer, most) in [
        (&["rn"][..], "did you mean `run`?", 300),
        (&["chek", "rtt-variation"], "did you mean `check`?", 300),
        (&["schemes", "wrd"], "did you mean `wred`?", 500),
        (&["export", "tcm"], "did you mean `tcn`?", 500),
        (&["figure", "ecnsharp-99"], "did you mean `ecnsharp-9`", 300),
        (&["figure", "nothing-like-it"], "cemark figure --list", 300),
    ] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        let said = stderr(&o).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains(offer) && said.len() < most,
            "{args:?}: {said}"
        );
    }
}

/// A scenario file that is removed on drop.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cemark-screen-{}-{number}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).expect("a temporary file");
        File(path)
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Names that clear the screen, set the window title, ring the bell and reverse the text direction.
const HOSTILE: &str = r#"
title = "t\u001b[2Jt\u009b1mt\u202Et"
description = "d\u001b]0;owned\u0007d \u2066d"

[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "2us"

[[workload]]
kind = "poisson"
name = "w\u001b[31mw"
sizes = "web-search"
load = 0.5
flows = 20

[[scheme]]
label = "l\u001b[1ml\u202El"
marker = "threshold"
k = "600MB"

[[scheme]]
marker = "ecn_sharp"
"#;

fn hidden(text: &str) -> Option<char> {
    let moves = |c: char| cemark_scenario::is_hidden(c) && c != '\n';
    text.chars().find(|c| moves(*c))
}

/// Control characters in a user's text are shown as escapes and do not reach the terminal.
#[test]
fn escapes_are_shown_and_not_obeyed() {
    let file = File::new(HOSTILE);
    let path = file.path();
    let out = std::env::temp_dir().join(format!("cemark-\u{1b}[2J-{}", std::process::id()));
    let out = out.display().to_string();
    let run = ["run", &path, "--out", &out, "--jobs", "1"];
    let broken = File::new(&HOSTILE.replace("k = ", "\"k\\u001b[2J\" = "));
    let (label, set) = ("scheme.l\u{1b}[1mx.k=3KB", "switch.b\u{1b}[2J=1");
    for (args, code, shown) in [
        (&["check", &path][..], 0, "t\\u{1b}[2Jt\\u{9b}1mt\\u{202e}t"),
        (&["check", &path], 0, "l\\u{1b}[1ml\\u{202e}l  "),
        (&["check", &path], 0, "d\\u{1b}]0;owned\\u{7}d"),
        (&["check", &path], 0, "warning: `l\\u{1b}[1ml"),
        (&run, 0, "l\\u{1b}[1ml\\u{202e}l"),
        (&run, 0, "cemark-\\u{1b}[2J-"),
        (&["check", &broken.path()], 2, "k\\u{1b}[2J"),
        (&["check", &path, "--set", label], 2, "l\\u{1b}[1mx"),
        (&["check", &path, "--set", set], 2, "b\\u{1b}[2J"),
        (&["check", "no\u{9b}such.toml"], 2, "no\\u{9b}such"),
        (&["schemes", "no\u{1b}[2Jsuch"], 2, "no\\u{1b}[2Jsuch"),
        (&["theory", "no\u{1b}[2Jsuch"], 2, "no\\u{1b}[2Jsuch"),
        (&["figure", "no\u{1b}[2Jsuch"], 2, "no\\u{1b}[2Jsuch"),
        (&["no\u{1b}[2Jsuch"], 2, "no\\u{1b}[2Jsuch"),
        (&["run", "x", "--no\u{1b}[2Jsuch"], 2, "no\\u{1b}[2Jsuch"),
        (&["run", "x", "--jobs", "\u{202e}1"], 2, "\\u{202e}1"),
    ] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(code), "{args:?}: {}", stderr(&o));
        let all = stdout(&o) + &stderr(&o);
        assert_eq!(hidden(&all), None, "{args:?}: {all:?}");
        assert!(all.contains(shown), "{args:?} without {shown}: {all}");
    }
    let report = fs::read_to_string(Path::new(&out).join("report.html")).expect("a report");
    assert_eq!(hidden(&report), None);
    assert!(report.contains("l\\u{1b}[1ml\\u{202e}l"));
    // JSON uses its own escapes and holds the same text as the file.
    for args in [
        &["check", &path, "--format", "json"][..],
        &[&run[..], &["--format", "json"]].concat(),
    ] {
        let o = cemark(args);
        assert_eq!(hidden(&stdout(&o)), None, "{}", stdout(&o));
        let doc: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
        let label = &doc["points"][0]["scheme"];
        assert_eq!(label, "l\u{1b}[1ml\u{202e}l");
    }
    fs::remove_dir_all(out).expect("the run directory");
}

#[test]
fn columns_are_kept_to() {
    let of = |columns: &str, args: &[&str]| {
        let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .env("COLUMNS", columns)
            .output()
            .expect("the program runs");
        stdout(&o) + &stderr(&o)
    };
    let widest = |text: &str| text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
    let cost = |text: &str| {
        let from = text.find("point, about").expect("a cost line");
        widest(&text[text[..from].rfind('\n').map_or(0, |i| i + 1)..])
    };
    let check = ["check", "leafspine-128"];
    assert!(cost(&of("60", &check)) <= 60, "{}", of("60", &check));
    assert!(cost(&of("120", &check)) > 60);
    for args in [
        &["run", "--help"][..],
        &["figure", "--help"],
        &["run", "no-such-scenario"],
        &["figure", "--list"],
        &["theory"],
        &["schemes"],
        &["schemes", "ecn_sharp"],
        &[],
    ] {
        let (narrow, wide) = (of("60", args), of("100", args));
        assert!(widest(&narrow) <= 60, "{args:?}: {narrow}");
        assert!(widest(&wide) > 60, "{args:?}: {wide}");
    }
}

/// A sweep of three axes over lossless queues: the widest tables of `check`.
const WIDE: &str = r#"
seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 2
rate = "10Gbps"
delay = "2us"

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.5
flows = 20

[switch]
buffer-policy = "dynamic"
pool = "16MB"
alpha = 1
pfc = true
pfc-alpha = 0.125

[[switch.queue]]
lossless = true

[[scheme]]
label = "A threshold with a long name"
marker = "threshold"
k = "65pkt"

[[scheme]]
marker = "ecn_sharp"

[sweep]
"workload.load" = [0.3, 0.5]
"scheme.ECN#.pst_target" = ["10us", "20us"]
"scheme.A threshold with a long name.k" = ["65pkt", "130pkt"]
"#;

/// Every command that prints a table, at the width of most terminals.
#[test]
fn tables_fold_to_the_terminal() {
    let dir = std::env::temp_dir().join(format!("cemark-tables-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    fs::write(dir.join("wide.toml"), WIDE).expect("a file");
    let of = |args: &[&str]| {
        let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(args)
            .env("COLUMNS", "80")
            .current_dir(&dir)
            .output()
            .expect("the program runs");
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", stderr(&o));
        stdout(&o)
    };
    let theories = of(&["theory", "--format", "json"]);
    let theories: Vec<String> = serde_json::from_str(&theories).expect("JSON");
    let run = ["run", "wide.toml", "--seeds", "2", "--quiet", "--out"];
    let mut commands = vec![
        vec!["figure", "mqecn-zero", "--quick", "--quiet"],
        vec!["figure", "mqecn-numbers", "--quick", "--quiet"],
        vec!["figure", "--all", "--why"],
        vec!["figure", "--list"],
        vec!["check", "wide.toml"],
        vec!["check", "rtt-variation"],
        [&run[..], &["a"]].concat(),
        [&run[..], &["b", "--set", "scheme.1.pst_interval=100us"]].concat(),
        vec!["compare", "a", "b"],
        vec!["theory"],
        vec!["theory", "cedm", "n=2,3,4,8,16,32,64,128"],
        vec!["schemes"],
        vec!["help"],
        vec!["help", "run"],
    ];
    commands.extend(theories.iter().map(|name| vec!["theory", name]));
    let schemes = cemark_marking::catalogue::ALL.iter();
    commands.extend(schemes.map(|spec| vec!["schemes", spec.name]));
    for args in commands {
        let text = of(&args);
        // Paths of reports, and commands to copy, are whole.
        let whole = |line: &&str| {
            ["report", "next", "page"]
                .iter()
                .any(|w| line.starts_with(w))
        };
        for line in text.lines().filter(|line| !whole(line)) {
            assert!(line.chars().count() <= 80, "{args:?}: {line}\n{text}");
        }
    }
    fs::remove_dir_all(dir).expect("the directory");
}

/// On a terminal there are colours, unless `NO_COLOR` or `TERM` says otherwise.
#[test]
fn colours_go_where_they_are_not_wanted() {
    let run = |set: &[(&str, &str)], args: &str| {
        let program = env!("CARGO_BIN_EXE_cemark");
        let o = Command::new("script")
            .args(["-qec", &format!("{program} {args}"), "/dev/null"])
            .env_remove("NO_COLOR")
            .env("TERM", "xterm")
            .envs(set.iter().copied())
            .stdin(Stdio::null())
            .output();
        o.ok()
            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
    };
    // `script` is part of util-linux; without it the test has no terminal.
    for args in ["run --help", "run no-such-scenario", "run --nonsense"] {
        let Some(coloured) = run(&[], args) else {
            return;
        };
        assert!(coloured.contains("\u{1b}["), "{args}: {coloured:?}");
        for set in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let plain = run(&[set], args).expect("as before");
            assert!(
                !plain.contains('\u{1b}') && plain.len() > 40,
                "{args} {set:?}: {plain:?}"
            );
        }
        let empty = run(&[("NO_COLOR", "")], args).expect("as before");
        assert!(
            empty.contains("\u{1b}["),
            "an empty NO_COLOR says nothing: {empty:?}"
        );
    }
}
