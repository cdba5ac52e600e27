// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run with a stated precision shows while it runs, on standard error: on a terminal the
//! tables, drawn again in place at each look, elsewhere a line for each look.

use cemark_report::table::{self, Look};
use cemark_report::{Comparisons, Group};
use cemark_scenario::Plan;
use console::Term;

use crate::exit::note;
use crate::progress::Progress;
use crate::terminal::{error_look, has_bars};

/// Lines of a terminal that a table leaves: the bar, and one for the shell.
const REST: usize = 2;

pub(super) struct Screen {
    progress: Progress,
    /// Shows nothing.
    quiet: bool,
    /// For each point of the plan its place among the points to simulate.
    places: Vec<Option<usize>>,
    /// Lines of the table that is on the screen.
    drawn: usize,
}

impl Screen {
    /// Of a plan of which these points are on disk.
    pub(super) fn new(plan: &Plan, kept: &[bool], threads: usize, quiet: bool) -> Self {
        let mut places = vec![None; plan.points.len()];
        let mut points = Vec::new();
        for (i, first) in plan.simulated_as().into_iter().enumerate() {
            if i == first && !kept[i] {
                places[i] = Some(points.len());
                points.push(&plan.points[i]);
            }
        }
        Screen {
            progress: Progress::new(&points, threads, quiet),
            quiet,
            places,
            drawn: 0,
        }
    }

    /// A point begins.
    pub(super) fn begins(&self, point: usize) {
        if let Some(place) = self.places[point] {
            self.progress.begins(place);
        }
    }

    /// How far a point is.
    pub(super) fn at(&self, point: usize, done: f64, hops: u64) {
        if let Some(place) = self.places[point] {
            self.progress.at(place, done, hops);
        }
    }

    /// A point is finished.
    pub(super) fn finished(&self, point: usize, hops: u64) {
        if let Some(place) = self.places[point] {
            self.progress.finished(place, hops);
        }
    }

    /// The points that will probably be needed.
    pub(super) fn expect(&self, points: &[usize]) {
        let places: Vec<usize> = points.iter().filter_map(|i| self.places[*i]).collect();
        self.progress.expect(&places);
    }

    /// Shows the last look of every block. `block` is the one that has just looked, and `line` says
    /// what it found.
    pub(super) fn show(&mut self, plan: &Plan, groups: &[Option<Group>], block: usize, line: &str) {
        if self.quiet {
            return;
        }
        if !has_bars() {
            note(line);
            return;
        }
        let look = error_look();
        let rows = usize::from(Term::stderr().size().0).saturating_sub(REST);
        let all: Vec<Group> = groups.iter().flatten().cloned().collect();
        let one: Vec<Group> = groups[block].iter().cloned().collect();
        // All tables if the screen is high enough, or the one that is new, or its line.
        let fits = |text: &String| text.lines().count() <= rows;
        let tables = [tables(plan, all, look), tables(plan, one, look)];
        let text = tables.into_iter().find(fits);
        let lines = std::mem::take(&mut self.drawn);
        self.drawn = text.as_ref().map_or(0, |text| text.lines().count());
        self.progress.suspended(|| {
            let term = Term::stderr();
            // Where the screen cannot be written, the answer on standard output still comes.
            let _ = term.clear_last_lines(lines);
            let _ = term.write_line(text.as_deref().unwrap_or(line).trim_end_matches('\n'));
        });
    }

    /// Removes everything from the screen.
    pub(super) fn clear(&mut self) {
        self.progress.clear();
        let _ = Term::stderr().clear_last_lines(std::mem::take(&mut self.drawn));
    }
}

fn tables(plan: &Plan, groups: Vec<Group>, look: Look) -> String {
    let baseline = plan.schemes.get(plan.baseline).cloned();
    let comparisons = Comparisons {
        groups,
        baseline: baseline.unwrap_or_default(),
    };
    crate::exit::styled(&table::tables(plan, &comparisons, look))
}
