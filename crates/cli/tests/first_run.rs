// SPDX-License-Identifier: MIT OR Apache-2.0
//! A first run tells its user whether schemes differ at all, every class of flows, parameters in
//! force, and the same verdicts on the terminal and in the report.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{cemark, folder, line};

/// A star of hosts with one flow size; `schemes` are the tables of schemes.
fn star(load: &str, size: &str, flows: u32, schemes: &str) -> String {
    format!(
        "seeds = 3\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"5us\"\n\
         [rtt]\nmodel = \"fixed\"\nrtt = \"80us\"\n[[workload]]\nkind = \"poisson\"\n\
         load = {load}\nsizes = \"{size}\"\nflows = {flows}\n[switch]\nbuffer = \"1MB\"\n{schemes}"
    )
}

const TWO: &str = "[[scheme]]\nlabel = \"A\"\nmarker = \"threshold\"\nk = \"100KB\"\n\
                   [[scheme]]\nlabel = \"B\"\nmarker = \"tcn\"\nthreshold = \"80us\"\n";

/// Runs a scenario and returns standard output, `summary.json` and the report.
fn ran(name: &str, text: &str) -> (String, Value, String) {
    let dir = folder(&format!("first-{name}"), &[("my.toml", text)]);
    let o = cemark(&dir, &["run", "my.toml", "--out", "run"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let read = |file: &str| fs::read_to_string(dir.join("run").join(file)).expect(file);
    let summary = serde_json::from_str(&read("summary.json")).expect("a document");
    let shown = String::from_utf8(o.stdout).expect("text");
    (shown, summary, read("report.html"))
}

#[test]
fn a_run_without_a_mark_says_so_first() {
    let (shown, summary, report) = ran("unmarked", &star("0.05", "3KB", 120, TWO));
    let first = shown.lines().next().expect("a line");
    assert!(first.starts_with("This run cannot tell the schemes apart: no packet was marked"));
    let told = summary["cannot_tell"].as_str().expect("a sentence");
    assert!(line(shown.as_bytes()).starts_with(told), "{told}\n{shown}");
    let (before, _) = report.split_once("<h1>").expect("a title");
    assert!(before.contains("This run cannot tell the schemes apart"));
    // Nothing is called better or worse, and no picture has flat lines.
    assert!(!report.contains("<figure>"), "a chart of nothing");
    for word in ["better", "worse", "is known"] {
        assert!(!shown.contains(word), "{word} in\n{shown}");
    }
}

#[test]
fn a_sweep_without_a_mark_draws_nothing() {
    let sweep = format!(
        "{}[sweep]\n\"workload.load\" = [0.01, 0.02, 0.03, 0.04, 0.05]\n",
        star("0.05", "3KB", 40, TWO)
    );
    let (shown, summary, report) = ran("unmarked-sweep", &sweep);
    let first = shown.lines().next().expect("a line");
    assert!(
        first.contains("cannot tell the schemes apart: at all 5 combinations"),
        "{first}"
    );
    assert!(summary["cannot_tell"].is_string() && !report.contains("<figure>"));
}

#[test]
fn schemes_with_one_result_are_named_so() {
    let twins = TWO.replace(
        "\"tcn\"\nthreshold = \"80us\"",
        "\"threshold\"\nk = \"100.001KB\"",
    );
    let (shown, summary, _) = ran("identical", &star("0.8", "200KB", 300, &twins));
    assert!(summary["points"][0]["marks"].as_u64() > Some(0), "{shown}");
    assert!(
        shown.contains("all schemes gave the same result, flow by flow"),
        "{shown}"
    );
}

/// The grid of the report has the verdicts of the terminal's sentences, and a scenario of medium
/// flows has their completion times in both.
#[test]
fn terminal_and_report_judge_alike() {
    let far = TWO.replace("80us", "2us");
    let (shown, summary, report) = ran("medium", &star("0.8", "1MB", 300, &far));
    assert!(summary.get("cannot_tell").is_none(), "{shown}");
    assert!(shown.contains("medium"), "{shown}");
    let flat = |text: &str| line(text.replace('−', "-").replace('\u{a0}', " ").as_bytes());
    let (shown, report) = (flat(&shown), flat(&report));
    let (_, said) = shown.split_once("Against A: ").expect("a sentence");
    let (said, _) = said
        .split_once(" schemes A: ")
        .expect("parameters in force");
    assert!(said.starts_with("B is "), "{said}");
    let (mut verdict, mut verdicts) = ("better", Vec::new());
    for part in said.split_inclusive(" in ") {
        for percent in part.split('(').skip(1).filter_map(|p| p.split(')').next()) {
            verdicts.push((verdict, percent));
        }
        verdict = if part.ends_with("worse in ") {
            "worse"
        } else {
            verdict
        };
    }
    assert!(
        verdicts.len() > 2 && verdicts.iter().any(|v| v.0 == "worse"),
        "{said}"
    );
    for (verdict, percent) in verdicts {
        let cell = format!("</span> {verdict}</span><span class=\"under v\">{percent}</span>");
        assert!(report.contains(&cell), "{cell} is not in the report");
    }
}

/// A 99th percentile of fewer than 100 flows is the largest of them: it decides nothing.
#[test]
fn a_percentile_of_few_flows_is_their_maximum() {
    let (shown, summary, report) =
        ran("few", &star("0.8", "50KB", 60, &TWO.replace("80us", "1us")));
    assert!(shown.contains("max of 60"), "{shown}");
    assert!(report.contains("max of 60"));
    let short = &summary["points"][0]["fct_us"]["short"];
    assert_eq!((&short["count"], &short["p99"]), (&60.into(), &Value::Null));
    assert!(short["p95"].is_number());
    let compared = summary["comparisons"].as_array().expect("comparisons");
    assert!(compared.iter().any(|c| c["metric"] == "short.mean"));
    assert!(compared.iter().all(|c| c["metric"] != "short.p99"));
    assert!(!shown.contains("in short p99"), "{shown}");
}

/// Defaults are printed, and pointed out where the rule of the scheme says otherwise.
#[test]
fn defaults_of_another_fabric_are_pointed_out() {
    let scheme = "[[scheme]]\nlabel = \"plain\"\nmarker = \"red\"\n[[scheme]]\nlabel = \"own\"\n\
                  marker = \"red\"\nkmin = \"300KB\"\nkmax = \"1MB\"\n";
    let text = star("0.5", "50KB", 60, scheme).replace("\"10Gbps\"", "\"100Gbps\"");
    let dir = folder("first-defaults", &[("my.toml", text.as_str())]);
    for args in [
        ["check", "my.toml", "--anyway"],
        ["run", "my.toml", "--quiet"],
    ] {
        let o = cemark(&dir, &args);
        let warned = line(&o.stderr);
        assert!(
            warned.contains(
                "`plain` has defaults for another fabric: `kmax` is 22.5KB, and by its rule, \
                 100Gbps x the 90th percentile of the base RTTs, it is 1MB"
            ),
            "{warned}"
        );
        assert!(!warned.contains("`own` has defaults"), "{warned}");
        let shown = line(&o.stdout);
        assert!(shown.contains("plain: kmax = 22.5KB (default)"), "{shown}");
        assert!(shown.contains("own: kmin = 300KB, kmax = 1MB"), "{shown}");
    }
}

/// A length that is written as a time is that of the slowest link at every port.
#[test]
fn a_time_at_links_of_several_rates_names_the_rate() {
    let text = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts-per-leaf = 2\n\
                rate = \"25Gbps\"\nuplink-rate = \"100Gbps\"\ndelay = \"1us\"\n[[workload]]\n\
                kind = \"poisson\"\nload = 0.5\nsizes = \"50KB\"\nflows = 50\n\
                [switch]\nbuffer = \"1MB\"\n[[scheme]]\nmarker = \"threshold\"\nk = \"10us\"\n\
                [[scheme]]\nlabel = \"high\"\nmarker = \"ecn_sharp\"\nins_target = \"200us\"\n\
                pst_target = \"5us\"\npst_interval = \"20us\"\n";
    let dir = folder("first-rates", &[("my.toml", text)]);
    let warned = line(&cemark(&dir, &["check", "my.toml"]).stderr);
    assert!(
        warned.contains("it is what the slowest link, 25Gbps, sends in that time"),
        "{warned}"
    );
    assert!(
        warned.contains("threshold-rate = \"25Gbps\" in [switch]"),
        "{warned}"
    );
    // The buffer is reached before the wait, at the uplinks.
    assert!(
        warned.contains("`ins_target` of `high` is 200us of waiting, which at 100Gbps is 2.5MB"),
        "{warned}"
    );
    let set = ["check", "my.toml", "--set", "switch.threshold-rate=25Gbps"];
    let warned = line(&cemark(&dir, &set).stderr);
    assert!(!warned.contains("slowest link"), "{warned}");
}

/// Packets below the marker are in no queue length, and the table says so.
#[test]
fn packets_in_the_device_are_not_in_the_column() {
    let text = star("0.8", "200KB", 100, TWO)
        .replace("buffer = \"1MB\"", "buffer = \"1MB\"\ndevice-packets = 100");
    let (shown, _, report) = ran("device", &text);
    for text in [&shown, &report] {
        let text = line(text.as_bytes());
        assert!(
            text.contains("do not include the up to 100 packets"),
            "{text}"
        );
    }
}

/// The first file that a new user has is measured under load.
#[test]
fn the_fabric_of_init_is_not_empty() {
    let dir = folder("first-init", &[]);
    let args = [
        "init",
        "-y",
        "--hosts",
        "256",
        "--rate",
        "10G",
        "--rtt",
        "20us..120us",
    ];
    let o = cemark(&dir, &args);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let text = fs::read_to_string(Path::new(&dir).join("my-fabric.toml")).expect("a file");
    let number = |key: &str| -> u64 {
        let line = text.lines().find(|l| l.starts_with(key)).expect(key);
        let value = line.split(['=', '#']).nth(1).expect("a value");
        value.trim().parse().expect("a number")
    };
    // At 56,000 flows a second a byte is under way for 23 ms.
    assert!(
        number("warmup") > 2_000 && number("flows") > 3_000,
        "{text}"
    );
}
