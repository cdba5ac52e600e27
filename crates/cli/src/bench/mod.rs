// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark bench`: speed and memory on reference workloads, and the simulator against theory.

mod physics;
mod speed;

use std::process::ExitCode;

use clap::Args;

/// Measure speed and memory on reference workloads, or check the simulator against theory
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Workloads (default: all); a name of the list below or a scenario file
    names: Vec<String>,
    /// Check against theory instead; every row has a bound, and one outside it exits 1
    #[arg(long, conflicts_with = "names")]
    physics: bool,
    /// How many times each workload runs; the median by CPU time is reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    runs: u32,
    /// Event core: the timing wheel in use, or the heap it is compared with
    #[arg(long, value_enum, default_value_t = speed::Core::Wheel)]
    core: speed::Core,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Run one workload in this process and print it as JSON (the parent measures each in a process of its own)
    #[arg(long, hide = true)]
    one: bool,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON document
    Json,
}

/// Runs the command.
pub(crate) fn main(args: &Bench) -> miette::Result<ExitCode> {
    if args.physics {
        return Ok(physics(args.format));
    }
    if args.one {
        return speed::one(&args.names[0], args.core);
    }
    speed::all(&args.names, args.runs, args.core, args.format)
}

fn physics(format: Format) -> ExitCode {
    let rows = physics::all();
    let failed = rows.iter().filter(|r| !r.passes()).count();
    match format {
        Format::Table => {
            print!("{}", physics::table(&rows));
            println!("{} checks, {failed} outside their bound", rows.len());
        }
        Format::Json => println!("{}", serde_json::json!({ "schema": 1, "rows": rows, "failed": failed })),
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
