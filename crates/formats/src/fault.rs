// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes in files of other simulators.

/// A mistake in a file, or something in it that a scenario cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The line, counted from one; `None` where the file as a whole is meant.
    pub line: Option<usize>,
    /// The mistake in words.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// A value, or what is wrong with the file.
pub type Fallible<T> = Result<T, Fault>;

impl Fault {
    /// A mistake in this line, counted from one.
    pub fn at(line: usize, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault {
            line: Some(line),
            message: message.into(),
            help: help.into(),
        }
    }

    /// A mistake of the file as a whole.
    pub fn whole(message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault {
            line: None,
            message: message.into(),
            help: help.into(),
        }
    }
}
