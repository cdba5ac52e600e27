// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark plot`: what it writes of a run, and what it says of something that is none.
#![allow(missing_docs)]

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
        "slowdown-by-size-load-0.3.svg",
        "slowdown-by-size-load-0.3-data.csv",
        "slowdown-by-size.csv",
        "fct-load-0.6.pdf",
        "slowdown-load-0.6.pdf",
        "queue-cdf-load-0.6.pdf",
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
    refused(&["plot", "empty", "--format", "jpg"], &["png"]);
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

/// A key that some schemes do not read leaves their points alike, and each is simulated once.
#[test]
fn a_sweep_of_a_key_of_one_scheme_is_drawn() {
    let dir = Scratch::new("alike");
    let set = "scheme.ECN#.pst_target=10us,40us";
    let run = ["run", &small(), "--out", "r", "--seed", "1", "--set", set];
    assert!(dir.cemark(&run).status.success());
    let summary = fs::read_to_string(dir.0.join("r/summary.json")).expect("a summary");
    assert!(summary.contains("same_as"), "some points are alike");
    let plot = dir.cemark(&["plot", "r", "--out", "a", "--format", "csv"]);
    assert!(plot.status.success(), "{}", text(&plot.stderr));
}

/// The part of a file name and of the file's bytes that its kind has.
fn bytes(dir: &Scratch, path: &str) -> Vec<u8> {
    fs::read(dir.0.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn one_chart_has_the_width_of_a_column_in_every_kind() {
    let dir = Scratch::new("column");
    let run = dir.cemark(&["run", &small(), "--out", "r"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let plot = |width: &str, out: &str| {
        let o = dir.cemark(&[
            "plot",
            "r",
            "--metric",
            "fct",
            "--width",
            width,
            "--format",
            "svg,pdf,png,csv",
            "--out",
            out,
        ]);
        assert!(o.status.success(), "{}", text(&o.stderr));
    };
    plot("241pt", "a");
    let endings = ["-data.csv", ".pdf", ".png", ".svg"];
    let each = ["0.3", "0.6"].map(|load| endings.map(|end| format!("fct-load-{load}{end}")));
    assert_eq!(names(&dir.0.join("a")), each.concat());
    let svg = text(&bytes(&dir, "a/fct-load-0.3.svg"));
    assert!(svg.contains(" width=\"321.333\""), "{}", &svg[..300]);
    let pdf = bytes(&dir, "a/fct-load-0.3.pdf");
    let has = |part: &[u8]| pdf.windows(part.len()).any(|w| w == part);
    assert!(has(b"/MediaBox [0 0 241 "));
    // 241 pt are 3.347 inches of 300 pixels, 11811 of which are a metre.
    let size = |png: &[u8], at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let png = bytes(&dir, "a/fct-load-0.3.png");
    assert_eq!((size(&png, 16), size(&png, 41)), (1004, 11811));
    // Pixels are pixels.
    plot("390px", "b");
    let png = bytes(&dir, "b/fct-load-0.3.png");
    assert_eq!((size(&png, 16), size(&png, 41)), (390, 3780));
    // The same run gives the same bytes.
    plot("390px", "c");
    assert!(png == bytes(&dir, "c/fct-load-0.3.png"));
    let csv = text(&bytes(&dir, "a/fct-load-0.3-data.csv"));
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("scheme,completion time [µs],share of flows")
    );
    let shares = lines.map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    assert_eq!(
        shares.filter(|share| *share == 1.0).count(),
        2,
        "two schemes"
    );
    // Files of these kinds are replaced, others are not.
    plot("241pt", "a");
    fs::write(dir.0.join("a/fct-load-0.3.png"), "mine").expect("a file");
    let o = dir.cemark(&[
        "plot", "r", "--metric", "fct", "--format", "png", "--out", "a",
    ]);
    assert_eq!(o.status.code(), Some(2), "{}", text(&o.stderr));
}

#[test]
fn buckets_and_metrics_are_chosen() {
    let dir = Scratch::new("buckets");
    let run = dir.cemark(&["run", &small(), "--out", "r"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let plot = |args: &[&str]| {
        let all = [&["plot", "r"], args].concat();
        let o = dir.cemark(&all);
        assert!(o.status.success(), "{}", text(&o.stderr));
    };
    let buckets = ["--buckets", "100KB,10MB"];
    plot(
        &[
            &[
                "--only",
                "slowdown-by-size",
                "--format",
                "csv",
                "--out",
                "a",
            ][..],
            &buckets,
        ]
        .concat(),
    );
    let csv = text(&bytes(&dir, "a/slowdown-by-size.csv"));
    let mut lines = csv.lines();
    let head = lines.next().expect("a header");
    assert!(
        head.starts_with("workload.load,scheme,above_bytes,up_to_bytes,median_bytes,flows,"),
        "{head}"
    );
    let ends = lines.map(|l| l.split(',').skip(2).take(2).collect::<Vec<_>>().join(" "));
    let ends: Vec<String> = ends.collect();
    assert_eq!(&ends[..2], ["0 100000", "100000 10000000"]);
    // The summary has the deciles.
    let summary = text(&bytes(&dir, "r/summary.json"));
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("a document");
    let all = summary["slowdown_by_size"].as_array().expect("a list");
    assert_eq!(all.len(), 2 * 2, "two loads, two schemes");
    for of in all {
        let buckets = of["buckets"].as_array().expect("a list");
        assert_eq!(buckets.len(), 10, "{}", of["scheme"]);
        assert!(
            buckets[0]["p50"]["mean"]
                .as_f64()
                .is_some_and(|mean| mean >= 1.0)
        );
    }
    // A metric of a sweep is drawn over its axis.
    plot(&["--metric", "short.mean", "--format", "svg", "--out", "b"]);
    let over = "short-mean-over-workload.load";
    assert_eq!(
        names(&dir.0.join("b")),
        [format!("{over}-absolute.svg"), format!("{over}.svg")]
    );
    plot(&[
        "--metric",
        "slowdown-by-size.p50",
        "--format",
        "svg",
        "--out",
        "c",
    ]);
    assert_eq!(
        names(&dir.0.join("c")),
        ["0.3", "0.6"].map(|load| format!("slowdown-by-size.p50-load-{load}.svg"))
    );
}

#[test]
fn mistakes_of_options_say_what_to_write() {
    let dir = Scratch::new("options");
    let run = dir.cemark(&["run", &small(), "--out", "r"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    for (args, words) in [
        (
            &["--metric", "slowdown-by-siez"][..],
            &["no chart shows", "`slowdown-by-size`"][..],
        ),
        (
            &["--metric", "short.p9"],
            &["no chart shows", "`short.p99`"],
        ),
        (&["--metric", "probe.mean"], &["no values of `probe.mean`"]),
        (
            &["--metric", "fct", "--only", "slow"],
            &["`slow`", "fct-load-0.3"],
        ),
        (
            &["--width", "241"],
            &["`241`", "the unit is missing", "241pt"],
        ),
        (&["--width", "3feet"], &["`feet` is not a unit"]),
        (&["--width", "10pt"], &["225 to 1500pt"]),
        (&["--buckets", "1MB,10KB"], &["rising", "10KB,100KB,1MB"]),
        (&["--buckets", "10us"], &["is not a length"]),
    ] {
        let o = dir.cemark(&[&["plot", "r"], args].concat());
        let said = text(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(flat.contains(word), "{args:?}: {word}: {said}");
        }
    }
    assert!(!dir.0.join("r/plots").exists(), "nothing was written");
}

/// A figure's directory has the charts of its rows, and of its points by the name of a metric.
#[test]
fn a_figure_is_drawn_by_row_and_by_metric() {
    let dir = Scratch::new("figure");
    let ran = dir.cemark(&["figure", "cedm-parts", "--out", "f", "--quiet"]);
    assert!(
        ran.status.code().is_some_and(|c| c < 2),
        "{}",
        text(&ran.stderr)
    );
    let name = names(&dir.0.join("f"))
        .into_iter()
        .find(|n| n.starts_with("cedm-parts-"));
    let figure = format!("f/{}", name.expect("the figure's directory"));
    let plot = |args: &[&str]| dir.cemark(&[&["plot", &figure], args].concat());

    let rows = plot(&["--format", "svg", "--out", "rows"]);
    assert!(rows.status.success(), "{}", text(&rows.stderr));
    let drawn = names(&dir.0.join("rows"));
    assert!(
        !drawn.is_empty() && drawn.iter().all(|n| n.starts_with("CEDM-")),
        "{drawn:?}"
    );

    let args = "--metric slowdown-by-size --buckets 20KB,1MB --width 241pt --out by-size";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.extend(["--format", "svg,pdf,png,csv"]);
    let sizes = plot(&args);
    assert!(sizes.status.success(), "{}", text(&sizes.stderr));
    assert_eq!(
        names(&dir.0.join("by-size")),
        ["-data.csv", ".pdf", ".png", ".svg"].map(|end| format!("slowdown-by-size{end}"))
    );
    let svg = text(&bytes(&dir, "by-size/slowdown-by-size.svg"));
    assert!(
        svg.starts_with("<svg ") && svg.contains("width=\"321.333\""),
        "{}",
        &svg[..200]
    );
    let csv = text(&bytes(&dir, "by-size/slowdown-by-size-data.csv"));
    let mut lines = csv.lines();
    let head = lines.next().expect("a header");
    assert!(head.contains("scheme,flow size [bytes],slowdown"), "{head}");
    // Two bounds make three buckets at most, for each scheme and percentile.
    let keys = lines.map(|l| l.split(',').take(3).collect::<Vec<_>>().join(","));
    let keys: std::collections::BTreeSet<String> = keys.collect();
    let of_p50 = |scheme: &str| {
        keys.iter()
            .filter(|k| k.starts_with(&format!("p50,{scheme},")))
            .count()
    };
    assert!((1..=3).contains(&of_p50("CEDM")), "{keys:?}");

    for (args, words) in [
        (&["--buckets", "20KB"][..], "--metric slowdown-by-size"),
        (
            &["--metric", "fct", "--format", "md"],
            "--format svg,pdf,png,csv",
        ),
        (
            &["--metric", "fct", "--format", "fct,md"],
            "--format svg,pdf,png,csv",
        ),
        (&["--metric", "probe.mean"], "no values of `probe.mean`"),
    ] {
        let o = plot(&[args, &["--out", "refused"]].concat());
        let said = text(&o.stderr).replace('│', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(o.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
    assert!(!dir.0.join("refused").exists(), "nothing was written");

    // Flows of every point as lines of fct.txt.
    let fct = plot(&["--format", "fct", "--out", "flows"]);
    assert!(fct.status.success(), "{}", text(&fct.stderr));
    assert!(
        names(&dir.0.join("flows"))
            .iter()
            .all(|n| n.starts_with("fct-"))
    );
}

/// A figure of closed forms has no points.
#[test]
fn a_figure_that_simulates_nothing_has_rows_only() {
    let dir = Scratch::new("formulas");
    let ran = dir.cemark(&["figure", "mqecn-numbers", "--out", "f", "--quiet"]);
    assert!(
        ran.status.code().is_some_and(|c| c < 2),
        "{}",
        text(&ran.stderr)
    );
    let o = dir.cemark(&[
        "plot",
        "f/mqecn-numbers-quick",
        "--metric",
        "fct",
        "--out",
        "a",
    ]);
    let said = text(&o.stderr);
    assert_eq!(o.status.code(), Some(2), "{said}");
    assert!(
        said.contains("simulates nothing") && said.contains("leave --metric"),
        "{said}"
    );
}
