// SPDX-License-Identifier: MIT OR Apache-2.0
//! A figure's file: the scenario format of docs/scenarios.md, and beside it
//!
//! * `[[row]]`: the numbers that are taken from it (see [`Row`]);
//! * `[[variant]]`: the same experiment with some keys changed; its name becomes the axis
//!   `variant`;
//! * `[why.paper]`, `[why.code]`, `[why.tool]`, `[why.ours]`: where each parameter comes from (see
//!   [`why`]);
//! * `[quick]`, `[full]`: keys that `cemark figure --quick` or `--full` changes (flows and seeds),
//!   in all variants, or in one (`[[quick.variant]]` with its name);
//!   `looks` in `[full]` is the list of the numbers of seeds at which a full run looks whether its
//!   rows are decided (see [`looks`](super::looks)).
//!
//! Changed keys are written as in the scenario (`[variant.rtt]`, `max = "350us"`). Where the
//! scenario has a list of tables, the entry with the same `label` or `name` is changed, and any
//! other entry is added. `"$shallow_buffer"` is replaced by that parameter of
//! `figures/calibration.toml`.

use std::path::Path;

use cemark_report::rundir::Manifest;
use cemark_scenario::{Overrides, OwnMarker, Plan, parse_in};
use serde::Deserialize;
use toml::{Table, Value};

use super::Mode;
use super::calibration::Calibration;
use super::error::{FileError, Mistake};
use super::looks::Looks;
use super::row::Row;
use super::why::{self, Parameter};

/// A figure's file, read.
#[derive(Clone, Debug)]
pub struct FigureFile {
    /// Its short name: `ecnsharp-9`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The scenario, without rows, variants and modes. Empty where a figure is computed.
    scenario: Table,
    variants: Vec<(String, Table)>,
    quick: Change,
    full: Change,
    looks: Option<Looks>,
    /// Rows of the figure.
    pub rows: Vec<Row>,
    /// The parameters of its experiment, by path, with where each comes from. Empty where nothing
    /// is simulated.
    pub parameters: Vec<Parameter>,
}

/// The keys that a mode changes.
#[derive(Clone, Debug)]
struct Change {
    everywhere: Table,
    /// In one variant, by its name.
    variants: Vec<(String, Table)>,
}

impl Change {
    /// The changes of one mode to a figure that has these variants.
    fn read(mut table: Table, of_figure: &[(String, Table)]) -> Result<Self, Mistake> {
        let variants = variants(table.remove("variant"))?;
        let known = |name: &str| of_figure.iter().any(|(other, _)| other == name);
        match variants.iter().find(|(name, _)| !known(name)) {
            Some((name, _)) => Err(Mistake::UnknownVariant(name.clone())),
            None => Ok(Change {
                everywhere: table,
                variants,
            }),
        }
    }

    /// Changes the scenario of a variant.
    fn merge_into(&self, scenario: &mut Table, variant: &str) {
        merge(scenario, &self.everywhere);
        let own = self.variants.iter().find(|(name, _)| name == variant);
        if let Some((_, own)) = own {
            merge(scenario, own);
        }
    }
}

/// The axis that variants make.
pub const VARIANT: &str = "variant";

impl FigureFile {
    /// Reads the text of `figures/<id>.toml`.
    ///
    /// # Errors
    /// What is wrong with it, with the file's name.
    pub fn parse(id: &str, text: &str, calibration: &Calibration) -> Result<Self, FileError> {
        FigureFile::read(id, text, calibration).map_err(|m| FileError::new(place(id), m))
    }

    fn read(id: &str, text: &str, calibration: &Calibration) -> Result<Self, Mistake> {
        let mut table: Table = text.parse()?;
        let rows = table.remove("row").ok_or(Mistake::NoRows)?;
        let parameters = match table.contains_key("topology") {
            true => why::take(&mut table, calibration)?,
            false => Vec::new(),
        };
        calibration.fill(&mut table)?;
        let rows = Vec::<Row>::deserialize(rows).map_err(Mistake::Row)?;
        let variants = variants(table.remove("variant"))?;
        let mut mode = |key: &str, section| match table.remove(key) {
            None => Ok(Table::new()),
            Some(Value::Table(change)) => Ok(change),
            Some(_) => Err(Mistake::NotATable(section)),
        };
        let (quick, mut full) = (mode("quick", "[quick]")?, mode("full", "[full]")?);
        let looks = full.remove("looks");
        let looks = looks.map(|value| Looks::read(&value)).transpose()?;
        let quick = Change::read(quick, &variants)?;
        let full = Change::read(full, &variants)?;
        let title = table
            .get("title")
            .and_then(Value::as_str)
            .unwrap_or(id)
            .to_owned();
        if !table.contains_key("topology") {
            table.clear();
        }
        Ok(FigureFile {
            id: id.to_owned(),
            title,
            scenario: table,
            variants,
            quick,
            full,
            looks,
            rows,
            parameters,
        })
    }

    /// Whether there is something to simulate.
    pub fn is_simulated(&self) -> bool {
        !self.scenario.is_empty()
    }

    /// The looks of a full run, given the plan of the full mode.
    pub fn looks(&self, plan: &Plan) -> Looks {
        let seeds = plan.blocks().iter().map(|b| b.replications.len()).max();
        let usual = || Looks::usual(seeds.unwrap_or(1) as u32);
        self.looks.clone().unwrap_or_else(usual)
    }

    /// Every point of the figure as one plan with the variant as an axis; `None` where nothing is
    /// simulated. `overlay` changes the scenario further, after variant and mode (for tests that
    /// break a scheme on purpose). `changes` come from the command line.
    ///
    /// # Errors
    /// What the scenario parser says.
    pub fn plan(
        &self,
        mode: Mode,
        calibration: &Calibration,
        overlay: Option<&Table>,
        changes: &Overrides,
    ) -> Result<Option<Plan>, FileError> {
        if !self.is_simulated() {
            return Ok(None);
        }
        let change = match mode {
            Mode::Quick => &self.quick,
            Mode::Full => &self.full,
        };
        let none = [(String::new(), Table::new())];
        let variants = if self.variants.is_empty() {
            &none[..]
        } else {
            &self.variants
        };
        let mut whole: Option<Plan> = None;
        for (name, variant) in variants {
            let mut scenario = self.scenario.clone();
            merge(&mut scenario, variant);
            change.merge_into(&mut scenario, name);
            if let Some(overlay) = overlay {
                merge(&mut scenario, overlay);
            }
            let plan = of_variant(name, self.plan_of(name, &scenario, changes)?);
            whole = Some(match whole {
                None => plan,
                Some(all) => joined(all, plan),
            });
        }
        let mut plan = whole.expect("there is at least one variant");
        plan.name.clone_from(&self.id);
        if !self.variants.is_empty() {
            plan.axes.insert(0, VARIANT.to_owned());
        }
        plan.digest ^= calibration.digest();
        plan.source = format!(
            "# calibration {:016x}\n{}",
            calibration.digest(),
            plan.source
        );
        Ok(Some(plan))
    }

    /// The plan of one variant; `name` is empty where the figure has none.
    fn plan_of(
        &self,
        name: &str,
        scenario: &Table,
        changes: &Overrides,
    ) -> Result<Plan, FileError> {
        let file = match name {
            "" => place(&self.id),
            name => format!("{} ({name})", place(&self.id)),
        };
        let text = toml::to_string(scenario).map_err(|e| FileError::new(&*file, e))?;
        read(&text, &file, changes).map_err(|e| {
            let help = e.help_text().map(|h| format!(" ({h})")).unwrap_or_default();
            let mistake = Mistake::Scenario {
                message: format!("{e}{help}"),
                // The lines in the message are those of this text and not of the file, so the text
                // is shown. A mistake on the command line has no lines.
                text: if changes.is_empty() {
                    text
                } else {
                    String::new()
                },
            };
            FileError::new(&*file, mistake)
        })
    }
}

/// The plan of a figure from its manifest. The line that names a variant is above the variant's
/// scenario.
pub(super) fn plan_of_manifest(manifest: &Manifest) -> Result<Plan, cemark_scenario::Error> {
    let changes = Overrides {
        known: manifest.markers.clone(),
        ..Overrides::default()
    };
    let file = place(&manifest.scenario);
    let begins = format!("\n{HEADING}");
    let Some((_, variants)) = manifest.source.split_once(&begins[..]) else {
        return read(&manifest.source, &file, &changes);
    };
    let plans = variants.split(&begins[..]).map(|piece| {
        let (name, text) = piece.split_once('\n').unwrap_or((piece, ""));
        Ok(of_variant(name, read(text, &file, &changes)?))
    });
    let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    let mut whole = plans.into_iter().reduce(joined).expect("a piece at least");
    whole.axes.insert(0, VARIANT.to_owned());
    Ok(whole)
}

/// The plan of a scenario's text. Figures read no files of their own: a relative path comes from
/// the command line.
fn read(text: &str, file: &str, changes: &Overrides) -> Result<Plan, cemark_scenario::Error> {
    parse_in(Path::new(""), text, file, changes)
}

/// Begin of the line that names a variant above its scenario.
const HEADING: &str = "# variant ";

/// The plan of a variant: its name is the value of an axis.
fn of_variant(name: &str, mut plan: Plan) -> Plan {
    if name.is_empty() {
        return plan;
    }
    for point in &mut plan.points {
        point.axes.insert(VARIANT.to_owned(), name.to_owned());
    }
    plan.source = format!("{HEADING}{name}\n{}", plan.source);
    plan
}

/// The points of both plans.
fn joined(mut all: Plan, plan: Plan) -> Plan {
    all.source = format!("{}\n{}", all.source, plan.source);
    all.digest = all.digest.rotate_left(9) ^ plan.digest;
    all.points.extend(plan.points);
    let known = |m: &OwnMarker| all.markers.iter().any(|k| k.content == m.content);
    let new: Vec<_> = plan.markers.into_iter().filter(|m| !known(m)).collect();
    all.markers.extend(new);
    all
}

/// A figure's file as messages name it.
pub(super) fn place(id: &str) -> String {
    format!("figures/{id}.toml")
}

/// Variants by their names, in the order of the file.
fn variants(value: Option<Value>) -> Result<Vec<(String, Table)>, Mistake> {
    let variant = |value| {
        let Value::Table(mut change) = value else {
            return Err(Mistake::NotATable("[[variant]]"));
        };
        match change.remove("name") {
            Some(Value::String(name)) => Ok((name, change)),
            _ => Err(Mistake::NamelessVariant),
        }
    };
    list(value).into_iter().map(variant).collect()
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(one) => vec![one],
    }
}

/// Merges `change` into `base`: tables key by key, lists of tables entry by entry (by label or
/// name). Everything else is replaced.
pub fn merge(base: &mut Table, change: &Table) {
    for (key, new) in change {
        match (base.get_mut(key), new) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new))
                if new.iter().all(Value::is_table) && old.iter().all(Value::is_table) =>
            {
                for entry in new.iter().filter_map(Value::as_table) {
                    let same = old
                        .iter_mut()
                        .filter_map(Value::as_table_mut)
                        .find(|o| name(o).is_some() && name(o) == name(entry));
                    match same {
                        Some(old) => merge(old, entry),
                        None => old.push(Value::Table(entry.clone())),
                    }
                }
            }
            _ => {
                base.insert(key.clone(), new.clone());
            }
        }
    }
}

/// Label, or else name, of an entry in a list of tables.
fn name(entry: &Table) -> Option<&str> {
    entry
        .get("label")
        .or_else(|| entry.get("name"))
        .and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_laid_over() {
        let mut base: Table = "a = 1\n[rtt]\nmin = 70\nmax = 210\n[[scheme]]\nlabel = \
             \"Tail\"\nk = 250\n[[scheme]]\nlabel = \"ECN#\"\n"
            .parse()
            .unwrap();
        let change: Table = "[rtt]\nmax = 350\n[[scheme]]\nlabel = \"Tail\"\nk = \
             394\n[[scheme]]\nlabel = \"new\"\n"
            .parse()
            .unwrap();
        merge(&mut base, &change);
        let expected: Table = "a = 1\n[rtt]\nmin = 70\nmax = 350\n[[scheme]]\nlabel = \
             \"Tail\"\nk = 394\n[[scheme]]\nlabel = \"ECN#\"\n[[scheme]]\nlabel = \"new\"\n"
            .parse()
            .unwrap();
        assert_eq!(base, expected);
    }

    /// A figure of two variants, with a quick form.
    const OF_TWO: &str = "[[row]]\nid = \"X\"\nstatistic = \"gain\"\n[[variant]]\nname = \"low\"\n\
        max-time = \"3s\"\n[[variant]]\nname = \"high\"\nmax-time = \"3s\"\n[quick]\nseeds = 1\n";

    #[test]
    fn a_mode_changes_all_variants_or_one() {
        let text = format!("{OF_TWO}[[quick.variant]]\nname = \"low\"\nmax-time = \"1s\"\n");
        let file = FigureFile::parse("x", &text, &Calibration::default()).unwrap();
        for (variant, own) in &file.variants {
            let mut scenario = own.clone();
            file.quick.merge_into(&mut scenario, variant);
            let wanted = if variant == "low" { "1s" } else { "3s" };
            assert_eq!(scenario["max-time"].as_str(), Some(wanted), "{variant}");
            assert_eq!(scenario["seeds"].as_integer(), Some(1), "{variant}");
        }
    }

    #[test]
    fn mistakes_name_the_file() {
        let none = Calibration::default();
        let stray = format!("{OF_TWO}[[quick.variant]]\nname = \"mid\"\n");
        for (text, part) in [
            (stray.as_str(), "the variant `mid`"),
            ("title = 1\n", "there is no [[row]]"),
            (
                "[[row]]\nid = \"X\"\nstatistic = \"gian\"\n",
                "unknown variant `gian`",
            ),
            (
                "[[row]]\nid = \"X\"\nstatistic = \"gain\"\nschme = \"a\"\n",
                "schme",
            ),
            (
                "a = \"$nothing\"\n[[row]]\nid = \"X\"\nstatistic = \"gain\"\n",
                "$nothing",
            ),
            (
                "[[variant]]\n[[row]]\nid = \"X\"\nstatistic = \"gain\"\n",
                "needs a name",
            ),
        ] {
            let said = FigureFile::parse("test", text, &none)
                .unwrap_err()
                .to_string();
            assert!(
                said.starts_with("figures/test.toml: ") && said.contains(part),
                "{said}"
            );
        }
    }
}
