// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong with somebody's marker.

/// Why a foreign marker cannot be had. The text says what to do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The scheme has no C form.
    #[error("the scheme {0} has no C twin: dataplane/include/cemark/{0}.h is missing")]
    NoTwin(String),
    /// This program was built where there was no clang.
    #[error(
        "this cemark was built without clang and so holds no BPF bytecode; install clang and build it again"
    )]
    NoBpf,
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
    },
}
