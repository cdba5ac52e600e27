// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole run, from its plan to what its directory keeps.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cemark_report::rundir::Part;
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Console, Finished, Provenance, RunDir, RunSummary, html, share};
use cemark_scenario::Plan;

use crate::clock::Stopwatch;
use crate::marker::Watches;
use crate::simulate::{How, Workshop};
use crate::threads::Threads;
use crate::{Cores, Failure, Show, anytime, simulate};

/// What is run, and how.
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
    let threads = |todo: &[usize]| Threads::new(&plan, &wanted, todo, order.cores, order.anyway);
    // What needs too much memory is refused before it leaves a directory.
    threads(&wanted)?;
    let whole = order.part.is_none();
    let dir = RunDir::open_part(&order.out, &plan, order.part, &who, order.fresh, console)?;
    let mut finished: Vec<Option<Finished>> = vec![None; plan.points.len()];
    for &i in &wanted {
        finished[i] = dir.load(&plan.points[i], console);
    }
    let resumed = finished.iter().flatten().count();
    let missing = wanted.iter().copied().filter(|i| finished[*i].is_none());
    let missing: Vec<usize> = missing.collect();
    let threads = threads(&missing)?;
    if let Some(note) = &threads.note {
        show.notes(note);
    }
    let how = How {
        points: threads.points,
        wanted: &wanted,
        show,
    };
    let shop = Workshop::new(&plan, &dir, &order.watches, threads, order.stop);
    if let Some(precision) = &plan.precision {
        let looked = anytime::simulate(&shop, precision, how, finished)?;
        return Ok(Ran {
            plan: looked.plan,
            who,
            finished: looked.finished,
            resumed: looked.resumed,
            seconds: watch.seconds(),
            interrupted: looked.interrupted,
            dir,
        });
    }
    if resumed > 0 {
        show.resumes(resumed, wanted.len(), dir.path());
    }
    simulate::simulate(&shop, how, &mut finished)?;
    drop(shop);
    if whole {
        share(&plan, &mut finished);
    }
    Ok(Ran {
        finished: finished.into_iter().flatten().collect(),
        plan,
        dir,
        who,
        resumed,
        seconds: watch.seconds(),
        interrupted: None,
    })
}

impl Ran {
    /// The comparisons and the summary. Their cost is that of the points, those of an earlier
    /// session too, except the wall-clock time, which is this session's.
    pub fn summary(&self) -> (Comparisons, RunSummary) {
        let (plan, finished) = (&self.plan, &self.finished);
        let comparisons = Comparisons::new(plan, finished);
        let points: Vec<_> = finished.iter().map(|f| f.summary.clone()).collect();
        let cost = Cost {
            resumed: self.resumed as u64,
            wall_seconds: self.seconds,
            ..Cost::of(&points)
        };
        let summary = RunSummary::new(plan, points, &comparisons, &self.who.version, cost);
        (comparisons, summary)
    }

    /// Writes the report and what else a finished run leaves in its directory.
    ///
    /// # Errors
    /// What the system reports of the directory.
    pub fn keep(&self, comparisons: &Comparisons, summary: &RunSummary) -> Result<(), Failure> {
        let (plan, finished) = (&self.plan, &self.finished);
        let report = html::render(plan, finished, comparisons, summary, &self.who);
        self.dir
            .finish(plan, finished, summary, &report, &self.who)?;
        Ok(())
    }
}
