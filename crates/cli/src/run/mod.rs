// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run`: simulates the points of a scenario in parallel and stores each as it finishes.

mod anytime;
mod part;
mod redraw;
mod schedule;
mod simulate;
mod who;

use std::io::{IsTerminal, stderr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use cemark_report::summary::Cost;
use cemark_report::{
    Comparisons, Finished, Provenance, RunDir, RunSummary, html, pauses, share, table,
};
use cemark_scenario::{Plan, visible_lines};

use self::simulate::{How, simulate};
pub(crate) use self::simulate::{stop_on_ctrl_c, threads};
pub(crate) use self::who::provenance;
use crate::clock::Stopwatch;
use crate::exit::{Failure, Stderr, answer_json, answer_styled, complain, note, warn};
use crate::marker;
pub(crate) use crate::terminal::look;
use crate::{Changes, Extent, Format};

/// Arguments of `cemark run`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in.
    scenario: String,
    /// Run directory [default: runs/SCENARIO-DIGEST]. A run that was interrupted there is
    /// continued.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    extent: Extent,
    /// Add a marker of your own to the schemes: BPF bytecode from clang, or a shared object.
    #[arg(long, value_name = "bpf:FILE|c:FILE")]
    marker: Vec<crate::marker::Given>,
    /// Simulate N points at the same time, at most one per core [default: one per core]. The result
    /// does not depend on N.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run only part I of N, into a directory of its own: N processes, on one machine or on many,
    /// run everything, and `cemark merge` makes one run of their parts (docs/cluster.md).
    #[arg(long, value_name = "I/N")]
    part: Option<part::Share>,
    /// Run even if the machine seems to have too little memory.
    #[arg(long)]
    anyway: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Show no progress: neither the bar nor, without a terminal, a line every 10 seconds.
    #[arg(short, long)]
    quiet: bool,
    /// Delete what cemark wrote to the run directory, and start over.
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let overrides = args.extent.add_to(args.changes.overrides()?);
    let mut plan = cemark_scenario::load(&args.scenario, &overrides)?;
    warn(&plan);
    let watches = marker::add_all(&args.marker, &mut plan)?;
    if args.part.is_some() && plan.precision.is_some() {
        return Err(part::needs_fixed_seeds(&args.scenario));
    }
    let wanted: Vec<usize> = match args.part {
        Some(part) => part.points(&plan),
        None => plan.part(1, 1),
    };
    match args.part {
        Some(_) => crate::memory::refuse(&plan.only(&wanted), args.jobs, args.anyway)?,
        None => crate::memory::refuse(&plan, args.jobs, args.anyway)?,
    }
    let who = provenance();
    let path = args.out.clone().unwrap_or_else(|| match args.part {
        Some(part) => part.default_path(&plan),
        None => RunDir::default_path(&plan),
    });
    let named = args.part.map(|part| part.named(&args.scenario));
    let dir = RunDir::open_part(&path, &plan, named, &who, args.fresh, &Stderr)?;
    let mut finished: Vec<Option<Finished>> = vec![None; plan.points.len()];
    for &i in &wanted {
        finished[i] = dir.load(&plan.points[i], &Stderr);
    }
    let resumed = finished.iter().flatten().count();
    if resumed > 0 && !args.quiet && plan.precision.is_none() && stderr().is_terminal() {
        note(&format!(
            "{resumed} of {} points are in {} already; --fresh runs them again",
            wanted.len(),
            path.display()
        ));
    }
    let how = How {
        jobs: args.jobs,
        quiet: args.quiet,
        wanted: &wanted,
    };
    if let Some(precision) = &plan.precision {
        let looked = anytime::simulate(&plan, precision, &dir, how, &watches, finished)?;
        let done = Done {
            plan: &looked.plan,
            dir: &dir,
            who: &who,
            finished: &looked.finished,
        };
        return match looked.interrupted {
            None => done.answer(args.format, looked.resumed, &watch),
            Some(why) => {
                done.so_far(args.format, looked.resumed, &watch)?;
                Err(why)
            }
        };
    }
    simulate(&plan, &dir, how, &watches, &mut finished)?;
    if args.part.is_none() {
        share(&plan, &mut finished);
    }
    let finished: Vec<Finished> = finished.into_iter().flatten().collect();
    if let Some(part) = args.part {
        let how = (args.format, &watch);
        return part::conclude(part, &plan, dir.path(), &finished, resumed, how);
    }
    let done = Done {
        plan: &plan,
        dir: &dir,
        who: &who,
        finished: &finished,
    };
    done.answer(args.format, resumed, &watch)
}

/// A run whose points are all finished.
pub(crate) struct Done<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) dir: &'a RunDir,
    pub(crate) who: &'a Provenance,
    pub(crate) finished: &'a [Finished],
}

impl Done<'_> {
    /// Writes what the run leaves in its directory, and prints its answer. `resumed` is the number
    /// of points that were found there.
    pub(crate) fn answer(
        &self,
        format: Format,
        resumed: usize,
        watch: &Stopwatch,
    ) -> Result<(), Failure> {
        let (plan, finished) = (self.plan, self.finished);
        let (comparisons, summary) = self.summary(resumed, watch);
        let report = html::render(plan, finished, &comparisons, &summary, self.who);
        self.dir
            .finish(plan, finished, &summary, &report, self.who)?;
        for storm in pauses::storms(plan, finished) {
            complain(
                &storm,
                "DCQCN's marks should come before the pauses: lower Kmin or pst_target, or \
                 increase the pool or pfc-alpha",
            );
        }
        match format {
            Format::Json => answer_json(&summary),
            Format::Table => answer_styled(&self.text(&comparisons, &summary)),
        }
    }

    /// Prints what is known of a run that was interrupted; its directory keeps the points only.
    fn so_far(&self, format: Format, resumed: usize, watch: &Stopwatch) -> Result<(), Failure> {
        let (comparisons, summary) = self.summary(resumed, watch);
        match format {
            Format::Json => answer_json(&summary),
            Format::Table => answer_styled(&table::tables(self.plan, &comparisons, look())),
        }
    }

    fn summary(&self, resumed: usize, watch: &Stopwatch) -> (Comparisons, RunSummary) {
        let (plan, finished) = (self.plan, self.finished);
        let comparisons = Comparisons::new(plan, finished);
        let points: Vec<_> = finished.iter().map(|f| f.summary.clone()).collect();
        let cost = Cost {
            resumed: resumed as u64,
            wall_seconds: watch.seconds(),
            ..Cost::of(&points)
        };
        let summary = RunSummary::new(plan, points, &comparisons, &self.who.version, cost);
        (comparisons, summary)
    }

    /// The tables and what follows them.
    fn text(&self, comparisons: &Comparisons, summary: &RunSummary) -> String {
        let look = look();
        let report = self.dir.path().join("report.html").display().to_string();
        format!(
            "{}\n{}{}",
            table::tables(self.plan, comparisons, look),
            visible_lines(&pauses::lines(self.plan, self.finished)),
            table::footer(self.plan, summary, &report, look)
        )
    }
}
