// SPDX-License-Identifier: MIT OR Apache-2.0
//! `figures/calibration.toml`: the free parameters, each fitted on one named row that then proves
//! nothing, and frozen before the others run.

use std::collections::BTreeMap;

use cemark_wire::hash::Fnv1a;
use serde::Deserialize;
use toml::{Table, Value};

use super::error::{FileError, Mistake};

const PLACE: &str = "figures/calibration.toml";

/// With more free parameters one could fit anything.
pub const MOST: usize = 8;

/// Free parameter, with its value and the row it was fitted on.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its value, as a scenario writes it.
    pub value: Value,
    /// The row it was fitted on.
    pub row: String,
    /// Why it is free, and how it was fitted.
    pub why: String,
}

/// All free parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration(BTreeMap<String, Parameter>);

impl Calibration {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let all: BTreeMap<String, Parameter> =
            toml::from_str(text).map_err(|e| FileError::new(PLACE, e))?;
        if all.len() > MOST {
            let (found, most) = (all.len(), MOST);
            return Err(FileError::new(PLACE, Mistake::Parameters { found, most }));
        }
        Ok(Calibration(all))
    }

    /// Whether a parameter was fitted on the row (`ECNSHARP-T28`).
    pub fn fitted_on(&self, row: &str) -> bool {
        self.0.values().any(|p| p.row == row)
    }

    /// The parameters by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.0.iter().map(|(name, p)| (name.as_str(), p))
    }

    /// Fingerprint of names and values, part of every figure's digest. The text of `why` is not in
    /// it, so correcting that runs nothing again.
    pub fn digest(&self) -> u64 {
        let mut digest = Fnv1a::new();
        for (name, p) in &self.0 {
            digest.write(format!("{name}={}\n", p.value).as_bytes());
        }
        digest.finish()
    }

    /// Replaces every string `"$name"` by the value of the parameter.
    pub(crate) fn fill(&self, table: &mut Table) -> Result<(), Mistake> {
        table
            .iter_mut()
            .try_for_each(|(_, value)| self.fill_value(value))
    }

    fn fill_value(&self, value: &mut Value) -> Result<(), Mistake> {
        match value {
            Value::Table(table) => self.fill(table),
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.fill_value(item)),
            Value::String(text) => {
                let Some(name) = text.strip_prefix('$') else {
                    return Ok(());
                };
                let parameter = self.0.get(name);
                let parameter = parameter.ok_or_else(|| Mistake::Parameter(name.to_owned()))?;
                *value = parameter.value.clone();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "[shallow_buffer]\nvalue = \"120pkt\"\nrow = \"ECNSHARP-T28\"\nwhy = \"not given\"\n";

    #[test]
    fn values_are_filled_in() {
        let calibration = Calibration::parse(TEXT).unwrap();
        let mut table: Table =
            "[switch]\nbuffer = \"$shallow_buffer\"\nlist = [\"$shallow_buffer\", 1]\n"
                .parse()
                .unwrap();
        calibration.fill(&mut table).unwrap();
        assert_eq!(
            table,
            "[switch]\nbuffer = \"120pkt\"\nlist = [\"120pkt\", 1]\n"
                .parse()
                .unwrap()
        );
        assert!(calibration.fitted_on("ECNSHARP-T28") && !calibration.fitted_on("ECNSHARP-T29"));
    }

    #[test]
    fn only_values_change_the_digest() {
        let digest = |text: &str| Calibration::parse(text).unwrap().digest();
        assert_eq!(
            digest(TEXT),
            digest(&TEXT.replace("not given", "the paper is silent"))
        );
        assert_ne!(digest(TEXT), digest(&TEXT.replace("120pkt", "121pkt")));
    }

    #[test]
    fn at_most_eight() {
        let many: String = (0..9)
            .map(|i| TEXT.replace("shallow_buffer", &format!("p{i}")))
            .collect();
        let said = Calibration::parse(&many).unwrap_err().to_string();
        assert!(
            said.contains("calibration.toml: 9 free parameters"),
            "{said}"
        );
        assert!(Calibration::parse("[a]\nvalue = 1\n").is_err());
    }
}
