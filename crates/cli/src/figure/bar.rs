// SPDX-License-Identifier: MIT OR Apache-2.0
//! The progress of all figures together, and notes beside its bar.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use cemark_report::Console;
use cemark_scenario::Plan;

use crate::exit::Stderr;
use crate::progress::Progress;

/// The progress of plans with the points of the first look, which are expected, and of all looks.
/// This number of points runs at the same time.
pub(super) fn progress(plans: &[(Plan, Plan)], at_once: usize, quiet: bool) -> Progress {
    let progress = Progress::new(plans.iter().map(|p| &p.1), at_once, quiet);
    for (stage, (first, plan)) in plans.iter().enumerate() {
        let known: BTreeSet<u64> = first.points.iter().map(|p| p.digest).collect();
        let simulated = plan.simulated_as().into_iter().enumerate();
        let simulated = simulated.filter(|(i, as_)| i == as_).map(|(i, _)| i);
        let of_look = simulated.filter(|i| known.contains(&plan.points[*i].digest));
        progress.expect(stage, &of_look.collect::<Vec<_>>());
    }
    progress
}

/// Notes on standard error, without a bar in between.
pub(super) struct Beside<'a> {
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a AtomicBool,
}

impl Console for Beside<'_> {
    fn say(&self, note: &str) {
        self.progress.suspended(|| Stderr.say(note));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}
