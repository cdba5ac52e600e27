// SPDX-License-Identifier: MIT OR Apache-2.0
//! `figures/targets.tsv` (what was published, and which band counts as reproduced) and
//! `figures/expected.tsv` (the verdicts that we found).

use std::collections::BTreeMap;

use csv::{DeserializeErrorKind, ErrorKind, ReaderBuilder, Trim};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Mode;
use super::error::{FileError, Mistake};
use super::verdict::{Band, RowVerdict};

/// Condition on a published number.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// `ECNSHARP-T18`, or `ECNSHARP-T18.a` where a number has several conditions.
    pub id: String,
    /// `calc` (no simulation), `band`, `order`, or `report` (shown, but decides nothing).
    pub class: String,
    /// The file it is taken from: `ecnsharp-9`.
    pub figure: String,
    /// The experiment in a few words.
    pub experiment: String,
    /// The published number in the statistic's unit, where there is one.
    pub published: Option<f64>,
    /// The unit.
    pub unit: String,
    /// The statistic in words.
    pub statistic: String,
    /// The band, ends included.
    pub band: Band,
    /// Words of the paper on the number, and further remarks.
    pub note: String,
}

impl Target {
    /// The id of the row it is a condition of: without `.a`.
    pub fn row(&self) -> &str {
        row_of(&self.id)
    }

    /// Whether it is compared with a band, and not only shown.
    pub fn is_compared(&self) -> bool {
        self.class != "report"
    }
}

/// The row that a condition belongs to.
pub fn row_of(id: &str) -> &str {
    id.split_once('.').map_or(id, |(row, _)| row)
}

/// A line of `figures/targets.tsv`.
#[derive(Deserialize)]
struct TargetLine {
    id: String,
    class: String,
    figure: String,
    experiment: String,
    published: String,
    unit: String,
    statistic: String,
    lo: f64,
    hi: f64,
    note: String,
}

/// A value of a column; `-` is none.
fn cell<T>(
    text: &str,
    column: &str,
    wanted: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Mistake> {
    match (text, read(text)) {
        ("-", _) => Ok(None),
        (_, Some(value)) => Ok(Some(value)),
        (_, None) => Err(Mistake::Value {
            text: text.to_owned(),
            column: column.to_owned(),
            wanted,
        }),
    }
}

impl TargetLine {
    fn target(self) -> Result<Target, Mistake> {
        let (lo, hi) = (self.lo, self.hi);
        if lo.is_nan() || hi.is_nan() || lo > hi {
            return Err(Mistake::Band { lo, hi });
        }
        let number = |text: &str| text.parse().ok();
        let published = cell(&self.published, "published", "a number or -", number)?;
        Ok(Target {
            id: self.id,
            class: self.class,
            figure: self.figure,
            experiment: self.experiment,
            published,
            unit: self.unit,
            statistic: self.statistic,
            band: Band { lo, hi },
            note: self.note,
        })
    }
}

/// Reads the targets.
///
/// # Errors
/// The line and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Target>, FileError> {
    let mut targets: Vec<Target> = Vec::new();
    for (place, line) in lines::<TargetLine>("figures/targets.tsv", text)? {
        let target = line.target().map_err(|m| FileError::new(&*place, m))?;
        if targets.iter().any(|t| t.id == target.id) {
            return Err(FileError::new(place, Mistake::Twice(target.id)));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// The lines of a table with tabs between its columns, each with its place. The first line names
/// the columns.
fn lines<T: DeserializeOwned>(file: &str, text: &str) -> Result<Vec<(String, T)>, FileError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(b'\t')
        .quoting(false)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let wrong = |e: csv::Error, record: &csv::StringRecord, head: &csv::StringRecord| {
        let line = e.position().map_or(1, csv::Position::line);
        let (line, mistake) = mistake(&e, line, record, head);
        FileError::new(format!("{file}:{line}"), mistake)
    };
    let none = csv::StringRecord::new();
    let head = reader
        .headers()
        .map_err(|e| wrong(e, &none, &none))?
        .clone();
    let mut all = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| wrong(e, &none, &head))?;
        let line = record.position().map_or(1, csv::Position::line);
        let row = record.deserialize(Some(&head));
        let row = row.map_err(|e| wrong(e, &record, &head))?;
        all.push((format!("{file}:{line}"), row));
    }
    Ok(all)
}

/// Mistake that the reader of the table has found, with the line of the mistake.
fn mistake(
    e: &csv::Error,
    line: u64,
    record: &csv::StringRecord,
    head: &csv::StringRecord,
) -> (u64, Mistake) {
    match e.kind() {
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            let text =
                format!("the line has {len} columns, but the first line names {expected_len}");
            (line, Mistake::Line(text))
        }
        ErrorKind::Deserialize { err, .. } => match (err.field(), err.kind()) {
            (Some(field), DeserializeErrorKind::ParseFloat(_)) => {
                let cell = |of: &csv::StringRecord| of.get(field as usize).unwrap_or("").to_owned();
                let mistake = Mistake::Value {
                    text: cell(record),
                    column: cell(head),
                    wanted: "a number",
                };
                (line, mistake)
            }
            // A column that the first line does not name.
            (_, DeserializeErrorKind::Message(text)) => (1, Mistake::Line(text.clone())),
            (_, kind) => (line, Mistake::Line(kind.to_string())),
        },
        _ => (line, Mistake::Line(e.to_string())),
    }
}

/// The committed verdict of every row, in each mode, and whether the row was near in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected(BTreeMap<String, Found>);

/// Recorded results of a row; `None` where nothing is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    verdicts: [Option<RowVerdict>; 2],
    near: Option<bool>,
}

/// A line of `figures/expected.tsv`.
#[derive(Deserialize)]
struct ExpectedLine {
    id: String,
    quick: String,
    full: String,
    near: String,
}

impl Expected {
    /// Reads `id quick full near`, separated by tabs: two verdicts, and `yes` or `no` of the full
    /// run. `-` means that nothing is recorded.
    ///
    /// # Errors
    /// The line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut all = BTreeMap::new();
        for (place, line) in lines::<ExpectedLine>("figures/expected.tsv", text)? {
            let verdict =
                |text: &str, column| cell(text, column, "a verdict or -", RowVerdict::parse);
            let yes = |text: &str| {
                ["no", "yes"]
                    .iter()
                    .position(|w| *w == text)
                    .map(|i| i == 1)
            };
            let read = || {
                let verdicts = [verdict(&line.quick, "quick")?, verdict(&line.full, "full")?];
                let near = cell(&line.near, "near", "yes, no or -", yes)?;
                Ok(Found { verdicts, near })
            };
            let found = read().map_err(|m: Mistake| FileError::new(place, m))?;
            all.insert(line.id, found);
        }
        Ok(Expected(all))
    }

    /// Expected verdict of a row; `None` where nothing is recorded.
    pub fn get(&self, row: &str, mode: Mode) -> Option<RowVerdict> {
        self.0.get(row).and_then(|f| f.verdicts[mode as usize])
    }

    /// Records what was found.
    pub fn record(&mut self, row: &str, mode: Mode, verdict: RowVerdict, near: Option<bool>) {
        let found = self.0.entry(row.to_owned()).or_default();
        found.verdicts[mode as usize] = Some(verdict);
        if mode == Mode::Full {
            found.near = near;
        }
    }

    /// How many rows have each verdict in full, and how many are near: one sentence.
    pub fn summary(&self) -> String {
        let full = |f: &&Found| f.verdicts[Mode::Full as usize];
        let with = |wanted: RowVerdict| self.0.values().filter(|f| full(f) == Some(wanted)).count();
        let counts = |f: &&Found| full(f).is_some_and(RowVerdict::counts);
        let counting = self.0.values().filter(counts).count();
        let near = self.0.values().filter(|f| f.near == Some(true)).count();
        let published = self.0.values().filter(|f| f.near.is_some()).count();
        format!(
            "Of {} rows {counting} count: {} reproduced, {} not reproduced, {} not decided; {near} \
             of the {published} whose published number is not zero are near it. {} hold by \
             construction, {} are calibrated, {} measured.",
            self.0.len(),
            with(RowVerdict::Reproduced),
            with(RowVerdict::NotReproduced),
            with(RowVerdict::NotDecided),
            with(RowVerdict::ByConstruction),
            with(RowVerdict::Calibrated),
            with(RowVerdict::Measured),
        )
    }

    /// The file's text.
    pub fn render(&self) -> String {
        let mut text = "id\tquick\tfull\tnear\n".to_owned();
        for (id, found) in &self.0 {
            let [quick, full] = found.verdicts.map(|v| v.map_or("-", RowVerdict::key));
            let near = found
                .near
                .map_or("-", |near| if near { "yes" } else { "no" });
            text.push_str(&format!("{id}\t{quick}\t{full}\t{near}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_numeric_bands() {
        let line = "ECNSHARP-T18.b\tband\tecnsharp-9\tstar\t23.4\t%\tgain\t8\tinf\t10000x9x3\t\
                    harmonic\t738 against 964 us";
        let head =
            "id\tclass\tfigure\texperiment\tpublished\tunit\tstatistic\tlo\thi\tflows\tlaw\tnote";
        let text = format!("{head}\n{line}\n");
        let targets = parse(&text).unwrap();
        assert_eq!(
            (targets[0].row(), targets[0].published),
            ("ECNSHARP-T18", Some(23.4))
        );
        assert_eq!(
            targets[0].band,
            Band {
                lo: 8.0,
                hi: f64::INFINITY
            }
        );
        for (from, to, said) in [
            (
                "\t8\t",
                "\teight\t",
                "targets.tsv:2: `eight` in the column `lo` is not a number",
            ),
            (
                "\t8\tinf",
                "\t8\t1",
                "targets.tsv:2: lo = 8 is above hi = 1",
            ),
            (
                "\t23.4",
                "\tx",
                "targets.tsv:2: `x` in the column `published`",
            ),
            ("\t23.4", "", "targets.tsv:2: the line has 11 columns"),
            ("id\t", "ID\t", "targets.tsv:1: missing field `id`"),
        ] {
            let error = parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(
            parse(&format!("{text}{line}\n"))
                .unwrap_err()
                .to_string()
                .contains("targets.tsv:3: `ECNSHARP-T18.b` is there twice")
        );
    }

    #[test]
    fn verdicts_are_recorded_by_mode() {
        let text = "id\tquick\tfull\tnear\nECNSHARP-T18\tnot_decided\t-\t-\n";
        let mut expected = Expected::parse(text).unwrap();
        let of = |e: &Expected, mode| e.get("ECNSHARP-T18", mode);
        assert_eq!(of(&expected, Mode::Quick), Some(RowVerdict::NotDecided));
        assert_eq!(of(&expected, Mode::Full), None);
        assert_eq!(expected.render(), text);
        let (row, found) = ("ECNSHARP-T18", RowVerdict::Reproduced);
        expected.record(row, Mode::Quick, RowVerdict::NotDecided, Some(false));
        assert_eq!(expected.render(), text, "near is that of the full run");
        expected.record(row, Mode::Full, found, Some(true));
        assert_eq!(expected.render(), text.replace("-\t-", "reproduced\tyes"));
        let said = expected.summary();
        assert!(
            said.starts_with("Of 1 rows 1 count: 1 reproduced, 0 not"),
            "{said}"
        );
        assert!(said.contains("1 of the 1 whose"), "{said}");
        for (line, said) in [
            (
                "X\tgood\t-\t-",
                "`good` in the column `quick` is not a verdict",
            ),
            (
                "X\t-\t-\tmaybe",
                "`maybe` in the column `near` is not yes, no or -",
            ),
        ] {
            let text = format!("id\tquick\tfull\tnear\n{line}\n");
            let error = Expected::parse(&text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("expected.tsv:2: {said}")),
                "{error}"
            );
        }
    }
}
