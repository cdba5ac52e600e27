// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong with somebody's marker.

/// Why a foreign marker cannot be had. The text says what to do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The scheme has no C form.
    #[error("the scheme {0} has no C twin: dataplane/include/cemark/{0}.h is missing")]
    NoTwin(String),
    /// The scheme has no bytecode in `dataplane/bpf`.
    #[error(
        "the scheme {0} has no bytecode: dataplane/bpf/{0}.o was missing when this cemark was built; `cargo xtask bpf` writes it (with clang), then build again"
    )]
    NoBpf(String),
    /// The file cannot be read or opened.
    #[error("{path}: {why}")]
    File {
        /// As the user wrote it.
        path: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// The marker itself reports something that cannot be.
    #[error("{name}: {why}")]
    Marker {
        /// Its name.
        name: String,
        /// What it reported.
        why: String,
        /// What its author can do.
        help: &'static str,
    },
}

impl Error {
    /// What to do, where the text does not say it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Error::Marker { help, .. } => Some(help),
            _ => None,
        }
    }
}
