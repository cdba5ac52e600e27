// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark testbed agent`: makes the network of a lab on the kernel that it runs on, sends its
//! flows, and writes down what was measured. One thread holds the sockets of all hosts, so that
//! every time is of one clock.

mod conns;
mod network;
mod probes;
mod sample;
mod traffic;

use std::path::PathBuf;

use cemark_testbed::Lab;

use crate::exit::Failure;

/// Arguments of `cemark testbed agent`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The lab, as JSON.
    lab: PathBuf,
    /// Where the record is written.
    out: PathBuf,
}

/// What goes wrong here is the machine's fault.
type Done<T> = Result<T, String>;

/// An error of the system with what was tried.
fn told<T, E: std::fmt::Display>(what: &str, done: Result<T, E>) -> Done<T> {
    done.map_err(|e| format!("{what}: {e}"))
}

pub(crate) fn agent(args: &Args) -> Result<(), Failure> {
    work(args).map_err(|e| Failure::Machine(miette::miette!("{e}")))
}

fn work(args: &Args) -> Done<()> {
    let text = told("the lab", std::fs::read(&args.lab))?;
    let lab: Lab = told("the lab", serde_json::from_slice(&text))?;
    let network = network::Network::make(&lab)?;
    let record = traffic::run(&lab, &network)?;
    drop(network);
    let text = told("the record", serde_json::to_vec(&record))?;
    told("the record", std::fs::write(&args.out, text))
}
