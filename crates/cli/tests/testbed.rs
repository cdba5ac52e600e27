// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark testbed run` as a user types it, as far as no kernel is needed.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

fn testbed(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["testbed", "run"])
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .output()
        .expect("cemark runs")
}

#[test]
fn a_kernel_can_run_every_example_of_the_testbed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/testbed");
    let entries = std::fs::read_dir(folder).expect("the examples");
    let paths = entries.map(|e| e.expect("an entry").path());
    let files: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for path in files {
        let out = testbed(&[&path.display().to_string(), "--check"]);
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{path:?}: {out:?}");
        assert!(text.contains("each of which a kernel can run"), "{text}");
    }
}

#[test]
fn a_scenario_that_no_kernel_can_run_is_refused_with_the_key_and_the_way_out() {
    let out = testbed(&["rtt-variation", "--check"]);
    assert_eq!(out.status.code(), Some(2));
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(text.contains("topology.kind = \"leaf-spine\""), "{text}");
    assert!(text.contains("write kind = \"star\""), "{text}");
}
