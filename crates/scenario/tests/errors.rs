// SPDX-License-Identifier: MIT OR Apache-2.0
//! A user's mistakes: each a message with its line and column, and what to write instead.

use std::sync::LazyLock;

use crate::common::fails;
use cemark_scenario::{Overrides, load, parse};
use miette::Diagnostic;

/// A scenario without fault. Each test changes one line.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    crate::common::two_schemes(
        r#"[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 4
rate = "10Gbps"

[rtt]
model = "variation"
min = "80us"
max = "240us"
"#,
    ) + r#"
[[published]]
axes = { "workload.load" = 0.9 }
scheme = "ECN#"
metric = "short.mean"
percent = -23.4
source = "Fig 13b"
"#
});

/// Replaces `from` and expects the error at `place`, with `says` in the message and `help` in the
/// help.
fn change(from: &str, to: &str, place: &str, says: &str, help: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    let error = fails(&GOOD.replace(from, to));
    let line = error.to_string();
    assert!(
        line.starts_with(&format!("s.toml:{place}: ")),
        "{to}: expected {place}: {line}"
    );
    assert!(line.contains(says), "{to}: {line}");
    let advice = error.help_text().unwrap_or_default();
    assert!(advice.contains(help), "{to}: {line}: help: {advice}");
}

#[test]
fn the_base_is_without_fault() {
    let plan = parse(&GOOD, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.points.len(), 8);
}

#[test]
fn unknown_words_list_the_near_ones() {
    change(
        "hosts-per-leaf = 4",
        "host-per-leaf = 4",
        "5:1",
        "`hosts-per-leaf` is missing",
        "hosts-per-leaf = 8",
    );
    change(
        "spines = 2\n",
        "spines = 2\nspine = 2\n",
        "9:1",
        "unknown key `spine` in [topology]",
        "did you mean `spines`?",
    );
    change(
        "\"leaf-spine\"",
        "\"leafspine\"",
        "6:8",
        "`leafspine` is not known",
        "did you mean `leaf-spine`?",
    );
    change(
        "\"web-search\"",
        "\"websearch\"",
        "19:9",
        "no flow-size table is called `websearch`",
        "did you mean `web-search`?",
    );
    change(
        "\"ecn_sharp\"",
        "\"ecn_shrap\"",
        "34:10",
        "no marking scheme is called `ecn_shrap`",
        "did you mean `ecn_sharp`",
    );
    change(
        "ins_target",
        "inst_target",
        "35:1",
        "unknown key `inst_target`",
        "did you mean `ins_target`",
    );
    change(
        "[transport]",
        "[transprot]",
        "23:2",
        "unknown key `transprot` in the file",
        "did you mean `transport`?",
    );
    change(
        "\"short.mean\"",
        "\"short.avg\"",
        "43:10",
        "no column is called `short.avg`",
        "`short.mean`",
    );
    change(
        "model = \"variation\"",
        "model = \"wobble\"",
        "13:9",
        "`wobble` is not known",
        "known:",
    );
}

#[test]
fn numbers_and_units() {
    change(
        "\"10Gbps\"",
        "\"10Gpbs\"",
        "10:8",
        "`Gpbs` is not a unit of a rate",
        "`Gbps`",
    );
    change(
        "\"10Gbps\"",
        "\"-1Gbps\"",
        "10:8",
        "a rate cannot be negative",
        "\"10Gbps\"",
    );
    change("\"10Gbps\"", "10", "10:8", "`10` has no unit", "Mbps");
    change(
        "\"10Gbps\"",
        "\"0Gbps\"",
        "10:8",
        "must be above zero: a rate of zero carries nothing",
        "write rate = \"10Gbps\", the default, or another rate",
    );
    change(
        "\"10Gbps\"",
        "\"99999Tbps\"",
        "10:8",
        "out of range",
        "8Tbps",
    );
    change("\"80us\"", "80", "14:7", "`80` has no unit", "\"85us\"");
    change(
        "\"80us\"",
        "true",
        "14:7",
        "expected a time, found true or false",
        "\"85us\"",
    );
    change(
        "\"80us\"",
        "\"300us\"",
        "15:7",
        "below the smallest",
        "swap",
    );
    change(
        "\"80us\"",
        "\"2000s\"",
        "14:7",
        "longer than 1000 seconds",
        "unit",
    );
    change(
        "\"5ms\"",
        "\"0s\"",
        "24:11",
        "rto-min must be above zero",
        "5ms",
    );
    change(
        "\"5ms\"",
        "\"1ps\"",
        "24:11",
        "whole number of nanoseconds",
        "nanoseconds",
    );
    change(
        "\"600KB\"",
        "\"5GB\"",
        "27:10",
        "5000000000 bytes are out of range",
        "4294967295",
    );
    change("\"600KB\"", "\"-1B\"", "27:10", "cannot be negative", "KiB");
    change(
        "\"65pkt\"",
        "\"65pks\"",
        "31:5",
        "`pks` is not a unit",
        "`pkt`",
    );
    change("\"65pkt\"", "nan", "31:5", "`nan` is not a length", "65pkt");
    change(
        "leaves = 2",
        "leaves = 99999999999999999999999999999999999999999",
        "7:10",
        "too large",
        "",
    );
    change(
        "leaves = 2",
        "leaves = 2.5",
        "7:10",
        "expected a whole number, found a number",
        "1 to 4096",
    );
}

#[test]
fn loads_and_flows() {
    let fixed = GOOD.replace("[sweep]\n\"workload.load\" = [0.5, 0.9]\n", "");
    for (load, says) in [
        ("\"x\"", "`x` is not a fraction"),
        ("1.2", "1.2 is not between 0 and 1"),
        ("-0.1", "-0.1 is not between 0 and 1"),
        ("nan", "NaN is not between 0 and 1"),
        ("inf", "inf is not between 0 and 1"),
        ("0", "a load of zero sends nothing"),
        ("1e-300", "a load of zero sends nothing"),
    ] {
        let error = fails(&fixed.replace("load = 0.8", &format!("load = {load}")));
        assert!(
            error.to_string().starts_with("s.toml:20:8: ") && error.to_string().contains(says),
            "{load}: {error}"
        );
        assert!(error.help_text().unwrap().contains("at most 1"), "{load}");
    }
    change(
        "flows = 100",
        "flows = 0",
        "21:9",
        "0 is too small",
        "1 to 1000000000",
    );
    change(
        "flows = 100",
        "flows = 2000000000",
        "21:9",
        "2000000000 is too large",
        "1 to 1000000000",
    );
    change(
        "flows = 100",
        "flows = -5",
        "21:9",
        "-5 is too small",
        "whole number",
    );
    change(
        "\"web-search\"",
        "\"1B\"",
        "38:20",
        "flows a second",
        "larger flows",
    );
    change(
        "\"web-search\"",
        "\"missing.txt\"",
        "19:9",
        "cannot be read",
        "scenario's folder",
    );
    change("\"web-search\"", "\"/\"", "19:9", "it is not a file", "");
}

#[test]
fn fabrics() {
    change(
        "leaves = 2",
        "leaves = 0",
        "7:10",
        "0 is too small",
        "1 to 4096",
    );
    change(
        "hosts-per-leaf = 4",
        "hosts-per-leaf = 0",
        "9:18",
        "0 is too small",
        "",
    );
    change(
        "hosts-per-leaf = 4",
        "hosts-per-leaf = 60000",
        "5:1",
        "this fabric has 120000 hosts",
        "65536",
    );
    change(
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts-per-leaf = 4",
        "kind = \"star\"\nhosts = 0",
        "7:9",
        "0 is too small",
        "2 to 65536",
    );
    change(
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts-per-leaf = 4",
        "kind = \"fat-tree\"\nk = 7",
        "7:5",
        "even number",
        "k = 4",
    );
    change(
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts-per-leaf = 4",
        "kind = \"fat-tree\"\nk = 64\nhosts-per-edge = 65536",
        "5:1",
        "134217728 hosts",
        "65536",
    );
    change(
        "flows = 100",
        "flows = 100\npairs = \"to-one\"\nreceiver = 8",
        "23:12",
        "there is no host 8",
        "write 0 to 7",
    );
    change(
        "flows = 100",
        "flows = 100\npairs = \"to-one\"\nreceiver = -1",
        "23:12",
        "there is no host -1",
        "write 0 to 7",
    );
    change(
        "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100",
        "kind = \"probe\"\nsrc = 3\ndst = 3\nevery = \"1us\"\ncount = 9",
        "20:7",
        "host 3 cannot send to itself",
        "two different hosts",
    );
    change(
        "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100",
        "kind = \"probe\"\nsrc = 0\ndst = 8\nevery = \"1us\"\ncount = 9",
        "20:7",
        "there is no host 8",
        "write 0 to 7",
    );
    change(
        "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100",
        "kind = \"probe\"\ndst = 3\nevery = \"1us\"\ncount = 9",
        "17:1",
        "`src` is missing in [[workload]]",
        "write src = 0",
    );
    change(
        "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100",
        "kind = \"probe\"\nsrc = 0\ndst = 3\nevery = \"1us\"\ncount = 9\ncontrol = \"cubic\"",
        "23:11",
        "a probe has no congestion controller",
        "remove it",
    );
}

#[test]
fn schemes_seeds_and_axes() {
    change(
        "baseline = \"ECN#\"",
        "baseline = \"ECN\"",
        "3:12",
        "the baseline `ECN` is not a scheme",
        "did you mean `ECN#`?",
    );
    change(
        "marker = \"ecn_sharp\"\nins_target = \"220us\"",
        "marker = \"step\"",
        "33:1",
        "two schemes are called `DCTCP-RED`",
        "label",
    );
    change(
        "[0.5, 0.9]",
        "[]",
        "38:19",
        "the axis `workload.load` has no values",
        "at least one",
    );
    change(
        "[0.5, 0.9]",
        "[0.5, 1.5]",
        "38:25",
        "1.5 is not between 0 and 1",
        "at most 1",
    );
    change(
        "[0.5, 0.9]",
        "[0.5, 0.50]",
        "38:25",
        "is listed twice",
        "remove",
    );
    change(
        "[0.5, 0.9]",
        "0.5",
        "38:19",
        "expected a list, found a number",
        "= [a, b]",
    );
    change(
        "[0.5, 0.9]",
        "[[0.5]]",
        "38:20",
        "plain values, not a list",
        "",
    );
    change(
        "\"workload.load\" = [",
        "\"workload.laod\" = [",
        "38:1",
        "unknown key `laod` in [[workload]]",
        "did you mean `load`?",
    );
    change(
        "\"workload.load\" = [",
        "\"wrokload.load\" = [",
        "38:1",
        "`wrokload` is not a section",
        "did you mean `workload`",
    );
    change(
        "\"workload.load\" = [",
        "\"scheme.kk\" = [",
        "38:1",
        "no scheme of this file has a label or a parameter `kk`",
        "`k`",
    );
    change(
        "\"workload.load\" = [",
        "\"seeds\" = [",
        "38:1",
        "cannot be swept",
        "seeds = [1, 2, 3]",
    );
    change(
        "[1, 2]",
        "[1, 1]",
        "2:13",
        "seed 1 is listed twice",
        "remove",
    );
    change(
        "{ \"workload.load\"",
        "{ \"workload.laod\"",
        "41:10",
        "neither swept nor set",
        "did you mean `workload.load`?",
    );
    change(
        "[1, 2]",
        "[]",
        "2:9",
        "1 to 10000 seeds",
        "seeds = [1, 2, 3]",
    );
    change("[1, 2]", "0", "2:9", "0 is too small", "seeds = 3");
    change("[1, 2]", "[-1]", "2:10", "-1 is too small", "");
    change(
        "scheme = \"ECN#\"",
        "scheme = \"ECN\"",
        "42:10",
        "no scheme of this file",
        "did you mean `ECN#`?",
    );
    let error = fails(&GOOD.replace("[1, 2]", "10000").replace(
        "[0.5, 0.9]",
        &format!(
            "{:?}",
            (1..=9).map(|i| f64::from(i) / 10.0).collect::<Vec<_>>()
        ),
    ));
    assert!(
        error.to_string().contains("more than 100000 points"),
        "{error}"
    );
}

#[test]
fn what_is_missing_altogether() {
    let cut = |from: &str, to: &str| {
        let (a, b) = (GOOD.find(from).unwrap(), GOOD.find(to).unwrap());
        fails(&format!("{}{}", &GOOD[..a], &GOOD[b..]))
    };
    assert!(
        cut("[topology]", "[rtt]")
            .to_string()
            .contains("`kind` is missing in [topology]")
    );
    assert!(
        cut("[[workload]]", "[transport]")
            .to_string()
            .contains("there is no [[workload]]")
    );
    let error = cut("[[scheme]]", "[sweep]");
    assert!(
        error.to_string().contains("there is no [[scheme]]"),
        "{error}"
    );
    assert_eq!(error.position(), None);
    assert!(fails("").to_string().starts_with("s.toml: "));
    let endless = GOOD
        .replace(
            "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100",
            "kind = \"long\"",
        )
        .replace("[sweep]\n\"workload.load\" = [0.5, 0.9]\n", "");
    let error = fails(&endless.replace("axes = { \"workload.load\" = 0.9 }\n", ""));
    assert!(error.to_string().contains("never ends"), "{error}");
    assert!(error.help_text().unwrap().contains("max-time"));
}

#[test]
fn toml_itself() {
    let error = fails("[topology\nkind = 1");
    assert_eq!(error.position(), Some((1, 10)), "{error}");
    let error = fails("title = \"é\" x");
    assert!(
        error.to_string().starts_with("s.toml:1:13: not valid TOML"),
        "{error}"
    );
    change(
        "rate = \"10Gbps\"",
        "rate = \"10Gbps\"\nhosts_per_leaf = 3",
        "11:1",
        "`hosts_per_leaf` is given twice",
        "hosts-per-leaf",
    );
    change(
        "title = \"t\"",
        "title = 1979-05-27",
        "1:9",
        "expected a string, found a date",
        "quotes",
    );
    change(
        "title = \"t\"",
        "host = 3",
        "1:8",
        "expected a table, found a whole number",
        "[host]",
    );
    assert!(
        fails(&"[".repeat(100_000))
            .to_string()
            .contains("not valid TOML")
    );
    assert!(
        fails(&format!("a = {}", "[".repeat(100_000)))
            .to_string()
            .contains("not valid TOML")
    );
}

#[test]
fn mistakes_on_the_command_line_point_at_it() {
    let with = |option: &str| {
        let mut overrides = Overrides::default();
        overrides
            .add(option)
            .and_then(|()| parse(&GOOD, "s.toml", &overrides))
            .unwrap_err()
    };
    let error = with("workload.load=0.5,7");
    assert_eq!(error.to_string(), "--set:1:19: 7 is not between 0 and 1");
    assert_eq!(
        with("switch.bufer=1KB").to_string(),
        "--set:1:1: unknown key `bufer` in [switch]"
    );
    assert_eq!(
        with("switch.buffer=1XB").to_string(),
        "--set:1:15: `XB` is not a unit of a length"
    );
    assert!(
        with("load")
            .to_string()
            .contains("does not name a path and a value")
    );
    assert!(
        with("workload=3")
            .to_string()
            .contains("is a section, not a key")
    );
    assert!(
        with("workload..load=3")
            .to_string()
            .contains("is not a path")
    );
    assert!(
        with("scheme.7.k=3")
            .to_string()
            .contains("there is no scheme number 7")
    );
    assert!(
        with("switch.buffer.deep=3")
            .to_string()
            .contains("no key `deep` in a string")
    );
    assert!(
        with("switch.buffer=")
            .to_string()
            .contains("`` is not a length")
    );
    let huge = Overrides {
        seed: Some(u64::MAX),
        ..Overrides::default()
    };
    assert!(
        parse(&GOOD, "s.toml", &huge)
            .unwrap_err()
            .to_string()
            .contains("is too large")
    );
    let zero = Overrides {
        seeds: Some(0),
        ..Overrides::default()
    };
    assert!(
        parse(&GOOD, "s.toml", &zero)
            .unwrap_err()
            .to_string()
            .contains("0 is not a number of seeds")
    );
}

#[test]
fn names_of_scenarios() {
    let error = load("rtt-variaton", &Overrides::default()).unwrap_err();
    assert!(
        error
            .help_text()
            .unwrap()
            .starts_with("did you mean `rtt-variation`?"),
        "{error}"
    );
    let error = load("no/such/file.toml", &Overrides::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no/such/file.toml: cannot be read"),
        "{error}"
    );
}

/// A terminal shows file, line and column, the mistake and the help.
#[test]
fn the_place_is_drawn() {
    let error = fails(&GOOD.replace("\"10Gbps\"", "\"10Gpbs\""));
    let labels: Vec<_> = error.labels().unwrap().collect();
    let at = GOOD.find("\"10Gbps\"").unwrap();
    assert_eq!((labels[0].offset(), labels[0].len()), (at, 8));
    let mut out = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .render_report(&mut out, &error)
        .unwrap();
    assert!(
        out.contains("s.toml:10:8") && out.contains("10Gpbs") && out.contains("help:"),
        "{out}"
    );
}
