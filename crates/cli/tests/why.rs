// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure --why`: where each parameter of a figure comes from.

use std::process::{Command, Output};

use serde_json::Value;

fn figure(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cemark"));
    command.arg("figure").args(args);
    command.output().expect("the program runs")
}

#[test]
fn a_parameter_has_its_grade_and_what_a_better_source_has() {
    let out = figure(&["ECNSHARP-T32", "--why"]);
    assert_eq!(out.status.code(), Some(0));
    let text = String::from_utf8_lossy(&out.stdout);
    let line = |of: &str| text.lines().position(|l| l.starts_with(of)).expect(of);
    let interval = line("scheme.ECN#.pst_interval");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[interval].contains(" ours "), "{}", lines[interval]);
    let below = lines[interval + 1..].iter().take(3);
    assert!(
        below.clone().any(|l| l.trim_start().starts_with("(code)")),
        "{text}"
    );
    assert!(lines[line("topology.leaves")].contains(" paper "), "{text}");
    assert!(lines[lines.len() - 1].starts_with("parameters: "), "{text}");
}

#[test]
fn as_json_of_several_figures() {
    let out = figure(&["ecnsharp-13", "ecnsharp-1", "--why", "--format", "json"]);
    assert_eq!(out.status.code(), Some(0));
    let all: Value = serde_json::from_slice(&out.stdout).expect("one document");
    assert_eq!(
        all["ecnsharp-1"].as_array().map(Vec::len),
        Some(0),
        "nothing is simulated"
    );
    let parameters = all["ecnsharp-13"].as_array().expect("a list");
    let load = parameters
        .iter()
        .find(|p| p["path"] == "topology.kind")
        .expect("the topology");
    for key in ["value", "grade", "why"] {
        assert!(
            load[key].as_str().is_some_and(|text| !text.is_empty()),
            "{key}: {load}"
        );
    }
    assert!(parameters.iter().any(|p| p["instead"]["grade"] == "code"));
}

#[test]
fn it_runs_nothing_and_takes_no_changes() {
    for (args, said) in [
        (&["ecnsharp-99", "--why"][..], "ecnsharp-9"),
        (&["ecnsharp-9", "--why", "--seeds", "2"], "--seeds"),
        (&["--why"], "<IDS>"),
    ] {
        let out = figure(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(text.contains(said), "{args:?}: {text}");
    }
}
