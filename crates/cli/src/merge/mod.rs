// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark merge`: makes one run directory of the parts of a run.

mod lost;

use std::path::PathBuf;

use cemark_report::rundir::{Found, Source};
use cemark_report::summary::hex;
use cemark_report::{Console, Finished, RunDir, share};
use cemark_runner::Ran;
use cemark_runner::clock::Stopwatch;
use cemark_scenario::{Plan, visible};

use self::lost::Lost;
use crate::Format;
use crate::exit::{Failure, Stderr};
use crate::program::provenance;
use crate::run::answer;

/// Arguments of `cemark merge`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directories that `cemark run --part` has written, in any order. A whole run counts as
    /// well, and points that several of them hold are taken once.
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Run directory of the whole run [default: runs/SCENARIO-DIGEST].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Output format: that of `cemark run`.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn merge(args: &Args) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let who = provenance();
    let sources = sources(&args.dirs)?;
    let plan = plan(&sources[0])?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| RunDir::default_path(&plan));
    let mut finished = vec![None; plan.points.len()];
    let mut lost = Lost::default();
    // What a merge that was interrupted has brought there counts too.
    let there = Source::open(&out).ok();
    let there = there.filter(|s| s.manifest().scenario_digest == hex(plan.digest));
    let simulated = plan.part(1, 1);
    for &i in &simulated {
        let point = &plan.points[i];
        for source in sources.iter().chain(&there) {
            match source.load(point, &who.build) {
                Found::Whole(whole) => {
                    finished[i] = Some(*whole);
                    break;
                }
                Found::Missing => {}
                Found::Damaged(path) => {
                    Stderr.say(&format!("{} is damaged", path.display()));
                    lost.damaged += 1;
                }
                Found::OtherBuild => lost.other_build += 1,
            }
        }
        if finished[i].is_none() {
            lost.points.push(i);
        }
    }
    if !lost.points.is_empty() {
        return Err(lost.failure(&plan, &sources));
    }
    let dir = RunDir::open(&out, &plan, &who, false, &Stderr)?;
    for &i in &simulated {
        let point = &plan.points[i];
        if let (None, Some(whole)) = (dir.load(point, &()), &finished[i]) {
            dir.store(point, whole)?;
        }
    }
    share(&plan, &mut finished);
    let finished: Vec<Finished> = finished.into_iter().flatten().collect();
    let mut merged = Ran {
        plan,
        dir,
        who,
        finished,
        // All points count as run now: the summary is that of one run.
        resumed: 0,
        seconds: watch.seconds(),
        interrupted: None,
    };
    answer(&mut merged, args.format)
}

/// The directories, all of one scenario.
fn sources(dirs: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources: Vec<Source> = Vec::new();
    for dir in dirs {
        let source = Source::open(dir)?;
        if let Some(first) = sources.first() {
            let (a, b) = (first.manifest(), source.manifest());
            if a.scenario_digest != b.scenario_digest {
                return Err(Failure::User(miette::miette!(
                    help = "merge only the parts of one scenario with the same --set and --seeds",
                    "{} holds a run of `{}` ({}), and {} one of `{}` ({})",
                    first.path().display(),
                    a.scenario,
                    a.scenario_digest,
                    source.path().display(),
                    b.scenario,
                    b.scenario_digest,
                )));
            }
        }
        sources.push(source);
    }
    Ok(sources)
}

/// The plan of a directory, from the scenario that its manifest holds.
fn plan(source: &Source) -> Result<Plan, Failure> {
    let manifest = source.manifest();
    let file = match &manifest.part {
        Some(part) => part.file.clone(),
        None => format!("{}.toml", manifest.scenario),
    };
    let plan = manifest.plan(&file)?;
    if plan.precision.is_some() {
        return Err(Failure::User(miette::miette!(
            help = "continue it in its own directory with the command that began it, or run parts \
                    with --seeds N or --full",
            "{} holds a run with a stated precision, which has no parts",
            visible(&source.path().display().to_string())
        )));
    }
    if hex(plan.digest) == manifest.scenario_digest {
        return Ok(plan);
    }
    let help = if manifest.provenance.version != env!("CARGO_PKG_VERSION") {
        "merge with the version of cemark that ran the parts"
    } else {
        "merge in the directory in which the parts were run, so that files which the scenario \
         names are found, and with the program that ran them"
    };
    Err(Failure::User(miette::miette!(
        help = help,
        "{}: the scenario in its manifest ({}) is not the one that was run ({})",
        visible(&source.path().display().to_string()),
        hex(plan.digest),
        manifest.scenario_digest
    )))
}
