// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed files by which every figure is judged, which are built into the program.

use std::path::Path;

use cemark_report::Error;

use super::calibration::Calibration;
use super::error::FileError;
use super::file::FigureFile;
use super::targets::{self, Target};
use super::{CALIBRATION, FIGURES, TARGETS};

/// The free parameters and the targets.
#[derive(Clone, Debug)]
pub struct Committed {
    /// `figures/calibration.toml`.
    pub calibration: Calibration,
    /// `figures/targets.tsv`.
    pub targets: Vec<Target>,
}

impl Committed {
    /// Reads both.
    ///
    /// # Errors
    /// A mistake in one of them.
    pub fn read() -> Result<Self, Error> {
        Ok(Committed {
            calibration: Calibration::parse(CALIBRATION).map_err(ours)?,
            targets: targets::parse(TARGETS).map_err(ours)?,
        })
    }

    /// The figure of this name, and the text of its file.
    ///
    /// # Errors
    /// A mistake in the file.
    pub fn figure(&self, id: &str) -> Result<(FigureFile, &'static str), Error> {
        let text = FIGURES.iter().find(|f| f.0 == id).map_or("", |f| f.1);
        let file = FigureFile::parse(id, text, &self.calibration).map_err(ours)?;
        Ok((file, text))
    }
}

/// A mistake in a file of this repository that no request has changed.
pub(super) fn ours(e: FileError) -> Error {
    of_file(&e, "correct the file and build again")
}

/// A mistake in a file of this repository, which the user may have changed.
pub(super) fn of_file(e: &FileError, help: &str) -> Error {
    let mistake = e.mistake.to_string();
    let mistake = mistake.trim_end();
    // Some show the text of a scenario.
    let gap = if mistake.contains('\n') { "\n" } else { ", " };
    Error::user(format!("{mistake}{gap}in"), Path::new(&e.place), help)
}
