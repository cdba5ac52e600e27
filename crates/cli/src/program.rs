// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program that this process is, and how it was called. An executable of ours answers it by
//! itself; where the command is part of another program (Python), that program says so.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use cemark_report::Provenance;

/// What runs the command.
#[derive(Clone, Debug)]
pub struct Program {
    /// The words after the command's name.
    pub words: Vec<OsString>,
    /// The file that holds this code: its bytes identify the build.
    pub file: Option<PathBuf>,
    /// How this program is started again: a program, and the words before the command's own.
    pub again: Vec<OsString>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

impl Program {
    /// An executable that is nothing but this command.
    pub fn this() -> Self {
        let file = std::env::current_exe().ok();
        Program {
            words: std::env::args_os().skip(1).collect(),
            again: file.iter().map(OsString::from).collect(),
            file,
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

/// Whether one executable is the whole program, so that it can be started where nothing else is.
pub(crate) fn is_alone() -> bool {
    program().again.len() == 1
}

/// Who runs, for manifests.
pub(crate) fn provenance() -> Provenance {
    let words = words();
    let words = words.iter().map(|w| w.to_string_lossy().into_owned());
    cemark_runner::provenance(program().file.as_deref(), words.collect())
}
