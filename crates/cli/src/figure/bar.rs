// SPDX-License-Identifier: MIT OR Apache-2.0
//! The progress of all figures together: their points are numbered one figure after the other.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cemark_report::Console;
use cemark_runner::Show;
use cemark_scenario::Plan;

use crate::exit::{Stderr, note};
use crate::progress::Progress;

pub(super) struct Bar<'a> {
    progress: Progress,
    /// Name of each figure's plan, and the number of its first point among those of all figures.
    firsts: Vec<(String, usize)>,
    /// Place in that list of the figure that runs.
    figure: AtomicUsize,
    /// Points that each figure will probably simulate, numbered among all.
    expected: Mutex<Vec<Vec<usize>>>,
    quiet: bool,
    stop: &'a AtomicBool,
}

impl<'a> Bar<'a> {
    /// The bar of plans with the points of the first look, which are expected, and of all looks.
    /// This number of points runs at the same time.
    pub(super) fn new(
        plans: &[(Plan, Plan)],
        at_once: usize,
        quiet: bool,
        stop: &'a AtomicBool,
    ) -> Self {
        let (mut next, mut firsts) = (0, Vec::new());
        let mut expected: Vec<Vec<usize>> = Vec::new();
        for (first, plan) in plans {
            let known: BTreeSet<u64> = first.points.iter().map(|p| p.digest).collect();
            let simulated = plan.simulated_as().into_iter().enumerate();
            let simulated = simulated.filter(|(i, as_)| i == as_).map(|(i, _)| i);
            let of_look = simulated.filter(|i| known.contains(&plan.points[*i].digest));
            expected.push(of_look.map(|i| next + i).collect());
            firsts.push((plan.name.clone(), next));
            next += plan.points.len();
        }
        let progress = Progress::new(plans.iter().map(|p| &p.1), at_once, quiet);
        progress.expect(&expected.concat());
        Bar {
            progress,
            firsts,
            figure: AtomicUsize::new(0),
            expected: Mutex::new(expected),
            quiet,
            stop,
        }
    }

    /// Removes the bar from the screen.
    pub(super) fn clear(&mut self) {
        self.progress.clear();
    }

    /// The number among all points of a point of the figure that runs.
    fn place(&self, point: usize) -> usize {
        self.firsts[self.figure.load(Ordering::Relaxed)].1 + point
    }
}

impl Show for Bar<'_> {
    fn starts(&self, plan: &Plan, missing: &[usize], _at_once: usize) {
        if let Some(figure) = self.firsts.iter().position(|(name, _)| *name == plan.name) {
            self.figure.store(figure, Ordering::Relaxed);
        }
        self.progress.title(&plan.name);
        self.expects(missing);
    }

    fn expects(&self, points: &[usize]) {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        expected[self.figure.load(Ordering::Relaxed)] =
            points.iter().map(|i| self.place(*i)).collect();
        self.progress.expect(&expected.concat());
    }

    fn notes(&self, text: &str) {
        if !self.quiet {
            self.progress.suspended(|| note(&format!("note: {text}")));
        }
    }

    fn begins(&self, point: usize) {
        self.progress.begins(self.place(point));
    }

    fn at(&self, point: usize, done: f64, hops: u64) {
        self.progress.at(self.place(point), done, hops);
    }

    fn finished(&self, point: usize, hops: u64) {
        self.progress.finished(self.place(point), hops);
    }
}

impl Console for Bar<'_> {
    fn say(&self, note: &str) {
        self.progress.suspended(|| Stderr.say(note));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}
