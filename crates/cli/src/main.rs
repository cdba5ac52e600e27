// SPDX-License-Identifier: MIT OR Apache-2.0
//! cemark: which packets a data-centre switch should mark, decided and proved.
//!
//! Standard output carries the answer, standard error the progress and what went wrong.

mod bench;
mod check;
mod clock;
mod exit;
mod export;
mod figure;
mod marker;
mod memory;
mod progress;
mod run;
mod schemes;
mod screen;
mod theory;
mod vectors;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Compare ECN marking schemes at packet level, with the papers' numbers beside the answer.
#[derive(Parser)]
#[command(
    name = "cemark",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate every point of a scenario and compare its schemes.
    Run(run::Args),
    /// Reproduce a paper's figures: published value, measured value, verdict.
    Figure(figure::Args),
    /// List the marking schemes, or show one with its parameters.
    Schemes(schemes::Args),
    /// Measure speed and memory, or check the simulator against theory.
    Bench(bench::Args),
    /// Validate a scenario; print its points and what they will cost.
    Check(check::Args),
    /// Replay the golden vectors of every scheme: in Rust, in C or as BPF bytecode.
    Vectors(vectors::Args),
    /// Evaluate a closed form of the papers: thresholds, amplitudes, shares.
    Theory(theory::Args),
    /// Write a scheme as one C header, or as BPF bytecode.
    Export(export::Args),
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// One JSON document (docs/output.md).
    Json,
}

/// What changes a scenario from the command line.
#[derive(clap::Args)]
struct Changes {
    /// Run with this seed alone.
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Run with the seeds 1 to N.
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Set a value of the scenario; several values, separated by commas, sweep it.
    #[arg(long, value_name = "PATH=VALUE[,VALUE…]")]
    set: Vec<String>,
}

impl Changes {
    fn overrides(&self) -> Result<cemark_scenario::Overrides, cemark_scenario::Error> {
        let mut overrides = cemark_scenario::Overrides {
            seed: self.seed,
            seeds: self.seeds,
            ..Default::default()
        };
        for option in &self.set {
            overrides.add(option)?;
        }
        Ok(overrides)
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help goes to standard output with 0, a mistake to standard error with 2. A closed pipe is nobody's fault.
            let _ = e.print();
            return ExitCode::from(e.exit_code().try_into().unwrap_or(exit::USER));
        }
    };
    let done = match &cli.command {
        None => exit::answer(&screen::first()),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Figure(args)) => figure::figure(args),
        Some(Command::Schemes(args)) => schemes::schemes(args),
        Some(Command::Check(args)) => check::check(args),
        Some(Command::Bench(args)) => bench::bench(args),
        Some(Command::Vectors(args)) => vectors::vectors(args),
        Some(Command::Theory(args)) => theory::theory(args),
        Some(Command::Export(args)) => export::export(args),
    };
    exit::code(done)
}
