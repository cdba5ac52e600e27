// SPDX-License-Identifier: MIT OR Apache-2.0
//! `figures/targets.tsv` (what was published, and the band that counts as reproduced) and
//! `figures/expected.tsv` (what we found).

use std::collections::BTreeMap;

use super::Mode;
use super::verdict::{Band, Verdict};

/// One condition on a published number.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// `ECNSHARP-T18`, or `ECNSHARP-T18.a` where a number has several conditions.
    pub id: String,
    /// `calc` (no simulation), `band`, `order`, or `report`: is shown and does not decide.
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
    /// Measured flows of a full run: of a point, and how many points and seeds.
    pub flows: String,
    /// Which law of ECN# decides: `harmonic`, `sqrt`, `both; harmonic decides`, or `-`.
    pub law: String,
    /// What the paper prints, and what else should be known.
    pub note: String,
}

impl Target {
    /// The id of the row it is a condition of: without `.a`.
    pub fn row(&self) -> &str {
        row_of(&self.id)
    }
}

/// The row that a condition belongs to.
pub fn row_of(id: &str) -> &str {
    id.split_once('.').map_or(id, |(row, _)| row)
}

const COLUMNS: [&str; 12] = [
    "id",
    "class",
    "figure",
    "experiment",
    "published",
    "unit",
    "statistic",
    "lo",
    "hi",
    "flows",
    "law",
    "note",
];

/// Reads the targets.
///
/// # Errors
/// The line and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Target>, String> {
    let mut lines = text.lines().enumerate();
    let head = lines
        .next()
        .map(|(_, l)| l.split('\t').collect::<Vec<_>>())
        .unwrap_or_default();
    if head != COLUMNS {
        return Err(format!(
            "targets.tsv:1: the columns are {}",
            COLUMNS.join(", ")
        ));
    }
    let mut targets: Vec<Target> = Vec::new();
    for (i, line) in lines.filter(|(_, l)| !l.trim().is_empty()) {
        let wrong = |what: &str| format!("targets.tsv:{}: {what}", i + 1);
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [
            id,
            class,
            figure,
            experiment,
            published,
            unit,
            statistic,
            lo,
            hi,
            flows,
            law,
            note,
        ] = cells[..]
        else {
            return Err(wrong(&format!(
                "{} columns, not {}",
                cells.len(),
                COLUMNS.len()
            )));
        };
        if targets.iter().any(|t| t.id == id) {
            return Err(wrong(&format!("`{id}` is there twice")));
        }
        let number = |text: &str| {
            text.parse::<f64>()
                .map_err(|_| wrong(&format!("`{text}` is not a number")))
        };
        let band = Band {
            lo: number(lo)?,
            hi: number(hi)?,
        };
        if band.lo.is_nan() || band.hi.is_nan() || band.lo > band.hi {
            return Err(wrong("lo is above hi"));
        }
        targets.push(Target {
            id: id.to_owned(),
            class: class.to_owned(),
            figure: figure.to_owned(),
            experiment: experiment.to_owned(),
            published: if published == "-" {
                None
            } else {
                Some(number(published)?)
            },
            unit: unit.to_owned(),
            statistic: statistic.to_owned(),
            band,
            flows: flows.to_owned(),
            law: law.to_owned(),
            note: note.to_owned(),
        });
    }
    Ok(targets)
}

/// The committed verdict of every row, in each mode; `None` where nobody has run it yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected(BTreeMap<String, [Option<Verdict>; 2]>);

impl Expected {
    /// Reads `id quick full`, a tab between; `-` stands for a verdict that nobody has recorded.
    ///
    /// # Errors
    /// The line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for (i, line) in text
            .lines()
            .enumerate()
            .skip(1)
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let wrong = |what: String| format!("expected.tsv:{}: {what}", i + 1);
            let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
            let [id, quick, full] = cells[..] else {
                return Err(wrong("three columns: id, quick, full".to_owned()));
            };
            let verdict = |text: &str| match text {
                "-" => Ok(None),
                _ => Verdict::parse(text)
                    .map(Some)
                    .ok_or_else(|| wrong(format!("`{text}` is not a verdict"))),
            };
            all.insert(id.to_owned(), [verdict(quick)?, verdict(full)?]);
        }
        Ok(Expected(all))
    }

    /// What is expected of a row.
    pub fn get(&self, row: &str, mode: Mode) -> Option<Verdict> {
        self.0.get(row).and_then(|v| v[mode as usize])
    }

    /// Records what was found.
    pub fn record(&mut self, row: &str, mode: Mode, verdict: Verdict) {
        self.0.entry(row.to_owned()).or_default()[mode as usize] = Some(verdict);
    }

    /// The file's text.
    pub fn render(&self) -> String {
        let mut text = "id\tquick\tfull\n".to_owned();
        for (id, verdicts) in &self.0 {
            let [quick, full] = verdicts.map(|v| v.map_or("-", Verdict::key));
            text.push_str(&format!("{id}\t{quick}\t{full}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_numeric_bands() {
        let line = "ECNSHARP-T18.b\tband\tecnsharp-9\tstar\t23.4\t%\tgain\t8\tinf\t10000x9x3\tharmonic\t738 against 964 us";
        let text = format!("{}\n{line}\n", COLUMNS.join("\t"));
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
                "targets.tsv:2: `eight` is not a number",
            ),
            ("\t8\tinf", "\t8\t1", "lo is above hi"),
            ("\t23.4", "", "11 columns"),
            ("id\t", "ID\t", "targets.tsv:1"),
        ] {
            let error = parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        assert!(
            parse(&format!("{text}{line}\n"))
                .unwrap_err()
                .contains("twice")
        );
    }

    #[test]
    fn verdicts_are_recorded_by_mode() {
        let text = "id\tquick\tfull\nECNSHARP-T18\tnot_decided\t-\n";
        let mut expected = Expected::parse(text).unwrap();
        assert_eq!(
            expected.get("ECNSHARP-T18", Mode::Quick),
            Some(Verdict::NotDecided)
        );
        assert_eq!(expected.get("ECNSHARP-T18", Mode::Full), None);
        assert_eq!(expected.render(), text);
        expected.record("ECNSHARP-T18", Mode::Full, Verdict::Reproduced);
        assert_eq!(
            expected.render(),
            text.replace('-', "reproduced")
                .replace("ECNSHARPreproduced", "ECNSHARP-")
        );
        assert!(Expected::parse("id\tquick\tfull\nX\tgood\t-\n").is_err());
    }
}
