// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a run directory, and who has to act.

use std::io;
use std::path::{Path, PathBuf};

/// Who has to act: decides the exit code (1 for the machine, 2 for the user).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A full disk, missing permission, failing hardware.
    Machine,
    /// A path or an argument that cannot work.
    User,
}

/// A failure with the place where it happened and the way out.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}", path.display())]
pub struct Error {
    /// Failed action and its cause, worded so that the path follows.
    pub what: String,
    /// The file or directory.
    pub path: PathBuf,
    /// Advice to the user.
    pub help: String,
    /// Who has to act.
    pub fault: Fault,
    /// The system's own message.
    #[source]
    pub source: Option<io::Error>,
}

impl Error {
    /// An error of the system at `path`, sorted into the user's and the machine's by its kind.
    /// `doing` is a verb phrase: "write".
    pub fn io(doing: &str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind as K;
        let (why, help, fault) = match source.kind() {
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => (
                "the disk is full",
                "free some space and run the same command again; finished points are kept",
                Fault::Machine,
            ),
            K::PermissionDenied | K::ReadOnlyFilesystem => (
                "no permission",
                "make the directory writable, or choose another with --out DIR",
                Fault::Machine,
            ),
            K::NotADirectory | K::AlreadyExists | K::IsADirectory => (
                "something else is in the way",
                "move it aside, or choose another directory with --out DIR",
                Fault::User,
            ),
            _ => (
                "the system reports an error",
                "choose another directory with --out DIR; finished points are kept",
                Fault::Machine,
            ),
        };
        Error {
            what: format!("cannot {doing} ({why}):"),
            path: path.to_path_buf(),
            help: help.to_owned(),
            fault,
            source: Some(source),
        }
    }

    /// A mistake of the user.
    pub fn user(what: impl Into<String>, path: &Path, help: impl Into<String>) -> Self {
        Error {
            what: what.into(),
            path: path.to_path_buf(),
            help: help.into(),
            fault: Fault::User,
            source: None,
        }
    }
}
