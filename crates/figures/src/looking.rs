// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rule of a figure: all points of the first look, and of every later one the points that an
//! undecided row reads.

use std::collections::{BTreeSet, VecDeque};

use cemark_report::Error;
use cemark_report::metrics::Sample;
use cemark_report::rundir::{Console, Share};
use cemark_runner::{Results, Show, StopRule, longest_first};
use cemark_scenario::Plan;

use super::evaluate::{Cell, Data, reads, unfinished};
use super::figure::Figure;
use super::judge::{Condition, Look};
use super::looks::Looks;
use super::request::Experiment;
use super::result::{PartResult, RowResult};
use super::run::Purse;
use super::store::Store;
use super::verdict::RowVerdict;

/// Findings of the looks at a figure.
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

/// Ends a run once every row is decided, the last look is made, or the CPU time is spent.
pub(super) struct RowsDecided<'a> {
    figure: &'a Figure<'a>,
    looks: &'a Looks,
    store: &'a Store,
    console: &'a dyn Console,
    purse: &'a mut Purse,
    /// The last look.
    last: u32,
    /// By point: its place among the seeds of its cell and scheme.
    replication: Vec<u32>,
    /// By point: the point whose simulation gives its result.
    first: Vec<usize>,
    conditions: Vec<Condition<'a>>,
    /// Conditions of rows that are not decided.
    open: Vec<usize>,
    parts: Vec<PartResult>,
    /// The look that is worked for, from 1; its points, and those without a result.
    number: u32,
    wanted: Vec<usize>,
    lacks: BTreeSet<usize>,
    todo: VecDeque<usize>,
    looked: Looked,
    is_done: bool,
    mistake: Option<Error>,
}

impl<'a> RowsDecided<'a> {
    /// Goes through the looks, at most `last`, as far as their points are on disk, and puts these
    /// into `results`.
    pub(super) fn new(
        figure: &'a Figure<'a>,
        experiment: &'a Experiment,
        store: &'a Store,
        purse: &'a mut Purse,
        last: u32,
        console: &'a dyn Console,
        results: &mut Results,
    ) -> Result<Self, Error> {
        let (conditions, plan) = (figure.conditions()?, &experiment.whole);
        let mut rule = RowsDecided {
            figure,
            looks: &experiment.looks,
            store,
            console,
            purse,
            last,
            replication: replications(plan),
            first: plan.simulated_as(),
            open: (0..conditions.len()).collect(),
            conditions,
            parts: Vec::new(),
            number: 0,
            wanted: Vec::new(),
            lacks: BTreeSet::new(),
            todo: VecDeque::new(),
            looked: Looked::default(),
            is_done: false,
            mistake: None,
        };
        rule.next_look(plan, results)?;
        rule.look(plan, results)?;
        Ok(rule)
    }

    /// Judges the rows once all points of a look are there, and continues with the next look.
    fn look(&mut self, plan: &Plan, results: &mut Results) -> Result<(), Error> {
        while self.lacks.is_empty() && !self.is_done {
            let data = self.data(plan, results);
            if self.number == 1 {
                self.looked.flows = unfinished(&data);
            }
            let looks = self.looks;
            let look = looks.seeds(self.number).filter(|_| looks.count() > 1);
            let look = look.map(|seeds| Look {
                number: self.number,
                seeds,
            });
            let (conditions, open) = (&self.conditions, &self.open);
            let figure = self.figure;
            let rows = figure.judge(conditions, open, &mut self.parts, &data, look)?;
            self.open = undecided(conditions, &rows);
            self.looked.rows = rows;
            self.looked.goes_on = !self.open.is_empty() && self.number < looks.count();
            match self.looked.goes_on && self.number < self.last {
                true => self.next_look(plan, results)?,
                false => self.is_done = true,
            }
        }
        Ok(())
    }

    /// Takes the points of the next look from the disk. The shares of the parts depend on the
    /// points alone, not on what is on disk.
    fn next_look(&mut self, plan: &Plan, results: &mut Results) -> Result<(), Error> {
        self.number += 1;
        let seeds = self.looks.seeds(self.number).unwrap_or(u32::MAX);
        let is_read = |i: &usize| {
            let point = &plan.points[*i];
            let mut open = self.open.iter().map(|c| self.conditions[*c].row);
            self.replication[*i] < seeds
                && (self.number == 1 || open.any(|row| reads(row, &point.axes, &point.scheme)))
        };
        self.wanted = (0..plan.points.len()).filter(is_read).collect();
        let new: BTreeSet<usize> = self.wanted.iter().map(|i| self.first[*i]).collect();
        let new: Vec<usize> = new.into_iter().filter(|i| results[*i].is_none()).collect();
        for i in &new {
            results[*i] = self.store.find(&plan.points[*i], self.console)?;
        }
        let missing = |i: &usize| results[*i].is_none();
        self.lacks = new.iter().copied().filter(missing).collect();
        let ours = match self.figure.request.limits.share {
            None => new,
            Some(Share { part, parts }) => {
                let ours = plan.only(&new).part(part, parts);
                ours.into_iter().map(|k| new[k]).collect()
            }
        };
        self.todo = longest_first(plan, ours.into_iter().filter(missing).collect()).into();
        Ok(())
    }

    /// The points of the look as rows read them.
    fn data<'p>(&self, plan: &'p Plan, results: &'p Results) -> Data<'p> {
        let cells = self.wanted.iter().filter_map(|i| {
            let point = &plan.points[*i];
            let found = results[self.first[*i]].as_ref()?;
            Some(Cell {
                axes: &point.axes,
                scheme: &point.scheme,
                seed: point.seed,
                sample: Sample::new(point, &found.outcome),
            })
        });
        Data {
            cells: cells.collect(),
            alpha: self.looks.alpha(),
        }
    }

    /// The rows at the last look that is complete.
    pub(super) fn end(mut self) -> Result<Looked, Error> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        if !self.lacks.is_empty() {
            self.looked.lacks = Some((self.number, self.lacks.len()));
            self.looked.goes_on = false;
        }
        Ok(self.looked)
    }
}

impl StopRule for RowsDecided<'_> {
    fn todo(&self) -> Vec<usize> {
        self.todo.iter().copied().collect()
    }

    fn next(&mut self) -> Option<usize> {
        match self.purse.is_empty() {
            true => None,
            false => self.todo.pop_front(),
        }
    }

    fn finished(&mut self, plan: &Plan, results: &mut Results, point: usize, show: &dyn Show) {
        let done = results[point].as_ref();
        self.purse.spent += done.map_or(0.0, |done| done.summary.cpu_seconds);
        self.lacks.remove(&point);
        if self.lacks.is_empty() {
            self.mistake = self.look(plan, results).err();
            show.expects(&self.todo());
        }
    }

    fn is_done(&self) -> bool {
        self.is_done || self.mistake.is_some()
    }
}

/// Places of the points among the seeds of their cell and scheme, from 0.
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
