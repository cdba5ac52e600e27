// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every command that reads a document of a run refuses one that is not as it was written. Each
//! document is damaged in bits that are spread over it; the library's own tests go through all of
//! them (`rundir/document.rs`, `tests/rundir.rs` of cemark-report).

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{cemark, folder, line};

/// Bits of a document that a command is tried with.
const BITS: usize = 12;

/// A finished run of twelve points in `r`.
fn run(name: &str) -> PathBuf {
    let dir = folder(name, &[("s.toml", include_str!("data/attacked.toml"))]);
    let o = cemark(&dir, &["run", "s.toml", "--out", "r", "--quiet"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    dir
}

fn point(dir: &Path) -> PathBuf {
    let points = fs::read_dir(dir.join("points")).expect("points");
    let mut points: Vec<PathBuf> = points.map(|e| e.expect("an entry").path()).collect();
    points.sort();
    points.swap_remove(0)
}

/// Runs a command on a document with single bits flipped, and as it was: it ends with code 2 and
/// names the file.
fn refuses(dir: &Path, file: &Path, args: &[&str]) {
    let whole = fs::read(file).expect("a document");
    let name = file.file_name().expect("a name").to_string_lossy();
    for i in 0..BITS {
        let at = (whole.len() - 1) * i / (BITS - 1);
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (i % 7);
        fs::write(file, &bytes).expect("a document");
        let o = cemark(dir, args);
        let said = line(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{name}, byte {at}: {said}");
        assert!(said.contains(&*name), "{name}, byte {at}: {said}");
        assert!(o.stdout.is_empty(), "{name}, byte {at}: an answer");
    }
    fs::write(file, &whole).expect("a document");
    let o = cemark(dir, args);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
}

#[test]
fn plot_refuses_a_flipped_bit() {
    let dir = run("damage-plot");
    let plot = ["plot", "r", "--only", "comparison", "--format", "csv"];
    let run = dir.join("r");
    for file in [
        run.join("manifest.json"),
        run.join("summary.json"),
        point(&run),
    ] {
        refuses(&dir, &file, &plot);
    }
    // A document without a checksum is none.
    let summary = run.join("summary.json");
    let text = fs::read_to_string(&summary).expect("text");
    let start = text.rfind(",\n  \"checksum\"").expect("a checksum");
    fs::write(&summary, format!("{}\n}}\n", &text[..start])).expect("a document");
    assert_eq!(cemark(&dir, &plot).status.code(), Some(2));
}

#[test]
fn compare_refuses_a_flipped_bit() {
    let dir = run("damage-compare");
    fs::write(
        dir.join("fct.txt"),
        "0b000001 0b000101 1 100 1000 2000000000 5000 4000\n",
    )
    .expect("a file");
    let run = dir.join("r");
    for file in [
        run.join("manifest.json"),
        run.join("summary.json"),
        point(&run),
    ] {
        refuses(&dir, &file, &["compare", "r", "fct.txt"]);
    }
}

#[test]
fn merge_refuses_a_flipped_bit() {
    let dir = folder(
        "damage-merge",
        &[("s.toml", include_str!("data/attacked.toml"))],
    );
    for part in ["1/2", "2/2"] {
        let out = format!("p{}", &part[..1]);
        let o = cemark(&dir, &["run", "s.toml", "--part", part, "--out", &out]);
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    }
    let part = dir.join("p1");
    let merge = ["merge", "p1", "p2", "--out", "whole"];
    for file in [part.join("manifest.json"), point(&part)] {
        refuses(&dir, &file, &merge);
        fs::remove_dir_all(dir.join("whole")).expect("what it has merged");
    }
}

#[test]
fn a_run_goes_on_beside_damage_with_the_same_result() {
    let dir = run("damage-run");
    let again = ["run", "s.toml", "--out", "r", "--format", "json", "--quiet"];
    let digest = |args: &[&str]| {
        let o = cemark(&dir, args);
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
        let value: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
        value["digest"].clone()
    };
    let whole = digest(&again);
    let run = dir.join("r");
    for file in [
        run.join("manifest.json"),
        run.join("summary.json"),
        point(&run),
    ] {
        let bytes = fs::read(&file).expect("a document");
        for at in [0, bytes.len() / 3, bytes.len() - 2] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            fs::write(&file, &damaged).expect("a document");
            assert_eq!(digest(&again), whole, "{}, byte {at}", file.display());
        }
        let o = cemark(
            &dir,
            &["plot", "r", "--only", "comparison", "--format", "csv"],
        );
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    }
}

#[test]
fn a_page_refuses_a_flipped_bit_of_its_rows() {
    let dir = folder("damage-page", &[]);
    let figure = ["figure", "mqecn-numbers", "--out", "runs"];
    let o = cemark(&dir, &figure);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let page = [
        "figure", "--paper", "mqecn", "--from", "runs", "--out", "pages",
    ];
    let rows = dir.join("runs/mqecn-numbers-quick/rows.json");
    refuses(&dir, &rows, &page);
    refuses(
        &dir,
        &rows,
        &["plot", "runs/mqecn-numbers-quick", "--format", "csv"],
    );
}

/// A document of another run, whole in itself, does not belong to the manifest beside it.
#[test]
fn a_summary_of_another_run_is_refused() {
    let dir = run("damage-another");
    let other = ["run", "s.toml", "--seeds", "2", "--out", "o", "--quiet"];
    assert_eq!(cemark(&dir, &other).status.code(), Some(0));
    fs::copy(dir.join("o/summary.json"), dir.join("r/summary.json")).expect("a copy");
    let o = cemark(&dir, &["plot", "r"]);
    assert_eq!(o.status.code(), Some(2));
    let said = line(&o.stderr);
    assert!(said.contains("that of another run"), "{said}");
}
