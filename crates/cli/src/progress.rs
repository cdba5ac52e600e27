// SPDX-License-Identifier: MIT OR Apache-2.0
//! The progress bar: on standard error, on a terminal only.

use std::fmt::Write;
use std::sync::Mutex;
use std::time::Duration;

use cemark_report::units;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::terminal::{error_width, has_bars};

/// Steps of the whole bar: enough for a smooth estimate of the remaining time.
const STEPS: f64 = 1e6;

/// A bar over all points, weighted by their estimated cost.
pub(crate) struct Progress {
    bar: ProgressBar,
    costs: Vec<f64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The part of each point that is done, and its packet-hops so far.
    points: Vec<(f64, u64)>,
    finished: usize,
    expected: Vec<bool>,
}

impl Progress {
    /// A bar over points with these estimated costs.
    pub(crate) fn new(costs: Vec<f64>) -> Self {
        let target = if has_bars() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        // The most important part comes first, because a terminal of 80 columns cuts off the end.
        let template = match error_width() {
            Some(..80) => "{bar:10} {percent:>3} %  {left}, {elapsed} gone",
            _ => "{bar:20} {percent:>3} %  {left}, {elapsed} gone  {msg}",
        };
        let style = ProgressStyle::with_template(template)
            .expect("a fixed template")
            .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                // Before the first step there is no estimate, and "0s left" would be wrong.
                let _ = match state.pos() {
                    0 => write!(out, "starting"),
                    _ => write!(out, "{:#} left", HumanDuration(state.eta())),
                };
            })
            .progress_chars("━╸─");
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(250));
        // Without an estimate the bar still advances with each point.
        let costs: Vec<f64> = costs
            .into_iter()
            .map(|c| if c > 0.0 && c.is_finite() { c } else { 1.0 })
            .collect();
        let state = Mutex::new(State {
            points: vec![(0.0, 0); costs.len()],
            finished: 0,
            expected: vec![true; costs.len()],
        });
        let progress = Progress { bar, costs, state };
        progress.update(|_| {});
        progress
    }

    /// Reports how much of point `i` is done (0 to 1) and its packet-hops until now.
    pub(crate) fn at(&self, i: usize, done: f64, hops: u64) {
        self.update(|s| s.points[i] = (done.clamp(0.0, 1.0), hops));
    }

    /// Point `i` is finished and stored.
    pub(crate) fn finished(&self, i: usize, hops: u64) {
        self.update(|s| {
            s.points[i] = (1.0, hops);
            s.finished += 1;
        });
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        // A panic in another worker ends the run; its incomplete progress does no harm.
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut state);
        let done: f64 = state
            .points
            .iter()
            .zip(&self.costs)
            .map(|((share, _), cost)| share * cost)
            .sum();
        let hops: u64 = state.points.iter().map(|p| p.1).sum();
        let counts = |i: &usize| state.expected[*i] || state.points[*i].0 > 0.0;
        let counted: Vec<usize> = (0..self.costs.len()).filter(counts).collect();
        let total = counted.iter().map(|i| self.costs[*i]).sum::<f64>().max(1.0);
        let (finished, all) = (state.finished, counted.len());
        drop(state);
        self.bar.set_message(format!(
            "{finished}/{all} points, {} packet-hops",
            units::count(hops as f64)
        ));
        self.bar.set_position((done / total * STEPS) as u64);
    }

    /// Only these points are expected to be simulated; others may be in the end.
    pub(crate) fn expect(&self, points: &[usize]) {
        self.update(|s| {
            s.expected = vec![false; s.points.len()];
            points.iter().for_each(|i| s.expected[*i] = true);
        });
    }

    /// Prints something on standard error without a bar in between.
    pub(crate) fn suspended(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Removes the bar from the screen.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
