// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: simulates every point of the requested figures and judges each of their rows.

use std::path::{Path, PathBuf};

use cemark_scenario::{Overrides, Plan, Point, near_of_many};
use cemark_sim::Progress as Step;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::calibration::Calibration;
use super::error::{FileError, Mistake};
use super::estimate::Estimate;
use super::evaluate::{Cell, Data, evaluate, unfinished};
use super::file::{FigureFile, place};
use super::models::Models;
use super::row::{Formula, Row};
use super::targets::{Expected, Target, row_of};
use super::verdict::{RowVerdict, matches_value, near};
use super::{CALIBRATION, EXPECTED, FIGURES, Mode, TARGETS, render, targets};
use crate::metrics::Sample;
use crate::rundir::{Console, Finished, Provenance, RunDir, share, write_whole};
use crate::stats::Method;
use crate::summary::{Cost, hex};
use crate::{Error, Fault, pauses};

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
}

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

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FigureRun {
    /// One entry for each published number.
    pub rows: Vec<RowResult>,
    /// How much was simulated.
    pub mode: Mode,
    /// Points in all.
    pub points: u64,
    /// Packet-hops of all points.
    pub packet_hops: u64,
    /// CPU seconds of all points, those of an earlier session too.
    pub cpu_seconds: f64,
    /// The reports, one for each figure.
    pub reports: Vec<PathBuf>,
}

/// A published number and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    /// `ECNSHARP-T18`.
    pub id: String,
    /// `ecnsharp-9`.
    pub figure: String,
    /// The published number of its first condition.
    pub published: Option<f64>,
    /// What was measured for the same.
    pub measured: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// All conditions together.
    pub verdict: RowVerdict,
    /// Whether the interval meets the published number within a tenth; `null` without either.
    pub matches_value: Option<bool>,
    /// Whether each deciding condition with a published number is near it; `null` without any, and
    /// where the row does not count.
    #[serde(default)]
    pub near: Option<bool>,
    /// The verdict of `figures/expected.tsv`; `null` also if not all figures of the row were run.
    pub expected: Option<RowVerdict>,
    /// Its unit.
    pub unit: String,
    /// The experiment in a few words.
    pub experiment: String,
    /// Its conditions.
    pub parts: Vec<PartResult>,
}

impl RowResult {
    /// Whether the verdict differs from the committed one.
    pub fn differs(&self) -> bool {
        self.expected.is_some_and(|e| e != self.verdict)
    }

    /// The second number of every row that counts.
    fn is_near(&self) -> Option<bool> {
        let counts = self.verdict.counts();
        let parts = self.parts.iter().filter(|p| counts && p.verdict.is_some());
        parts.filter_map(|p| p.near).reduce(|all, near| all && near)
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartResult {
    /// `ECNSHARP-T18.a`.
    pub id: String,
    /// The statistic in words.
    pub statistic: String,
    /// Its unit.
    pub unit: String,
    /// The published number.
    pub published: Option<f64>,
    /// What was measured; `null` where it could not be.
    pub measured: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Where the interval comes from.
    pub method: Method,
    /// Smallest accepted value; `null`: none.
    pub lo: Option<f64>,
    /// Largest accepted value; `null`: none.
    pub hi: Option<f64>,
    /// Of this condition alone; `null` if the number is only shown and decides nothing.
    pub verdict: Option<RowVerdict>,
    /// Whether the interval meets the published number within a tenth.
    pub matches_value: Option<bool>,
    /// Whether it meets two thirds to one and a half times the published number; `null` where that
    /// is zero or there is none.
    #[serde(default)]
    pub near: Option<bool>,
    /// What the paper prints, and what else should be known.
    pub note: String,
}

impl FigureRun {
    /// Rows whose verdict differs from the committed one, which is the reason for exit code 1.
    pub fn differing(&self) -> impl Iterator<Item = &RowResult> {
        self.rows.iter().filter(|r| r.differs())
    }

    /// `figures/expected.tsv` with these verdicts in it, of rows whose figures were all run.
    ///
    /// # Errors
    /// Where the committed file cannot be read, which is a bug of cemark.
    pub fn recorded(&self) -> Result<String, FileError> {
        let mut expected = Expected::parse(EXPECTED)?;
        let targets = targets::parse(TARGETS)?;
        let whole = |row: &&RowResult| {
            row.parts.len() == targets.iter().filter(|t| t.row() == row.id).count()
        };
        for row in self.rows.iter().filter(whole) {
            expected.record(&row.id, self.mode, row.verdict, row.near);
        }
        Ok(expected.render())
    }
}

/// Runs what is asked for.
///
/// # Errors
/// [`Fault::User`] for an unknown name or a directory that is in use; [`Fault::Machine`] where the
/// disk fails. Files of this repository that do not match each other are reported as mistakes of
/// the user, who may have changed them.
pub fn run(request: &Request, around: Surroundings<'_>) -> Result<FigureRun, Error> {
    let ours = |e| of_file(&e, "correct the file and build again");
    let calibration = Calibration::parse(CALIBRATION).map_err(ours)?;
    let targets = targets::parse(TARGETS).map_err(ours)?;
    let mut found = FigureRun {
        mode: request.mode,
        ..FigureRun::default()
    };
    for file in files(&request.ids)? {
        let one = run_file(&file, &targets, &calibration, request, None, around)?;
        found.rows.extend(one.rows);
        found.points += one.points;
        found.packet_hops += one.packet_hops;
        found.cpu_seconds += one.cpu_seconds;
        found.reports.extend(one.reports);
    }
    found.rows = united(found.rows, &targets);
    Ok(found)
}

/// A mistake in a file of this repository, which the user may have changed.
fn of_file(e: &FileError, help: &str) -> Error {
    let mistake = e.mistake.to_string();
    let mistake = mistake.trim_end();
    // Some show the text of a scenario.
    let gap = if mistake.contains('\n') { "\n" } else { ", " };
    Error::user(format!("{mistake}{gap}in"), Path::new(&e.place), help)
}

/// Merges rows that have conditions in several figures. Where only some of these figures were run,
/// no verdict is expected.
fn united(rows: Vec<RowResult>, targets: &[Target]) -> Vec<RowResult> {
    let mut all: Vec<RowResult> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|known| known.id == row.id) {
            Some(known) => {
                known.parts.extend(row.parts);
                known.verdict = RowVerdict::all([known.verdict, row.verdict]);
                known.near = known.is_near();
            }
            None => all.push(row),
        }
    }
    for row in &mut all {
        if row.parts.len() < targets.iter().filter(|t| t.row() == row.id).count() {
            row.expected = None;
        }
    }
    all
}

/// The requested figures, in the order of the papers.
fn chosen(ids: &[String], targets: &[Target]) -> Result<Vec<(&'static str, &'static str)>, Error> {
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
    let all = ids.is_empty();
    Ok(FIGURES
        .iter()
        .copied()
        .filter(|(id, _)| all || ids.iter().any(|name| wanted(id, name)))
        .collect())
}

/// The files of the requested figures.
///
/// # Errors
/// A name that is neither of a figure nor of a row.
pub fn files(ids: &[String]) -> Result<Vec<FigureFile>, Error> {
    let ours = |e| of_file(&e, "correct the file and build again");
    let calibration = Calibration::parse(CALIBRATION).map_err(ours)?;
    let targets = targets::parse(TARGETS).map_err(ours)?;
    let chosen = chosen(ids, &targets)?.into_iter();
    chosen
        .map(|(id, text)| FigureFile::parse(id, text, &calibration).map_err(ours))
        .collect()
}

/// The plans of the requested figures that simulate something.
///
/// # Errors
/// As [`run`].
pub fn plans(request: &Request) -> Result<impl Iterator<Item = Plan>, Error> {
    let ours = |e| of_file(&e, "correct the file and build again");
    let calibration = Calibration::parse(CALIBRATION).map_err(ours)?;
    let (mode, changes) = (request.mode, request.changes.clone());
    // The error of a plan that cannot be made is reported when its figure runs.
    let plan = move |f: FigureFile| f.plan(mode, &calibration, None, &changes).ok().flatten();
    Ok(files(&request.ids)?.into_iter().filter_map(plan))
}

/// Runs one figure. `overlay` changes its scenario (for tests that break a scheme on purpose).
///
/// # Errors
/// As [`run`].
pub fn run_file(
    file: &FigureFile,
    targets: &[Target],
    calibration: &Calibration,
    request: &Request,
    overlay: Option<&Table>,
    around: Surroundings<'_>,
) -> Result<FigureRun, Error> {
    let changed = !request.changes.is_empty();
    let wrong = |e: FileError| {
        let help = match changed {
            true => "correct --set or --seeds, or leave them out",
            false => "correct the file and build again",
        };
        of_file(&e, help)
    };
    let plan = file
        .plan(request.mode, calibration, overlay, &request.changes)
        .map_err(wrong)?;
    let mode = match request.mode {
        Mode::Quick => "quick",
        Mode::Full => "full",
    };
    // Another version of the figure has another directory, so no result is overwritten.
    let version = plan
        .as_ref()
        .map_or(String::new(), |p| format!("-{}", &hex(p.digest)[..8]));
    let place = request.out.join(format!("{}-{mode}{version}", file.id));
    let (finished, dir) = match &plan {
        None => (Vec::new(), None),
        Some(plan) => {
            let (finished, dir) = simulate(plan, &place, around)?;
            (finished, Some(dir))
        }
    };
    let none = Vec::new();
    let points = plan.as_ref().map_or(&none, |p| &p.points);
    let data = Data {
        cells: points
            .iter()
            .zip(&finished)
            .map(|(p, f)| Cell {
                axes: &p.axes,
                scheme: &p.scheme,
                seed: p.seed,
                sample: Sample::new(p, &f.outcome),
            })
            .collect(),
    };
    let open = unfinished(&data);
    let mut rows = judge(file, targets, calibration, request.mode, &data).map_err(wrong)?;
    if changed {
        rows.iter_mut().for_each(|r| r.expected = None);
    }
    let points: Vec<_> = finished.iter().map(|f| f.summary.clone()).collect();
    let cost = Cost::of(&points);
    let mut found = FigureRun {
        rows,
        mode: request.mode,
        points: cost.points,
        packet_hops: cost.packet_hops,
        cpu_seconds: cost.cpu_seconds,
        reports: Vec::new(),
    };
    std::fs::create_dir_all(&place).map_err(|e| Error::io("make the directory", &place, e))?;
    let report = place.join("report.html");
    let html = render::html(file, &found, open);
    match (&plan, dir) {
        (Some(plan), Some(dir)) => finish(&dir, plan, &finished, &html, around)?,
        _ => write_whole(&report, html.as_bytes())?,
    }
    let rows = serde_json::to_vec_pretty(&found.rows).expect("numbers and strings");
    write_whole(&place.join(super::ROWS), &rows)?;
    found.reports.push(report);
    Ok(found)
}

/// Runs the points that no earlier session has finished. The longest run first, so that all cores
/// are busy until the end.
fn simulate(
    plan: &Plan,
    place: &Path,
    around: Surroundings<'_>,
) -> Result<(Vec<Finished>, RunDir), Error> {
    let dir = RunDir::open(place, plan, around.who, false, around.watch)?;
    around.watch.begins(&plan.name);
    let first = plan.simulated_as();
    let mut order: Vec<usize> = (0..first.len()).filter(|i| first[*i] == *i).collect();
    let cost = |i: &usize| plan.points[*i].cost;
    order.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let simulated = order
        .into_par_iter()
        .with_max_len(1)
        .map(|i| one(i, &plan.points[i], &dir, around).map(|f| (i, f)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut finished = vec![None; first.len()];
    for (i, done) in simulated {
        finished[i] = Some(done);
    }
    share(plan, &mut finished);
    Ok((finished.into_iter().flatten().collect(), dir))
}

fn one(
    place: usize,
    point: &Point,
    dir: &RunDir,
    around: Surroundings<'_>,
) -> Result<Finished, Error> {
    if let Some(finished) = dir.load(point, around.watch) {
        around.watch.resumed(place);
        return Ok(finished);
    }
    let stopped = || Error {
        what: "stopped before all points were finished; those that are finished are kept in"
            .to_owned(),
        path: dir.path().to_path_buf(),
        help: "run the same command again to continue".to_owned(),
        fault: Fault::Machine,
        source: None,
    };
    around.watch.starts(place);
    let began = (around.cpu_seconds)();
    let mut step = |s: Step| {
        around.watch.at(place, s);
        around.watch.goes_on()
    };
    let outcome = cemark_sim::run_with_progress(&point.config, &mut step).ok_or_else(stopped)?;
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
    dir.store(point, &finished)?;
    around.watch.done(place, finished.outcome.packet_hops);
    Ok(finished)
}

/// Writes the files of a run directory, with the figure's report instead of the comparison's.
fn finish(
    dir: &RunDir,
    plan: &Plan,
    finished: &[Finished],
    html: &str,
    around: Surroundings<'_>,
) -> Result<(), Error> {
    let comparisons = crate::Comparisons::new(plan, finished);
    let points: Vec<_> = finished.iter().map(|f| f.summary.clone()).collect();
    let cost = Cost::of(&points);
    let summary = crate::RunSummary::new(plan, points, &comparisons, &around.who.version, cost);
    dir.finish(plan, finished, &summary, html, around.who)
}

/// A verdict for each row of the figure, in the order of the targets.
fn judge(
    file: &FigureFile,
    targets: &[Target],
    calibration: &Calibration,
    mode: Mode,
    data: &Data<'_>,
) -> Result<Vec<RowResult>, FileError> {
    let wrong = |m: Mistake| FileError::new(place(&file.id), m);
    let expected = Expected::parse(EXPECTED)?;
    let mut rows: Vec<RowResult> = Vec::new();
    let mut models = Models::default();
    for target in targets.iter().filter(|t| t.figure == file.id) {
        let row = file
            .rows
            .iter()
            .find(|r| r.id == target.id)
            .ok_or_else(|| wrong(Mistake::NoRow(target.id.clone())))?;
        let part = part(row, target, data, &mut models).map_err(wrong)?;
        match rows.iter_mut().find(|r| r.id == target.row()) {
            Some(known) => known.parts.push(part),
            None => rows.push(RowResult {
                id: target.row().to_owned(),
                figure: file.id.clone(),
                published: part.published,
                measured: part.measured,
                low: part.low,
                high: part.high,
                verdict: RowVerdict::NotDecided,
                matches_value: part.matches_value,
                near: None,
                expected: expected.get(target.row(), mode),
                unit: target.unit.clone(),
                experiment: target.experiment.clone(),
                parts: vec![part],
            }),
        }
    }
    if let Some(stray) = file
        .rows
        .iter()
        .find(|r| !targets.iter().any(|t| t.id == r.id))
    {
        return Err(wrong(Mistake::StrayRow(stray.id.clone())));
    }
    for row in &mut rows {
        row.verdict = match calibration.fitted_on(row_of(&row.id)) {
            true => RowVerdict::Calibrated,
            false => RowVerdict::all(row.parts.iter().filter_map(|p| p.verdict)),
        };
        row.near = row.is_near();
    }
    Ok(rows)
}

fn part(
    row: &Row,
    target: &Target,
    data: &Data<'_>,
    models: &mut Models,
) -> Result<PartResult, Mistake> {
    let computed = models.evaluate(row);
    let simulated = computed.is_none();
    let estimate: Estimate = computed
        .unwrap_or_else(|| evaluate(row, data))
        .map_err(|why| Mistake::NoNumber {
            id: row.id.clone(),
            why,
        })?;
    let interval = estimate.interval();
    let verdict = match row.formula {
        Formula::Spread => target.band.judge_spread(&estimate),
        _ => target.band.judge(interval),
    };
    // A closed form does not depend on the simulator, so that a match proves nothing. A
    // mismatch is a finding.
    let verdict = match verdict {
        RowVerdict::Reproduced if !simulated => RowVerdict::ByConstruction,
        verdict => verdict,
    };
    let finite = |x: f64| x.is_finite().then_some(x);
    Ok(PartResult {
        id: target.id.clone(),
        statistic: target.statistic.clone(),
        unit: target.unit.clone(),
        published: target.published,
        measured: finite(estimate.value()),
        low: interval.and_then(|i| finite(i.0)),
        high: interval.and_then(|i| finite(i.1)),
        method: estimate.method(),
        lo: finite(target.band.lo),
        hi: finite(target.band.hi),
        verdict: (target.class != "report").then_some(verdict),
        matches_value: matches_value(target.published, interval),
        near: near(target.published, interval),
        note: target.note.clone(),
    })
}
