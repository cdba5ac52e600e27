// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the user for figures, and the points that they need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cemark_report::Error;
use cemark_report::rundir::Share;
use cemark_report::summary::hex;
use cemark_scenario::{Overrides, Plan, near_of_many};
use toml::Table;

use super::committed::{Committed, of_file};
use super::deciding::deciding;
use super::error::FileError;
use super::file::FigureFile;
use super::looks::Looks;
use super::targets::Target;
use super::{FIGURES, Mode};

/// A request for figures.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of figures (`ecnsharp-9`) or of rows (`ECNSHARP-T18`, which runs its figure); empty:
    /// all.
    pub ids: Vec<String>,
    /// How much is simulated.
    pub mode: Mode,
    /// Where each figure leaves its run directory, `<out>/<figure>-<mode>-<digest>`.
    pub out: PathBuf,
    /// Changes of the user to the experiments. The published bands still judge the result, but
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

/// The points of a figure that simulates something.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    /// Points of a quick run, or of the first look.
    pub(super) first: Plan,
    /// Points of all looks.
    pub(super) whole: Plan,
    pub(super) looks: Looks,
    /// Conditions that are left out, with the points that only they read.
    pub(super) without: BTreeSet<String>,
}

impl Request {
    /// The experiment of a figure; `None` where nothing is simulated. A quick run and one of a
    /// number of seeds that the user names have one look.
    pub(super) fn experiment(
        &self,
        file: &FigureFile,
        committed: &Committed,
        overlay: Option<&Table>,
    ) -> Result<Option<Experiment>, FileError> {
        let plan = |changes| file.plan(self.mode, &committed.calibration, overlay, changes);
        let Some(all) = plan(&self.changes)? else {
            return Ok(None);
        };
        let is_quick = self.mode == Mode::Quick;
        // No row reads the points of a marker that the user adds.
        let is_added = !self.changes.added.is_empty();
        let (first, without) = match self.only_what_decides && is_quick && !is_added {
            true => deciding(file, &committed.targets, &all),
            false => (all, BTreeSet::new()),
        };
        let (mut whole, mut looks) = (None, Looks::once(u32::MAX));
        if !is_quick && self.changes.seeds.is_none() {
            looks = file.looks(&first);
            whole = plan(&Overrides {
                seeds: Some(u64::from(looks.most())),
                ..self.changes.clone()
            })?;
        }
        Ok(Some(Experiment {
            whole: whole.unwrap_or_else(|| first.clone()),
            first,
            looks,
            without,
        }))
    }

    /// The run directory of a figure. Another version of the figure has another one, so no result
    /// is overwritten.
    pub(super) fn place(&self, file: &FigureFile, experiment: Option<&Experiment>) -> PathBuf {
        let digest = experiment.map(|e| hex(e.whole.digest));
        let version = digest.map_or(String::new(), |d| format!("-{}", &d[..8]));
        self.out
            .join(format!("{}-{}{version}", file.id, self.mode.word()))
    }

    /// A mistake in the file of a figure, which is the user's where the request changes it.
    pub(super) fn wrong(&self, e: &FileError) -> Error {
        of_file(
            e,
            match self.changes.is_empty() {
                true => "correct the file and build again",
                false => "correct --set, --marker or --seeds, or leave them out",
            },
        )
    }
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
/// of a full one, and with the points of all looks, by whose numbers a
/// [`Show`](cemark_runner::Show) is informed.
///
/// # Errors
/// As [`run`](super::run()).
pub fn plans(request: &Request) -> Result<Vec<(Plan, Plan)>, Error> {
    let committed = Committed::read()?;
    // The error of a plan that cannot be made is reported when its figure runs.
    let plans = |file: FigureFile| {
        let experiment = request.experiment(&file, &committed, None).ok()??;
        Some((experiment.first, experiment.whole))
    };
    Ok(files(&request.ids)?.into_iter().filter_map(plans).collect())
}
