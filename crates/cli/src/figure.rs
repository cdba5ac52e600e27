// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark figure`: reproduces figures of the papers, published value beside measured value.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cemark_report::Console;
use cemark_report::figure::{self, Mode, Request, Surroundings, Watch, render};
use cemark_runner::clock::thread_cpu_seconds;
use cemark_runner::{memory, threads};
use cemark_scenario::{Overrides, Plan};
use cemark_sim::Progress as Step;

use crate::Format;
use crate::exit::{Failure, Stderr, answer, answer_json, answer_json_text};
use crate::interrupt::stop_on_ctrl_c;
use crate::program::provenance;
use crate::progress::Progress;
use crate::terminal::look;

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
    /// Say where each parameter of the figures comes from (the paper, the authors' code, the
    /// defaults of their tool, our choice), and run nothing.
    #[arg(long, conflicts_with_all = ["list", "record", "set", "seeds"])]
    why: bool,
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
    /// Show no progress: neither the bar nor, without a terminal, a line every 10 seconds.
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn figure(args: &Args) -> Result<(), Failure> {
    let ours = |what: String| Failure::Machine(miette::miette!("{what}"));
    let broken = |e: figure::FileError| ours(e.to_string());
    if args.list {
        let targets = figure::targets::parse(figure::TARGETS).map_err(broken)?;
        let calibration = figure::Calibration::parse(figure::CALIBRATION).map_err(broken)?;
        let expected = figure::Expected::parse(figure::EXPECTED).map_err(broken)?;
        let text = render::list(&targets, &expected, &calibration, look().width);
        return answer(&text.map_err(broken)?);
    }
    if args.why {
        let files = figure::files(&args.ids)?;
        if args.format == Format::Json {
            let by_figure: std::collections::BTreeMap<_, _> =
                files.iter().map(|f| (&f.id, &f.parameters)).collect();
            return answer_json(&by_figure);
        }
        let texts: Vec<String> = files.iter().map(|f| render::why(f, look().width)).collect();
        return answer(&texts.join("\n"));
    }
    let request = Request {
        ids: args.ids.clone(),
        mode: if args.full { Mode::Full } else { Mode::Quick },
        out: args.out.clone(),
        changes: changes(args)?,
    };
    let plans: Vec<Plan> = figure::plans(&request)?.collect();
    for plan in &plans {
        memory::refuse(plan, args.jobs, args.anyway)?;
    }
    let threads = threads(args.jobs, usize::MAX);
    let mut bar = Bar::new(&plans, threads, args.quiet);
    let who = provenance();
    let around = Surroundings {
        who: &who,
        cpu_seconds: &thread_cpu_seconds,
        watch: &bar,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| ours(format!("cannot start the threads: {e}")))?;
    let run = pool.install(|| figure::run(&request, around));
    bar.progress.clear();
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

/// The progress of all figures, and Ctrl-C.
struct Bar {
    progress: Progress,
    /// Name of each figure's plan, and the number of its first point among those of all figures.
    firsts: Vec<(String, usize)>,
    /// That of the figure that runs.
    first: AtomicUsize,
    stop: Arc<AtomicBool>,
}

impl Bar {
    fn new(plans: &[Plan], threads: usize, quiet: bool) -> Self {
        let mut next = 0;
        let firsts = plans.iter().map(|plan| {
            let first = next;
            next += plan.points.len();
            (plan.name.clone(), first)
        });
        Bar {
            firsts: firsts.collect(),
            first: AtomicUsize::new(0),
            progress: Progress::of_plans(plans, threads, quiet),
            stop: stop_on_ctrl_c(),
        }
    }

    /// The number among all points of a point of the figure that runs.
    fn place(&self, point: usize) -> usize {
        self.first.load(Ordering::Relaxed) + point
    }
}

impl Watch for Bar {
    fn begins(&self, plan: &str) {
        if let Some((_, first)) = self.firsts.iter().find(|(name, _)| name == plan) {
            self.first.store(*first, Ordering::Relaxed);
        }
        self.progress.title(plan);
    }

    fn starts(&self, point: usize) {
        self.progress.begins(self.place(point));
    }

    fn at(&self, point: usize, step: Step) {
        self.progress.at(self.place(point), step.done, step.hops);
    }

    fn done(&self, point: usize, hops: u64) {
        self.progress.finished(self.place(point), hops);
    }

    fn resumed(&self, point: usize) {
        self.progress.resumed(self.place(point));
    }
}

impl Console for Bar {
    fn say(&self, note: &str) {
        self.progress.suspended(|| Stderr.say(note));
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}
