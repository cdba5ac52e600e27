// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole run, from its plan to what its directory keeps.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cemark_report::rundir::Part;
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Console, Error, Finished, Provenance, RunDir, RunSummary, html};
use cemark_scenario::Plan;

use crate::clock::Stopwatch;
use crate::marker::Watches;
use crate::stop::{self, Ended, Rule};
use crate::threads::Threads;
use crate::{Cores, Failure, Results, Show, Work, simulate};

/// Order for a run: its points, and how they are run.
pub struct Order {
    /// Its points.
    pub plan: Plan,
    /// Where markers of the user's report their faults.
    pub watches: Watches,
    /// Which part of the points is run; `None`: all of them.
    pub part: Option<Part>,
    /// The run directory.
    pub out: PathBuf,
    /// How it uses the cores.
    pub cores: Cores,
    /// Even if there seems to be too little memory.
    pub anyway: bool,
    /// Without the points of earlier sessions, which are removed.
    pub fresh: bool,
    /// Who runs.
    pub who: Provenance,
    /// Ends the run once it is true.
    pub stop: Arc<AtomicBool>,
}

/// A run that has ended.
pub struct Ran {
    /// Its plan; with a stated precision, of the points up to the last look of each block.
    pub plan: Plan,
    /// Where it is kept.
    pub dir: RunDir,
    /// Who ran it.
    pub who: Provenance,
    /// The results in the order of the plan; of a part only its own.
    pub finished: Vec<Finished>,
    /// How many of them were found in the directory.
    pub resumed: usize,
    /// Seconds of wall-clock time that it took.
    pub seconds: f64,
    /// Why a run with a stated precision has ended before that was reached, if it has.
    pub interrupted: Option<Failure>,
}

/// Simulates what is missing of a run. Nothing but the points is in its directory afterwards:
/// [`Ran::keep`] writes the rest.
///
/// # Errors
/// [`Failure::Interrupted`] where the flag ended it before there was anything to show; otherwise
/// what the plan's author or the machine has to change. Finished points stay on disk.
pub fn run(order: Order, console: &dyn Console, show: &dyn Show) -> Result<Ran, Failure> {
    let watch = Stopwatch::start();
    let Order { plan, who, .. } = order;
    let (part, parts) = order.part.as_ref().map_or((1, 1), |p| (p.part, p.parts));
    let wanted = plan.part(part, parts);
    // What needs too much memory is refused before it leaves a directory.
    Threads::new(&plan, &wanted, &wanted, order.cores, order.anyway)?;
    let whole = order.part.is_none();
    let dir = RunDir::open_part(&order.out, &plan, order.part, &who, order.fresh, console)?;
    let (mut results, mut rule) = begin(&plan, &wanted, whole, &dir, console, show);
    let work = Work {
        plan: &plan,
        dir: &dir,
        watches: &order.watches,
        cores: order.cores,
        anyway: order.anyway,
        stop: &order.stop,
    };
    if !rule.is_done() {
        simulate(&work, &mut *rule, &mut results, show)?;
    }
    let ended = rule.end(plan, results, dir.path())?;
    Ok(Ran::new(ended, dir, who, &watch))
}

/// The results of earlier sessions, and the rule of the run.
pub(super) fn begin(
    plan: &Plan,
    wanted: &[usize],
    is_whole: bool,
    dir: &RunDir,
    console: &dyn Console,
    show: &dyn Show,
) -> (Results, Box<dyn Rule>) {
    let mut results: Results = vec![None; plan.points.len()];
    for &i in wanted {
        results[i] = dir.load(&plan.points[i], console);
    }
    let resumed = results.iter().flatten().count();
    if resumed > 0 && plan.precision.is_none() {
        show.resumes(resumed, wanted.len(), dir.path());
    }
    let rule = stop::rule(plan, wanted, is_whole, &results);
    (results, rule)
}

impl Ran {
    pub(super) fn new(ended: Ended, dir: RunDir, who: Provenance, watch: &Stopwatch) -> Self {
        Ran {
            plan: ended.plan,
            dir,
            who,
            finished: ended.finished,
            resumed: ended.resumed,
            seconds: watch.seconds(),
            interrupted: ended.interrupted,
        }
    }

    /// The comparisons and the summary. Their cost is that of the points, those of an earlier
    /// session too, except the wall-clock time, which is this session's.
    pub fn summary(&self) -> (Comparisons, RunSummary) {
        let (plan, finished) = (&self.plan, &self.finished);
        let comparisons = Comparisons::new(plan, finished);
        let cost = Cost {
            resumed: self.resumed as u64,
            wall_seconds: self.seconds,
            ..Cost::of(finished.iter().map(|f| &f.summary))
        };
        let summary = RunSummary::new(plan, finished, &comparisons, &self.who.version, cost);
        (comparisons, summary)
    }

    /// Writes the report and what else a finished run leaves in its directory.
    ///
    /// # Errors
    /// What the system reports of the directory.
    pub fn keep(&self, comparisons: &Comparisons, summary: &RunSummary) -> Result<(), Failure> {
        let (plan, finished) = (&self.plan, &self.finished);
        let report = html::render(plan, finished, comparisons, summary, &self.who);
        Ok(self.finish(summary, &report)?)
    }

    /// Writes the same with another report.
    ///
    /// # Errors
    /// As [`Ran::keep`].
    pub fn keep_as(&self, summary: &RunSummary, report: &str) -> Result<(), Error> {
        self.finish(summary, report)
    }

    fn finish(&self, summary: &RunSummary, report: &str) -> Result<(), Error> {
        self.dir
            .finish(&self.plan, &self.finished, summary, report, &self.who)
    }
}
