// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark compare`: two runs side by side, or completion times of a run beside those of other
//! simulators' files.

mod files;

use std::path::{Path, PathBuf};

use cemark_figures as figure;
use cemark_report::rundir::{self, Run};
use cemark_report::{Beside, table};
use cemark_scenario::builtin;
use clap::ValueEnum;

use crate::exit::{Failure, answer, answer_json, answer_styled, user};
use crate::terminal::look;

const AFTER: &str = "\
Examples:
  cemark compare runs/my-08e84c79 runs/my-5d01e7aa
  cemark compare runs/my-08e84c79 flowmonitor.xml
  cemark compare my.toml fct.txt --format csv";

/// Arguments of `cemark compare`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The directory of a finished run, or the name of a scenario that has been run here.
    #[arg(value_name = "RUN")]
    run: String,
    /// Another run, with another build or other parameters: what differs, and each metric with its
    /// difference. Or files of other simulators, whose completion times are put beside those of the
    /// run: fct.txt of HPCC's, or XML of ns-3's FlowMonitor.
    #[arg(required = true, value_name = "RUN|FILE")]
    others: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    Table,
    /// With every digit.
    Csv,
    /// JSON document, of two runs (docs/output.md).
    Json,
}

pub(crate) fn compare(args: &Args) -> Result<(), Failure> {
    let runs: Vec<&PathBuf> = args.others.iter().filter(|path| is_run(path)).collect();
    match (&runs[..], args.others.len()) {
        ([], _) => files::compare(&directory(&args.run)?, &args.others, args.format),
        ([other], 1) => {
            let beside = two(&args.run, &other.to_string_lossy())?;
            match args.format {
                Form::Table => answer_styled(&table::beside::text(&beside, look())),
                Form::Csv => answer(&table::beside::table(&beside).csv()),
                Form::Json => answer_json(&beside),
            }
        }
        ([other, ..], _) => Err(user(
            format!(
                "{} is a run, and is not the only thing to compare",
                other.display()
            ),
            "compare two runs, or a run and files of other simulators",
        )),
    }
}

/// Two runs side by side, each named by its directory or by a scenario that has been run here.
pub(crate) fn two(a: &str, b: &str) -> Result<Beside, Failure> {
    let (dir_a, dir_b) = (directory(a)?, directory(b)?);
    let read = |dir: &Path| -> Result<Run, Failure> { Ok(rundir::read(dir)?) };
    let (a, b) = (read(&dir_a)?, read(&dir_b)?);
    Ok(Beside::new((&dir_a, &a), (&dir_b, &b))?)
}

/// Whether a word names a run: a directory, a scenario, or nothing that is there.
fn is_run(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let is_scenario = builtin(&text).is_some() || text.ends_with(".toml");
    path.is_dir() || is_scenario || (!path.exists() && path.extension().is_none())
}

/// The directory of a run, not of a figure.
fn directory(run: &str) -> Result<PathBuf, Failure> {
    let dir = crate::plot::directory(run)?;
    match figure::stored_rows(&dir)? {
        None => Ok(dir),
        Some(_) => Err(user(
            format!("{run} is a figure, and has no flows"),
            "name the directory of a run: `cemark run` writes it",
        )),
    }
}
