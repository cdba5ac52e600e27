// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of crates that a first build compiles: a newcomer waits for each.

use std::collections::BTreeSet;
use std::process::Command;

use crate::programs::output;

/// Most crates that the program and its build scripts consist of, those of the workspace included.
const MOST: usize = 130;

/// Counts the crates of `cemark` on this machine.
pub(crate) fn check() -> Result<(), String> {
    let tree = output(
        Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--package", "cemark"])
            .args(["--edges", "normal,build", "--prefix", "none"]),
    )?;
    let count = count(&String::from_utf8_lossy(&tree));
    if count > MOST {
        return Err(format!(
            "{count} crates; at most {MOST}. `cargo tree -p cemark -e normal,build -i NAME` says \
             who needs a crate"
        ));
    }
    println!("crates: {count} of at most {MOST} in the program");
    Ok(())
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
    use super::count;

    #[test]
    fn a_crate_counts_once_and_each_version_by_itself() {
        let tree = "a v1.0.0\nb v2.0.0\nb v2.0.0 (*)\n\nb v3.0.0\nc v1.0.0 (proc-macro)\n";
        assert_eq!(count(tree), 4);
    }
}
