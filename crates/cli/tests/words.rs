// SPDX-License-Identifier: MIT OR Apache-2.0
//! Help, near misses, completions and manual pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn cemark(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .env("COLUMNS", "100")
        .output()
        .expect("the program runs")
}

fn stdout(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

/// Standard error as one line.
fn stderr(o: &Output) -> String {
    let text = String::from_utf8_lossy(&o.stderr).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_answers_for_commands_schemes_keys_and_topics() {
    for (words, parts) in [
        (&["run"][..], &["Usage: cemark run", "--marker"][..]),
        (
            &["ecn_sharp"],
            &["pst_target", "Marking rule.", "cemark theory ecn_sharp"],
        ),
        (&["ECN#"], &["Algorithm 1"]),
        (
            &["workload.load"],
            &["in [[workload]], only of poisson", "default: needed"],
        ),
        (&["switch.buffer"], &["1B to 4.295GB", "default: `\"1MB\"`"]),
        (&["max-time"], &["at the top of the file"]),
        (&["rtt"], &["The base RTT of a flow", "variation"]),
        (&["[switch]"], &["buffer-policy", "`dwrr`"]),
        (
            &["scheme.ECN#.pst_target"],
            &["pst_target of ECN#", "default: 85us"],
        ),
        (&["figures"], &["targets.tsv", "cemark figure --list"]),
        (&["exit", "codes"], &["Ctrl-C"]),
        (&["units"], &["`KiB` (1024)"]),
        (&["dctcp"], &["alpha-init"]),
        (&["packet-hop"], &["one packet, data or ACK"]),
        (
            &["rtt-variation"],
            &["Figure 13", "cemark run rtt-variation"],
        ),
        (&["ecnsharp-13"], &["ECNSHARP-T32", "published: 23.4 %"]),
    ] {
        let o = cemark(&[&["help"][..], words].concat());
        assert_eq!(o.status.code(), Some(0), "{words:?}: {}", stderr(&o));
        for part in parts {
            assert!(
                stdout(&o).contains(part),
                "{words:?} without {part}:\n{}",
                stdout(&o)
            );
        }
        let widest = stdout(&o).lines().map(|l| l.chars().count()).max();
        assert!(
            widest <= Some(100) || words == ["[switch]"],
            "{words:?}: {widest:?}"
        );
    }
    assert_eq!(stdout(&cemark(&["help"])), stdout(&cemark(&[])));
}

/// The first screen names every command and the three examples.
#[test]
fn the_first_screen_has_every_command() {
    let screen = stdout(&cemark(&[]));
    assert_eq!(stdout(&cemark(&["--help"])), screen);
    assert_eq!(stdout(&cemark(&["-h"])), screen);
    let pages = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("words-pages");
    let _ = std::fs::remove_dir_all(&pages);
    cemark(&["man", "--out", &pages.display().to_string()]);
    let files = std::fs::read_dir(&pages).expect("the manual pages");
    let files = files.map(|f| f.expect("a page").file_name().display().to_string());
    let names: Vec<String> = files
        .filter_map(|f| Some(f.strip_prefix("cemark-")?.strip_suffix(".1")?.to_owned()))
        .filter(|name| !name.contains('-'))
        .collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let shown = screen.lines().any(|l| l.starts_with(&format!("  {name} ")));
        assert!(shown, "{name} is not on the first screen:\n{screen}");
    }
    for example in [
        "cemark init && cemark run",
        "--set workload.load=0.3,0.6",
        "cemark help ecn_sharp",
    ] {
        assert!(screen.contains(example), "{screen}");
    }
}

/// Every name that can be mistyped is answered with the nearest ones, and exit code 2.
#[test]
fn near_misses_are_offered_everywhere() {
    let set = |path: &'static str| ["check", "rtt-variation", "--set", path];
    for (args, offer) in [
        (&["rn"][..], "did you mean `run`?"),
        (&["complete", "bash"], "did you mean `completions`"),
        (&["help", "ecn_shrp"], "did you mean `ecn_sharp`"),
        (&["help", "wrkload.load"], "did you mean `workload.load`"),
        (&["schemes", "ecn_shrp"], "did you mean `ecn_sharp`"),
        (&["export", "codle"], "did you mean `codel`"),
        (&["figure", "ecnsharp-99"], "cemark figure --list"),
        (&["run", "rtt-variaton"], "did you mean `rtt-variation`?"),
        (&["check", "wide-aera"], "did you mean `wide-area`?"),
        (&["theory", "thresold"], "did you mean `threshold`?"),
        (&["theory", "cedm", "rte=10Gbps"], "did you mean `rate`"),
        (&["bench", "leafspine-18"], "did you mean `leafspine-128`"),
        (&["man", "rnu"], "did you mean `run`?"),
        (&["completions", "bsh"], "did you mean `bash`"),
        (
            &["run", "rtt-variation", "--format", "jsn"],
            "did you mean `json`?",
        ),
        (
            &["run", "rtt-variation", "--sed", "1"],
            "did you mean `--seed`",
        ),
        (&["init", "--transport", "dctpc"], "did you mean `dctcp`?"),
        (&set("scheme.ECNsharp.pst_target=1us"), "`ECN#`"),
        (&set("scheme.4.marker=wrd"), "did you mean `wred`"),
        (
            &set("workload.sizes=web-serch"),
            "did you mean `web-search`",
        ),
    ] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(
            stderr(&o).contains(offer),
            "{args:?} without {offer}: {}",
            stderr(&o)
        );
        assert!(stderr(&o).len() < 700, "{args:?}: {}", stderr(&o));
    }
}

/// Candidates that the script of bash gets at a press of TAB.
#[test]
fn completions_know_the_names() {
    for (typed, offered) in [
        (&["ru"][..], "run"),
        (&["run", "rtt"], "rtt-variation"),
        (&["check", "wid"], "wide-area"),
        (
            &["run", "rtt-variation", "--set", "switch.buf"],
            "switch.buffer=",
        ),
        (&["run", "rtt-variation", "--set", "max"], "max-time="),
        (&["figure", "mqecn-1"], "mqecn-13"),
        (&["schemes", "ecn"], "ecn_sharp"),
        (&["export", "t"], "tcn"),
        (&["theory", "ced"], "cedm"),
        (&["bench", "fat"], "fattree-432"),
        (&["help", "workload.l"], "workload.load"),
        (&["init", "--kind", "le"], "leaf-spine"),
        (&["completions", "z"], "zsh"),
    ] {
        let index = typed.len().to_string();
        let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
            .args(["--", "cemark"])
            .args(typed)
            .env("CEMARK_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", index)
            .env("_CLAP_COMPLETE_COMP_TYPE", "9")
            .env("_CLAP_IFS", "\n")
            .output()
            .expect("the program runs");
        let words = stdout(&o);
        assert!(
            o.status.success() && words.lines().any(|w| w == offered),
            "{typed:?}: {words}"
        );
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let o = cemark(&["completions", shell]);
        assert_eq!(o.status.code(), Some(0), "{shell}");
        assert!(
            stdout(&o).contains("CEMARK_COMPLETE"),
            "{shell}: {}",
            stdout(&o)
        );
        assert!(
            !stdout(&o).contains(env!("CARGO_BIN_EXE_cemark")),
            "{shell} has a path"
        );
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("words-man");
    let _ = fs::remove_dir_all(&dir);
    let o = cemark(&["man", "--out", &dir.display().to_string()]);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let mut pages = 0;
    for entry in fs::read_dir(&dir).expect("the directory") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a page");
        assert!(text.is_ascii(), "{}", path.display());
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", "\"User commands\""] {
            assert!(text.contains(part), "{} without {part}", path.display());
        }
        // groff draws pages for man; without it their structure has to do.
        if let Ok(o) = Command::new("groff")
            .args(["-man", "-ww", "-z"])
            .arg(&path)
            .output()
        {
            assert_eq!(stderr(&o), "", "{}", path.display());
        }
        pages += 1;
    }
    assert!(pages >= 12 && dir.join("cemark-run.1").exists());
    // Commands of a group too, but not the `help` that clap gives each group.
    for (name, there) in [("bpf-attach", true), ("p4-spec", true), ("p4-help", false)] {
        let page = dir.join(format!("cemark-{name}.1"));
        assert_eq!(page.exists(), there, "{name}");
    }
    assert!(stdout(&cemark(&["man", "bpf-attach"])).contains("cemark\\-bpf\\-attach"));
    let o = cemark(&["man", "run"]);
    assert!(
        stdout(&o).contains("cemark\\-run \\- Simulate every point"),
        "{}",
        stdout(&o)
    );
}
