// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a finished run back, whichever build of cemark wrote it.

use std::collections::BTreeMap;
use std::path::Path;

use cemark_scenario::{Plan, Point};
use serde::Deserialize;

use super::stored::{self, Stored};
use super::{Finished, MANIFEST, Manifest, SUMMARY, document, point_path};
use crate::Error;

/// A run that was read from its directory.
#[derive(Clone, Debug)]
pub struct Run {
    /// Manifest of the run.
    pub manifest: Manifest,
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
    axes: BTreeMap<String, String>,
    scheme: String,
    seed: u64,
}

/// Reads what a run left in its directory.
///
/// # Errors
/// [`crate::Fault::User`] where the directory is not that of a finished run, or belongs to a cemark
/// whose scenarios this one does not read; [`crate::Fault::Machine`] where it cannot be read.
pub fn read(dir: &Path) -> Result<Run, Error> {
    read_as(dir, |manifest| manifest.plan(&name(manifest)))
}

/// Reads a run whose plan `plan` makes from the manifest.
///
/// # Errors
/// As [`read`].
pub fn read_as(
    dir: &Path,
    plan: impl Fn(&Manifest) -> Result<Plan, cemark_scenario::Error>,
) -> Result<Run, Error> {
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
    let plan = plan(&manifest);
    if manifest.digest.is_none() {
        return Err(unfinished(dir, &manifest, plan.ok()));
    }
    let mut plan = plan.map_err(|e| {
        let what = format!("this version cannot read the scenario of the run ({e}):");
        Error::user(what, &path, format!("run it again: {command}"))
    })?;
    let again = format!("run it again, which simulates only what is missing: {command}");
    let listed = listed(dir, &manifest, &again)?;
    let is_listed = |p: &Point| {
        let same = |l: &Listed| l.axes == p.axes && l.scheme == p.scheme && l.seed == p.seed;
        listed.points.iter().any(same)
    };
    let own: Vec<&Point> = plan.points.iter().filter(|p| is_listed(p)).collect();
    if own.is_empty() || own.len() != listed.points.len() {
        return Err(Error::user(
            "this version expands the scenario of this run to other points:",
            dir,
            again,
        ));
    }
    let mut finished: Vec<Finished> = Vec::new();
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    for point in own {
        let done = match first.get(&point.simulation) {
            Some(first) => finished[*first].shared(point, *first),
            None => {
                first.insert(point.simulation, finished.len());
                simulated(dir, &manifest, point, &plan.points, &again)?
            }
        };
        finished.push(done);
    }
    plan.points.retain(is_listed);
    Ok(Run {
        manifest,
        plan,
        finished,
    })
}

/// The result of a point, from its own file or from that of another point of the same
/// configuration: a run simulates and stores one of them.
fn simulated(
    dir: &Path,
    manifest: &Manifest,
    point: &Point,
    all: &[Point],
    again: &str,
) -> Result<Finished, Error> {
    let stored = |point: &Point| {
        let key = stored::Key {
            build: &manifest.provenance.build,
            scenario: &manifest.scenario_digest,
            point,
        };
        match stored::read(&point_path(dir, point), key) {
            Stored::Whole(done) => Some(*done),
            Stored::Missing | Stored::Other | Stored::Damaged => None,
        }
    };
    if let Some(done) = stored(point) {
        return Ok(done);
    }
    let is_alike = |p: &&Point| p.simulation == point.simulation && p.digest != point.digest;
    let alike = all.iter().filter(is_alike).find_map(stored);
    let alike = alike.map(|f| Finished::new(point, f.outcome, f.summary.cpu_seconds));
    alike.ok_or_else(|| {
        Error::user(
            "a point of this run is missing, damaged or from another build:",
            &point_path(dir, point),
            again,
        )
    })
}

/// The error for a run that has not ended: how many points are missing, and how to continue it.
fn unfinished(dir: &Path, manifest: &Manifest, plan: Option<Plan>) -> Error {
    let command = manifest.provenance.command.join(" ");
    let missing = plan.map_or(String::new(), |plan| {
        let (part, parts) = manifest.part.as_ref().map_or((1, 1), |p| (p.part, p.parts));
        let own = plan.part(part, parts);
        let is_missing = |i: &&usize| !point_path(dir, &plan.points[**i]).exists();
        let (missing, all) = (own.iter().filter(is_missing).count(), own.len());
        let most = if plan.precision.is_some() {
            "at most "
        } else {
            ""
        };
        format!(" ({most}{missing} of {all} points are missing)")
    });
    let what = match &manifest.part {
        None => format!("this run is not finished{missing}:"),
        Some(p) => format!(
            "this run is not finished, it is part {} of {}{missing}:",
            p.part, p.parts
        ),
    };
    let help = match &manifest.part {
        None => format!("continue it first: {command}"),
        Some(_) => format!(
            "continue it first: {command}; then make one run of all parts with cemark merge"
        ),
    };
    Error::user(what, dir, help)
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
