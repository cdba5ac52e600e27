// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress that Python is told while points are simulated.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cemark_report::{Console, Group};
use cemark_runner::Show;
use cemark_scenario::Plan;

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Finished points.
    pub(crate) finished: usize,
    /// Points that will probably be needed.
    pub(crate) points: usize,
    /// Share of the estimated work that is done, 0 to 1.
    pub(crate) done: f64,
    /// Packet-hops until now.
    pub(crate) hops: u64,
    /// Sentences that have not been passed on: notes of the run directory, looks at intervals.
    pub(crate) notes: Vec<String>,
}

#[derive(Default)]
struct State {
    points: Vec<Point>,
    notes: Vec<String>,
    /// The largest share so far: it never goes back.
    shown: f64,
}

#[derive(Clone, Copy, Default)]
struct Point {
    cost: f64,
    done: f64,
    hops: u64,
    expected: bool,
    finished: bool,
}

/// Collects what a run tells, for a thread that asks from time to time.
pub(crate) struct Watching {
    state: Mutex<State>,
    stop: Arc<AtomicBool>,
}

impl Watching {
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        Watching {
            state: Mutex::default(),
            stop,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the run is now.
    pub(crate) fn progress(&self) -> Progress {
        let mut state = self.lock();
        let notes = std::mem::take(&mut state.notes);
        let counts = |p: &&Point| p.expected || p.finished;
        let all = || state.points.iter().filter(counts);
        let sum = |of: fn(&Point) -> f64| -> f64 { all().map(of).sum() };
        let work = sum(|p| p.cost);
        let done = match work > 0.0 {
            true => sum(|p| p.cost * p.done) / work,
            false => 0.0,
        };
        let progress = Progress {
            finished: state.points.iter().filter(|p| p.finished).count(),
            points: all().count(),
            done: done.max(state.shown).min(1.0),
            hops: state.points.iter().map(|p| p.hops).sum(),
            notes,
        };
        state.shown = progress.done;
        progress
    }
}

impl Console for Watching {
    fn say(&self, note: &str) {
        self.lock().notes.push(note.to_owned());
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

impl Show for Watching {
    fn resumes(&self, found: usize, needed: usize, dir: &Path) {
        let dir = dir.display();
        self.say(&format!("{found} of {needed} points are in {dir} already"));
    }

    fn starts(&self, plan: &Plan, missing: &[usize], _threads: usize) {
        let mut points = vec![Point::default(); plan.points.len()];
        for &i in missing {
            points[i].cost = plan.points[i].cost;
            points[i].expected = true;
        }
        self.lock().points = points;
    }

    fn notes(&self, text: &str) {
        self.say(text);
    }

    fn at(&self, point: usize, done: f64, hops: u64) {
        let point = &mut self.lock().points[point];
        (point.done, point.hops) = (done, hops);
    }

    fn finished(&self, point: usize, hops: u64) {
        let point = &mut self.lock().points[point];
        (point.done, point.hops, point.finished) = (1.0, hops, true);
    }

    fn expects(&self, points: &[usize]) {
        let mut state = self.lock();
        state
            .points
            .iter_mut()
            .for_each(|p| p.expected = p.done > 0.0);
        for &i in points {
            state.points[i].expected = true;
        }
    }

    fn looks(&self, _plan: &Plan, _groups: &[Option<Group>], _block: usize, line: &str) {
        self.say(line);
    }
}
