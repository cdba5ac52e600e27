// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files and links of others: what is read has an end, what is written replaces nothing of
//! somebody else's, and text of a user's stays text in every document.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{cemark, folder, line};

const SCENARIO: &str = include_str!("data/attacked.toml");

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
}

/// Runs the program, which must end by itself.
#[allow(clippy::disallowed_methods)] // a limit on how long the program takes
fn ends(dir: &Path, args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            panic!("{args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("its output")
}

#[test]
fn pipes_and_devices_are_no_files() {
    let dir = folder("others-pipes", &[("s.toml", SCENARIO)]);
    fifo(&dir.join("pipe"));
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    for file in ["pipe", "/dev/zero"] {
        for args in [
            &["check", file][..],
            &["import", file, "--out", "i.toml"],
            &["compare", "r", file],
            &["p4", "spec", file],
            &["run", "s.toml", "--marker", &format!("bpf:{file}")],
            &["run", "s.toml", "--marker", &format!("c:{file}")],
            &[
                "check",
                "s.toml",
                "--set",
                &format!("workload.sizes=/{file}"),
            ],
        ] {
            let o = ends(&dir, args);
            let said = line(&o.stderr);
            assert_eq!(o.status.code(), Some(2), "{args:?}: {said}");
        }
    }
    let run = dir.join("r");
    let point = fs::read_dir(run.join("points")).expect("points").next();
    let point = point.expect("a point").expect("an entry").path();
    for file in [run.join("manifest.json"), run.join("summary.json"), point] {
        let kept = dir.join("kept");
        fs::rename(&file, &kept).expect("moved");
        fifo(&file);
        assert_eq!(ends(&dir, &["plot", "r"]).status.code(), Some(2));
        let o = ends(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
        assert!(
            matches!(o.status.code(), Some(0 | 2)),
            "{}",
            line(&o.stderr)
        );
        fs::rename(&kept, &file).expect("moved back");
    }
}

#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let dir = folder(
        "others-lock",
        &[("s.toml", SCENARIO), ("precious", "precious")],
    );
    fs::create_dir(dir.join("r")).expect("a directory");
    symlink("../precious", dir.join("r/.cemark-lock")).expect("a link");
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(2), "{}", line(&o.stderr));
    assert_eq!(
        fs::read_to_string(dir.join("precious")).expect("it"),
        "precious"
    );
    // A file of somebody else's in its place keeps its text.
    fs::remove_file(dir.join("r/.cemark-lock")).expect("removed");
    fs::write(dir.join("r/.cemark-lock"), "precious").expect("a file");
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let text = fs::read_to_string(dir.join("r/.cemark-lock")).expect("it");
    assert_eq!(text, "precious");
}

#[test]
fn points_behind_a_link_are_not_removed() {
    let dir = folder("others-points", &[("s.toml", SCENARIO)]);
    let theirs = dir.join("theirs");
    fs::create_dir(&theirs).expect("a directory");
    for name in ["0123456789abcdef.parquet", ".cemark-tmp-1-0-x"] {
        fs::write(theirs.join(name), "theirs").expect("a file");
    }
    fs::create_dir(dir.join("r")).expect("a directory");
    symlink("../theirs", dir.join("r/points")).expect("a link");
    for more in [&[][..], &["--fresh"]] {
        let args = [&["run", "s.toml", "--out", "r", "--quiet"][..], more].concat();
        let o = cemark(&dir, &args);
        assert_eq!(o.status.code(), Some(2), "{}", line(&o.stderr));
        assert!(line(&o.stderr).contains("symbolic link"));
    }
    assert_eq!(fs::read_dir(&theirs).expect("theirs").count(), 2);
}

#[test]
fn a_manifest_of_somebody_else_is_not_replaced() {
    let text = "{\"scenario_digest\": \"theirs\"}";
    let dir = folder("others-manifest", &[("s.toml", SCENARIO)]);
    fs::create_dir(dir.join("r")).expect("a directory");
    fs::write(dir.join("r/manifest.json"), text).expect("a file");
    for more in [&[][..], &["--fresh"]] {
        let args = [&["run", "s.toml", "--out", "r", "--quiet"][..], more].concat();
        let o = cemark(&dir, &args);
        assert_eq!(o.status.code(), Some(2), "{}", line(&o.stderr));
    }
    let kept = fs::read_to_string(dir.join("r/manifest.json")).expect("it");
    assert_eq!(kept, text);
}

/// Each command that writes where its user says, on a file of somebody else's, on its own, with
/// `--force`, and on a device.
#[test]
fn a_file_of_somebody_else_is_replaced_only_with_force() {
    let dir = folder("others-out", &[("s.toml", SCENARIO)]);
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let capture = [
        "capture",
        "s.toml",
        "--link",
        "switch0->host0",
        "--scheme",
        "low",
        "--seed",
        "1",
        "--set",
        "workload.load=0.3",
        "--out",
    ];
    let plot = [
        "plot",
        "r",
        "--only",
        "comparison-load-0.3",
        "--format",
        "svg",
        "--out",
    ];
    for (args, target, file) in [
        (&["export", "tcn", "--out"][..], "x", "x"),
        (&["export", "tcn", "--as", "bpf", "--out"], "x", "x"),
        (&capture[..], "x", "x"),
        (&plot[..], "plots", "plots/comparison-load-0.3.svg"),
    ] {
        let path = dir.join(file);
        let args = [args, &[target]].concat();
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let code = |more: &[&str]| {
            let o = cemark(&dir, &[&args[..], more].concat());
            (o.status.code(), line(&o.stderr))
        };
        fs::write(&path, "precious").expect("a file");
        let (refused, said) = code(&[]);
        assert_eq!(refused, Some(2), "{args:?}: {said}");
        assert!(said.contains("--force"), "{args:?}: {said}");
        assert_eq!(fs::read_to_string(&path).expect("it"), "precious");
        assert_eq!(code(&["--force"]).0, Some(0), "{args:?}");
        let written = fs::read(&path).expect("it");
        assert!(written.len() > 100, "{args:?}");
        // Its own file it replaces unasked.
        assert_eq!(code(&[]), (Some(0), code(&[]).1), "{args:?}");
        fs::remove_file(&path).expect("removed");
    }
    let o = cemark(&dir, &["export", "tcn", "--out", "/dev/null"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(!fs::metadata("/dev/null").expect("it").is_file());
}

/// A name that moves the terminal, is no XML, a formula, and markup: labels, titles and sources.
#[test]
fn text_of_a_user_stays_text_in_every_document() {
    let nasty =
        "=a\\u0000\\u0001\\u0008\\u001b\\ufffe\\uffff\\u202e</text><script>alert(9)</script>";
    let text = SCENARIO
        .replace("\"low\"", &format!("\"{nasty}\""))
        .replace("\"a paper\"", &format!("\"{nasty}\""))
        .replace("\"A star of four hosts\"", &format!("\"{nasty}\""));
    let dir = folder("others-text", &[("s.toml", &text)]);
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let o = cemark(&dir, &["plot", "r", "--format", "svg,pdf,csv,md,fct"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let mut seen = 0;
    for entry in fs::read_dir(dir.join("r/plots")).expect("plots") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        let Ok(text) = fs::read_to_string(&path) else {
            assert!(name.ends_with(".pdf"), "{name}");
            continue;
        };
        if name.ends_with(".svg") || name.ends_with(".md") {
            let hidden = |c: char| c.is_control() && c != '\n';
            assert!(
                !text.contains(hidden) && !text.contains('\u{fffe}'),
                "{name}"
            );
            assert!(!text.contains("<script"), "{name}");
            seen += 1;
        }
        if name.ends_with(".csv") {
            let cells = text.lines().flat_map(|line| line.split(','));
            let formula = |cell: &str| cell.trim_matches('"').starts_with(['=', '@']);
            assert!(!cells.clone().any(formula), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

/// Labels that differ only in characters that no file name has.
#[test]
fn equal_names_of_files_are_numbered() {
    let text = SCENARIO
        .replace("\"low\"", "\"a/b\"")
        .replace("\"high\"", "\"A_b\"");
    let dir = folder("others-names", &[("s.toml", &text)]);
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let o = cemark(&dir, &["plot", "r", "--format", "fct"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let files = fs::read_dir(dir.join("r/plots")).expect("plots").count();
    assert_eq!(files, 12);
    assert!(String::from_utf8_lossy(&o.stdout).contains("12 files"));
}
