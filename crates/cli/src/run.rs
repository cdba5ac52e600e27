// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run`: simulates the points of a scenario in parallel and stores each as it finishes.

use std::io::{IsTerminal, stderr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cemark_conformance::Fault;
use cemark_report::summary::Cost;
use cemark_report::{Comparisons, Finished, Provenance, RunDir, RunSummary, html, pauses, table};
use cemark_scenario::{Plan, Point, visible_lines};
use cemark_sim::Progress as Step;
use cemark_wire::hash::Fnv1a;
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::clock::{Stopwatch, cpu_seconds};
use crate::exit::{Failure, Stderr, answer_json, answer_styled, complain, note, warn};
use crate::marker::{self, Watches};
use crate::progress::Progress;
pub(crate) use crate::terminal::look;
use crate::{Changes, Format};

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
    /// Add a marker of your own to the schemes: BPF bytecode from clang, or a shared object.
    #[arg(long, value_name = "bpf:FILE|c:FILE")]
    marker: Vec<crate::marker::Given>,
    /// Simulate N points at the same time, at most one per core [default: one per core]. The result
    /// does not depend on N.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run even if the machine seems to have too little memory.
    #[arg(long)]
    anyway: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Delete what cemark wrote to the run directory, and start over.
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let mut plan = cemark_scenario::load(&args.scenario, &args.changes.overrides()?)?;
    warn(&plan);
    let watches = marker::add_all(&args.marker, &mut plan)?;
    crate::memory::refuse(&plan, args.jobs, args.anyway)?;
    let who = provenance();
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| RunDir::default_path(&plan));
    let dir = RunDir::open(&path, &plan, &who, args.fresh, &Stderr)?;
    let load = |p| dir.load(p, &Stderr);
    let mut finished: Vec<Option<Finished>> = plan.points.iter().map(load).collect();
    let resumed = finished.iter().flatten().count();
    if resumed > 0 && stderr().is_terminal() {
        note(&format!(
            "{resumed} of {} points are in {} already; --fresh runs them again",
            plan.points.len(),
            path.display()
        ));
    }
    simulate(&plan, &dir, args.jobs, &watches, &mut finished)?;
    let finished: Vec<Finished> = finished.into_iter().flatten().collect();

    let comparisons = Comparisons::new(&plan, &finished);
    let points: Vec<_> = finished.iter().map(|f| f.summary.clone()).collect();
    let cost = Cost {
        points: points.len() as u64,
        resumed: resumed as u64,
        packet_hops: points.iter().map(|p| p.packet_hops).sum(),
        cpu_seconds: points.iter().map(|p| p.cpu_seconds).sum(),
        wall_seconds: watch.seconds(),
    };
    let summary = RunSummary::new(&plan, points, &comparisons, &who.version, cost);
    let report = html::render(&plan, &finished, &comparisons, &summary, &who);
    dir.finish(&plan, &finished, &summary, &report, &who)?;
    for storm in pauses::storms(&plan, &finished) {
        complain(
            &storm,
            "DCQCN's marks should come before the pauses: lower Kmin or pst_target, or increase \
             the pool or pfc-alpha",
        );
    }
    match args.format {
        Format::Json => answer_json(&summary),
        Format::Table => {
            let look = look();
            let report = path.join("report.html").display().to_string();
            let tables = table::tables(&plan, &comparisons, look);
            answer_styled(&format!(
                "{tables}\n{}{}",
                visible_lines(&pauses::lines(&plan, &finished)),
                table::footer(&plan, &summary, &report, look)
            ))
        }
    }
}

/// Simulates the missing points. A worker stores its point on disk before it takes the next one.
fn simulate(
    plan: &Plan,
    dir: &RunDir,
    jobs: Option<NonZeroUsize>,
    watches: &Watches,
    finished: &mut [Option<Finished>],
) -> Result<(), Failure> {
    let mut todo: Vec<usize> = (0..plan.points.len())
        .filter(|i| finished[*i].is_none())
        .collect();
    if todo.is_empty() {
        return Ok(());
    }
    // The longest point first, so that the cores finish at about the same time.
    todo.sort_by(|a, b| plan.points[*b].cost.total_cmp(&plan.points[*a].cost));
    let stop = stop_on_ctrl_c();
    let progress = Progress::new(todo.iter().map(|i| plan.points[*i].cost).collect());
    let results = Mutex::new(Vec::new());
    let failure = Mutex::new(None);
    let deadlock = Mutex::new(None);
    let broken = Mutex::new(None);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(jobs, todo.len()))
        .build()
        .map_err(|e| Failure::Machine(miette::miette!("cannot start the threads: {e}")))?;
    pool.install(|| {
        todo.iter()
            .copied()
            .enumerate()
            .par_bridge()
            .for_each(|(place, i)| {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let point = &plan.points[i];
                let mut step = |s: Step| {
                    progress.at(place, s.done, s.hops);
                    !stop.load(Ordering::Relaxed) && watches.fault(i).is_none()
                };
                let (outcome, seconds) =
                    cpu_seconds(|| cemark_sim::run_with_progress(&point.config, &mut step));
                if let Some(fault) = watches.fault(i) {
                    stop.store(true, Ordering::Relaxed);
                    lock(&broken).get_or_insert((fault, point));
                    return;
                }
                let Some(outcome) = outcome else { return };
                if let Some(ring) = pauses::deadlock(point, &outcome) {
                    stop.store(true, Ordering::Relaxed);
                    lock(&deadlock).get_or_insert(ring);
                    return;
                }
                let done = Finished::new(point, outcome, seconds);
                match dir.store(point, &done) {
                    Ok(()) => {
                        progress.finished(place, done.summary.packet_hops);
                        lock(&results).push((i, done));
                    }
                    Err(e) => {
                        stop.store(true, Ordering::Relaxed);
                        lock(&failure).get_or_insert(e);
                    }
                }
            });
    });
    progress.clear();
    for (i, done) in lock(&results).drain(..) {
        finished[i] = Some(done);
    }
    if let Some(e) = lock(&failure).take() {
        return Err(e.into());
    }
    if let Some(ring) = lock(&deadlock).take() {
        let help = pauses::DEADLOCK_HELP;
        return Err(Failure::Machine(miette::miette!(help = help, "{ring}")));
    }
    let fault = lock(&broken).take();
    complete(finished, dir, fault)
}

/// Succeeds if every point is finished; otherwise says why not, and what is kept.
fn complete(
    finished: &[Option<Finished>],
    dir: &RunDir,
    fault: Option<(&Fault, &Point)>,
) -> Result<(), Failure> {
    let done = finished.iter().flatten().count();
    if done == finished.len() {
        return Ok(());
    }
    let kept = format!(
        "{done} of {} points are finished and kept in {}",
        finished.len(),
        dir.path().display()
    );
    Err(match fault {
        Some((fault, point)) => marker::failure(fault, point, &kept),
        None => Failure::Interrupted(format!(
            "interrupted: {kept}; the same command continues from there"
        )),
    })
}

/// Threads for this number of points. More than one per core would only wait for each other.
pub(crate) fn threads(jobs: Option<NonZeroUsize>, points: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let wanted = jobs.map_or(cores, NonZeroUsize::get);
    wanted.min(cores).min(points).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The first Ctrl-C stops the points at their next progress report, the second one exits at once.
pub(crate) fn stop_on_ctrl_c() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, presses) = (Arc::clone(&stop), AtomicU32::new(0));
    let handler = move || {
        flag.store(true, Ordering::Relaxed);
        if presses.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the process at once. Finished points are on disk anyway.
    let _ = ctrlc::set_handler(handler);
    stop
}

/// Version, build and command line: for manifests, and to recognise points of another build.
pub(crate) fn provenance() -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build(),
        command: std::iter::once("cemark".to_owned())
            .chain(std::env::args().skip(1))
            .collect(),
    }
}

/// A fingerprint of this program. Points that another build stored are run again, because its
/// results may differ.
fn build() -> String {
    let bytes = std::env::current_exe()
        .and_then(std::fs::read)
        .unwrap_or_default();
    let mut hash = Fnv1a::new();
    let words = bytes
        .chunks(8)
        .map(|c| c.iter().fold(0_u64, |w, b| w << 8 | u64::from(*b)));
    let folded = words.fold(0_u64, |h, w| {
        (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    hash.write(&folded.to_le_bytes());
    hash.write(env!("CARGO_PKG_VERSION").as_bytes());
    cemark_report::summary::hex(hash.finish())
}
