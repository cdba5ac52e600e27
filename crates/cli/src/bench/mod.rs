// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark bench`: speed and memory on reference workloads, and the simulator against theory.

mod physics;
mod speed;

use crate::Format;
use crate::exit::{self, Failure, machine};

/// Measure speed and memory on reference workloads, or check the simulator against theory.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Workloads: reference names, or anything `cemark run` accepts [default: all reference names].
    names: Vec<String>,
    /// Check against theory instead. Every row has a bound; exit with code 1 if one is outside.
    #[arg(long, conflicts_with = "names")]
    physics: bool,
    /// How many times each workload runs; the median by CPU time is reported.
    #[arg(
        long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=99)
    )]
    runs: u32,
    /// Event core: the timing wheel that `cemark run` uses, or the heap for comparison.
    #[arg(long, value_enum, default_value_t = speed::Core::Wheel)]
    core: speed::Core,
    /// Threads of a simulation that can be divided (docs/speed.md). The digest is that of one
    /// thread. CPU seconds are those of all threads.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "physics",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    threads: u32,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Run one workload in this process and print it as JSON. The parent process starts one such
    /// process for each workload.
    #[arg(long, hide = true)]
    one: bool,
}

/// Runs the command.
pub(crate) fn bench(args: &Args) -> Result<(), Failure> {
    if args.physics {
        return check_physics(args.format);
    }
    if args.threads > 1 && args.core == speed::Core::Heap {
        let help = "leave out `--core heap`, or `--threads`";
        return Err(Failure::User(miette::miette!(
            help = help,
            "`--threads {}` divides a simulation on the timing wheel only",
            args.threads
        )));
    }
    match args.names.as_slice() {
        [name] if args.one => speed::one(name, args.core, args.threads),
        names => speed::all(names, args.runs, (args.core, args.threads), args.format),
    }
}

fn check_physics(format: Format) -> Result<(), Failure> {
    let rows = physics::all();
    let failed = rows.iter().filter(|r| !r.passes()).count();
    match format {
        Format::Table => exit::answer(&format!(
            "{}{} checks, {failed} outside their bound\n",
            physics::table(&rows),
            rows.len()
        ))?,
        Format::Json => {
            exit::answer_json(&serde_json::json!({ "schema": 1, "rows": rows, "failed": failed }))?
        }
    }
    if failed == 0 {
        Ok(())
    } else {
        Err(machine(format!(
            "{failed} physics checks are outside their bound"
        )))
    }
}
