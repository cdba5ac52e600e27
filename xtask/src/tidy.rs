// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules about files: a licence line on top, at most 700 lines, no unfinished code or merge, and
//! for each scheme a page, vectors, an oracle and a C twin.

use std::fs;
use std::path::Path;

use crate::tree::{files, is_research, schemes};

const LICENCE: &str = "SPDX-License-Identifier:";
const LONGEST: usize = 700;
/// The table of the schemes' pages.
const PAGES: &str = "docs/README.md";

pub(crate) fn check() -> Result<(), String> {
    let listed = files()?;
    let all = listed.iter().map(String::as_str);
    let files: Vec<&str> = all.filter(|f| Path::new(f).is_file()).collect();
    let mut wrong = Vec::new();
    let sources = [".rs", ".c", ".h"];
    for f in files
        .iter()
        .filter(|f| sources.iter().any(|s| f.ends_with(s)))
    {
        let text = fs::read_to_string(f).map_err(|e| format!("{f}: {e}"))?;
        if !text.lines().next().unwrap_or_default().contains(LICENCE) {
            wrong.push(format!(
                "{f}: the first line must be a comment with {LICENCE} ..."
            ));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!(
                "{f}: {lines} lines; split it, {LONGEST} are the limit"
            ));
        }
        // Spelled in two pieces so that this file does not find itself.
        for word in [
            concat!("to", "do!("),
            concat!("unimple", "mented!("),
            concat!("FIX", "ME"),
        ] {
            if text.contains(word) {
                wrong.push(format!("{f}: {word} is unfinished code"));
            }
        }
    }
    wrong.extend(conflicts(&files));
    wrong.extend(untested(&files)?);
    let list = fs::read_to_string(PAGES).map_err(|e| format!("{PAGES}: {e}"))?;
    for stem in schemes(&files) {
        for (what, path) in [
            ("page", format!("docs/schemes/{stem}.md")),
            ("vectors", format!("vectors/{stem}")),
            ("traces", format!("vectors/{stem}/trace.toml")),
            ("oracle", format!("oracle/{stem}.py")),
        ] {
            if !Path::new(&path).exists() {
                wrong.push(format!("scheme {stem} has no {what}: {path}"));
            }
        }
        for (what, path) in [
            ("C twin", format!("dataplane/include/cemark/{stem}.h")),
            ("bytecode", format!("dataplane/bpf/{stem}.o")),
            ("tc program", format!("dataplane/bpf/tc/{stem}.o")),
        ] {
            match (is_research(&stem), Path::new(&path).exists()) {
                (false, false) => wrong.push(format!("scheme {stem} has no {what}: {path}")),
                (true, true) => wrong.push(format!("{path}: {stem} is for research")),
                _ => {}
            }
        }
        if !list.contains(&format!("(schemes/{stem}.md)")) {
            wrong.push(format!("scheme {stem} has no line in {PAGES}"));
        }
    }
    wrong.extend(crate::recipes::stale()?);
    if let Err(e) = crate::text::run(&[]) {
        wrong.push(e);
    }
    if wrong.is_empty() {
        println!("tidy: {} files", files.len());
        Ok(())
    } else {
        Err(wrong.join("\n       "))
    }
}

/// Files with the marks that a merge leaves. Files that are no text have none.
fn conflicts(files: &[&str]) -> Vec<String> {
    let found = files.iter().filter_map(|f| {
        let text = fs::read_to_string(f).ok()?;
        let line = text.lines().position(is_conflict)? + 1;
        Some(format!("{f}:{line}: a conflict marker; resolve the merge"))
    });
    found.collect()
}

fn is_conflict(line: &str) -> bool {
    ["<<<<<<< ", ">>>>>>> ", "||||||| "]
        .iter()
        .any(|mark| line.starts_with(mark))
}

/// Files of tests that no program runs: a crate with `tests/main.rs` compiles the modules that
/// this file declares, and the programs of its manifest.
fn untested(files: &[&str]) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for main in files.iter().filter(|f| f.ends_with("/tests/main.rs")) {
        let folder = main.trim_end_matches("main.rs");
        let manifest = folder.replace("tests/", "Cargo.toml");
        let read = |f: &str| fs::read_to_string(f).map_err(|e| format!("{f}: {e}"));
        let (declared, programs) = (read(main)?, read(&manifest)?);
        for file in files.iter().filter(|f| *f != main) {
            let Some(name) = file
                .strip_prefix(folder)
                .and_then(|f| f.strip_suffix(".rs"))
            else {
                continue;
            };
            let module = format!("mod {name};");
            let program = format!("name = \"{name}\"");
            let runs = declared.lines().any(|line| line == module)
                || programs.lines().any(|line| line == program);
            if !runs && !name.contains('/') {
                wrong.push(format!(
                    "{file}: no program runs its tests; add {module} to {main}"
                ));
            }
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::is_conflict;

    #[test]
    fn marks_of_a_merge() {
        assert!(is_conflict("<<<<<<< HEAD") && is_conflict(">>>>>>> main"));
        // The line under a heading, and an arrow in a drawing.
        assert!(!is_conflict("=======") && !is_conflict("<<<<<<<<"));
    }
}
