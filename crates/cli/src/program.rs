// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program that this process is, and how it was called. An executable of ours answers it by
//! itself; where the command is part of another program (Python), that program says so.

use std::ffi::OsString;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use cemark_report::{Console, Provenance};
use cemark_runner::{Failure, Order, Ran, Show};

/// Simulates the points of a run on a cluster of other machines. The Python package does that, with
/// Ray; the executable of this crate cannot.
pub trait Cluster: Send + Sync {
    /// Simulates what is missing of a run, as [`cemark_runner::run`] does.
    ///
    /// # Errors
    /// As that function; [`Failure::User`] where there is no such cluster.
    fn run(
        &self,
        order: Order,
        console: &dyn Console,
        show: Arc<dyn Show + Send>,
        asked: &OnCluster,
    ) -> Result<Ran, Failure>;

    /// Is called when the run directory is complete.
    ///
    /// # Errors
    /// [`Failure::Machine`] where its copy cannot be written.
    fn kept(&self) -> Result<(), Failure>;
}

/// Request of the command line to run a scenario on a cluster.
#[derive(Clone, Debug)]
pub struct OnCluster {
    /// The scenario as typed.
    pub scenario: String,
    /// The address of the cluster; `None`: the one of this machine.
    pub address: Option<String>,
    /// The URL of a store that receives a copy of the run directory.
    pub store: Option<String>,
}

/// Program that runs the command.
#[derive(Clone)]
pub struct Program {
    /// The words after the command's name.
    pub words: Vec<OsString>,
    /// How this program is started again: a program, and the words before the command's own.
    pub again: Vec<OsString>,
    /// Runs points elsewhere, where this program can.
    pub cluster: Option<Arc<dyn Cluster>>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

impl Program {
    /// An executable that is nothing but this command.
    pub fn this() -> Self {
        let file = std::env::current_exe().ok();
        Program {
            words: std::env::args_os().skip(1).collect(),
            again: file.into_iter().map(OsString::from).collect(),
            cluster: None,
        }
    }

    /// From now on this program. The first call of a process counts.
    pub(crate) fn begins(self) {
        let _ = PROGRAM.set(self);
    }
}

fn program() -> &'static Program {
    PROGRAM.get_or_init(Program::this)
}

/// The words of the command line, with the command's name before them.
pub(crate) fn words() -> Vec<OsString> {
    let mut all = vec![OsString::from("cemark")];
    all.extend(program().words.iter().cloned());
    all
}

/// This program with other words; `None` where it is not known how it is started.
pub(crate) fn again() -> Option<Command> {
    let (first, rest) = program().again.split_first()?;
    let mut command = Command::new(first);
    command.args(rest);
    Some(command)
}

/// The cluster of this program, if it has one.
pub(crate) fn cluster() -> Option<Arc<dyn Cluster>> {
    program().cluster.clone()
}

/// Whether one executable is the whole program, so that it can be started where nothing else is.
#[cfg(all(target_os = "linux", feature = "deploy"))]
pub(crate) fn is_alone() -> bool {
    program().again.len() == 1
}

/// Who runs, for manifests.
pub(crate) fn provenance() -> Provenance {
    let words = words();
    let words = words.iter().map(|w| w.to_string_lossy().into_owned());
    cemark_runner::provenance(words.collect())
}
