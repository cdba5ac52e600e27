// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark testbed run`: every point twice, in the simulator and on a kernel, with the same flows.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Finished, RunDir, RunSummary, html};
use cemark_runner::Cores;
use cemark_runner::clock::{Stopwatch, cpu_seconds};
use cemark_scenario::{Overrides, Plan, Point};
use cemark_testbed::Lab;
use cemark_wire::hash::Fnv1a;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::beside;
use super::kernel::{Kernel, Ready};
use crate::exit::{Failure, Stderr, answer, answer_json_text, machine, note, user, warn};
use crate::interrupt::stop_on_ctrl_c;
use crate::program::provenance;
use crate::{Changes, Format};

/// Arguments of `cemark testbed run`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in: a star or a dumbbell.
    scenario: String,
    /// The kernel that it runs on.
    #[arg(long, value_enum, default_value = "uml")]
    kernel: Kernel,
    /// Run directory [default: runs/SCENARIO-testbed-DIGEST]. A run that was interrupted there is
    /// continued.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Run N points at the same time, at most one per core [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Show no progress.
    #[arg(short, long)]
    quiet: bool,
    /// Delete what cemark wrote to the run directory, and start over.
    #[arg(long)]
    fresh: bool,
    /// Say whether a kernel can run the scenario, and end.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let mut overrides: Overrides = args.changes.overrides(&args.scenario)?;
    if overrides.seed.is_none() && overrides.seeds.is_none() {
        // A precision would add seeds until the simulator is sure; here each costs minutes.
        overrides.precision = None;
    }
    let mut plan = cemark_scenario::load(&args.scenario, &overrides)?;
    plan.precision = None;
    for point in &plan.points {
        cemark_testbed::check(&point.config).map_err(|e| refused(&args.scenario, &e))?;
    }
    warn(&plan);
    if args.check {
        return answer(&format!(
            "{}: {} points, each of which a kernel can run\n",
            plan.name,
            plan.points.len()
        ));
    }
    let plan = doubled(&plan, args.kernel);
    let who = provenance();
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| RunDir::default_path(&plan));
    // Before the directory, so that a kernel that cannot be built leaves none behind.
    let kernel = args.kernel.ready(args.quiet)?;
    let dir = RunDir::open(&path, &plan, &who, args.fresh, &Stderr)?;
    let (finished, resumed) = Work {
        plan: &plan,
        dir: &dir,
        kernel: &kernel,
        quiet: args.quiet,
        scenario: &args.scenario,
    }
    .all(args.jobs)?;
    let comparisons = Comparisons::new(&plan, &finished);
    let cost = Cost {
        resumed,
        wall_seconds: watch.seconds(),
        ..Cost::of(finished.iter().map(|f| &f.summary))
    };
    let summary = RunSummary::new(&plan, &finished, &comparisons, &who.version, cost);
    let tables = beside::tables(&plan, &finished);
    let repeats = args.kernel.repeats();
    let report = html::render_as(&plan, &finished, &comparisons, &summary, &who, repeats);
    let report = beside::insert(report, &tables);
    dir.finish(&plan, &finished, &summary, &report, &who)?;
    match args.format {
        Format::Json => {
            let mut text = serde_json::to_string_pretty(&tables).expect("numbers and strings");
            text.push('\n');
            answer_json_text(&text)
        }
        Format::Table => answer(&format!(
            "{}\n{}\nreport: {}\n",
            plan.title,
            beside::text(&tables),
            dir.path().join("report.html").display()
        )),
    }
}

fn refused(scenario: &str, e: &cemark_testbed::Refusal) -> Failure {
    let help = e.instead.clone();
    user(format!("{scenario}: {e}"), help)
}

/// Every scheme twice: as simulated, and on the kernel. Base RTTs have few values in both.
fn doubled(plan: &Plan, kernel: Kernel) -> Plan {
    let mut all = plan.clone();
    let word = match kernel {
        Kernel::Uml => "kernel",
        Kernel::Host => "host",
    };
    all.name = format!("{}-testbed", plan.name);
    all.title = format!("{}: simulator and Linux", plan.title);
    all.digest = marked(plan.digest, word);
    all.baseline = 2 * plan.baseline;
    all.published.clear();
    all.next = None;
    let both = |s: &String| [s.clone(), format!("{s}, {word}")];
    all.schemes = plan.schemes.iter().flat_map(both).collect();
    all.points.clear();
    let alike = |a: &Point, b: &Point| a.axes == b.axes && a.scheme == b.scheme;
    for seeds in plan.points.chunk_by(alike) {
        for real in [false, true] {
            for point in seeds {
                let mut point = point.clone();
                point.config.rtt = cemark_testbed::discrete(&point.config.rtt);
                let what = if real { word } else { "testbed" };
                point.digest = marked(point.digest, what);
                point.simulation = marked(point.simulation, what);
                if real {
                    point.scheme = format!("{}, {word}", point.scheme);
                }
                all.points.push(point);
            }
        }
    }
    all
}

fn marked(digest: u64, word: &str) -> u64 {
    let mut hash = Fnv1a::new();
    hash.write(&digest.to_le_bytes());
    hash.write(word.as_bytes());
    hash.finish()
}

/// Plan that is run, and where it is kept.
struct Work<'a> {
    plan: &'a Plan,
    dir: &'a RunDir,
    kernel: &'a Ready,
    quiet: bool,
    scenario: &'a str,
}

impl Work<'_> {
    /// Every point's result, in the order of the plan, and how many were there already.
    fn all(&self, jobs: Option<NonZeroUsize>) -> Result<(Vec<Finished>, u64), Failure> {
        // The simulated points are found by their place: those of a scheme come before the same
        // number on the kernel.
        let seeds = seeds(self.plan);
        let load = |p: &Point| self.dir.load(p, &Stderr);
        let mut finished: Vec<Option<Finished>> = self.plan.points.iter().map(load).collect();
        let resumed = finished.iter().flatten().count() as u64;
        let stop = stop_on_ctrl_c();
        let stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
        let real = |i: usize| (i / seeds) % 2 == 1;
        for i in (0..finished.len()).filter(|i| !real(*i)) {
            if finished[i].is_none() && !stopped() {
                let point = &self.plan.points[i];
                let (outcome, seconds) = cpu_seconds(|| cemark_sim::run(&point.config));
                let done = Finished::new(point, outcome, seconds);
                self.dir.store(point, &done)?;
                finished[i] = Some(done);
            }
        }
        let todo: Vec<usize> = (0..finished.len())
            .filter(|i| real(*i) && finished[*i].is_none())
            .collect();
        let count = Mutex::new(0);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(Cores::of_jobs(jobs).split(todo.len()).points)
            .build()
            .map_err(|e| machine(format!("cannot start the threads: {e}")))?;
        let simulated = &finished;
        let results: Vec<(usize, Result<Finished, Failure>)> = pool.install(|| {
            let each = todo.clone().into_par_iter().filter(|_| !stopped());
            each.filter_map(|i| {
                let before = simulated[i - seeds].as_ref()?;
                let done = self.on_kernel(i, before, (&count, todo.len()));
                if done.is_err() {
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                Some((i, done))
            })
            .collect()
        });
        for (i, done) in results {
            finished[i] = Some(done?);
        }
        let all: Vec<Finished> = finished.into_iter().flatten().collect();
        if all.len() < self.plan.points.len() {
            return Err(Failure::Interrupted(format!(
                "interrupted: {} of {} points are finished and kept in {}; the same command \
                 continues from there",
                all.len(),
                self.plan.points.len(),
                self.dir.path().display()
            )));
        }
        Ok((all, resumed))
    }

    fn on_kernel(
        &self,
        i: usize,
        simulated: &Finished,
        (count, of): (&Mutex<usize>, usize),
    ) -> Result<Finished, Failure> {
        let point = &self.plan.points[i];
        let watch = Stopwatch::start();
        let lab =
            Lab::new(&point.config, &simulated.outcome).map_err(|e| refused(self.scenario, &e))?;
        let record = self.kernel.run(&lab)?;
        let outcome = record.outcome(&point.config, &simulated.outcome);
        let done = Finished::new(point, outcome, watch.seconds());
        self.dir.store(point, &done)?;
        let mut n = count
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *n += 1;
        if !self.quiet {
            note(&format!(
                "{}{}, seed {}: Linux {}, {:.0} s ({} of {of})",
                point.scheme,
                axes(point),
                point.seed,
                record.kernel,
                watch.seconds(),
                *n
            ));
        }
        Ok(done)
    }
}

/// Number of seeds, of which every scheme has as many.
fn seeds(plan: &Plan) -> usize {
    let alike = |a: &Point, b: &Point| a.axes == b.axes && a.scheme == b.scheme;
    plan.points.chunk_by(alike).next().map_or(1, <[Point]>::len)
}

pub(super) fn axes(point: &Point) -> String {
    let each = point.axes.iter().map(|(k, v)| format!(", {k} {v}"));
    each.collect()
}
