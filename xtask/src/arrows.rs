// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which crate may depend on which. A new dependency is a decision: it is added here, and its
//! reason to ARCHITECTURE.md.

use std::collections::BTreeSet;
use std::process::Command;

use crate::programs::output;

/// (crate, crates of the workspace that it may depend on).
const ALLOWED: &[(&str, &[&str])] = &[
    ("cemark-wire", &[]),
    // Declarations of parameters.
    ("cemark-param", &["cemark-wire"]),
    ("cemark-marking", &["cemark-wire", "cemark-param"]),
    ("cemark-transport", &["cemark-wire", "cemark-param"]),
    // A front end for P4 programs. It knows the schemes' parameters, to make table entries of them.
    ("cemark-p4", &["cemark-wire", "cemark-marking"]),
    ("cemark-switch", &["cemark-wire", "cemark-marking"]),
    // DCIB's routers know nothing of ports, queues and markers: a real network needs them alone.
    ("cemark-edge", &["cemark-wire"]),
    // Those routers on real packets. The program `cemark` hands over to its program, and does not
    // depend on it.
    ("cemark-router", &["cemark-wire", "cemark-edge"]),
    // Golden vectors, for the tests of the schemes and for every other form.
    ("cemark-vectors", &["cemark-wire", "cemark-marking"]),
    // Loads markers in C and BPF, the users' among them.
    ("cemark-foreign", &["cemark-wire", "cemark-marking"]),
    // Loads the tc programs of dataplane/tc.
    ("cemark-tcbpf", &["cemark-wire", "cemark-marking"]),
    (
        "cemark-sim",
        &[
            "cemark-wire",
            "cemark-param",
            "cemark-marking",
            "cemark-switch",
            "cemark-edge",
            "cemark-transport",
        ],
    ),
    (
        "cemark-scenario",
        &[
            // Lists of flows of other simulators.
            "cemark-formats",
            // Published thresholds.
            "cemark-platform",
            "cemark-wire",
            "cemark-param",
            "cemark-marking",
            "cemark-transport",
            "cemark-switch",
            "cemark-edge",
            "cemark-sim",
            // Declarations of markers in files.
            "cemark-foreign",
        ],
    ),
    (
        "cemark-report",
        &[
            "cemark-wire",
            "cemark-param",
            "cemark-sim",
            "cemark-scenario",
        ],
    ),
    // Runs the points of a plan and keeps them, without a terminal.
    (
        "cemark-runner",
        &[
            "cemark-wire",
            "cemark-marking",
            "cemark-sim",
            "cemark-scenario",
            "cemark-report",
            "cemark-foreign",
        ],
    ),
    // A rule of the runner: which points find the best of several configurations.
    (
        "cemark-search",
        &[
            "cemark-sim",
            "cemark-scenario",
            "cemark-report",
            "cemark-runner",
        ],
    ),
    // The papers' figures: their points are run as those of every plan.
    (
        "cemark-figures",
        &[
            "cemark-wire",
            "cemark-marking",
            "cemark-sim",
            "cemark-scenario",
            "cemark-report",
            "cemark-runner",
        ],
    ),
    // Files of other simulators.
    ("cemark-formats", &["cemark-wire"]),
    // Configurations of switches. Faults in files are said as those of other simulators.
    ("cemark-platform", &["cemark-wire", "cemark-formats"]),
    // A point as a network of Linux namespaces. It runs nothing; the program does.
    (
        "cemark-testbed",
        &[
            "cemark-wire",
            "cemark-param",
            "cemark-marking",
            "cemark-switch",
            "cemark-transport",
            "cemark-sim",
        ],
    ),
    (
        "cemark",
        &[
            "cemark-wire",
            "cemark-param",
            "cemark-marking",
            "cemark-transport",
            "cemark-vectors",
            "cemark-foreign",
            "cemark-conformance",
            "cemark-tcbpf",
            "cemark-testbed",
            "cemark-formats",
            "cemark-platform",
            "cemark-sim",
            "cemark-scenario",
            "cemark-report",
            "cemark-runner",
            "cemark-search",
            "cemark-figures",
            "cemark-p4",
        ],
    ),
    // The Python package. The command is part of it.
    (
        "cemark-python",
        &[
            "cemark-wire",
            "cemark-marking",
            "cemark-sim",
            "cemark-scenario",
            "cemark-report",
            "cemark-runner",
            "cemark-foreign",
            "cemark",
        ],
    ),
    // Compares every form of a scheme with the Rust form. Only the program uses it.
    (
        "cemark-conformance",
        &[
            "cemark-wire",
            "cemark-marking",
            "cemark-vectors",
            "cemark-foreign",
            "cemark-p4",
            "cemark-tcbpf",
        ],
    ),
    ("xtask", &[]),
];

/// Crates that must stay easy to embed: they have no dependency from outside the workspace, except
/// optional ones (`serde`, off by default).
const BARE: &[&str] = &[
    "cemark-wire",
    "cemark-param",
    "cemark-marking",
    "cemark-transport",
    "cemark-edge",
];

/// The crates of the workspace, as cargo describes them.
pub(crate) fn metadata() -> Result<serde_json::Value, String> {
    let words = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
    let out = output(Command::new(env!("CARGO")).args(words))?;
    serde_json::from_slice(&out).map_err(|e| e.to_string())
}

/// Reads the dependencies from `cargo metadata` and fails on one that is not allowed.
pub(crate) fn check() -> Result<(), String> {
    let json = metadata()?;
    let packages = json["packages"]
        .as_array()
        .ok_or("cargo metadata: no packages")?;
    let house: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut wrong = Vec::new();
    for p in packages {
        let name = p["name"].as_str().unwrap_or_default();
        let Some((_, may)) = ALLOWED.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!("{name} has no line in xtask/src/arrows.rs"));
            continue;
        };
        for d in p["dependencies"].as_array().into_iter().flatten() {
            // Development dependencies do not reach those who embed a crate.
            if d["kind"].as_str() == Some("dev") {
                continue;
            }
            let to = d["name"].as_str().unwrap_or_default();
            if house.contains(to) && !may.contains(&to) {
                wrong.push(format!(
                    "{name} must not depend on {to}; xtask/src/arrows.rs lists the dependencies"
                ));
            }
            let optional = d["optional"].as_bool() == Some(true);
            if !house.contains(to) && BARE.contains(&name) && !optional {
                wrong.push(format!(
                    "{name} must have no dependency from outside the workspace, and has {to}"
                ));
            }
        }
    }
    if wrong.is_empty() {
        println!("arrows: {} crates, every dependency allowed", house.len());
        Ok(())
    } else {
        Err(wrong.join("\n       "))
    }
}
