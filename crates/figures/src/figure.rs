// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures simulate their points, judge their rows and write their reports.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;

use cemark_report::Error;
use cemark_report::html::{Parts, Room};
use cemark_report::rundir::{Provenance, Share, share, write_whole};
use cemark_report::summary::Cost;
use cemark_runner::marker::{self, Consent, Watches};
use cemark_runner::{Failure, Ran, Results, Work, simulate};
use cemark_scenario::Block;
use toml::Table;

use super::committed::Committed;
use super::error::{FileError, Mistake};
use super::evaluate::Data;
use super::file::{FigureFile, place};
use super::judge::{Condition, Look, conditions, measure, rows};
use super::looking::{Looked, RowsDecided};
use super::models::Models;
use super::render;
use super::request::{Experiment, Request};
use super::result::{FigureRun, PartResult, RowResult, store_rows};
use super::run::{Means, Purse};
use super::store::Store;

/// A figure, and by what it is judged.
pub(super) struct Figure<'a> {
    pub(super) file: &'a FigureFile,
    committed: &'a Committed,
    pub(super) request: &'a Request,
    /// `None` where nothing is simulated.
    experiment: Option<Experiment>,
}

/// A figure that was run.
pub(super) struct One {
    pub(super) found: FigureRun,
    /// Whether another look may decide a row.
    pub(super) goes_on: bool,
}

/// The points of a figure.
struct Points<'a> {
    experiment: &'a Experiment,
    store: Store,
    /// Results of the points that have a simulation of their own.
    results: Results,
}

impl<'a> Figure<'a> {
    /// A figure with a changed scenario, if there is an `overlay`.
    pub(super) fn new(
        file: &'a FigureFile,
        committed: &'a Committed,
        request: &'a Request,
        overlay: Option<&Table>,
    ) -> Result<Self, Error> {
        let experiment = request.experiment(file, committed, overlay);
        Ok(Figure {
            file,
            committed,
            request,
            experiment: experiment.map_err(|e| request.wrong(&e))?,
        })
    }

    pub(super) fn conditions(&self) -> Result<Vec<Condition<'_>>, Error> {
        let none = BTreeSet::new();
        let without = self.experiment.as_ref().map_or(&none, |e| &e.without);
        conditions(self.file, &self.committed.targets, without).map_err(|e| self.request.wrong(&e))
    }

    /// Measures the open conditions, and judges all rows.
    pub(super) fn judge(
        &self,
        conditions: &[Condition<'_>],
        open: &[usize],
        parts: &mut Vec<PartResult>,
        data: &Data<'_>,
        look: Option<Look>,
    ) -> Result<Vec<RowResult>, Error> {
        let mut models = Models::default();
        for c in open {
            let part = measure(conditions[*c], data, &mut models, look);
            let mistaken = |m: Mistake| FileError::new(place(&self.file.id), m);
            let part = part.map_err(|m| self.request.wrong(&mistaken(m)))?;
            match parts.get_mut(*c) {
                Some(known) => *known = part,
                None => parts.push(part),
            }
        }
        rows(
            conditions,
            parts,
            &self.committed.calibration,
            self.request.mode,
        )
        .map_err(|e| self.request.wrong(&e))
    }

    /// The rows of a figure that simulates nothing.
    fn compute(&self) -> Result<Looked, Error> {
        let conditions = self.conditions()?;
        let open: Vec<usize> = (0..conditions.len()).collect();
        let data = Data {
            cells: Vec::new(),
            alpha: 0.05,
        };
        Ok(Looked {
            rows: self.judge(&conditions, &open, &mut Vec::new(), &data, None)?,
            ..Looked::default()
        })
    }

    /// Runs the figure until the look `last`.
    pub(super) fn run(
        &self,
        purse: &mut Purse,
        last: u32,
        means: Means<'_>,
    ) -> Result<One, Failure> {
        let (mut looked, points) = match &self.experiment {
            None => (self.compute()?, None),
            Some(experiment) => {
                let (looked, points) = self.simulate(experiment, purse, last, means)?;
                (looked, Some(points))
            }
        };
        if !self.request.changes.is_empty() {
            looked.rows.iter_mut().for_each(|r| r.expected = None);
        }
        let all = points.iter().flat_map(|p| p.results.iter().flatten());
        let cost = Cost::of(all.map(|f| &f.summary));
        let left_out = self.experiment.as_ref().map_or(0, |e| e.without.len());
        let mut found = FigureRun {
            unfinished: self.lacking(&looked, purse),
            rows: looked.rows,
            mode: self.request.mode,
            points: cost.points,
            packet_hops: cost.packet_hops,
            cpu_seconds: cost.cpu_seconds,
            reports: Vec::new(),
            build: means.who.build.clone(),
            left_out: left_out as u64,
        };
        if !found.rows.is_empty() {
            self.publish(&mut found, looked.flows, points.as_ref(), means.who)?;
        }
        Ok(One {
            found,
            goes_on: looked.goes_on,
        })
    }

    /// Simulates what is missing of the figure, and judges its rows.
    fn simulate<'e>(
        &self,
        experiment: &'e Experiment,
        purse: &mut Purse,
        last: u32,
        means: Means<'_>,
    ) -> Result<(Looked, Points<'e>), Failure> {
        let stopped = || means.stop.load(Ordering::Relaxed);
        let interrupted = || {
            Failure::Interrupted(format!(
                "interrupted: finished points are kept in {}; the same command continues from \
                 there",
                self.request.out.display()
            ))
        };
        let mut loaded = Cow::Borrowed(&experiment.whole);
        let mut watches = Watches::default();
        if !loaded.markers.is_empty() {
            watches = marker::load(loaded.to_mut(), &Consent::of_files(means.native))?;
        }
        let plan = &*loaded;
        let place = self.request.place(self.file, Some(experiment));
        let share = self.request.limits.share;
        let store = Store::open(plan, &place, share, means.who, means.console);
        let store = store.map_err(|e| if stopped() { interrupted() } else { e.into() })?;
        let mut results: Results = vec![None; plan.points.len()];
        let console = means.console;
        let mut rule =
            RowsDecided::new(self, experiment, &store, purse, last, console, &mut results)?;
        let work = Work {
            plan,
            dir: &store.dir,
            watches: &watches,
            cores: means.cores,
            anyway: means.anyway,
            stop: means.stop,
        };
        simulate(&work, &mut rule, &mut results, means.show)?;
        if stopped() {
            return Err(interrupted());
        }
        let looked = rule.end()?;
        let points = Points {
            experiment,
            store,
            results,
        };
        Ok((looked, points))
    }

    /// The points that a look lacks, in a sentence.
    fn lacking(&self, looked: &Looked, purse: &Purse) -> Vec<String> {
        let Some((look, lacks)) = looked.lacks else {
            return Vec::new();
        };
        let points = if lacks == 1 { "point is" } else { "points are" };
        let why = match self.request.limits.share {
            _ if purse.is_empty() => "the CPU time is spent".to_owned(),
            Some(Share { part, parts }) => format!("those of part {part} of {parts} are there"),
            None => "they could not be run".to_owned(),
        };
        vec![format!(
            "{}: {lacks} {points} missing at look {look}; {why}",
            self.file.id
        )]
    }

    /// Writes the rows, the report and, where something was simulated, the files of a run
    /// directory.
    fn publish(
        &self,
        found: &mut FigureRun,
        flows: (u64, u64),
        points: Option<&Points<'_>>,
        who: &Provenance,
    ) -> Result<(), Error> {
        let computed = self.request.place(self.file, None);
        let place: &Path = points.map_or(&computed, |p| p.store.dir.path());
        std::fs::create_dir_all(place).map_err(|e| Error::io("make the directory", place, e))?;
        let report = place.join("report.html");
        match points {
            // Later looks have more seeds of some schemes than of others, so the tables and charts,
            // which compare all schemes, are those of the first look.
            Some(points) => {
                let ran = points.of_first_look(who);
                let (comparisons, summary) = ran.summary();
                let parts = Parts::new(&ran.plan, &ran.finished, &comparisons, Room::OF_FIGURE);
                let html = render::html(self.file, found, flows, Some((&parts, place)));
                ran.keep_as(&summary, &html)?;
            }
            None => {
                let html = render::html(self.file, found, flows, None);
                write_whole(&report, html.as_bytes())?;
            }
        }
        store_rows(place, &found.rows)?;
        found.reports.push(report);
        Ok(())
    }
}

impl Points<'_> {
    /// The run of the seeds of the first look, whose results must all be there.
    fn of_first_look(&self, who: &Provenance) -> Ran {
        let (whole, looks) = (&self.experiment.whole, &self.experiment.looks);
        let seeds = looks.seeds(1).unwrap_or(u32::MAX) as usize;
        let blocks = whole.blocks();
        let first = |b: &Block| {
            b.replications
                .iter()
                .take(seeds)
                .flatten()
                .copied()
                .collect::<Vec<_>>()
        };
        let chosen: BTreeSet<usize> = blocks.iter().flat_map(first).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let plan = whole.only(&chosen);
        let mut finished: Results = chosen.iter().map(|i| self.results[*i].clone()).collect();
        share(&plan, &mut finished);
        Ran {
            plan,
            dir: self.store.dir.clone(),
            who: who.clone(),
            finished: finished.into_iter().flatten().collect(),
            resumed: 0,
            seconds: 0.0,
            interrupted: None,
        }
    }
}
