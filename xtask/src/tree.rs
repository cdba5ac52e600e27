// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of the repository.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The files of the tree; new ones too, before `git add`.
pub(crate) fn files() -> Result<Vec<String>, String> {
    let out = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|e| format!("git ls-files: {e}"))?;
    let listed = String::from_utf8_lossy(&out.stdout);
    // A file that was deleted and not yet committed is still listed. A link to a folder is a file.
    let there = |f: &&str| Path::new(f).symlink_metadata().is_ok();
    Ok(listed.lines().filter(there).map(str::to_owned).collect())
}

/// Names of the schemes that data planes have, as their files are called.
pub(crate) fn deployed_schemes() -> Result<Vec<String>, String> {
    let files = files()?;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut stems = schemes(&files);
    stems.retain(|stem| !is_research(stem));
    Ok(stems)
}

/// Whether a scheme is for research, and in the simulator only.
pub(crate) fn is_research(stem: &str) -> bool {
    fs::read_to_string(format!("crates/marking/src/{stem}.rs"))
        .is_ok_and(|text| text.contains("    research_of: Some("))
}

/// Names of the files of the marking crate that declare a scheme.
pub(crate) fn schemes(files: &[&str]) -> Vec<String> {
    files
        .iter()
        .filter_map(|f| f.strip_prefix("crates/marking/src/")?.strip_suffix(".rs"))
        .filter(|stem| {
            fs::read_to_string(format!("crates/marking/src/{stem}.rs")).is_ok_and(|t| {
                t.contains("pub const SPEC: SchemeSpec")
                    || t.contains("pub static SPEC: SchemeSpec")
            })
        })
        .map(str::to_owned)
        .collect()
}
