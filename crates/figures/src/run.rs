// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: simulates every point of the requested figures and judges each of their rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cemark_report::rundir::{Console, Provenance};
use cemark_runner::{Cores, Failure, Show};
use toml::Table;

use super::committed::Committed;
use super::deciding::decides;
use super::figure::{Figure, One};
use super::file::FigureFile;
use super::request::{Request, files};
use super::result::{FigureRun, RowResult};
use super::targets::Target;
use super::verdict::RowVerdict;

/// Who runs the points of figures, with what, and who is told how it gets on.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Who runs, for manifests; points of another build are run again.
    pub who: &'a Provenance,
    /// How the cores are used.
    pub cores: Cores,
    /// Even if there seems to be too little memory.
    pub anyway: bool,
    /// Whether machine code of the user's own markers may be loaded.
    pub native: bool,
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
            let figure = Figure::new(&files[i], &committed, request, None)?;
            ones.insert(i, figure.run(&mut purse, look, means)?);
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
    let figure = Figure::new(file, committed, request, overlay)?;
    Ok(figure.run(&mut purse, last, means)?.found)
}
