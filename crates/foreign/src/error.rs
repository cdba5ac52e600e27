// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of markers that are not written in Rust.

/// Why such a marker is not available. The text says what to do, or [`Error::help`] does.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The scheme has no C form.
    #[error("the scheme {0} has no C header: dataplane/include/cemark/{0}.h is missing")]
    NoTwin(String),
    /// The scheme's bytecode is not part of this program, and clang did not make it.
    #[error("cannot compile the scheme {scheme} to BPF with `{clang}`: {why}")]
    Clang {
        /// The scheme.
        scheme: String,
        /// The program that was called.
        clang: String,
        /// Message of clang, or why it was not called.
        why: String,
    },
    /// The file cannot be read or opened.
    #[error("{path}: {why}")]
    File {
        /// As the user wrote it.
        path: String,
        /// The mistake, and the remedy.
        why: String,
    },
    /// The running kernel does not run the program.
    #[error("{why}")]
    Kernel {
        /// The obstacle.
        why: String,
        /// Advice for the user.
        help: Option<String>,
    },
    /// The marker breaks the interface.
    #[error("{name}: {why}")]
    Marker {
        /// Its name.
        name: String,
        /// How.
        why: String,
        /// Advice for the marker's author.
        help: &'static str,
    },
}

impl Error {
    /// Advice, where the text of the error gives none.
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Marker { help, .. } => Some(help),
            Error::Kernel { help, .. } => help.as_deref(),
            Error::Clang { .. } => Some(
                "install clang (apt-get install clang), or name one in the environment variable \
                 CLANG; `cargo xtask bpf` puts the bytecode into the next build",
            ),
            _ => None,
        }
    }
}
