// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark run`: simulates the points of a scenario in parallel and stores each as it finishes.

mod part;
mod redraw;
mod sweep;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cemark_report::rundir::Share;
use cemark_report::{Comparisons, RunDir, RunSummary, pauses, table};
use cemark_runner::{Cores, Order, Ran};
use cemark_scenario::visible_lines;

pub(crate) use self::redraw::Screen;
pub(crate) use self::sweep::{SweepArgs, sweep};
use crate::exit::{Failure, Stderr, answer_json, answer_styled, complain, warn};
use crate::interrupt::stop_on_ctrl_c;
use crate::program::provenance;
use crate::terminal::look;
use crate::{Changes, Consent, Extent, Format};

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
    #[command(flatten)]
    consent: Consent,
    /// Simulate N points at the same time, at most one per core [default: one per core]. The result
    /// does not depend on N.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Simulate each point on N threads, at most one per core [default: one, or two where most
    /// cores would be idle and the points gain]. Fewer points then run at the same time. The
    /// result does not depend on N.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Run only part I of N, into a directory of its own: N processes, on one machine or on many,
    /// run everything, and `cemark merge` makes one run of their parts (docs/cluster.md).
    #[arg(long, value_name = "I/N")]
    part: Option<Share>,
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
    let order = order(args)?;
    let mut ran = cemark_runner::run(order, &Stderr, &Screen::new(args.quiet))?;
    if let Some(part) = args.part {
        return part::conclude(part, &ran, args.format);
    }
    match ran.interrupted.take() {
        None => answer(&mut ran, args.format),
        Some(why) => {
            so_far(&ran, args.format)?;
            Err(why)
        }
    }
}

/// Order of a run by the options.
fn order(args: &Args) -> Result<Order, Failure> {
    let overrides = args.extent.add_to(args.changes.overrides(&args.scenario)?);
    let mut plan = cemark_scenario::load(&args.scenario, &overrides)?;
    warn(&plan);
    let watches = args.consent.load(&mut plan)?;
    if args.part.is_some() && plan.precision.is_some() {
        return Err(part::needs_fixed_seeds(&args.scenario));
    }
    let out = args.out.clone().unwrap_or_else(|| {
        let whole = RunDir::default_path(&plan);
        args.part.map_or(whole.clone(), |part| part.beside(&whole))
    });
    Ok(Order {
        plan,
        watches,
        part: args.part.map(|part| part::named(part, &args.scenario)),
        out,
        cores: Cores {
            jobs: args.jobs,
            threads: args.threads,
        },
        anyway: args.anyway,
        fresh: args.fresh,
        who: provenance(),
        stop: stop_on_ctrl_c(),
    })
}

/// Writes the files of a run, releases its directory, and prints its answer. A reader of the answer
/// may be slow, and another run may wait for the directory.
pub(crate) fn answer(ran: &mut Ran, format: Format) -> Result<(), Failure> {
    let (comparisons, summary) = ran.summary();
    ran.keep(&comparisons, &summary)?;
    ran.dir.release();
    for storm in pauses::storms(&ran.plan, &ran.finished) {
        complain(&storm, pauses::STORM_HELP);
    }
    match format {
        Format::Json => answer_json(&summary),
        Format::Table => answer_styled(&text(ran, &comparisons, &summary)),
    }
}

/// Prints what is known of a run that was interrupted; its directory keeps the points only.
fn so_far(ran: &Ran, format: Format) -> Result<(), Failure> {
    let (comparisons, summary) = ran.summary();
    match format {
        Format::Json => answer_json(&summary),
        Format::Table => answer_styled(&table::tables(&ran.plan, &comparisons, look())),
    }
}

/// The tables and what follows them.
fn text(ran: &Ran, comparisons: &Comparisons, summary: &RunSummary) -> String {
    let look = look();
    let report = ran.dir.path().join("report.html").display().to_string();
    format!(
        "{}\n{}{}",
        table::tables(&ran.plan, comparisons, look),
        visible_lines(&pauses::lines(&ran.plan, &ran.finished)),
        table::footer(&ran.plan, summary, &report, look)
    )
}
