// SPDX-License-Identifier: MIT OR Apache-2.0
//! One figure, look by look: all points of the first look, and of every later one those that a row
//! reads which is not decided yet.

use std::collections::BTreeSet;

use cemark_scenario::Plan;

use super::calibration::Calibration;
use super::error::{FileError, Mistake};
use super::evaluate::{Cell, Data, reads, unfinished};
use super::file::{FigureFile, place};
use super::judge::{Condition, Look, conditions, measure, rows};
use super::looks::Looks;
use super::models::Models;
use super::points::Points;
use super::result::{PartResult, RowResult};
use super::run::Wrong;
use super::verdict::RowVerdict;
use super::{Mode, Target};
use cemark_report::Error;
use cemark_report::metrics::Sample;

/// A figure and by what it is judged.
pub(super) struct Figure<'a> {
    pub(super) file: &'a FigureFile,
    pub(super) targets: &'a [Target],
    pub(super) calibration: &'a Calibration,
    pub(super) mode: Mode,
    pub(super) looks: &'a Looks,
    /// Conditions that are left out, with the points that they read.
    pub(super) without: &'a BTreeSet<String>,
    /// To whom a mistake in the file is attributed.
    pub(super) wrong: Wrong<'a>,
}

/// What the looks at a figure have found.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Empty where not even the first look is complete.
    pub(super) rows: Vec<RowResult>,
    /// Flows that did not finish, and all, at the first look.
    pub(super) flows: (u64, u64),
    /// The look that could not be completed, and how many points it lacks.
    pub(super) lacks: Option<(u32, usize)>,
    /// Whether another look may decide a row.
    pub(super) goes_on: bool,
}

impl Figure<'_> {
    /// Looks until every row is decided, at most `last` times.
    pub(super) fn look(&self, points: &mut Points<'_>, last: u32) -> Result<Looked, Error> {
        let replication = replications(points.plan);
        let conditions = self.conditions()?;
        let mut looked = Looked::default();
        let mut parts: Vec<PartResult> = Vec::new();
        let mut open: Vec<usize> = (0..conditions.len()).collect();
        for number in 1..=last {
            let Some(seeds) = self.looks.seeds(number) else {
                break;
            };
            let is_read = |i: &usize| {
                let point = &points.plan.points[*i];
                let mut open = open.iter().map(|c| conditions[*c].row);
                replication[*i] < seeds
                    && (number == 1 || open.any(|row| reads(row, &point.axes, &point.scheme)))
            };
            let all = 0..points.plan.points.len();
            let wanted: Vec<usize> = all.filter(is_read).collect();
            let lacks = points.fetch(wanted.iter().copied())?;
            if lacks > 0 {
                looked.lacks = Some((number, lacks));
                looked.goes_on = false;
                break;
            }
            let data = self.data(points, &wanted);
            if number == 1 {
                looked.flows = unfinished(&data);
            }
            let look = Some(Look { number, seeds }).filter(|_| self.looks.count() > 1);
            let mut models = Models::default();
            for c in &open {
                let part = measure(conditions[*c], &data, &mut models, look);
                let part = part.map_err(|m| self.mistaken(m))?;
                match parts.get_mut(*c) {
                    Some(known) => *known = part,
                    None => parts.push(part),
                }
            }
            let rows = rows(&conditions, &parts, self.calibration, self.mode);
            looked.rows = rows.map_err(|e| (self.wrong)(e))?;
            open = undecided(&conditions, &looked.rows);
            looked.goes_on = !open.is_empty() && number < self.looks.count();
            if open.is_empty() {
                break;
            }
        }
        Ok(looked)
    }

    fn conditions(&self) -> Result<Vec<Condition<'_>>, Error> {
        conditions(self.file, self.targets, self.without).map_err(|e| (self.wrong)(e))
    }

    /// The rows of a figure that simulates nothing.
    pub(super) fn compute(&self) -> Result<Looked, Error> {
        let conditions = self.conditions()?;
        let data = Data {
            cells: Vec::new(),
            alpha: 0.05,
        };
        let mut models = Models::default();
        let parts = conditions
            .iter()
            .map(|c| measure(*c, &data, &mut models, None));
        let parts = parts.collect::<Result<Vec<_>, _>>();
        let parts = parts.map_err(|m| self.mistaken(m))?;
        let rows = rows(&conditions, &parts, self.calibration, self.mode);
        Ok(Looked {
            rows: rows.map_err(|e| (self.wrong)(e))?,
            ..Looked::default()
        })
    }

    fn mistaken(&self, mistake: Mistake) -> Error {
        (self.wrong)(FileError::new(place(&self.file.id), mistake))
    }

    /// What rows read: these points, which are all there.
    fn data<'p>(&self, points: &'p Points<'_>, wanted: &[usize]) -> Data<'p> {
        let cells = wanted.iter().filter_map(|i| {
            let point = &points.plan.points[*i];
            Some(Cell {
                axes: &point.axes,
                scheme: &point.scheme,
                seed: point.seed,
                sample: Sample::new(point, &points.of(*i)?.outcome),
            })
        });
        Data {
            cells: cells.collect(),
            alpha: self.looks.alpha(),
        }
    }
}

/// Of each point its place among the seeds of its cell and scheme, from 0.
fn replications(plan: &Plan) -> Vec<u32> {
    let mut places = vec![0; plan.points.len()];
    for block in plan.blocks() {
        for (place, points) in block.replications.iter().enumerate() {
            for i in points {
                places[*i] = place as u32;
            }
        }
    }
    places
}

/// The conditions of rows that are not decided, which are not decided themselves.
fn undecided(conditions: &[Condition<'_>], rows: &[RowResult]) -> Vec<usize> {
    let open = RowVerdict::NotDecided;
    let is_open = |c: &Condition<'_>| {
        let row = rows.iter().find(|r| r.id == c.target.row());
        row.is_some_and(|row| {
            let mut parts = row.parts.iter();
            let part = parts.find(|p| p.id == c.target.id);
            row.verdict == open && part.is_some_and(|p| p.verdict == Some(open))
        })
    };
    let all = conditions.iter().enumerate();
    all.filter(|(_, c)| is_open(c)).map(|(i, _)| i).collect()
}
