// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two finished runs side by side: the settings that differ, and each metric of each scheme under
//! both. A pair of runs is one scenario under two builds, or with two values of a parameter.

mod difference;
mod line;
mod markers;
mod places;
mod settings;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

pub use self::difference::Difference;
pub use self::line::{Line, Verdict};
use self::places::{Both, Place};
use crate::Error;
use crate::comparison::title;
use crate::rundir::Run;
use crate::summary::SCHEMA;

/// Two runs, A and B; differences are those of B against A.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Version of the document's shape ([`SCHEMA`]).
    pub schema: u32,
    /// The first run.
    pub a: Side,
    /// The second run.
    pub b: Side,
    /// Whether every point of one run has the result of its point of the other.
    pub equal_results: bool,
    /// Settings with unlike values.
    pub settings: Vec<Difference>,
    /// Combinations of axes and scheme of both runs, with their metrics.
    pub blocks: Vec<Block>,
    /// Combinations that only the first run has.
    pub only_a: Vec<Combination>,
    /// Combinations that only the second run has.
    pub only_b: Vec<Combination>,
}

/// A run, as its manifest describes it.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Directory of the run.
    pub directory: String,
    /// Short name of its scenario.
    pub scenario: String,
    /// Version of cemark that ran it.
    pub version: String,
    /// Fingerprint of the simulator that ran it.
    pub build: String,
    /// Command that ran it.
    pub command: String,
    /// Fingerprint of the scenario.
    pub scenario_digest: String,
    /// Fingerprint of the results.
    pub digest: String,
}

/// Scheme at one value of the axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Combination {
    /// Value of each axis that either run sweeps.
    pub axes: BTreeMap<String, String>,
    /// Label of the scheme.
    pub scheme: String,
}

/// Scheme at one value of the axes under both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Block {
    /// Axes and scheme.
    #[serde(flatten)]
    pub combination: Combination,
    /// Whether flows are compared one by one: both runs have the same flows in the same seeds.
    pub paired: bool,
    /// Seeds of the first run in the comparison.
    pub seeds_a: u32,
    /// Seeds of the second run in the comparison.
    pub seeds_b: u32,
    /// Metrics that both runs have.
    pub metrics: Vec<Line>,
}

impl Side {
    fn of(dir: &Path, run: &Run) -> Self {
        let manifest = &run.manifest;
        let who = &manifest.provenance;
        Side {
            directory: dir.display().to_string(),
            scenario: manifest.scenario.clone(),
            version: who.version.clone(),
            build: who.build.clone(),
            command: who.command.join(" "),
            scenario_digest: manifest.scenario_digest.clone(),
            digest: manifest.digest.clone().unwrap_or_default(),
        }
    }
}

impl Beside {
    /// Sets two runs side by side, each with its directory.
    ///
    /// # Errors
    /// [`crate::Fault::User`] where no scheme at no value of the axes is in both.
    pub fn new(a: (&Path, &Run), b: (&Path, &Run)) -> Result<Self, Error> {
        let (side_a, side_b) = (Side::of(a.0, a.1), Side::of(b.0, b.1));
        let Both {
            common,
            only_a,
            only_b,
        } = places::of(a.1, b.1);
        if common.is_empty() {
            return Err(nothing(a, b, &only_a, &only_b));
        }
        let names = |all: Vec<Place>| all.into_iter().map(|place| place.name).collect();
        Ok(Beside {
            schema: SCHEMA,
            equal_results: side_a.digest == side_b.digest,
            settings: settings::differences(a.1, b.1),
            blocks: common
                .into_iter()
                .map(|pair| line::block(a.1, b.1, &pair))
                .collect(),
            only_a: names(only_a),
            only_b: names(only_b),
            a: side_a,
            b: side_b,
        })
    }
}

/// Two runs without a common scheme at a common value of the axes.
fn nothing(a: (&Path, &Run), b: (&Path, &Run), only_a: &[Place], only_b: &[Place]) -> Error {
    let named = |all: &[Place]| {
        let some = all.iter().take(3).map(|place| place.name.words());
        let more = if all.len() > 3 { ", …" } else { "" };
        some.collect::<Vec<_>>().join(", ") + more
    };
    let unknown = places::unwritten(a.1, b.1).map_or(String::new(), |path| {
        format!("; a run that does not sweep {path} has to write its value")
    });
    Error::user(
        format!(
            "{} and this run have no scheme at the same value of the axes in common:",
            a.0.display()
        ),
        b.0,
        format!(
            "compare runs with schemes of equal labels: the first has {}; the second {}{unknown}",
            named(only_a),
            named(only_b)
        ),
    )
}

impl Combination {
    /// `ECN# at load 0.9`.
    pub fn words(&self) -> String {
        match title(&self.axes) {
            place if place.is_empty() => self.scheme.clone(),
            place => format!("{} at {place}", self.scheme),
        }
    }
}
