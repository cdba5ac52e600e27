// SPDX-License-Identifier: MIT OR Apache-2.0
//! The digest of a point names its file in a run directory: it follows from what is simulated, and
//! from nothing else.

use cemark_scenario::{Overrides, Plan, parse};

const SMALL: &str = r#"
seeds = [7]
max-time = "1ms"

[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
delay = "1us"

[[workload]]
kind = "list"
flow = [{ src = 0, dst = 2, size = "100KB" }, { at = "2us", src = 1, dst = 2, size = "100KB" }]

[[scheme]]
label = "step"
marker = "threshold"
k = "30KB"
"#;

fn plan(text: &str) -> Plan {
    parse(text, "small.toml", &Overrides::default()).expect("a scenario")
}

fn hex(digest: u64) -> String {
    format!("{digest:016x}")
}

/// A change here means that finished points of earlier versions are simulated again. It is meant
/// where a field of the configuration is added, and belongs into the changelog; anything else that
/// moves it (a renamed type, another form of `Debug`) is a mistake.
#[test]
fn the_identity_of_a_small_scenario_is_pinned() {
    let plan = plan(SMALL);
    assert_eq!(hex(plan.points[0].digest), "4a7c0ad72c866da8");
    assert_eq!(hex(plan.digest), "519f456ca723dd17");
}

#[test]
fn what_resolves_to_the_same_configuration_has_the_same_identity() {
    let one = plan(SMALL).digest;
    for (from, to) in [
        // Another unit, a default that is written out, another order of keys, comments, texts.
        ("\"30KB\"", "\"0.03MB\" # the same"),
        ("\"30KB\"", "\"20pkt\""),
        (
            "max-time = \"1ms\"",
            "max_time = \"1000us\"\ntitle = \"another\"",
        ),
        (
            "hosts = 3\nrate = \"10Gbps\"",
            "rate = \"10Gb/s\"\nhosts = 3",
        ),
        (
            "delay = \"1us\"",
            "delay = \"1us\"\n[transport]\ncontrol = \"dctcp\"\nsack = true",
        ),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL, "{from}");
        assert_eq!(plan(&text).digest, one, "{to}");
    }
}

#[test]
fn what_changes_the_simulation_changes_the_identity() {
    let mut all = vec![plan(SMALL).points[0].digest];
    for (from, to) in [
        ("[7]", "[8]"),
        ("hosts = 3", "hosts = 4"),
        ("\"30KB\"", "\"30001B\""),
        ("label = \"step\"", "label = \"other\""),
        (
            "delay = \"1us\"",
            "delay = \"1us\"\n[transport]\nsack = false",
        ),
        (
            "delay = \"1us\"",
            "delay = \"1us\"\n[transport]\ncontrol = \"reno\"",
        ),
        (
            "delay = \"1us\"",
            "delay = \"1us\"\n[switch]\nround-beta = 0.5",
        ),
        (
            "delay = \"1us\"",
            "delay = \"1us\"\n[rtt]\nmodel = \"fixed\"\nrtt = \"50us\"",
        ),
        ("threshold\"\nk =", "tcn\"\nthreshold = \"30us\" # k ="),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL, "{from}");
        all.push(plan(&text).points[0].digest);
    }
    let points = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), points);
}
