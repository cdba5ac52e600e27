// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading what `vectors/` holds.

use std::path::{Path, PathBuf};

use cemark_marking::{Kind, SchemeSpec, Values};

/// The stored values of a table of parameters; a word stands for its place in a choice.
pub fn values(spec: &SchemeSpec, table: &toml::Table) -> Values {
    table
        .iter()
        .fold(Values::defaults(spec), |values, (name, value)| {
            let index = spec
                .index_of(name)
                .unwrap_or_else(|| panic!("{name} is not a parameter of {}", spec.name));
            let param = &spec.params[index];
            let stored = match (param.kind, value) {
                (Kind::Choice(words), toml::Value::String(s)) => words
                    .iter()
                    .position(|w| w == s)
                    .unwrap_or_else(|| panic!("{name}: {s}?"))
                    as u64,
                (Kind::Flag, toml::Value::Boolean(b)) => u64::from(*b),
                (
                    Kind::Time | Kind::Bytes | Kind::Fraction | Kind::Count,
                    toml::Value::Integer(n),
                ) => *n as u64,
                _ => panic!("{name} = {value}: not of its kind"),
            };
            assert!(
                (param.min..=param.max).contains(&stored),
                "{name} = {stored} is out of its range"
            );
            values.with(spec, name, stored)
        })
}

#[allow(dead_code)] // the traces have no use for it
/// The hand-worked files of a scheme: all but the traces.
pub fn hand_worked(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|x| x == "toml"));
    files.retain(|f| f.file_name().is_some_and(|n| n != "trace.toml"));
    files.sort();
    files
}
