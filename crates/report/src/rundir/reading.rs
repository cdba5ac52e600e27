// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a finished run back, whichever build of cemark wrote it.

use std::path::Path;

use cemark_scenario::Plan;
use serde::Deserialize;

use super::stored::{self, Stored};
use super::{Finished, MANIFEST, Manifest, SUMMARY, document, point_path, share};
use crate::Error;

/// A run that was read from its directory.
#[derive(Clone, Debug)]
pub struct Run {
    /// The plan with the points that the run has.
    pub plan: Plan,
    /// Results of the points, one each.
    pub finished: Vec<Finished>,
}

/// The help for a damaged document.
const AGAIN: &str =
    "run the same command again: it writes the file, and simulates only what is missing";

/// The part of `summary.json` that says which points the run has.
#[derive(Deserialize)]
struct Summary {
    digest: String,
    points: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    axes: std::collections::BTreeMap<String, String>,
    scheme: String,
    seed: u64,
}

/// Reads what a run left in its directory.
///
/// # Errors
/// [`crate::Fault::User`] where the directory is not that of a finished run, or belongs to a cemark
/// whose scenarios this one does not read; [`crate::Fault::Machine`] where it cannot be read.
pub fn read(dir: &Path) -> Result<Run, Error> {
    let path = dir.join(MANIFEST);
    let manifest: Manifest = match document::read(&path)? {
        document::Found::Missing => {
            return Err(Error::user(
                "this is not the directory of a run, as it has no manifest.json:",
                dir,
                "name a directory that `cemark run` made (runs/SCENARIO-DIGEST), or a scenario \
                 that has been run here",
            ));
        }
        found => found.needed(&path, AGAIN)?,
    };
    let command = manifest.provenance.command.join(" ");
    if manifest.digest.is_none() {
        return Err(Error::user(
            "this run is not finished:",
            dir,
            format!("continue it first: {command}"),
        ));
    }
    let plan = manifest.plan(&name(&manifest));
    let mut plan = plan.map_err(|e| {
        let what = format!("this version cannot read the scenario of the run ({e}):");
        Error::user(what, &path, format!("run it again: {command}"))
    })?;
    let again = format!("run it again, which simulates only what is missing: {command}");
    let listed = listed(dir, &manifest, &again)?;
    plan.points.retain(|p| {
        let same = |l: &Listed| l.axes == p.axes && l.scheme == p.scheme && l.seed == p.seed;
        listed.points.iter().any(same)
    });
    if plan.points.is_empty() || plan.points.len() != listed.points.len() {
        return Err(Error::user(
            "this version expands the scenario of this run to other points:",
            dir,
            again,
        ));
    }
    let mut finished = vec![None; plan.points.len()];
    for i in plan.part(1, 1) {
        let point = &plan.points[i];
        let path = point_path(dir, point);
        let key = stored::Key {
            build: &manifest.provenance.build,
            scenario: &manifest.scenario_digest,
            point,
        };
        match stored::read(&path, key) {
            Stored::Whole(done) => finished[i] = Some(*done),
            Stored::Missing | Stored::Other | Stored::Damaged => {
                return Err(Error::user(
                    "a point of this run is missing, damaged or from another build:",
                    &path,
                    again,
                ));
            }
        }
    }
    share(&plan, &mut finished);
    let finished = finished.into_iter().flatten().collect();
    Ok(Run { plan, finished })
}

/// The name of the scenario's file as it was typed, since relative paths in it start there.
fn name(manifest: &Manifest) -> String {
    let words = manifest.provenance.command.iter();
    let mut files = words.filter(|w| {
        let stem = Path::new(w).file_stem();
        w.ends_with(".toml") && stem.is_some_and(|s| s.to_string_lossy() == *manifest.scenario)
    });
    let file = files.next().cloned();
    file.unwrap_or_else(|| format!("{}.toml", manifest.scenario))
}

/// The points of a run, which are those of its manifest's schemes.
fn listed(dir: &Path, manifest: &Manifest, again: &str) -> Result<Summary, Error> {
    let path = dir.join(SUMMARY);
    let listed: Summary = document::read(&path)?.needed(&path, again)?;
    let known = |p: &Listed| manifest.schemes.contains(&p.scheme);
    if manifest.digest.as_ref() != Some(&listed.digest) || !listed.points.iter().all(known) {
        return Err(Error::user(
            "this file is that of another run than the manifest beside it:",
            &path,
            again,
        ));
    }
    Ok(listed)
}
