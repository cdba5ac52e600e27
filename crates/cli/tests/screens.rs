// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the program says without simulating anything.

use std::process::{Command, Output, Stdio};

fn cemark(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(args)
        .output()
        .expect("the program runs")
}

fn stdout(o: &Output) -> String {
    String::from_utf8(o.stdout.clone()).expect("UTF-8")
}

fn stderr(o: &Output) -> String {
    String::from_utf8(o.stderr.clone()).expect("UTF-8")
}

#[test]
fn nothing_typed_shows_what_to_type() {
    let o = cemark(&[]);
    assert_eq!(o.status.code(), Some(0));
    assert!(stdout(&o).contains("cemark run rtt-variation"));
    assert!(o.stderr.is_empty());
}

#[test]
fn mistakes_on_the_command_line_are_exit_code_2() {
    for args in [
        &["nonsense"][..],
        &["run"],
        &["run", "rtt-variation", "--jobs", "0"],
        &["run", "rtt-variation", "--format", "xml"],
        &["run", "no-such-scenario"],
        &["check", "no/such/file.toml"],
        &["check", "rtt-variation", "--set", "no-equals-sign"],
        &["schemes", "no-such-scheme"],
        &["theory", "no-such-theory"],
        &["theory", "cedm", "n"],
        &["theory", "cedm", "speed=10Gbps"],
        &["theory", "cedm", "rate=10"],
        &["theory", "cedm", "rate=0Gbps"],
        &["theory", "cedm", "n=1"],
        &["theory", "cedm", "n=2,4", "beta=0.3,0.5"],
    ] {
        let o = cemark(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(o.stdout.is_empty(), "{args:?}");
        assert!(!o.stderr.is_empty(), "{args:?}");
        assert!(!stderr(&o).contains("panicked"), "{args:?}");
    }
}

#[test]
fn schemes_as_json_are_what_scripts_read() {
    let o = cemark(&["schemes", "--format", "json"]);
    assert_eq!(o.status.code(), Some(0));
    let list: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let list = list.as_array().expect("an array");
    assert_eq!(list.len(), cemark_marking::catalogue::ALL.len());
    for scheme in list {
        assert!(
            scheme["name"].is_string() && scheme["paper"].is_string(),
            "{scheme}"
        );
        for p in scheme["parameters"].as_array().expect("parameters") {
            assert!(
                p["name"].is_string()
                    && p["unit"].is_string()
                    && !p["default"].is_null()
                    && p["doc"].is_string()
            );
        }
    }
}

#[test]
fn a_scheme_answers_to_every_name_it_has() {
    for spec in cemark_marking::catalogue::ALL {
        for name in spec.aliases.iter().chain([&spec.name, &spec.title]) {
            let o = cemark(&["schemes", name]);
            assert_eq!(o.status.code(), Some(0), "{name}: {}", stderr(&o));
            for p in spec.params {
                assert!(
                    stdout(&o).contains(p.name),
                    "{name} does not show {}",
                    p.name
                );
            }
        }
    }
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .arg("schemes")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let o = child.wait_with_output().expect("it ends");
    assert!(!stderr(&o).contains("panicked"), "{}", stderr(&o));
    assert_eq!(o.status.code(), Some(0));
}
