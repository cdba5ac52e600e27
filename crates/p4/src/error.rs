// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes in a program, with their places.

/// A place in a source file. Lines and columns are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named in `#include` or by the caller.
    pub file: std::sync::Arc<str>,
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A program that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Error {
    /// Where.
    pub place: Place,
    /// The mistake, and the remedy where there is one.
    pub what: String,
}

impl Error {
    pub(crate) fn new(place: &Place, what: impl Into<String>) -> Self {
        Error {
            place: place.clone(),
            what: what.into(),
        }
    }
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
