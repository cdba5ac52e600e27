// SPDX-License-Identifier: MIT OR Apache-2.0
//! The run directory: every finished point is kept on disk, and a second run of the same scenario
//! continues from there.
//!
//! Each file is written under a temporary name, synced, and renamed, so a file under its final name
//! is whole even if the process was killed. Its checksum shows later damage. A lock keeps a second
//! process away.

mod columns;
pub mod document;
mod elsewhere;
mod lock;
mod part;
mod reading;
mod seal;
mod source;
mod stored;
mod tables;
mod write;

pub use columns::{Column, Table};
pub use elsewhere::{Brought, encode, scenario_of};
pub use part::{Part, Share};
pub use source::{Found, Source};
pub use tables::{Kind, columns, measure_columns, slowdown_by_size};
pub use write::{write_named, write_whole};

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cemark_scenario::{Overrides, OwnMarker, Plan, Point};
use cemark_sim::Outcome;
use serde::{Deserialize, Serialize};

use self::lock::{Asked, Lock};
pub use self::reading::{Run, read, read_as};
use self::stored::Stored;
use crate::Error;
use crate::summary::{PointSummary, RunSummary, hex};
use crate::text::distinct;

const MANIFEST: &str = "manifest.json";
const SUMMARY: &str = "summary.json";
const POINTS: &str = "points";
const MEASURES: &str = "metrics.parquet";
/// Names of the files that a finished run leaves beside its manifest and its points.
const DOCUMENTS: [&str; 10] = [
    "points.parquet",
    MEASURES,
    "flows.parquet",
    "queues.parquet",
    "buffers.parquet",
    "goodput.parquet",
    "links.parquet",
    "pauses.parquet",
    "report.html",
    SUMMARY,
];
/// How the names of files begin that are not whole yet.
const TEMPORARY: &str = ".cemark-tmp-";
/// How long to wait before the next attempt to take the lock.
const AGAIN: Duration = Duration::from_millis(100);

/// Receives what a run directory reports, and decides whether it keeps waiting for another process.
pub trait Console: Sync {
    /// A sentence for standard error.
    fn say(&self, _note: &str) {}
    /// False ends the run.
    fn goes_on(&self) -> bool {
        true
    }
}

impl Console for () {}

/// A point that has been simulated, now or in an earlier session.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its numbers.
    pub summary: PointSummary,
    /// Everything that the simulation left behind.
    pub outcome: Outcome,
}

impl Finished {
    /// Result of a point that took this many CPU seconds.
    pub fn new(point: &Point, outcome: Outcome, cpu_seconds: f64) -> Self {
        Finished {
            summary: PointSummary::new(point, &outcome, cpu_seconds),
            outcome,
        }
    }

    /// Result of a point that the simulation of another point gives: `first` is the index of the
    /// other one in the plan ([`Plan::simulated_as`]). This point took no CPU time.
    pub fn shared(&self, point: &Point, first: usize) -> Self {
        let mut summary = PointSummary::new(point, &self.outcome, 0.0);
        summary.same_as = Some(first as u64);
        Finished {
            summary,
            outcome: self.outcome.clone(),
        }
    }
}

/// Gives every point of a plan its result, once those that are simulated have theirs: `finished`
/// has an entry for each point, `None` where there is no result.
pub fn share(plan: &Plan, finished: &mut [Option<Finished>]) {
    for (i, first) in plan.simulated_as().into_iter().enumerate() {
        if first != i {
            let shared = finished[first].as_ref();
            finished[i] = shared.map(|f| f.shared(&plan.points[i], first));
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
    /// Its title.
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
    /// Which part of them this directory is for; left out where it is for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Warnings about settings that the scenario's author probably did not mean, each with advice
    /// on what to write instead.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Declarations of the user's own markers, without which the scenario cannot be read where
    /// their files are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<OwnMarker>,
    /// Who ran it.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The scenario as read, with `--set` and `--seed` applied.
    pub source: String,
}

impl Manifest {
    /// The plan of its scenario, without a look at the files of markers. `file` names the scenario.
    ///
    /// # Errors
    /// Where this version does not read the scenario.
    pub fn plan(&self, file: &str) -> Result<Plan, cemark_scenario::Error> {
        let overrides = Overrides {
            known: self.markers.clone(),
            ..Overrides::default()
        };
        cemark_scenario::parse(&self.source, file, &overrides)
    }
}

/// A run directory that belongs to one scenario, and to this process while the value or a clone of
/// it lives.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    build: String,
    scenario: String,
    part: Option<Part>,
    lock: Option<Arc<Lock>>,
}

/// To which run a directory belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The directory contains nothing of a run.
    New,
    /// The directory has the manifest of this run, which may continue here.
    Ours,
    /// The directory belongs to this run, but the manifest is lost or damaged.
    NoManifest,
}

/// Why a directory is not for this plan.
enum Refusal {
    /// The directory contains another scenario's run.
    Another(Error),
    /// The directory seems to contain something that is not a run. The directory of a process that
    /// is just starting a run may look alike.
    Foreign(Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Another(e) | Refusal::Foreign(e) => e,
        }
    }
}

impl RunDir {
    /// Lets other processes have the directory: nothing more is written to it. A clone keeps its
    /// hold.
    pub fn release(&mut self) {
        self.lock = None;
    }

    /// Where a plan goes by default: `runs/<scenario>-<first 8 digits of its digest>`.
    pub fn default_path(plan: &Plan) -> PathBuf {
        Path::new("runs").join(format!("{}-{}", plan.name, &hex(plan.digest)[..8]))
    }

    /// Creates the directory, or opens that of an earlier run of the same scenario. With `fresh`,
    /// an earlier run's files are removed first. Where another process runs the same scenario
    /// there, this one waits for it.
    ///
    /// # Errors
    /// [`crate::Fault::User`] where a file is in the way, the directory holds another scenario's
    /// run or `fresh` meets another process; [`crate::Fault::Machine`] where it cannot be written.
    pub fn open(
        path: &Path,
        plan: &Plan,
        who: &Provenance,
        fresh: bool,
        console: &dyn Console,
    ) -> Result<Self, Error> {
        RunDir::open_part(path, plan, None, who, fresh, console)
    }

    /// Creates or opens the directory of a part of the plan, which the manifest then names.
    ///
    /// # Errors
    /// As [`RunDir::open`].
    pub fn open_part(
        path: &Path,
        plan: &Plan,
        part: Option<Part>,
        who: &Provenance,
        fresh: bool,
        console: &dyn Console,
    ) -> Result<Self, Error> {
        let mut dir = RunDir {
            path: path.to_path_buf(),
            build: who.build.clone(),
            scenario: hex(plan.digest),
            part,
            lock: None,
        };
        if path.exists() && !path.is_dir() {
            return Err(Error::user(
                "the run directory cannot be made, a file is in the way:",
                path,
                "move the file aside, or choose another directory with --out DIR",
            ));
        }
        let points = path.join(POINTS);
        // Files behind a link belong to another directory.
        if points.is_symlink() {
            return Err(Error::user(
                "the points of the run directory are behind a symbolic link:",
                &points,
                "choose another directory with --out DIR, which may itself be a link",
            ));
        }
        fs::create_dir_all(path).map_err(|e| Error::io("make the run directory", path, e))?;
        let claim = dir.take(plan, fresh, console)?;
        if fresh && claim != Claim::New {
            dir.remove_run()?;
        } else if claim == Claim::NoManifest {
            console.say(&format!(
                "{} is lost or damaged: it is written again, and the points that check out \
                 are kept",
                path.join(MANIFEST).display()
            ));
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

    /// Makes sure that the directory is for this plan, and that no other process writes in it.
    fn take(&mut self, plan: &Plan, fresh: bool, console: &dyn Console) -> Result<Claim, Error> {
        let mut waits = false;
        let was_used = loop {
            let was_used = lock::is_ours(&self.path);
            // Checked before the lock leaves a file, so that a foreign directory stays as it is.
            match self.claim(plan, fresh, was_used) {
                Err(Refusal::Foreign(_)) if self.path.join(lock::NAME).exists() => {}
                other => {
                    other?;
                }
            }
            let holder = match lock::ask(&self.path)? {
                Asked::Held(holder) => holder,
                Asked::Unsupported(lock) => {
                    console.say(&format!(
                        "the file system of {} has no locks: make sure that no other cemark \
                         writes there",
                        self.path.display()
                    ));
                    self.lock = Some(Arc::new(lock));
                    break was_used;
                }
                Asked::Ours(lock) => {
                    self.lock = Some(Arc::new(lock));
                    break was_used;
                }
            };
            let number = holder.map_or(String::new(), |pid| format!(" (process {pid})"));
            if fresh || holder == Some(std::process::id()) {
                return Err(Error::user(
                    format!("another cemark{number} is writing the run directory"),
                    &self.path,
                    "wait until it has finished or end it, or choose another directory with \
                     --out DIR",
                ));
            }
            if !waits {
                waits = true;
                console.say(&format!(
                    "another cemark{number} is running this scenario in {}: waiting until it \
                     ends; Ctrl-C leaves it alone",
                    self.path.display()
                ));
            }
            if !console.goes_on() {
                return Err(Error::user(
                    "stopped waiting for the cemark that is writing the run directory",
                    &self.path,
                    "run the same command again, or choose another directory with --out DIR",
                ));
            }
            std::thread::sleep(AGAIN);
        };
        // The process before this one may have left another scenario's run.
        Ok(self.claim(plan, fresh, was_used)?)
    }

    /// Refuses a directory that contains another scenario's run, or files of the same names that
    /// cemark did not write. `was_used`: a run has had the lock before this process asked for it.
    fn claim(&self, plan: &Plan, fresh: bool, was_used: bool) -> Result<Claim, Refusal> {
        let found = document::read::<Manifest>(&self.path.join(MANIFEST));
        let manifest = match found.map_err(Refusal::Foreign)? {
            document::Found::Whole(manifest) => manifest,
            document::Found::Missing => return self.claim_without(None, fresh),
            document::Found::Damaged => return self.claim_without(Some(was_used), fresh),
        };
        if manifest.scenario_digest != self.scenario && !fresh {
            return Err(self.another(format!(
                "the directory holds a run of `{}` ({}), not of `{}` ({}):",
                manifest.scenario, &manifest.scenario_digest, plan.name, self.scenario
            )));
        }
        Ok(Claim::Ours)
    }

    /// To which run a directory without a whole manifest belongs: its points say so. `damaged`:
    /// there is a file of the manifest's name, and whether a run has been here.
    fn claim_without(&self, damaged: Option<bool>, fresh: bool) -> Result<Claim, Refusal> {
        let points = || entries(&self.path.join(POINTS));
        let known = points()
            .filter(|path| is_point(path))
            .find_map(|path| stored::scenario(&path));
        if let Some(scenario) = known {
            if scenario != self.scenario && !fresh {
                return Err(self.another(format!(
                    "the directory holds points of another scenario ({scenario}, not {}), and \
                     its manifest is lost or damaged:",
                    self.scenario
                )));
            }
            return Ok(Claim::NoManifest);
        }
        if damaged == Some(true) {
            return Ok(Claim::NoManifest);
        }
        if damaged.is_some() {
            return Err(Refusal::Foreign(Error::user(
                "the manifest of this directory was not written by cemark:",
                &self.path.join(MANIFEST),
                "choose another directory with --out DIR",
            )));
        }
        let documents = DOCUMENTS.iter().map(|name| self.path.join(name));
        let points = points().filter(|path| !file_name(path).starts_with(TEMPORARY));
        let taken = documents.filter(|path| path.exists()).chain(points).next();
        match taken {
            Some(path) => Err(Refusal::Foreign(Error::user(
                "this directory has no manifest, so it is no run directory, but there is already",
                &path,
                "choose another directory with --out DIR",
            ))),
            None => Ok(Claim::New),
        }
    }

    fn another(&self, what: String) -> Refusal {
        Refusal::Another(Error::user(
            what,
            &self.path,
            "choose another directory with --out DIR, or throw the old run away with --fresh",
        ))
    }

    /// Removes what an earlier run has left, and nothing else.
    fn remove_run(&self) -> Result<(), Error> {
        let points = entries(&self.path.join(POINTS)).filter(|path| is_point(path));
        // The manifest stays until the new one replaces it, since it marks the directory as ours.
        let documents = DOCUMENTS.iter().map(|name| self.path.join(name));
        documents
            .chain(points)
            .try_for_each(|path| remove_file(&path))
    }

    /// Removes what a killed process left half-written. While this process holds the lock, no other
    /// one has such files here.
    fn sweep(&self, points: &Path) {
        for path in entries(&self.path).chain(entries(points)) {
            if file_name(&path).starts_with(TEMPORARY) {
                // A leftover that cannot be removed does no harm.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The point, if an earlier session of the same build finished it. A damaged one is run again,
    /// and the console receives a note.
    pub fn load(&self, point: &Point, console: &dyn Console) -> Option<Finished> {
        let path = point_path(&self.path, point);
        match stored::read(&path, self.key(point)) {
            Stored::Whole(finished) => Some(*finished),
            Stored::Missing | Stored::Other => None,
            Stored::Damaged => {
                console.say(&format!(
                    "{} is damaged: the point ({}, seed {}) is run again",
                    path.display(),
                    point.scheme,
                    point.seed
                ));
                None
            }
        }
    }

    /// Writes a finished point. Once this returns, neither a kill nor a power cut loses it.
    ///
    /// # Errors
    /// [`crate::Fault::Machine`] where the disk is full or the directory has become unwritable.
    pub fn store(&self, point: &Point, finished: &Finished) -> Result<(), Error> {
        let bytes = stored::encode(finished, self.key(point));
        write_whole(&point_path(&self.path, point), &bytes)
    }

    fn key<'a>(&'a self, point: &'a Point) -> stored::Key<'a> {
        stored::Key {
            build: &self.build,
            scenario: &self.scenario,
            point,
        }
    }

    fn write_manifest(
        &self,
        plan: &Plan,
        who: &Provenance,
        digest: Option<&str>,
    ) -> Result<(), Error> {
        let manifest = Manifest {
            schema: crate::summary::SCHEMA,
            scenario: plan.name.clone(),
            title: plan.title.clone(),
            scenario_digest: self.scenario.clone(),
            digest: digest.map(str::to_owned),
            seeds: distinct(plan.points.iter().map(|p| p.seed)),
            schemes: plan.schemes.clone(),
            points: plan.points.len() as u64,
            part: self.part.clone(),
            warnings: plan.warning_lines(),
            markers: plan.markers.clone(),
            provenance: who.clone(),
            source: plan.source.clone(),
        };
        write_whole(&self.path.join(MANIFEST), &document::encode(&manifest))
    }

    /// Writes what a finished run leaves: `summary.json`, a Parquet file for each table that has
    /// rows ([`Kind`]), `metrics.parquet`, `report.html`, and the manifest with the digest of the
    /// results. `finished` holds one entry a point, in the plan's order.
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
        for kind in Kind::ALL {
            let name = format!("{}.parquet", kind.name());
            self.put(&name, tables::file(kind, plan, finished))?;
        }
        self.put(MEASURES, tables::measures_file(plan, &summary.measures))?;
        write_whole(&self.path.join("report.html"), report.as_bytes())?;
        write_whole(&self.path.join(SUMMARY), &document::encode(summary))?;
        self.write_manifest(plan, who, Some(&summary.digest))
    }

    /// Writes a table, or removes an earlier one where there is none.
    fn put(&self, name: &str, table: Option<Vec<u8>>) -> Result<(), Error> {
        let path = self.path.join(name);
        match table {
            Some(bytes) => write_whole(&path, &bytes),
            None => remove_file(&path),
        }
    }
}

/// The entries of a directory; none if it does not exist.
fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let found = fs::read_dir(dir).into_iter().flatten().flatten();
    found.map(|entry| entry.path())
}

/// The file of a point in a run directory.
fn point_path(dir: &Path, point: &Point) -> PathBuf {
    let name = format!("{}.parquet", hex(point.digest));
    dir.join(POINTS).join(name)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Whether a file has the name of a point that cemark writes.
fn is_point(path: &Path) -> bool {
    let name = file_name(path);
    name.strip_suffix(".parquet").is_some_and(|stem| {
        stem.len() == 16 && stem.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}
