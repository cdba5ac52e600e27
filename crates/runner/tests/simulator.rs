// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fingerprint of the simulator covers every crate that can change a result.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Crates of this workspace that a crate depends on, by their names without `cemark-`.
fn needs(root: &Path, name: &str) -> BTreeSet<String> {
    let manifest = root.join("crates").join(name).join("Cargo.toml");
    let text = fs::read_to_string(manifest).unwrap();
    let dependencies = text.split("\n[").find(|s| s.starts_with("dependencies]"));
    let lines = dependencies.unwrap_or_default().lines();
    lines
        .filter_map(|l| l.strip_prefix("cemark-")?.split(['.', ' ']).next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_crate_below_the_simulator_is_covered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut below, mut open) = (BTreeSet::new(), vec!["sim".to_owned()]);
    while let Some(name) = open.pop() {
        if below.insert(name.clone()) {
            open.extend(needs(&root, &name));
        }
    }
    assert!(below.len() >= 5, "{below:?}");
    let build = fs::read_to_string(root.join("crates/runner/build.rs")).unwrap();
    for name in below {
        assert!(build.contains(&format!("\"crates/{name}/src\"")), "{name}");
    }
    let hex = cemark_runner::SIMULATOR
        .bytes()
        .all(|b| b.is_ascii_hexdigit());
    assert!(hex && cemark_runner::SIMULATOR.len() == 16);
}
