// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark init` as a user types it: with options, without a terminal, and on one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An empty directory.
fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("init-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a temporary directory");
    dir
}

fn cemark(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
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
fn without_a_terminal_the_defaults_are_taken_and_named() {
    let dir = folder("defaults");
    let o = cemark(&dir, &["init"]);
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    assert!(
        stderr(&o).contains("the defaults are taken for kind, hosts, rate"),
        "{}",
        stderr(&o)
    );
    for command in ["cemark check my-fabric.toml", "cemark run my-fabric.toml"] {
        assert!(stdout(&o).contains(command), "{}", stdout(&o));
    }
    let o = cemark(&dir, &["check", "my-fabric.toml"]);
    assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    // A second time it would overwrite what may have been changed since.
    let o = cemark(&dir, &["init", "--yes"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(stderr(&o).contains("--force"), "{}", stderr(&o));
    let o = cemark(&dir, &["init", "--yes", "--force", "--hosts", "8"]);
    assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    let text = fs::read_to_string(dir.join("my-fabric.toml")).expect("the file");
    assert!(text.contains("8 hosts under"), "{text}");
}

#[test]
fn what_it_writes_runs() {
    let dir = folder("runs");
    let options = [
        "--kind",
        "one-switch",
        "--hosts",
        "4",
        "--rate",
        "10G",
        "--rtt",
        "50us..150us",
    ];
    let more = [
        "--buffer",
        "2000cells/port",
        "--cell",
        "256B",
        "--sizes",
        "20KB",
        "--queues",
        "2",
    ];
    let all = [&["init", "small.toml", "--yes"][..], &options, &more].concat();
    let o = cemark(&dir, &all);
    assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    let text = fs::read_to_string(dir.join("small.toml")).expect("the file");
    assert!(
        text.contains("buffer = \"512KB\" # of each port: 2000 cells of 256 bytes"),
        "{text}"
    );
    let few = [
        "--set",
        "workload.flows=60",
        "--seed",
        "1",
        "--format",
        "json",
    ];
    let o = cemark(
        &dir,
        &[&["run", "small.toml", "--out", "out"][..], &few].concat(),
    );
    assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
    let json: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let points = json["points"].as_array().expect("points");
    let labels: Vec<&str> = points.iter().filter_map(|p| p["scheme"].as_str()).collect();
    assert_eq!(labels, ["DCTCP-RED-Tail", "MQ-ECN", "TCN", "CoDel", "ECN#"]);
    assert!(points.iter().all(|p| p["unfinished"] == 0), "{json}");
}

/// A file of sizes is named as the scenario's own folder sees it.
#[test]
fn files_are_found_from_another_folder() {
    let dir = folder("files");
    fs::create_dir(dir.join("sub")).expect("a directory");
    fs::write(dir.join("sizes.txt"), "1000 0.5\n100000 1\n").expect("a table");
    for file in ["here.toml", "sub/there.toml"] {
        let o = cemark(&dir, &["init", file, "--yes", "--sizes", "sizes.txt"]);
        assert_eq!(o.status.code(), Some(0), "{}", stderr(&o));
        let o = cemark(&dir, &["check", file]);
        assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    }
}

/// Thresholds follow from measured RTTs: mean 60, 90th percentile 100, largest 110 us.
#[test]
fn measured_rtts_are_read_from_a_file() {
    let rtt = cemark_scenario::key_table("rtt", "*").expect("a section");
    if !rtt.contains("samples") {
        // This build cannot draw RTTs from a file, and says so where it is asked to.
        return;
    }
    let dir = folder("measured");
    let rtts: Vec<String> = (1..=11).map(|i| (i * 10).to_string()).collect();
    fs::write(
        dir.join("rtts.csv"),
        format!("rtt_us\n{}\n", rtts.join("\n")),
    )
    .expect("a file");
    let o = cemark(
        &dir,
        &["init", "--yes", "--rtt", "rtts.csv", "--hosts", "4"],
    );
    assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    let text = fs::read_to_string(dir.join("my-fabric.toml")).expect("the file");
    for line in [
        "model = \"samples\"\nfile = \"rtts.csv\"\n",
        "k = \"100us\"",
        "pst_interval = \"110us\"",
        "pst_target = \"60us\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let o = cemark(&dir, &["check", "my-fabric.toml"]);
    assert_eq!((o.status.code(), stderr(&o)), (Some(0), String::new()));
    fs::write(dir.join("rtts.csv"), "rtt_us\n20\nfast\n").expect("a file");
    let o = cemark(&dir, &["init", "--yes", "--force", "--rtt", "rtts.csv"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(stderr(&o).contains("fast"), "{}", stderr(&o));
}

#[test]
fn what_cannot_be_says_what_to_write() {
    let dir = folder("refused");
    for (args, instead) in [
        (&["--hosts", "1"][..], "2 to 4096"),
        (&["--rate", "25"], "25G"),
        (&["--load", "1.5"], "0.05 to 0.95"),
        (&["--rtt", "120us..20us"], "20us..120us"),
        (&["--rtt", "no-such.csv"], "there is no such file"),
        (&["--buffer", "16"], "16MB"),
        (&["--buffer", "1000cells"], "--cell 256B"),
        (&["--cell", "256B"], "--buffer 65536cells"),
        (&["--transport", "reno"], "dctcp"),
        (&["--sizes", "web-serch"], "did you mean `web-search`"),
        (&["--queues", "65"], "1 to 64"),
        (
            &["--kind", "star", "--oversubscription", "2"],
            "leave --oversubscription out",
        ),
        (&["--hosts", "4", "--oversubscription", "32"], "--hosts 64"),
        (&["--kind", "leafspine"], "leaf-spine"),
        (&["fabric"], "fabric.toml"),
        (&["no-such-folder/fabric.toml"], "make it first"),
    ] {
        let o = cemark(&dir, &[&["init", "--yes"][..], args].concat());
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(stderr(&o).contains(instead), "{args:?}: {}", stderr(&o));
        assert_eq!(
            fs::read_dir(&dir).expect("a folder").count(),
            0,
            "{args:?} wrote a file"
        );
    }
}

/// On a terminal it asks; an answer that is refused is asked for again.
#[test]
fn on_a_terminal_it_asks() {
    let dir = folder("asks");
    // More lines than there are questions: the default of each further question.
    let typed = format!(
        "\n\nfast\n100G\n\n\n10us..40us\n\n\n0.4\n{}",
        "\n".repeat(32)
    );
    let command = format!("{} init asked.toml", env!("CARGO_BIN_EXE_cemark"));
    // `script` is part of util-linux; without it the test has no terminal.
    let Ok(mut child) = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(&dir)
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        return;
    };
    let mut keys = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut keys, typed.as_bytes()).expect("it reads");
    let o = child.wait_with_output().expect("it ends");
    drop(keys);
    let screen = String::from_utf8_lossy(&o.stdout).into_owned();
    assert_eq!(o.status.code(), Some(0), "{screen}");
    for question in [
        "Which fabric?",
        "Hosts",
        "Rate of the links between switches",
        "Base RTTs",
        "Load",
        "Traffic classes",
        "Congestion controller",
    ] {
        assert!(
            screen.contains(question),
            "{question} was not asked:\n{screen}"
        );
    }
    let text = fs::read_to_string(dir.join("asked.toml")).expect("the file");
    for line in ["rate = \"100Gbps\"", "min = \"10us\"", "load = 0.4"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
