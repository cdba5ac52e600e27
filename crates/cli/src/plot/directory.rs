// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory of a run that a user names.

use std::path::{Path, PathBuf};

use cemark_report::RunDir;
use cemark_scenario::Overrides;

use crate::exit::{Failure, user};

/// The directory that is meant: a path, or that of a scenario's run.
pub(crate) fn directory(run: &str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(run);
    if path.is_dir() {
        return Ok(path);
    }
    if path.is_file() && !run.ends_with(".toml") {
        return Err(user(
            format!("{run} is a file, not the directory of a run"),
            "name the directory that contains it",
        ));
    }
    let name = Path::new(run).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let plan = cemark_scenario::load(run, &Overrides::default()).ok();
    if let Some(path) = plan
        .as_ref()
        .map(RunDir::default_path)
        .filter(|p| p.is_dir())
    {
        return Ok(path);
    }
    let mut runs: Vec<PathBuf> = std::fs::read_dir("runs")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|p| p.is_dir() && is_of(p, &name))
        .collect();
    runs.sort();
    match (&runs[..], plan) {
        ([one], _) => Ok(one.clone()),
        ([], None) => Err(user(
            format!("there is no directory {run}, and no scenario of this name"),
            "name a directory that `cemark run` made (runs/SCENARIO-DIGEST), or a scenario \
                    that has been run here",
        )),
        ([], Some(_)) => Err(user(
            format!("{run} has not been run here: there is no runs/{name}-…"),
            format!("first run it: cemark run {run}"),
        )),
        (several, _) => {
            let names: Vec<String> = several.iter().map(|p| p.display().to_string()).collect();
            Err(user(
                format!("{run} has been run in several forms"),
                format!("name one of them: {}", names.join(", ")),
            ))
        }
    }
}

/// Whether a directory of `runs` is of the scenario with this name.
fn is_of(path: &Path, name: &str) -> bool {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let digest = file.strip_prefix(name).and_then(|r| r.strip_prefix('-'));
    digest.is_some_and(|d| d.len() == 8 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}
