// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark plot`: what it writes of a run, and what it says of something that is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty directory that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("cemark-plot-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }

    fn cemark(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cemark"));
        command.args(args).current_dir(&self.0);
        command.output().expect("the program runs")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn small() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.toml");
    path.display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory").flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_becomes_charts_and_tables() {
    let dir = Scratch::new("run");
    assert!(
        dir.cemark(&["run", &small(), "--out", "r"])
            .status
            .success()
    );
    let first = dir.cemark(&["plot", "r", "--out", "a"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let written = names(&dir.0.join("a"));
    for name in [
        "short-mean-over-workload.load.svg",
        "short-mean-over-workload.load.pdf",
        "short-mean-over-workload.load-absolute.svg",
        "comparison-load-0.3.svg",
        "queue-load-0.6.pdf",
        "comparison.csv",
        "comparison-load-0.6.md",
        "schemes.md",
        "ports.csv",
    ] {
        assert!(written.iter().any(|w| w == name), "{name}: {written:?}");
        assert!(text(&first.stdout).contains(name), "{name}");
    }
    // The same run gives the same bytes, also when it is found by the name of its scenario.
    assert!(dir.cemark(&["run", &small()]).status.success());
    let again = dir.cemark(&["plot", &small(), "--out", "b"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(names(&dir.0.join("b")), written);
    for name in &written {
        let read = |at: &str| fs::read(dir.0.join(at).join(name)).expect("a file");
        assert!(read("a") == read("b"), "{name}");
        assert!(
            read("a").len() < 150_000 || name.ends_with(".csv"),
            "{name}"
        );
    }
    let queue = fs::read_to_string(dir.0.join("a/queue-load-0.6.svg")).expect("a file");
    assert!(
        queue.contains("All curves are of port "),
        "one port for all"
    );
    let csv = fs::read_to_string(dir.0.join("a/comparison.csv")).expect("a file");
    let head = csv.lines().next().expect("a header");
    assert!(head.starts_with("workload.load,scheme,"), "{head}");
    assert!(
        head.contains("short.mean [µs],short.mean difference [%]"),
        "{head}"
    );
    assert_eq!(csv.lines().count(), 1 + 2 * 2, "two loads, two schemes");
    // A choice of them.
    let some = dir.cemark(&[
        "plot", "r", "--out", "c", "--format", "md", "--only", "schemes",
    ]);
    assert!(some.status.success(), "{}", text(&some.stderr));
    assert_eq!(names(&dir.0.join("c")), ["schemes.md"]);
    let none = dir.cemark(&["plot", "r", "--only", "shcemes"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr).contains("schemes"),
        "{}",
        text(&none.stderr)
    );
    // The run remains one that continues and can be drawn.
    assert!(
        dir.cemark(&["run", &small(), "--out", "r"])
            .status
            .success()
    );
}

#[test]
fn a_character_that_the_font_lacks_is_named() {
    let dir = Scratch::new("lacking");
    let scenario = fs::read_to_string(small()).expect("the scenario");
    let scenario = scenario.replace("\"ECN#\"", "\"短流 ECN#\"");
    fs::write(dir.0.join("s.toml"), scenario).expect("a file");
    let run = dir.cemark(&["run", "s.toml", "--out", "r"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let plot = |format: &str| {
        let o = dir.cemark(&["plot", "r", "--format", format, "--only", "queue-load"]);
        let said = text(&o.stderr);
        assert!(o.status.success(), "{said}");
        said
    };
    assert_eq!(plot("svg"), "");
    assert_eq!(
        plot("pdf"),
        "warning: the font of PDF files lacks `流` (U+6D41), `短` (U+77ED); boxes stand for them \
         in queue-load-0.3, queue-load-0.6\n   help: write labels and titles in Latin or Greek \
         letters, or take the SVG files, which leave such characters to the program that shows \
         them\n"
    );
}

#[test]
fn what_is_no_finished_run_is_refused() {
    let dir = Scratch::new("none");
    let refused = |args: &[&str], words: &[&str]| {
        let o = dir.cemark(args);
        let said = text(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(flat.contains(word), "{args:?}: {word}: {said}");
        }
    };
    refused(
        &["plot", "nowhere"],
        &["no directory nowhere", "cemark run"],
    );
    refused(
        &["plot", "rtt-variation"],
        &["has not been run here", "cemark run rtt-variation"],
    );
    fs::create_dir_all(dir.0.join("empty")).expect("a directory");
    refused(&["plot", "empty"], &["no manifest.json"]);
    fs::write(dir.0.join("file.txt"), "x").expect("a file");
    refused(&["plot", "file.txt"], &["is a file"]);
    refused(&["plot", "empty", "--format", "png"], &["svg"]);
    assert!(
        dir.cemark(&["run", &small(), "--out", "r"])
            .status
            .success()
    );
    // A point is lost.
    let points = dir.0.join("r/points");
    let point = points.join(&names(&points)[0]);
    let bytes = fs::read(&point).expect("a point");
    fs::write(&point, &bytes[..bytes.len() / 2]).expect("a file");
    refused(&["plot", "r"], &["missing, damaged", "run it again"]);
    fs::write(&point, &bytes).expect("a file");
    // A file is in the way.
    refused(&["plot", "r", "--out", "file.txt"], &["in the way"]);
    // A manifest that was edited.
    let path = dir.0.join("r/manifest.json");
    let manifest = fs::read_to_string(&path).expect("a manifest");
    fs::write(&path, manifest.replace("two loads", "few loads")).expect("a file");
    refused(&["plot", "r"], &["its checksum does", "r/manifest.json"]);
    // An unfinished run: its manifest has no digest yet.
    let part = ["run", &small(), "--part", "1/2", "--out", "p"];
    assert!(dir.cemark(&part).status.success());
    refused(
        &["plot", "p"],
        &["not finished", "continue it first: cemark run"],
    );
}
