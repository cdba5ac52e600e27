// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: simulates every point of the requested figures and judges each of their rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cemark_report::Error;
use cemark_report::rundir::{Console, Provenance, RunDir, Share, share, write_whole};
use cemark_report::summary::{Cost, hex};
use cemark_runner::marker::Watches;
use cemark_runner::{Cores, Failure, Ran, Results, Show, Work, simulate};
use cemark_scenario::{Block, Overrides, Plan, near_of_many};
use toml::Table;

use super::committed::{Committed, of_file};
use super::deciding::{Chosen, decides};
use super::error::FileError;
use super::file::FigureFile;
use super::looking::{Figure, Looked, RowsDecided};
use super::looks::Looks;
use super::result::{FigureRun, RowResult};
use super::store::Store;
use super::targets::Target;
use super::verdict::RowVerdict;
use super::{FIGURES, Mode, render};

/// What the user requests.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of figures (`ecnsharp-9`) or of rows (`ECNSHARP-T18`, which runs its figure); empty:
    /// all.
    pub ids: Vec<String>,
    /// How much is simulated.
    pub mode: Mode,
    /// Where each figure leaves its run directory, `<out>/<figure>-<mode>-<digest>`.
    pub out: PathBuf,
    /// What the user changes about the experiments. The published bands still judge the result, but
    /// no verdict is expected.
    pub changes: Overrides,
    /// How far it goes.
    pub limits: Limits,
    /// Whether a quick run leaves out the numbers that are printed beside and decide nothing, with
    /// the points that only they read.
    pub only_what_decides: bool,
}

/// How far a run goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The last look, from 1; `None`: until every row is decided.
    pub look: Option<u32>,
    /// CPU seconds after which no further point is begun.
    pub cpu_seconds: Option<f64>,
    /// The part of the points that is simulated; `None`: all.
    pub share: Option<Share>,
}

/// Who runs the points of figures, with what, and who is told how it gets on.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Who runs, for manifests; points of another build are run again.
    pub who: &'a Provenance,
    /// How the cores are used.
    pub cores: Cores,
    /// Even if there seems to be too little memory.
    pub anyway: bool,
    /// Ends the run once it is true.
    pub stop: &'a Arc<AtomicBool>,
    /// Receives what the run directories report.
    pub console: &'a dyn Console,
    /// Receives every step of the points.
    pub show: &'a dyn Show,
}

/// The CPU time that a run may take.
#[derive(Debug)]
pub(super) struct Purse {
    limit: Option<f64>,
    pub(super) spent: f64,
}

impl Purse {
    fn of(limit: Option<f64>) -> Self {
        Purse { limit, spent: 0.0 }
    }

    /// Whether nothing is left, so that no further point is begun.
    pub(super) fn is_empty(&self) -> bool {
        self.limit.is_some_and(|limit| self.spent >= limit)
    }
}

/// Says whose mistake a mistake in a file is.
pub(super) type Wrong<'a> = &'a (dyn Fn(FileError) -> Error + Sync);

/// Runs what is asked for.
///
/// # Errors
/// [`Failure::User`] for an unknown name or a directory that is in use; [`Failure::Machine`] where
/// the disk fails. Files of this repository that do not match each other are reported as mistakes
/// of the user, who may have changed them.
pub fn run(request: &Request, means: Means<'_>) -> Result<FigureRun, Failure> {
    let committed = Committed::read()?;
    let files = files(&request.ids)?;
    let mut purse = Purse::of(request.limits.cpu_seconds);
    let mut ones: BTreeMap<usize, One> = BTreeMap::new();
    // The first look at everything comes before the second one at anything, so that CPU time is
    // spent where it decides most.
    for look in 1..=request.limits.look.unwrap_or(u32::MAX) {
        let open = |i: &usize| ones.get(i).is_none_or(|one| one.goes_on);
        let open: Vec<usize> = (0..files.len()).filter(open).collect();
        if open.is_empty() {
            break;
        }
        for i in open {
            if look > 1 && purse.is_empty() {
                let kept = ones.get_mut(&i).expect("the first look is kept");
                kept.goes_on = false;
                let spent = format!("{}: no CPU time is left for look {look}", files[i].id);
                kept.found.unfinished.push(spent);
                continue;
            }
            let figure = (&files[i], &committed);
            ones.insert(i, one(figure, request, None, (&mut purse, look), means)?);
        }
    }
    let mut found = FigureRun {
        mode: request.mode,
        build: means.who.build.clone(),
        ..FigureRun::default()
    };
    for one in ones.into_values().map(|one| one.found) {
        found.rows.extend(one.rows);
        found.points += one.points;
        found.packet_hops += one.packet_hops;
        found.cpu_seconds += one.cpu_seconds;
        found.reports.extend(one.reports);
        found.left_out += one.left_out;
        found.unfinished.extend(one.unfinished);
    }
    found.rows = united(found.rows, &committed.targets);
    Ok(found)
}

/// Merges rows that have conditions in several figures. Where only some of these figures were run,
/// no verdict is expected.
pub(super) fn united(rows: Vec<RowResult>, targets: &[Target]) -> Vec<RowResult> {
    let mut all: Vec<RowResult> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|known| known.id == row.id) {
            Some(known) => {
                known.parts.extend(row.parts);
                known.settle(RowVerdict::all([known.verdict, row.verdict]));
            }
            None => all.push(row),
        }
    }
    for row in &mut all {
        if !is_whole(row, targets) {
            row.expected = None;
        }
    }
    all
}

/// Whether every condition that decides a row is there.
pub(super) fn is_whole(row: &RowResult, targets: &[Target]) -> bool {
    let of_row = targets.iter().filter(|t| t.row() == row.id);
    let mut deciding = of_row.filter(|t| decides(t, targets));
    deciding.all(|t| row.parts.iter().any(|p| p.id == t.id))
}

/// The files of the requested figures, in the order of the papers.
///
/// # Errors
/// A name that is neither of a figure nor of a row.
pub fn files(ids: &[String]) -> Result<Vec<FigureFile>, Error> {
    let committed = Committed::read()?;
    let targets = &committed.targets;
    let wanted = |id: &str, name: &str| {
        name.eq_ignore_ascii_case(id)
            || targets
                .iter()
                .any(|t| t.figure == id && (t.row().eq_ignore_ascii_case(name)))
    };
    for name in ids {
        if !FIGURES.iter().any(|(id, _)| wanted(id, name)) {
            return Err(Error::user(
                "no figure and no row of figures/targets.tsv is called",
                Path::new(name),
                near_of_many(
                    name,
                    FIGURES
                        .iter()
                        .map(|f| f.0)
                        .chain(targets.iter().map(Target::row)),
                    "`cemark figure --list` names every figure and row",
                ),
            ));
        }
    }
    let all = FIGURES.iter().map(|f| f.0);
    let chosen = all.filter(|id| ids.is_empty() || ids.iter().any(|name| wanted(id, name)));
    chosen.map(|id| Ok(committed.figure(id)?.0)).collect()
}

/// The plans of the requested figures that simulate something: of a quick run, or of the first look
/// of a full one, and with the points of all looks, by whose numbers a [`Show`] is informed.
///
/// # Errors
/// As [`run`].
pub fn plans(request: &Request) -> Result<Vec<(Plan, Plan)>, Error> {
    let committed = Committed::read()?;
    // The error of a plan that cannot be made is reported when its figure runs.
    let plans = |file: FigureFile| {
        let first = request.first(&file, &committed, None).ok()??.plan;
        let (whole, _) = request.whole(&file, first.clone(), &committed, None).ok()?;
        Some((first, whole))
    };
    Ok(files(&request.ids)?.into_iter().filter_map(plans).collect())
}

impl Request {
    /// The run directory of a figure. Another version of the figure has another one, so no result
    /// is overwritten.
    pub(super) fn place(&self, file: &FigureFile, whole: Option<&Plan>) -> PathBuf {
        let version = whole.map_or(String::new(), |p| format!("-{}", &hex(p.digest)[..8]));
        self.out
            .join(format!("{}-{}{version}", file.id, self.mode.word()))
    }

    /// What a quick run simulates, or the first look.
    pub(super) fn first(
        &self,
        file: &FigureFile,
        committed: &Committed,
        overlay: Option<&Table>,
    ) -> Result<Option<Chosen>, FileError> {
        let plan = file.plan(self.mode, &committed.calibration, overlay, &self.changes)?;
        let part = self.only_what_decides && self.mode == Mode::Quick;
        Ok(plan.map(|plan| match part {
            true => Chosen::deciding(file, &committed.targets, &plan),
            false => Chosen::all(plan),
        }))
    }

    /// The plan with the seeds of the last look, and the looks. A quick run and one of a number of
    /// seeds that the user names have one look.
    pub(super) fn whole(
        &self,
        file: &FigureFile,
        first: Plan,
        committed: &Committed,
        overlay: Option<&Table>,
    ) -> Result<(Plan, Looks), FileError> {
        let looks = file.looks(&first);
        let one = self.mode == Mode::Quick || self.changes.seeds.is_some();
        if one {
            return Ok((first, Looks::once(u32::MAX)));
        }
        let changes = Overrides {
            seeds: Some(u64::from(looks.most())),
            ..self.changes.clone()
        };
        let whole = file.plan(self.mode, &committed.calibration, overlay, &changes)?;
        Ok((whole.unwrap_or(first), looks))
    }
}

/// What was found of a figure.
struct One {
    found: FigureRun,
    /// Whether another look may decide a row.
    goes_on: bool,
}

/// Runs one figure. `overlay` changes its scenario (for tests that break a scheme on purpose).
///
/// # Errors
/// As [`run`].
pub fn run_file(
    file: &FigureFile,
    committed: &Committed,
    request: &Request,
    overlay: Option<&Table>,
    means: Means<'_>,
) -> Result<FigureRun, Failure> {
    let mut purse = Purse::of(request.limits.cpu_seconds);
    let last = request.limits.look.unwrap_or(u32::MAX);
    let figure = (file, committed);
    one(figure, request, overlay, (&mut purse, last), means).map(|one| one.found)
}

/// A figure, until the look `last`.
fn one(
    (file, committed): (&FigureFile, &Committed),
    request: &Request,
    overlay: Option<&Table>,
    (purse, last): (&mut Purse, u32),
    means: Means<'_>,
) -> Result<One, Failure> {
    let changed = !request.changes.is_empty();
    let wrong = |e: FileError| {
        let help = match changed {
            true => "correct --set or --seeds, or leave them out",
            false => "correct the file and build again",
        };
        of_file(&e, help)
    };
    let first = request.first(file, committed, overlay);
    let (first, without) = match first.map_err(wrong)? {
        Some(chosen) => (Some(chosen.plan), chosen.without),
        None => (None, BTreeSet::new()),
    };
    let whole = first.map(|first| request.whole(file, first, committed, overlay));
    let whole = whole.transpose().map_err(wrong)?;
    let place = request.place(file, whole.as_ref().map(|(plan, _)| plan));
    let none = Looks::once(1);
    let figure = Figure {
        file,
        committed,
        mode: request.mode,
        looks: whole.as_ref().map_or(&none, |(_, looks)| looks),
        without: &without,
        wrong: &wrong,
    };
    let share = request.limits.share;
    let (mut looked, points) = match &whole {
        None => (figure.compute()?, None),
        Some((plan, _)) => {
            let (looked, points) = simulated(&figure, plan, &place, request, (purse, last), means)?;
            (looked, Some(points))
        }
    };
    if changed {
        looked.rows.iter_mut().for_each(|r| r.expected = None);
    }
    let all = points.iter().flat_map(|p| p.results.iter().flatten());
    let cost = Cost::of(&all.map(|f| f.summary.clone()).collect::<Vec<_>>());
    let mut found = FigureRun {
        rows: std::mem::take(&mut looked.rows),
        mode: request.mode,
        points: cost.points,
        packet_hops: cost.packet_hops,
        cpu_seconds: cost.cpu_seconds,
        reports: Vec::new(),
        build: means.who.build.clone(),
        left_out: without.len() as u64,
        unfinished: lacking(file, &looked, purse, share),
    };
    if !found.rows.is_empty() {
        let flows = looked.flows;
        publish(
            file,
            &mut found,
            flows,
            &place,
            points.as_ref(),
            figure.looks,
            means,
        )?;
    }
    Ok(One {
        found,
        goes_on: looked.goes_on,
    })
}

/// The points of a figure.
struct Points<'a> {
    plan: &'a Plan,
    dir: RunDir,
    /// Of points that are simulated themselves.
    results: Results,
}

/// Simulates what is missing of a figure, and judges its rows.
fn simulated<'a>(
    figure: &Figure<'_>,
    plan: &'a Plan,
    place: &Path,
    request: &Request,
    (purse, last): (&mut Purse, u32),
    means: Means<'_>,
) -> Result<(Looked, Points<'a>), Failure> {
    let stopped = || means.stop.load(Ordering::Relaxed);
    let interrupted = || {
        Failure::Interrupted(format!(
            "interrupted: finished points are kept in {}; the same command continues from there",
            request.out.display()
        ))
    };
    let (share, console) = (request.limits.share, means.console);
    let store = Store::open(plan, place, share, means.who, console);
    let store = store.map_err(|e| if stopped() { interrupted() } else { e.into() })?;
    let mut results: Results = vec![None; plan.points.len()];
    let (run, disk) = ((plan, last), (&store, share));
    let mut rule = RowsDecided::new(figure, run, disk, purse, console, &mut results)?;
    let work = Work {
        plan,
        dir: &store.dir,
        watches: &Watches::default(),
        cores: means.cores,
        anyway: means.anyway,
        stop: means.stop,
    };
    simulate(&work, &mut rule, &mut results, means.show)?;
    if stopped() {
        return Err(interrupted());
    }
    let looked = rule.end()?;
    let dir = store.dir;
    Ok((looked, Points { plan, dir, results }))
}

impl Points<'_> {
    /// The run of the first seeds of every cell and scheme, whose results must all be there.
    fn of_look(&self, seeds: u32, who: &Provenance) -> Ran {
        let blocks = self.plan.blocks();
        let first = |b: &Block| {
            let seeds = b.replications.iter().take(seeds as usize);
            seeds.flatten().copied().collect::<Vec<usize>>()
        };
        let chosen: BTreeSet<usize> = blocks.iter().flat_map(first).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let plan = self.plan.only(&chosen);
        let mut finished: Results = chosen.iter().map(|i| self.results[*i].clone()).collect();
        share(&plan, &mut finished);
        Ran {
            plan,
            dir: self.dir.clone(),
            who: who.clone(),
            finished: finished.into_iter().flatten().collect(),
            resumed: 0,
            seconds: 0.0,
            interrupted: None,
        }
    }
}

/// What is missing of a look.
fn lacking(file: &FigureFile, looked: &Looked, purse: &Purse, share: Option<Share>) -> Vec<String> {
    let Some((look, lacks)) = looked.lacks else {
        return Vec::new();
    };
    let points = if lacks == 1 { "point is" } else { "points are" };
    let why = match share {
        _ if purse.is_empty() => "the CPU time is spent".to_owned(),
        Some(Share { part, parts }) => format!("those of part {part} of {parts} are there"),
        None => "they could not be run".to_owned(),
    };
    vec![format!(
        "{}: {lacks} {points} missing at look {look}; {why}",
        file.id
    )]
}

/// Writes the rows, the report and, where something was simulated, the files of a run directory.
fn publish(
    file: &FigureFile,
    found: &mut FigureRun,
    flows: (u64, u64),
    place: &Path,
    points: Option<&Points<'_>>,
    looks: &Looks,
    means: Means<'_>,
) -> Result<(), Error> {
    let place = points.map_or(place, |p| p.dir.path());
    std::fs::create_dir_all(place).map_err(|e| Error::io("make the directory", place, e))?;
    let report = place.join("report.html");
    let html = render::html(file, found, flows);
    match points {
        Some(points) => {
            // Later looks have more seeds of some schemes than of others, so the tables, which
            // compare all schemes, are those of the first look.
            points
                .of_look(looks.seeds(1).unwrap_or(u32::MAX), means.who)
                .keep_as(&html)?;
        }
        None => write_whole(&report, html.as_bytes())?,
    }
    super::store_rows(place, &found.rows)?;
    found.reports.push(report);
    Ok(())
}
