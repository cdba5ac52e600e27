// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs restated from public reports and files of people who do this job, each with the right
//! answer. A case has a number, C1 to C31, and shows a kind of input. Every input is written by its
//! test. Numbers that are left out belong to other tests, or are not answered yet.
//!
//! | cases | where |
//! |---|---|
//! | C1, C3 to C8, C14: files of other simulators | `imports.rs` |
//! | C10 to C13: completion times, RTTs and sizes that others measured | `measured.rs` |
//! | C16, C17, C19: units of switches | `units.rs` |
//! | C18, C22 to C24, C30: runs | `runs.rs` |
//! | C15, C20b, C21: what tables and documents say | `tables.rs` |

mod imports;
mod measured;
mod runs;
mod tables;
mod units;

/// The fingerprint of everything that can change a result of `my.toml`.
fn scenario_digest(dir: &std::path::Path) -> String {
    let o = crate::common::cemark(dir, &["check", "my.toml", "--format", "json"]);
    assert_eq!(
        o.status.code(),
        Some(0),
        "{}",
        crate::common::line(&o.stderr)
    );
    let doc: serde_json::Value = serde_json::from_slice(&o.stdout).expect("a document");
    doc["scenario_digest"]
        .as_str()
        .expect("a digest")
        .to_owned()
}
