// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that no model reads, that would be rounded, or that are too large are refused.

use cemark_scenario::{Error, Overrides, Plan, parse};

const BASE: &str = r#"
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.3
flows = 20

[[scheme]]
label = "a"
marker = "threshold"
k = "30KB"
"#;

fn read(text: &str, set: &[&str]) -> Result<Plan, Error> {
    let mut overrides = Overrides::default();
    for set in set {
        overrides.add(set)?;
    }
    parse(text, "s.toml", &overrides)
}

fn refused(text: &str, set: &[&str], says: &str) {
    let error = read(text, set).expect_err(text);
    let whole = format!(
        "{} {}",
        error.message(),
        error.help_text().unwrap_or_default()
    );
    assert!(whole.contains(says), "{set:?}: {whole}");
}

/// Every key of every model of `[rtt]` under every other model, in the file, on the command line
/// and swept.
#[test]
fn keys_of_another_rtt_model_are_refused() {
    let models = [
        ("fixed", "rtt = \"100us\"\n"),
        ("variation", "min = \"80us\"\nmax = \"240us\"\n"),
        ("measured", "case = \"slb\"\n"),
        ("quantiles", "table = [[0, \"17us\"], [1, \"106us\"]]\n"),
        (
            "lognormal",
            "loc = 15.39\nmu = 3.8\nsigma = 0.36\nfloor = \"1us\"\n",
        ),
        ("classes", "values = [\"82us\", \"140us\"]\n"),
        ("path", "syn = false\n"),
    ];
    for (model, own) in models {
        let file = |more: &str| format!("{BASE}\n[rtt]\nmodel = \"{model}\"\n{own}{more}");
        read(&file(""), &[]).unwrap_or_else(|e| panic!("{model}: {}", e.message()));
        for (other, keys) in models {
            if other == model || other == "path" {
                continue;
            }
            let says = format!("it belongs to model = \"{other}\"");
            for key in keys.lines().filter(|_| other != "measured") {
                refused(&file(&format!("{key}\n")), &[], &says);
                let (name, _) = key.split_once(" = ").expect("a key");
                refused(&file(""), &[&format!("rtt.{name}=banana")], &says);
                refused(&file(""), &[&format!("rtt.{name}=banana,apple")], &says);
                let sweep = format!("[sweep]\n\"rtt.{name}\" = [1, 2]\n");
                refused(&file(&sweep), &[], &says);
            }
        }
    }
    refused(
        BASE,
        &["rtt.min=80us,90us"],
        "it belongs to model = \"variation\"",
    );
    // Another model on the command line takes the keys of the one in the file with it.
    let file = format!("{BASE}\n[rtt]\nmodel = \"variation\"\nmin = \"80us\"\nmax = \"90us\"\n");
    let plan = read(&file, &["rtt.model=path"]).expect("a model");
    let again = read(&plan.source, &[]).expect("its own source");
    assert_eq!(again.digest, plan.digest);
    refused(
        &file,
        &["rtt.model=path", "rtt.min=banana"],
        "it belongs to",
    );
    // A sweep of models has the keys of each.
    let plan = read(&file, &["rtt.model=variation,path"]).expect("two models");
    assert_eq!(plan.points.len(), 2);
    refused(
        &file,
        &["rtt.model=path,fixed", "rtt.sigma=1,2"],
        "lognormal",
    );
}

#[test]
fn parts_of_what_is_counted_are_refused() {
    for (set, says) in [
        (
            "workload.sizes=0.5B",
            "`0.5B` is not a whole number of bytes",
        ),
        ("scheme.k=0.3B", "`0.3B` is not a whole number of bytes"),
        ("scheme.k=1.0001pkt", "is not a whole number of bytes"),
        ("transport.mss=1460.5B", "is not a whole number of bytes"),
        (
            "topology.delay=0.4ps",
            "`0.4ps` is not a whole number of picoseconds",
        ),
        (
            "topology.delay=1.0000000000000000001us",
            "is not a whole number of picoseconds",
        ),
        (
            "topology.rate=1.0000000001Gbps",
            "is not a whole number of bits per second",
        ),
        ("switch.buffer=1.5", "has no unit"),
    ] {
        refused(BASE, &[set], says);
    }
    let cells = BASE.replace("k = \"30KB\"", "k = \"0.3cells\"") + "\n[switch]\ncell = \"256B\"\n";
    refused(&cells, &[], "`0.3cells` is not a whole number of bytes");
    for set in [
        "workload.sizes=1.5KB",
        "scheme.k=0.5pkt",
        "topology.delay=0.004ns",
        "topology.rate=1.000000001Gbps",
        "topology.delay=1.50000000000000000000us",
    ] {
        read(BASE, &[set]).unwrap_or_else(|e| panic!("{set}: {}", e.message()));
    }
}

#[test]
fn a_buffer_that_drains_for_weeks_is_refused() {
    let slow = ["topology.rate=10kbps", "switch.buffer=4.29GB"];
    refused(BASE, &slow, "seconds to drain at 10kbps");
    read(BASE, &["topology.rate=10Gbps", "switch.buffer=4.29GB"]).expect("a second");
    let pool = [
        "topology.rate=1Mbps",
        "switch.buffer-policy=shared",
        "switch.buffer=4.29GB",
        "topology.hosts=64",
    ];
    refused(BASE, &pool, "seconds to drain");
}

#[test]
fn a_label_has_an_end() {
    let long = |n| BASE.replace("\"a\"", &format!("\"{}\"", "ü".repeat(n)));
    read(&long(100), &[]).expect("a label");
    refused(&long(101), &[], "this label has 101 letters");
}

#[test]
fn a_baseline_is_trimmed_as_a_label_is() {
    let text = BASE.replace("\"a\"", "\"a\\t\"");
    let text = format!("baseline = \"a\\t\"\n{text}");
    assert_eq!(read(&text, &[]).expect("its own scheme").baseline, 0);
}

#[test]
fn a_fabric_has_at_most_a_million_links_between_switches() {
    let text = BASE.replace(
        "kind = \"star\"\nhosts = 4",
        "kind = \"leaf-spine\"\nleaves = 4096",
    );
    let text = text.replace("4096", "4096\nspines = 4096\nhosts-per-leaf = 1");
    refused(&text, &[], "more than a million links");
}

/// Many retunes take a time that grows with their number.
#[test]
fn thirty_thousand_retunes_are_read() {
    let lines = |n: usize| {
        let of = |i: usize| format!("[[retune]]\nat = \"{i}ns\"\nk = \"{}B\"\n", 30_000 + i);
        (1..=n).map(of).collect::<String>()
    };
    let plan = read(&format!("{BASE}\n{}", lines(30_000)), &[]).expect("retunes");
    assert_eq!(plan.retunes.len(), 30_000);
}
