// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of a figure: kept on disk, read from the directories of other parts, or simulated.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cemark_scenario::{Plan, Point};
use cemark_sim::Progress as Step;
use rayon::prelude::*;

use super::run::Share;
use cemark_report::rundir::{Console, Finished, Found, Part, Provenance, RunDir, Source, share};
use cemark_report::{Error, Fault, pauses};

/// What the caller provides, since this crate reads no clock.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Who runs, for manifests; points of another build are run again.
    pub who: &'a Provenance,
    /// CPU seconds of this thread.
    pub cpu_seconds: &'a (dyn Fn() -> f64 + Sync),
    /// Informed of every step.
    pub watch: &'a dyn Watch,
}

/// Is informed of every step, from several threads. As a console it also receives what the run
/// directories report, and can end the run.
pub trait Watch: Console {
    /// A figure begins: the plan of this name.
    fn begins(&self, _plan: &str) {}
    /// Of the points that have not begun, only these will probably be simulated.
    fn expects(&self, _points: &[usize]) {}
    /// A point of the plan begins to be simulated.
    fn starts(&self, _point: usize) {}
    /// How far a point is.
    fn at(&self, _point: usize, _step: Step) {}
    /// A point is finished; it took this number of packet-hops.
    fn done(&self, _point: usize, _hops: u64) {}
    /// A point was finished by an earlier session.
    fn resumed(&self, _point: usize) {}
}

impl Watch for () {}

/// The CPU time that a run may take.
#[derive(Debug)]
pub(super) struct Purse {
    limit: Option<f64>,
    spent: Mutex<f64>,
}

impl Purse {
    pub(super) fn of(limit: Option<f64>) -> Self {
        Purse {
            limit,
            spent: Mutex::new(0.0),
        }
    }

    fn spent(&self) -> std::sync::MutexGuard<'_, f64> {
        self.spent
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether nothing is left, so that no further point is begun.
    pub(super) fn is_empty(&self) -> bool {
        self.limit.is_some_and(|limit| *self.spent() >= limit)
    }
}

/// The points of one figure.
pub(super) struct Points<'a> {
    pub(super) plan: &'a Plan,
    /// Of each point the one whose simulation gives its result.
    pub(super) first: Vec<usize>,
    /// What is there, of points that are simulated themselves.
    finished: Vec<Option<Finished>>,
    pub(super) dir: RunDir,
    /// Directories of other parts.
    sources: Vec<Source>,
    share: Option<Share>,
    purse: &'a Purse,
    around: Surroundings<'a>,
}

impl<'a> Points<'a> {
    /// In a directory of their own, `base`, or for one of several parts in one that is named after
    /// it. What other parts have left beside it is read.
    pub(super) fn open(
        plan: &'a Plan,
        base: &Path,
        share: Option<Share>,
        purse: &'a Purse,
        around: Surroundings<'a>,
    ) -> Result<Self, Error> {
        let path = match share {
            None => base.to_path_buf(),
            Some(share) => share.path(base),
        };
        let part = share.map(|s| Part {
            part: s.part,
            parts: s.parts,
            file: super::file::place(&plan.name),
        });
        let dir = RunDir::open_part(&path, plan, part, around.who, false, around.watch)?;
        around.watch.begins(&plan.name);
        let mut sources = Vec::new();
        for other in beside(base).into_iter().filter(|p| *p != path) {
            let found = Source::find(&other).unwrap_or_else(|damaged| {
                let none = "none of its points is used";
                around.watch.say(&format!("{damaged}: {none}"));
                None
            });
            // What is no run directory is none of ours.
            if let Some(source) = found {
                if source.manifest().provenance.build != around.who.build {
                    around.watch.say(&format!(
                        "{} is of another build of cemark ({}, this is {}): none of its points is \
                         used",
                        other.display(),
                        source.manifest().provenance.build,
                        around.who.build
                    ));
                }
                sources.push(source);
            }
        }
        Ok(Points {
            plan,
            first: plan.simulated_as(),
            finished: vec![None; plan.points.len()],
            dir,
            sources,
            share,
            purse,
            around,
        })
    }

    /// What a point left, if it is there.
    pub(super) fn of(&self, point: usize) -> Option<&Finished> {
        self.finished[self.first[point]].as_ref()
    }

    /// The plan with the first seeds of every cell and scheme, and what its points left. They must
    /// all be there.
    pub(super) fn of_look(&self, seeds: u32) -> (Plan, Vec<Finished>) {
        let blocks = self.plan.blocks();
        let first = |b: &cemark_scenario::Block| {
            let seeds = b.replications.iter().take(seeds as usize);
            seeds.flatten().copied().collect::<Vec<usize>>()
        };
        let chosen: BTreeSet<usize> = blocks.iter().flat_map(first).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let plan = self.plan.only(&chosen);
        let mut finished: Vec<Option<Finished>> = chosen
            .iter()
            .map(|i| self.of(*i).filter(|_| self.first[*i] == *i).cloned())
            .collect();
        share(&plan, &mut finished);
        (plan, finished.into_iter().flatten().collect())
    }

    /// Everything that is there.
    pub(super) fn all(&self) -> impl Iterator<Item = &Finished> {
        self.finished.iter().flatten()
    }

    /// Makes these points available, by simulating those that are nowhere to be found. Returns how
    /// many are still missing: those of other parts, and those for which there was no CPU time.
    ///
    /// The shares of the parts depend on the points alone, not on what is on disk.
    pub(super) fn fetch(&mut self, wanted: impl Iterator<Item = usize>) -> Result<usize, Error> {
        let new: BTreeSet<usize> = wanted.map(|i| self.first[i]).collect();
        let new: Vec<usize> = new
            .into_iter()
            .filter(|i| self.finished[*i].is_none())
            .collect();
        let ours: Vec<usize> = match self.share {
            None => new.clone(),
            Some(share) => {
                let of_part = self.plan.only(&new).part(share.part, share.parts);
                of_part.into_iter().map(|k| new[k]).collect()
            }
        };
        for i in &new {
            self.finished[*i] = self.kept(*i)?;
        }
        let missing = |i: &usize| self.finished[*i].is_none();
        let mut order: Vec<usize> = ours.into_iter().filter(missing).collect();
        self.around.watch.expects(&order);
        // The longest first, so that all cores are busy until the end.
        let cost = |i: &usize| self.plan.points[*i].cost;
        order.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        let simulated = order
            .into_par_iter()
            .with_max_len(1)
            .map(|i| Ok((i, self.simulate(i)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        for (i, done) in simulated {
            self.finished[i] = done;
        }
        Ok(new.iter().filter(|i| self.finished[**i].is_none()).count())
    }

    /// A point that an earlier session or another part has finished.
    fn kept(&self, i: usize) -> Result<Option<Finished>, Error> {
        let (point, watch) = (&self.plan.points[i], self.around.watch);
        if let Some(found) = self.dir.load(point, watch) {
            watch.resumed(i);
            return Ok(Some(found));
        }
        let others = self.sources.iter();
        let mut found = others.filter_map(|s| match s.load(point, &self.around.who.build) {
            Found::Whole(found) => Some(*found),
            _ => None,
        });
        let Some(found) = found.next() else {
            return Ok(None);
        };
        // The directory of the whole figure then needs no other. A part keeps its own points only.
        if self.share.is_none() {
            self.dir.store(point, &found)?;
        }
        watch.resumed(i);
        Ok(Some(found))
    }

    /// Simulates a point and keeps it; `None` where the CPU time is spent.
    fn simulate(&self, i: usize) -> Result<Option<Finished>, Error> {
        let (point, around, dir): (&Point, _, _) = (&self.plan.points[i], self.around, &self.dir);
        if self.purse.is_empty() {
            return Ok(None);
        }
        let stopped = || Error {
            what: "stopped before all points were finished; those that are finished are kept in"
                .to_owned(),
            path: dir.path().to_path_buf(),
            help: "run the same command again to continue".to_owned(),
            fault: Fault::Machine,
            source: None,
        };
        around.watch.starts(i);
        let began = (around.cpu_seconds)();
        let mut step = |s: Step| {
            around.watch.at(i, s);
            around.watch.goes_on()
        };
        let outcome =
            cemark_sim::run_with_progress(&point.config, &mut step).ok_or_else(stopped)?;
        if let Some(ring) = pauses::deadlock(point, &outcome) {
            return Err(Error {
                what: format!("{ring}; the points that are finished are kept in"),
                path: dir.path().to_path_buf(),
                help: pauses::DEADLOCK_HELP.to_owned(),
                fault: Fault::Machine,
                source: None,
            });
        }
        let finished = Finished::new(point, outcome, (around.cpu_seconds)() - began);
        *self.purse.spent() += finished.summary.cpu_seconds;
        dir.store(point, &finished)?;
        around.watch.done(i, finished.outcome.packet_hops);
        Ok(Some(finished))
    }
}

/// The directory of the whole figure and those of its parts, as far as they exist.
fn beside(base: &Path) -> Vec<PathBuf> {
    let name = |path: &Path| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        name.unwrap_or_default()
    };
    let parts = format!("{}-part", name(base));
    let folder = base.parent().unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path == base || name(path).starts_with(&parts))
        .collect();
    found.sort();
    found
}
