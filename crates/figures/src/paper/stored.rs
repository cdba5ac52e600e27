// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows and points of a figure in its run directory. Nothing is simulated, so the points of another
//! build may be read too; the page says so.

use std::path::{Path, PathBuf};

use cemark_report::Error;
use cemark_report::metrics::Sample;
use cemark_report::rundir::{Finished, Found, Source, share};
use cemark_runner::Results;
use cemark_scenario::Plan;

use super::super::committed::{Committed, ours};
use super::super::evaluate::{Cell, Data};
use super::super::request::Experiment;
use super::super::{FigureFile, Mode, ROWS, Request, RowResult, stored_rows};

/// A figure's run.
pub(super) struct Stored {
    /// Name of the figure.
    pub id: String,
    /// Directory of the figure.
    pub place: PathBuf,
    /// Its rows; empty where no look is complete.
    pub rows: Vec<RowResult>,
    /// The points of the first look that are there, with their plan.
    pub plan: Option<Plan>,
    /// Results of the plan's points, one each.
    pub finished: Vec<Finished>,
    /// How many points are there, and how many the first look has.
    pub finished_points: usize,
    pub wanted: usize,
    /// The build that simulated it; empty where nothing is simulated.
    pub build: String,
    /// Whether the run is of another version of the figure's file.
    pub is_other: bool,
}

/// Reads the run of a figure below `from`; `None` where there is none.
pub(super) fn read(
    file: &FigureFile,
    mode: Mode,
    from: &Path,
    committed: &Committed,
) -> Result<Option<Stored>, Error> {
    let request = Request {
        mode,
        out: from.to_path_buf(),
        ..Request::default()
    };
    let experiment = request.experiment(file, committed, None).map_err(ours)?;
    let place = request.place(file, experiment.as_ref());
    let Some(Experiment { first, .. }) = experiment else {
        let rows = stored_rows(&place)?;
        return Ok(rows.map(|rows| Stored::of_rows(file, place, rows)));
    };
    if let Some(source) = Source::find(&place)? {
        let rows = stored_rows(&place)?.unwrap_or_default();
        return of_source(&source, first, Stored::of_rows(file, place, rows)).map(Some);
    }
    // Another version of the figure: its rows can be shown, its points belong to another plan.
    let Some(other) = other(from, &format!("{}-{}-", file.id, mode.word())) else {
        return Ok(None);
    };
    let build = Source::find(&other)?.map(|s| s.manifest().provenance.build.clone());
    Ok(stored_rows(&other)?.map(|rows| Stored {
        build: build.unwrap_or_default(),
        is_other: true,
        ..Stored::of_rows(file, other, rows)
    }))
}

fn of_source(source: &Source, first: Plan, bare: Stored) -> Result<Stored, Error> {
    let build = source.manifest().provenance.build.clone();
    let mut finished: Results = vec![None; first.points.len()];
    for i in first.part(1, 1) {
        finished[i] = match source.load(&first.points[i], &build) {
            Found::Whole(found) => Some(*found),
            Found::Damaged(path) => {
                return Err(Error::user(
                    "a point of this figure is damaged:",
                    &path,
                    "run the figure again, which simulates only what is missing or damaged",
                ));
            }
            _ => None,
        };
    }
    share(&first, &mut finished);
    let there = |i: &usize| finished[*i].is_some();
    let there: Vec<usize> = (0..first.points.len()).filter(there).collect();
    Ok(Stored {
        plan: Some(first.only(&there)),
        finished_points: there.len(),
        wanted: first.points.len(),
        finished: finished.into_iter().flatten().collect(),
        build,
        ..bare
    })
}

/// The directory below `from` whose name begins like this, of several the last by name.
fn other(from: &Path, begin: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(from).into_iter().flatten().flatten();
    let name = |path: &PathBuf| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        name.unwrap_or_default()
    };
    let ours = |path: &PathBuf| {
        let name = name(path);
        name.strip_prefix(begin)
            .is_some_and(|rest| rest.len() == 8 && path.join(ROWS).exists())
    };
    entries.map(|entry| entry.path()).filter(ours).max()
}

impl Stored {
    /// A run of which only rows can be shown.
    fn of_rows(file: &FigureFile, place: PathBuf, rows: Vec<RowResult>) -> Self {
        Stored {
            id: file.id.clone(),
            place,
            rows,
            plan: None,
            finished: Vec::new(),
            finished_points: 0,
            wanted: 0,
            build: String::new(),
            is_other: false,
        }
    }

    /// The points as rows of figures read them.
    pub(super) fn data(&self) -> Data<'_> {
        let points = self.plan.iter().flat_map(|plan| &plan.points);
        let cells = points.zip(&self.finished).map(|(point, done)| Cell {
            axes: &point.axes,
            scheme: &point.scheme,
            seed: point.seed,
            sample: Sample::new(point, &done.outcome),
        });
        Data {
            cells: cells.collect(),
            alpha: 0.05,
        }
    }
}
