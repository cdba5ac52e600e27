// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of crates that a first build compiles: a newcomer waits for each. Crates that few
//! users need stay out of the libraries below the program.

use std::collections::BTreeSet;
use std::process::Command;

use crate::programs::output;

/// Most crates that the program and its build scripts consist of, those of the workspace included.
const MOST: usize = 130;

/// Crates of the workspace that a library or a default build must not contain.
const HEAVY: [&str; 3] = ["cemark-conformance", "cemark-p4", "cemark-tcbpf"];
/// Packages that must build without [`HEAVY`], as their default features select them.
const LIGHT: [&str; 3] = ["cemark-runner", "cemark-python", "cemark"];

/// Counts the crates of `cemark` on this machine, and looks for heavy ones where none may be.
pub(crate) fn check() -> Result<(), String> {
    for package in LIGHT {
        if let Some(heavy) = heavy(&tree(package)?) {
            return Err(format!(
                "{package} contains {heavy}: `cargo tree -p {package} -e normal,build -i {heavy}` \
                 says who needs it"
            ));
        }
    }
    let count = count(&tree("cemark")?);
    if count > MOST {
        return Err(format!(
            "{count} crates; at most {MOST}. `cargo tree -p cemark -e normal,build -i NAME` says \
             who needs a crate"
        ));
    }
    println!("crates: {count} of at most {MOST} in the program");
    Ok(())
}

/// The crates of a package, as `cargo tree` lists them.
fn tree(package: &str) -> Result<String, String> {
    let tree = output(
        Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--package", package])
            .args(["--edges", "normal,build", "--prefix", "none"]),
    )?;
    Ok(String::from_utf8_lossy(&tree).into_owned())
}

/// The first of [`HEAVY`] in a tree.
fn heavy(tree: &str) -> Option<&'static str> {
    let names = || tree.lines().filter_map(|line| line.split(' ').next());
    HEAVY
        .into_iter()
        .find(|heavy| names().any(|name| name == *heavy))
}

/// Different crates among the lines of `cargo tree`, which mark repeated ones with `(*)`.
fn count(tree: &str) -> usize {
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)").trim())
        .filter(|line| !line.is_empty())
        .collect();
    crates.len()
}

#[cfg(test)]
mod tests {
    use super::{count, heavy};

    #[test]
    fn a_crate_counts_once_and_each_version_by_itself() {
        let tree = "a v1.0.0\nb v2.0.0\nb v2.0.0 (*)\n\nb v3.0.0\nc v1.0.0 (proc-macro)\n";
        assert_eq!(count(tree), 4);
    }

    #[test]
    fn a_heavy_crate_is_found_by_its_whole_name() {
        assert_eq!(heavy("cemark v0.1.0\ncemark-p4x v0.1.0\n"), None);
        let found = heavy("cemark v0.1.0\ncemark-p4 v0.1.0 (/crates/p4)\n");
        assert_eq!(found, Some("cemark-p4"));
    }
}
