// SPDX-License-Identifier: MIT OR Apache-2.0
//! The papers' figures: published beside measured numbers, with a verdict by a rule that was fixed
//! before anything was run.
//!
//! A figure is one file under `figures/` (see [`file`](mod@file)) that describes its experiment.
//! `figures/targets.tsv` says what counts as reproduced, `figures/calibration.toml` holds the free
//! parameters, and `figures/expected.tsv` the verdicts that we found. All of them are built into
//! the program. [`run()`] does everything that `cemark figure` does, except printing and the exit
//! code.

mod answer;
pub mod calibration;
pub mod chart;
mod committed;
mod deciding;
pub mod error;
pub mod estimate;
pub mod evaluate;
mod figure;
pub mod file;
mod judge;
mod looking;
pub mod looks;
mod models;
pub mod paper;
pub mod render;
mod request;
mod result;
pub mod row;
mod run;
mod store;
pub mod table;
pub mod targets;
pub mod verdict;
pub mod why;

pub use calibration::Calibration;
pub use committed::Committed;
pub use error::{FileError, Mistake, RowError};
pub use estimate::Estimate;
pub use file::FigureFile;
pub use looks::Looks;
pub use request::{Limits, Request, files, plans};
pub use result::{FigureRun, PartResult, RowResult, stored_points, stored_rows};
pub use run::{Means, run, run_file};
pub use targets::{Expected, Target};
pub use verdict::{Band, RowVerdict};
pub use why::{Grade, Instead, Parameter};

use serde::Serialize;

/// The file of a figure's directory that holds its rows.
pub(crate) const ROWS: &str = "rows.json";

/// How much is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Few flows: minutes for all figures together. Rows that need more flows are "not decided".
    #[default]
    Quick,
    /// The number of flows that each row asks for, with more seeds where a row is undecided.
    Full,
}

impl Mode {
    /// Its command-line option.
    pub const fn flag(self) -> &'static str {
        match self {
            Mode::Quick => "--quick",
            Mode::Full => "--full",
        }
    }

    /// Its word in the names of directories.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Mode::Quick => "quick",
            Mode::Full => "full",
        }
    }
}

macro_rules! figures {
    ($($id:literal)*) => {
        /// Every figure, in the order of the papers, our own last: its short name and the text of
        /// its file.
        pub const FIGURES: &[(&str, &str)] = &[$((
            $id,
            include_str!(concat!("../../../figures/", $id, ".toml")),
        )),*];
    };
}

figures! {
    "ecnsharp-1" "ecnsharp-2" "ecnsharp-3" "ecnsharp-4" "ecnsharp-6" "ecnsharp-7" "ecnsharp-9"
    "ecnsharp-10" "ecnsharp-11" "ecnsharp-13" "ecnsharp-14" "ecnsharp-16" "ecnsharp-17"
    "ecnsharp-18" "ecnsharp-20" "ecnsharp-20a" "ecnsharp-21" "ecnsharp-22" "ecnsharp-equivalence"
    "mqecn-1" "mqecn-2" "mqecn-3" "mqecn-6" "mqecn-7" "mqecn-9" "mqecn-10" "mqecn-11" "mqecn-12"
    "mqecn-13" "mqecn-numbers" "mqecn-zero" "cedm-numbers" "cedm-underflow" "cedm-amplitude"
    "cedm-threshold" "cedm-incast" "cedm-fabric" "cedm-parts" "dcib-buffer" "dcib-2" "dcib-3"
    "dcib-4" "dcib-10" "dcib-11" "dcib-12" "dcib-13" "parts" "pool" "tofino" "tofino-interval"
    "tofino-query" "approximations" "rule-of-thumb" "laws" "alpha" "rates"
}

/// The short names of all figures.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().map(|(name, _)| *name)
}

/// The text of `figures/targets.tsv`.
pub const TARGETS: &str = include_str!("../../../figures/targets.tsv");
/// The text of `figures/expected.tsv`.
pub const EXPECTED: &str = include_str!("../../../figures/expected.tsv");
/// The text of `figures/charts.toml`.
pub const CHARTS: &str = include_str!("../../../figures/charts.toml");
/// The text of `figures/calibration.toml`.
pub const CALIBRATION: &str = include_str!("../../../figures/calibration.toml");
