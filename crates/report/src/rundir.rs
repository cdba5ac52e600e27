// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run directory: every finished point is safe on disk, and a second run of the same scenario continues.
//!
//! Each file is written under another name, synced, and renamed: a name that exists holds a whole file, whatever killed the process.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use serde::{Deserialize, Serialize};

use crate::summary::{PointSummary, RunSummary, hex};
use crate::{Error, stored, tables};

const MANIFEST: &str = "manifest.json";
const POINTS: &str = "points";

/// A point that has been simulated, now or in an earlier session.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its numbers.
    pub summary: PointSummary,
    /// Everything it left.
    pub outcome: Outcome,
}

impl Finished {
    /// Of a point that took so many CPU seconds.
    pub fn new(point: &Point, outcome: Outcome, cpu_seconds: f64) -> Self {
        Finished {
            summary: PointSummary::new(point, &outcome, cpu_seconds),
            outcome,
        }
    }
}

/// Who runs, for the manifest and the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of cemark.
    pub version: String,
    /// Fingerprint of the program itself: points of another build are run again.
    pub build: String,
    /// The command line.
    pub command: Vec<String>,
}

/// `manifest.json`: written before the first point, completed after the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`crate::summary::SCHEMA`].
    pub schema: u32,
    /// Short name of the scenario.
    pub scenario: String,
    /// Its one line for people.
    pub title: String,
    /// Fingerprint of the scenario: of everything that can change a result.
    pub scenario_digest: String,
    /// Fingerprint of the results; `null` until all points have finished.
    pub digest: Option<String>,
    /// Seeds, in order.
    pub seeds: Vec<u64>,
    /// Schemes, in order.
    pub schemes: Vec<String>,
    /// Number of points.
    pub points: u64,
    /// What the scenario asks for and its author probably did not mean, each with what to write instead.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Who ran it.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The scenario as read, with `--set` and `--seed` applied.
    pub source: String,
}

/// A run directory that belongs to one scenario.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    build: String,
}

impl RunDir {
    /// Where a plan goes if nobody says otherwise: `runs/<scenario>-<first 8 digits of its digest>`.
    pub fn default_path(plan: &Plan) -> PathBuf {
        Path::new("runs").join(format!("{}-{}", plan.name, &hex(plan.digest)[..8]))
    }

    /// Creates the directory, or opens that of an earlier run of the same scenario. With `fresh`, an earlier run's files go first.
    ///
    /// # Errors
    /// [`crate::Fault::User`] where a file is in the way or the directory holds another scenario's run; [`crate::Fault::Machine`] where it
    /// cannot be written.
    pub fn open(path: &Path, plan: &Plan, who: &Provenance, fresh: bool) -> Result<Self, Error> {
        let dir = RunDir {
            path: path.to_path_buf(),
            build: who.build.clone(),
        };
        if path.exists() && !path.is_dir() {
            return Err(Error::user(
                "the run directory cannot be made, a file is in the way:",
                path,
                "move the file aside, or choose another directory with --out DIR",
            ));
        }
        let points = path.join(POINTS);
        fs::create_dir_all(path).map_err(|e| Error::io("make the run directory", path, e))?;
        dir.claim(plan, fresh)?;
        if fresh {
            remove_all(&points)?;
        }
        fs::create_dir_all(&points).map_err(|e| Error::io("make the directory", &points, e))?;
        dir.sweep(&points);
        dir.write_manifest(plan, who, None)?;
        Ok(dir)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a directory that holds another scenario's run or somebody else's files of the same names.
    fn claim(&self, plan: &Plan, fresh: bool) -> Result<(), Error> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return match fs::read_dir(self.path.join(POINTS))
                    .ok()
                    .and_then(|mut d| d.next())
                {
                    Some(_) => Err(Error::user(
                        "this directory has a folder `points` but no manifest, so it is no run directory:",
                        &self.path,
                        "choose another directory with --out DIR",
                    )),
                    None => Ok(()),
                };
            }
            Err(e) => return Err(Error::io("read", &path, e)),
        };
        let Ok(manifest) = serde_json::from_str::<Manifest>(&text) else {
            return Err(Error::user(
                "the manifest of this directory was not written by cemark:",
                &path,
                "choose another directory with --out DIR",
            ));
        };
        if manifest.scenario_digest != hex(plan.digest) && !fresh {
            return Err(Error::user(
                format!(
                    "the directory holds a run of `{}` ({}), not of `{}` ({}):",
                    manifest.scenario,
                    &manifest.scenario_digest,
                    plan.name,
                    hex(plan.digest)
                ),
                &self.path,
                "choose another directory with --out DIR, or throw the old run away with --fresh",
            ));
        }
        Ok(())
    }

    /// Removes what a killed process left half-written.
    fn sweep(&self, points: &Path) {
        for dir in [&self.path, points] {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                if entry
                    .file_name()
                    .to_string_lossy()
                    .starts_with(".cemark-tmp-")
                {
                    // A leftover that cannot be removed does no harm.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    fn point_path(&self, point: &Point) -> PathBuf {
        self.path
            .join(POINTS)
            .join(format!("{}.parquet", hex(point.digest)))
    }

    /// The point, if an earlier session of the same build finished it.
    pub fn load(&self, point: &Point) -> Option<Finished> {
        let (outcome, cpu_seconds) =
            stored::read(&self.point_path(point), &self.build, &hex(point.digest))?;
        Some(Finished::new(point, outcome, cpu_seconds))
    }

    /// Keeps a finished point. When this returns, no kill and no power cut loses it.
    ///
    /// # Errors
    /// [`crate::Fault::Machine`] where the disk is full or the directory has become unwritable.
    pub fn store(&self, point: &Point, finished: &Finished) -> Result<(), Error> {
        let bytes = stored::encode(
            &finished.outcome,
            &self.build,
            &hex(point.digest),
            finished.summary.cpu_seconds,
        );
        write_whole(&self.point_path(point), &bytes)
    }

    fn write_manifest(
        &self,
        plan: &Plan,
        who: &Provenance,
        digest: Option<&str>,
    ) -> Result<(), Error> {
        let mut seeds = Vec::new();
        for p in &plan.points {
            if !seeds.contains(&p.seed) {
                seeds.push(p.seed);
            }
        }
        let manifest = Manifest {
            schema: crate::summary::SCHEMA,
            scenario: plan.name.clone(),
            title: plan.title.clone(),
            scenario_digest: hex(plan.digest),
            digest: digest.map(str::to_owned),
            seeds,
            schemes: plan.schemes.clone(),
            points: plan.points.len() as u64,
            warnings: plan.warning_lines(),
            provenance: who.clone(),
            source: plan.source.clone(),
        };
        self.write_json(MANIFEST, &manifest)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(value).expect("numbers and strings");
        text.push('\n');
        write_whole(&self.path.join(name), text.as_bytes())
    }

    /// Writes what a finished run leaves: `summary.json`, `flows.parquet`, `links.parquet`, `queues.parquet` where traces exist, `goodput.parquet` where
    /// intervals were asked for, `report.html`, and the manifest with the digest of the results. `finished` holds one entry a point, in the plan's order.
    ///
    /// # Errors
    /// As [`RunDir::store`].
    pub fn finish(
        &self,
        plan: &Plan,
        finished: &[Finished],
        summary: &RunSummary,
        report: &str,
        who: &Provenance,
    ) -> Result<(), Error> {
        for (name, bytes) in [
            ("flows.parquet", tables::flows(plan, finished)),
            ("queues.parquet", tables::queues(plan, finished)),
            ("goodput.parquet", tables::goodput(plan, finished)),
            ("links.parquet", tables::links(plan, finished)),
        ] {
            let path = self.path.join(name);
            match bytes {
                Some(bytes) => write_whole(&path, &bytes)?,
                None => remove_file(&path)?,
            }
        }
        write_whole(&self.path.join("report.html"), report.as_bytes())?;
        self.write_json("summary.json", summary)?;
        self.write_manifest(plan, who, Some(&summary.digest))
    }
}

/// Writes a file so that its name never stands for half of it.
///
/// # Errors
/// Whatever the system reports, sorted by whose fault it is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let dir = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Two points of a plan that are alike share their name, and may finish at once on two threads.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = dir.join(format!(".cemark-tmp-{}-{write}-{name}", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| File::open(dir)?.sync_all());
    written.map_err(|e| {
        // The name is ours; what is left of it is worth nothing.
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, e)
    })
}

fn remove_all(dir: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove the old points in", dir, e))
        }
        _ => Ok(()),
    }
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}
