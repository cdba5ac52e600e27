// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark testbed agent`: makes the network of a lab on the kernel that it runs on, sends its
//! flows, and writes down what was measured. One thread holds the sockets of all hosts, so that
//! every time is of one clock.

mod conns;
mod network;
mod probes;
mod sample;
mod traffic;

use std::fmt::Display;
use std::path::PathBuf;

use cemark_testbed::Lab;

use crate::exit::{Failure, machine};

/// Arguments of `cemark testbed agent`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The lab, as JSON.
    lab: PathBuf,
    /// Where the record is written.
    out: PathBuf,
}

/// Result of a step of the agent. Every error is the machine's fault.
type Done<T> = Result<T, String>;

/// Errors of the system with a word for what was tried.
trait Told<T> {
    fn told(self, what: &str) -> Done<T>;
}

impl<T, E: Display> Told<T> for Result<T, E> {
    fn told(self, what: &str) -> Done<T> {
        self.map_err(|e| format!("{what}: {e}"))
    }
}

pub(crate) fn agent(args: &Args) -> Result<(), Failure> {
    work(args).map_err(machine)
}

fn work(args: &Args) -> Done<()> {
    let text = std::fs::read(&args.lab).told("the lab")?;
    let lab: Lab = serde_json::from_slice(&text).told("the lab")?;
    let network = network::Network::make(&lab)?;
    let record = traffic::run(&lab, &network)?;
    drop(network);
    let text = serde_json::to_vec(&record).told("the record")?;
    std::fs::write(&args.out, text).told("the record")
}
