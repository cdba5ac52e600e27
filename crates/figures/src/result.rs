// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of `cemark figure`: rows with their conditions.

use std::path::{Path, PathBuf};

use cemark_report::Error;
use cemark_report::rundir::{self, Source, document, write_whole};
use cemark_report::stats::Method;
use serde::{Deserialize, Serialize};

use super::error::FileError;
use super::file::plan_of_manifest;
use super::run::is_whole;
use super::targets::{self, Expected};
use super::verdict::RowVerdict;
use super::{EXPECTED, Mode, ROWS, TARGETS};

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FigureRun {
    /// Rows, one for each published number.
    pub rows: Vec<RowResult>,
    /// How much was simulated.
    pub mode: Mode,
    /// Points in all.
    pub points: u64,
    /// Packet-hops of all points.
    pub packet_hops: u64,
    /// CPU seconds of all points, those of an earlier session too.
    pub cpu_seconds: f64,
    /// The reports, one for each figure.
    pub reports: Vec<PathBuf>,
    /// Fingerprint of the program that ran it.
    pub build: String,
    /// Numbers printed beside that were left out.
    pub left_out: u64,
    /// Missing parts of the results, a sentence each: looks without CPU time, points of other
    /// parts.
    pub unfinished: Vec<String>,
}

/// `rows.json`: the rows of a figure's last run.
#[derive(Serialize, Deserialize)]
struct Rows {
    /// [`SCHEMA`].
    schema: u32,
    rows: Vec<RowResult>,
}

/// The version of the shape of `rows.json`.
const SCHEMA: u32 = 1;

/// Writes the rows of a figure into its directory.
pub(crate) fn store_rows(dir: &Path, rows: &[RowResult]) -> Result<(), Error> {
    let rows = Rows {
        schema: SCHEMA,
        rows: rows.to_vec(),
    };
    write_whole(&dir.join(ROWS), &document::encode(&rows))
}

/// The rows that a figure has left in its directory; `None` where there are none.
///
/// # Errors
/// [`cemark_report::Fault::User`] where the file is damaged; [`cemark_report::Fault::Machine`]
/// where it cannot be read.
pub fn stored_rows(dir: &Path) -> Result<Option<Vec<RowResult>>, Error> {
    let path = dir.join(ROWS);
    let help = "run the figure again: it writes the file, and simulates only what is missing";
    match document::read::<Rows>(&path)? {
        document::Found::Missing => Ok(None),
        found => Ok(Some(found.needed(&path, help)?.rows)),
    }
}

/// The points of a figure's first look; `None` where the figure simulates nothing.
///
/// # Errors
/// As [`rundir::read`].
pub fn stored_points(dir: &Path) -> Result<Option<rundir::Run>, Error> {
    match Source::find(dir)? {
        None => Ok(None),
        Some(_) => rundir::read_as(dir, plan_of_manifest).map(Some),
    }
}

/// A published number and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    /// `ECNSHARP-T18`.
    pub id: String,
    /// `ecnsharp-9`.
    pub figure: String,
    /// The published number of its first condition.
    pub published: Option<f64>,
    /// Measured number of the first condition.
    pub measured: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// All conditions together.
    pub verdict: RowVerdict,
    /// Whether the interval meets the published number within a tenth; `null` without either.
    pub matches_value: Option<bool>,
    /// Whether each deciding condition with a published number is near it; `null` without any, and
    /// where the row does not count.
    #[serde(default)]
    pub near: Option<bool>,
    /// The look that decided the row, or the last one where none has; `null` without looks.
    #[serde(default)]
    pub look: Option<u32>,
    /// About how many seeds would decide it, by the widths of its intervals; `null` where it is
    /// decided, or where no number would.
    #[serde(default)]
    pub seeds_needed: Option<u64>,
    /// The verdict of `figures/expected.tsv`; `null` also if not all figures of the row were run.
    pub expected: Option<RowVerdict>,
    /// Its unit.
    pub unit: String,
    /// The experiment in a few words.
    pub experiment: String,
    /// Its conditions.
    pub parts: Vec<PartResult>,
}

impl RowResult {
    /// Whether the verdict differs from the committed one.
    pub fn differs(&self) -> bool {
        self.expected.is_some_and(|e| e != self.verdict)
    }

    /// Sets the verdict and what follows from it.
    pub(super) fn settle(&mut self, verdict: RowVerdict) {
        self.verdict = verdict;
        self.near = self.is_near();
        let deciding = |p: &&PartResult| p.verdict.is_some();
        let parts = || self.parts.iter().filter(deciding);
        let red = |p: &&PartResult| p.verdict == Some(RowVerdict::NotReproduced);
        // One condition that fails decides; otherwise it takes all of them.
        self.look = match verdict {
            RowVerdict::NotReproduced => parts().filter(red).filter_map(|p| p.look).min(),
            RowVerdict::Reproduced | RowVerdict::NotDecided => parts().filter_map(|p| p.look).max(),
            _ => None,
        };
        self.seeds_needed = match verdict {
            RowVerdict::NotDecided => self.needs(),
            _ => None,
        };
    }

    /// About how many seeds would decide the row, if every number stays where it is: those of the
    /// first condition that would fail, or those of all conditions that would hold.
    fn needs(&self) -> Option<u64> {
        let open = |p: &&PartResult| p.verdict == Some(RowVerdict::NotDecided);
        let parts = || self.parts.iter().filter(open);
        let fails = parts().filter(|p| p.would_fail());
        let first = fails.filter_map(|p| p.seeds_needed).min();
        first.or_else(|| {
            let all = parts().map(|p| p.seeds_needed).collect::<Option<Vec<_>>>();
            all.and_then(|n| n.into_iter().max())
        })
    }

    /// The second number of every row that counts.
    fn is_near(&self) -> Option<bool> {
        let counts = self.verdict.counts();
        let parts = self.parts.iter().filter(|p| counts && p.verdict.is_some());
        parts.filter_map(|p| p.near).reduce(|all, near| all && near)
    }
}

/// Condition of a row, with its published and its measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartResult {
    /// `ECNSHARP-T18.a`.
    pub id: String,
    /// The statistic in words.
    pub statistic: String,
    /// Its unit.
    pub unit: String,
    /// The published number.
    pub published: Option<f64>,
    /// Measured number; `null` where it could not be measured.
    pub measured: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Where the interval comes from.
    pub method: Method,
    /// Smallest accepted value; `null`: none.
    pub lo: Option<f64>,
    /// Largest accepted value; `null`: none.
    pub hi: Option<f64>,
    /// Verdict of this condition alone; `null` if the number is only shown and decides nothing.
    pub verdict: Option<RowVerdict>,
    /// Whether the interval meets the published number within a tenth.
    pub matches_value: Option<bool>,
    /// Whether it meets two thirds to one and a half times the published number; `null` where that
    /// is zero or there is none.
    #[serde(default)]
    pub near: Option<bool>,
    /// The look that the number is of; `null` without looks.
    #[serde(default)]
    pub look: Option<u32>,
    /// The seeds of that look.
    #[serde(default)]
    pub seeds: Option<u32>,
    /// About how many seeds would decide this condition; `null` where it is decided, or where no
    /// number would.
    #[serde(default)]
    pub seeds_needed: Option<u64>,
    /// Words of the paper on the number, and further remarks.
    pub note: String,
}

impl PartResult {
    /// Whether the measured number is outside the band.
    fn would_fail(&self) -> bool {
        let is_below = |x: f64| self.lo.is_some_and(|lo| x < lo);
        let is_above = |x: f64| self.hi.is_some_and(|hi| x > hi);
        self.measured.is_some_and(|x| is_below(x) || is_above(x))
    }
}

impl FigureRun {
    /// Rows whose verdict differs from the committed one, which is the reason for exit code 1.
    pub fn differing(&self) -> impl Iterator<Item = &RowResult> {
        self.rows.iter().filter(|r| r.differs())
    }

    /// `figures/expected.tsv` with these verdicts in it, of rows whose figures were all run.
    ///
    /// # Errors
    /// Where the committed file cannot be read, which is a bug of cemark.
    pub fn recorded(&self) -> Result<String, FileError> {
        let mut expected = Expected::parse(EXPECTED)?;
        let targets = targets::parse(TARGETS)?;
        for row in self.rows.iter().filter(|row| is_whole(row, &targets)) {
            expected.record(&row.id, self.mode, row.verdict, row.near);
        }
        Ok(expected.render())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    /// An open condition of the band from 0 to 2.
    fn part(measured: f64, seeds_needed: Option<u64>) -> PartResult {
        from_value(json!({
            "id": "X-T01.a", "statistic": "", "unit": "%", "method": "seeds", "lo": 0.0, "hi": 2.0,
            "measured": measured, "verdict": "not_decided", "seeds_needed": seeds_needed,
            "note": ""
        }))
        .unwrap()
    }

    fn needs(parts: Vec<PartResult>) -> Option<u64> {
        let row = json!({
            "id": "X-T01", "figure": "x", "verdict": "not_decided", "unit": "%", "experiment": "",
            "parts": parts
        });
        let mut row: RowResult = from_value(row).unwrap();
        row.settle(RowVerdict::NotDecided);
        row.seeds_needed
    }

    #[test]
    fn one_condition_that_would_fail_decides_a_row() {
        let [holds, fails] = [1.5, 7.7];
        assert_eq!(
            needs(vec![part(fails, Some(4)), part(holds, Some(132))]),
            Some(4)
        );
        assert_eq!(
            needs(vec![part(fails, None), part(fails, Some(9))]),
            Some(9)
        );
        assert_eq!(
            needs(vec![part(holds, Some(4)), part(holds, Some(132))]),
            Some(132)
        );
        assert_eq!(needs(vec![part(holds, Some(4)), part(holds, None)]), None);
    }
}
