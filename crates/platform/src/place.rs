// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places in the files of a configuration.

/// A line of a file, with the words by which the platform names what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index of the file among the files of the switch.
    pub file: usize,
    /// The line, counted from one.
    pub line: u32,
    /// Table, row and field, or the command: `WRED_PROFILE|AZURE_LOSSLESS|ecn`.
    pub path: String,
}

impl Place {
    /// A place by its parts.
    pub fn new(file: usize, line: u32, path: impl Into<String>) -> Place {
        Place {
            file,
            line,
            path: path.into(),
        }
    }

    /// A place below this one in the same file.
    pub(crate) fn below(&self, line: u32, separator: &str, name: &str) -> Place {
        let path = format!("{}{separator}{name}", self.path);
        Place::new(self.file, line, path)
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Place of the value.
    pub place: Place,
}

impl<T> At<T> {
    /// A value at a place.
    pub fn new(value: T, place: Place) -> At<T> {
        At { value, place }
    }
}
