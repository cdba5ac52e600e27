// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark testbed`: a scenario on real Linux kernels, beside the simulator's answer
//! (docs/testbed.md).

mod agent;
mod beside;
mod kernel;
mod run;

use clap::Subcommand;

use crate::exit::Failure;

/// Arguments of `cemark testbed`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every point of a scenario in the simulator and on a Linux kernel with the qdisc
    /// `cemark`, with the same flows, and compare them.
    Run(run::Args),
    /// Make a network and send the flows of one point: what runs inside the kernel.
    #[command(hide = true)]
    Agent(agent::Args),
}

pub(crate) fn testbed(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Run(args) => run::run(args),
        Command::Agent(args) => agent::agent(args),
    }
}
