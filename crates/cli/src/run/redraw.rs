// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of a run on standard error while it runs: how far it is, and, if it has a stated
//! precision, on a terminal the tables, drawn again in place at each look, elsewhere a line for
//! each look.

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cemark_report::table::{self, Look};
use cemark_report::{Comparisons, Group};
use cemark_runner::Show;
use cemark_scenario::Plan;
use console::Term;

use crate::exit::note;
use crate::progress::Progress;
use crate::terminal::{error_look, has_bars};

/// Lines of a terminal that a table leaves: the bar, and one for the shell.
const REST: usize = 2;

pub(crate) struct Screen {
    /// Shows nothing.
    quiet: bool,
    /// `None` before the first point.
    drawn: Mutex<Option<Drawn>>,
}

struct Drawn {
    progress: Progress,
    /// Lines of the table that is on the screen.
    lines: usize,
}

impl Screen {
    pub(crate) fn new(quiet: bool) -> Self {
        Screen {
            quiet,
            drawn: Mutex::new(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Drawn>> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, what: impl FnOnce(&Progress)) {
        if let Some(drawn) = &*self.lock() {
            what(&drawn.progress);
        }
    }
}

impl Show for Screen {
    fn resumes(&self, found: usize, needed: usize, dir: &Path) {
        if !self.quiet && stderr().is_terminal() {
            note(&format!(
                "{found} of {needed} points are in {} already; --fresh runs them again",
                dir.display()
            ));
        }
    }

    fn starts(&self, plan: &Plan, missing: &[usize], threads: usize) {
        let progress = Progress::new([plan], threads, self.quiet);
        progress.expect(0, missing);
        *self.lock() = Some(Drawn { progress, lines: 0 });
    }

    fn notes(&self, text: &str) {
        if !self.quiet {
            note(&format!("note: {text}"));
        }
    }

    fn begins(&self, point: usize) {
        self.tell(|progress| progress.begins(point));
    }

    fn at(&self, point: usize, done: f64, hops: u64) {
        self.tell(|progress| progress.at(point, done, hops));
    }

    fn finished(&self, point: usize, hops: u64) {
        self.tell(|progress| progress.finished(point, hops));
    }

    fn expects(&self, points: &[usize]) {
        self.tell(|progress| progress.expects(points));
    }

    fn looks(&self, plan: &Plan, groups: &[Option<Group>], block: usize, line: &str) {
        if self.quiet {
            return;
        }
        if !has_bars() {
            note(line);
            return;
        }
        let mut drawn = self.lock();
        let Some(drawn) = drawn.as_mut() else { return };
        let look = error_look();
        let rows = usize::from(Term::stderr().size().0).saturating_sub(REST);
        let all: Vec<Group> = groups.iter().flatten().cloned().collect();
        let one: Vec<Group> = groups[block].iter().cloned().collect();
        // All tables if the screen is high enough, or the one that is new, or its line.
        let fits = |text: &String| text.lines().count() <= rows;
        let tables = [tables(plan, all, look), tables(plan, one, look)];
        let text = tables.into_iter().find(fits);
        let lines = std::mem::take(&mut drawn.lines);
        drawn.lines = text.as_ref().map_or(0, |text| text.lines().count());
        drawn.progress.suspended(|| {
            let term = Term::stderr();
            // Where the screen cannot be written, the answer on standard output still comes.
            let _ = term.clear_last_lines(lines);
            let _ = term.write_line(text.as_deref().unwrap_or(line).trim_end_matches('\n'));
        });
    }

    /// Removes everything from the screen.
    fn ends(&self) {
        if let Some(mut drawn) = self.lock().take() {
            drawn.progress.clear();
            let _ = Term::stderr().clear_last_lines(drawn.lines);
        }
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
