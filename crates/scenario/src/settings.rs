// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of a scenario's text by path, without their meaning: to list them, and to set those of
//! two scenarios side by side.

use toml::{Table, Value};

use crate::{path, tree};

/// Key of a scenario with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Parts of its path: `scheme`, `ECN#`, `pst_target`. An entry of a list has its label or name
    /// as its part, or its place in the list where it has neither; the only entry without a name
    /// has none.
    pub path: Vec<String>,
    /// Value as TOML.
    pub value: Value,
}

impl Setting {
    /// Value as people read it: a string without quotes.
    pub fn text(&self) -> String {
        value_text(&self.value)
    }
}

/// Every key of a table that has a value, in the order of the table.
pub fn settings(table: &Table) -> Vec<Setting> {
    let mut all = Vec::new();
    for (key, value) in table {
        collect(&mut vec![key.clone()], value, &mut all);
    }
    all
}

/// The settings of a scenario's text; none where the text is no TOML.
pub fn settings_of(text: &str) -> Vec<Setting> {
    let table = text.parse::<Table>().unwrap_or_default();
    settings(&table)
}

/// The scalar that a scenario's text writes at a path of `--set`; `None` where the text leaves it
/// to its default, or has several of different values.
pub fn written_at(text: &str, path: &str) -> Option<String> {
    let root = tree::Table::parse(text, 0).ok()?;
    path::get(&root, path)?.written()
}

fn collect(parts: &mut Vec<String>, value: &Value, all: &mut Vec<Setting>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                parts.push(key.clone());
                collect(parts, value, all);
                parts.pop();
            }
        }
        Value::Array(entries) if !entries.is_empty() && entries.iter().all(Value::is_table) => {
            for (i, entry) in entries.iter().enumerate() {
                let name = entry.get("label").or_else(|| entry.get("name"));
                let name = match (name, entries.len()) {
                    (Some(name), _) => value_text(name),
                    (None, 1) => {
                        collect(parts, entry, all);
                        continue;
                    }
                    (None, _) => i.to_string(),
                };
                parts.push(name);
                collect(parts, entry, all);
                parts.pop();
            }
        }
        _ => all.push(Setting {
            path: parts.clone(),
            value: value.clone(),
        }),
    }
}

/// A value as people read it: a string without quotes, all else as TOML.
pub fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{settings_of, written_at};

    const TEXT: &str = r#"
        seeds = 3
        [topology]
        rate = "10Gbps"
        [[workload]]
        load = 0.50
        [[scheme]]
        label = "K2 1.5"
        k = "14pkt"
        [[scheme]]
        marker = "red"
    "#;

    #[test]
    fn every_key_has_a_path_and_a_value() {
        let all: Vec<String> = settings_of(TEXT)
            .iter()
            .map(|s| format!("{} = {}", s.path.join("."), s.text()))
            .collect();
        assert_eq!(
            all,
            [
                "scheme.K2 1.5.k = 14pkt",
                "scheme.K2 1.5.label = K2 1.5",
                "scheme.1.marker = red",
                "seeds = 3",
                "topology.rate = 10Gbps",
                "workload.load = 0.5",
            ]
        );
        assert_eq!(settings_of("no TOML"), []);
    }

    #[test]
    fn a_path_of_set_finds_what_is_written() {
        let at = |path| written_at(TEXT, path);
        assert_eq!(at("workload.load").as_deref(), Some("0.50"));
        assert_eq!(at("topology.rate").as_deref(), Some("10Gbps"));
        assert_eq!(at("topology.delay"), None);
        assert_eq!(at("scheme.k"), None);
    }
}
