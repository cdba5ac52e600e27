// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: reproduces figures of the papers, published value beside measured value.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cemark_report::Console;
use cemark_report::figure::{self, Mode, Request, Surroundings, Watch, render};
use cemark_scenario::{Overrides, Point, visible};
use indicatif::{ProgressBar, ProgressStyle};

use crate::Format;
use crate::clock::thread_cpu_seconds;
use crate::exit::{Failure, Stderr, answer, answer_json_text};
use crate::memory;
use crate::run::{provenance, stop_on_ctrl_c, threads};
use crate::terminal::{has_bars, look};

/// Arguments of `cemark figure`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Figures (`ecnsharp-9`) or rows (`ECNSHARP-T18`, which runs its figure).
    #[arg(required_unless_present_any = ["all", "list"])]
    ids: Vec<String>,
    /// Every figure.
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// List the figures, their rows and their cost, and run nothing.
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    list: bool,
    /// Simulate few flows: minutes for all figures, "not decided" where that is not enough [the
    /// default].
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Simulate the full budget of flows: two hours for all figures on two cores.
    #[arg(long)]
    full: bool,
    /// Where the run directories of the figures are. An interrupted figure continues there.
    #[arg(long, value_name = "DIR", default_value = "runs/figures")]
    out: PathBuf,
    /// Simulate N points at the same time, at most one per core [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Change the experiment: set a key of its scenario (`host.tso=64KB`). The result is compared
    /// with the same published bands.
    #[arg(long, value_name = "PATH=VALUE", conflicts_with_all = ["list", "record"])]
    set: Vec<String>,
    /// Run with the seeds 1 to N.
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "record"])]
    seeds: Option<u64>,
    /// Write the verdicts into this file (in a checkout: figures/expected.tsv) instead of comparing
    /// with them.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Run even if the machine seems to have too little memory.
    #[arg(long, conflicts_with = "list")]
    anyway: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn figure(args: &Args) -> Result<(), Failure> {
    let ours = |what: String| Failure::Machine(miette::miette!("{what}"));
    let broken = |e: figure::FileError| ours(e.to_string());
    if args.list {
        let targets = figure::targets::parse(figure::TARGETS).map_err(broken)?;
        let calibration = figure::Calibration::parse(figure::CALIBRATION).map_err(broken)?;
        return answer(&render::list(&targets, &calibration, look().width).map_err(broken)?);
    }
    let request = Request {
        ids: args.ids.clone(),
        mode: if args.full { Mode::Full } else { Mode::Quick },
        out: args.out.clone(),
        changes: changes(args)?,
    };
    for plan in figure::plans(&request)? {
        memory::refuse(&plan, args.jobs, args.anyway)?;
    }
    let bar = Bar::new();
    let who = provenance();
    let around = Surroundings {
        who: &who,
        cpu_seconds: &thread_cpu_seconds,
        watch: &bar,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(args.jobs, usize::MAX))
        .build()
        .map_err(|e| ours(format!("cannot start the threads: {e}")))?;
    let run = pool.install(|| figure::run(&request, around));
    bar.clear();
    if !bar.goes_on() {
        return Err(Failure::Interrupted(format!(
            "interrupted: finished points are kept in {}; the same command continues from there",
            args.out.display()
        )));
    }
    let run = run?;
    match args.format {
        Format::Table => answer(&render::table(&run, look().width))?,
        Format::Json => answer_json_text(&render::json(&run))?,
    }
    if let Some(file) = &args.record {
        let text = run.recorded().map_err(broken)?;
        return std::fs::write(file, text).map_err(|e| ours(format!("{}: {e}", file.display())));
    }
    let differing: Vec<String> = run
        .differing()
        .map(|r| format!("{} is {}", r.id, r.verdict.key()))
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(ours(format!(
        "{} verdicts differ from figures/expected.tsv: {}",
        differing.len(),
        differing.join(", ")
    )))
}

/// Changes of the user. A row is one number, so several values of a key would be averaged: only one
/// is accepted.
fn changes(args: &Args) -> Result<Overrides, Failure> {
    let mut changes = Overrides {
        seeds: args.seeds,
        ..Overrides::default()
    };
    for option in &args.set {
        changes.add(option)?;
    }
    if let Some((path, _)) = changes.set.iter().find(|(_, values)| values.len() > 1) {
        return Err(Failure::User(miette::miette!(
            help = "run the command once for each value",
            "--set {path}: a figure takes only one value of a key, because a row is one number"
        )));
    }
    Ok(changes)
}

/// A progress bar over the points of the current figure.
struct Bar {
    bar: Mutex<ProgressBar>,
    stop: Arc<AtomicBool>,
}

impl Bar {
    fn new() -> Self {
        Bar {
            bar: Mutex::new(ProgressBar::hidden()),
            stop: stop_on_ctrl_c(),
        }
    }

    fn with(&self, act: impl FnOnce(&mut ProgressBar)) {
        act(&mut self.bar.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn clear(&self) {
        self.with(|b| b.finish_and_clear());
    }
}

impl Watch for Bar {
    fn begins(&self, figure: &str, points: usize, _hops: f64) {
        self.with(|b| {
            b.finish_and_clear();
            let style = ProgressStyle::with_template(
                "{prefix:22} {bar:16} {pos}/{len} points  {eta} left, {elapsed} gone",
            )
            .expect("a fixed template");
            // Standard error, and only on a terminal.
            let bar = match has_bars() {
                true => ProgressBar::new(points as u64),
                false => ProgressBar::hidden(),
            };
            *b = bar
                .with_style(style)
                .with_prefix(visible(figure).into_owned());
        });
    }

    fn done(&self, _: &Point, _: bool) {
        self.with(|b| b.inc(1));
    }
}

impl Console for Bar {
    fn say(&self, note: &str) {
        self.with(|b| b.suspend(|| Stderr.say(note)));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}
