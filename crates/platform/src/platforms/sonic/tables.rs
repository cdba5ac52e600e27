// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of CONFIG_DB: rows of fields, with the place of each.

use std::collections::BTreeMap;

use cemark_formats::{Fallible, Fault};

use crate::place::Place;
use crate::text::json::{Json, Value};

/// Tables that are read. Other tables are listed by their names, and nothing of them is kept.
const READ: &[&str] = &[
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "DEVICE_METADATA",
    "DSCP_TO_TC_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PORT",
    "PORT_QOS_MAP",
    "QUEUE",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
];

/// Tables that rows of others refer to, kept for the models of YANG alone: no rule looks at them.
const REFERRED: &[&str] = &[
    "DOT1P_TO_TC_MAP",
    "SCHEDULER",
    "TC_TO_DOT1P_MAP",
    "TC_TO_DSCP_MAP",
];

/// Longest table name that is listed.
const LONGEST: usize = 48;

/// Most members of a database: names of tables.
const MOST_TABLES: usize = 4_096;

/// A row: fields in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub place: Place,
    fields: BTreeMap<String, (String, u32)>,
}

impl Row {
    /// The text of a field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|(text, _)| text.as_str())
    }

    /// The text of a field and its place.
    pub fn field(&self, name: &str) -> Option<(&str, Place)> {
        let (text, line) = self.fields.get(name)?;
        Some((text, self.place.below(*line, "|", name)))
    }

    /// Every field with its text and place.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, Place)> {
        let place = |name: &str, line: u32| self.place.below(line, "|", name);
        let fields = self.fields.iter();
        fields.map(move |(name, (text, line))| (name.as_str(), text.as_str(), place(name, *line)))
    }
}

/// The tables of a database.
#[derive(Default)]
pub(super) struct Tables {
    rows: BTreeMap<(String, String), Row>,
    /// Tables that are not read, with their numbers of rows.
    pub unread: BTreeMap<String, usize>,
}

impl Tables {
    /// Whether a document is a database, or several.
    pub fn recognises(json: &Json) -> bool {
        let known = |json: &Json| {
            let mut members = json.members().iter();
            members.any(|member| READ.contains(&table(&member.name).0))
        };
        known(json)
            || json
                .members()
                .iter()
                .any(|m| database(&m.name) && known(&m.json))
    }

    /// Whether a table has a row.
    pub fn has(&self, table: &str) -> bool {
        self.rows(table).next().is_some()
    }

    /// The row of a table.
    pub fn row(&self, table: &str, name: &str) -> Option<&Row> {
        self.rows.get(&(table.to_owned(), name.to_owned()))
    }

    /// Rows of a table by name.
    pub fn rows(&self, table: &str) -> impl Iterator<Item = (&str, &Row)> {
        let from = (table.to_owned(), String::new());
        self.rows
            .range(from..)
            .take_while(move |((of, _), _)| of == table)
            .map(|((_, name), row)| (name.as_str(), row))
    }

    fn insert(&mut self, table: &str, name: &str, file: usize, line: u32, json: &Json) {
        let place = Place::new(file, line, format!("{table}|{name}"));
        let key = (table.to_owned(), name.to_owned());
        let row = self.rows.entry(key).or_default();
        row.place = place;
        for member in fields(json).members() {
            let name = member.name.trim_end_matches('@');
            if name == "NULL" {
                continue;
            }
            if let Some(text) = words(&member.json) {
                row.fields.insert(name.to_owned(), (text, member.line));
            }
        }
    }
}

/// The fields of a row: a dump of the database (`sonic-db-dump -y`) has them below `value`.
fn fields(json: &Json) -> &Json {
    let member = |name: &str| json.members().iter().find(|member| member.name == name);
    let is_hash = |of: &Json| matches!(&of.value, Value::Text(text) if text == "hash");
    match (member("type"), member("value")) {
        (Some(kind), Some(value)) if is_hash(&kind.json) => &value.json,
        _ => json,
    }
}

/// A value as CONFIG_DB stores it: lists are words between commas.
fn words(json: &Json) -> Option<String> {
    match &json.value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::List(all) => {
            let all: Option<Vec<String>> = all.iter().map(words).collect();
            Some(all?.join(","))
        }
        Value::Null | Value::Table(_) => None,
    }
}

/// A key of a dump of the database, `QUEUE|Ethernet4|3`, as table and row.
fn table(key: &str) -> (&str, Option<&str>) {
    match key.split_once('|') {
        Some((table, row)) => (table, Some(row)),
        None => (key, None),
    }
}

/// Whether a key names a database of an ASIC, or that of the host.
fn database(key: &str) -> bool {
    let asic = key.strip_prefix("asic");
    key == "localhost" || asic.is_some_and(|n| n.bytes().all(|c| c.is_ascii_digit()))
}

/// A name, also in the form `[TABLE|NAME]` of releases before 202111.
pub(super) fn reference(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    match inner {
        Some(inner) => inner.rsplit('|').next().unwrap_or_default(),
        None => text,
    }
}

/// Adds the tables of a document to the databases.
pub(super) fn add(
    databases: &mut BTreeMap<String, Tables>,
    file: usize,
    json: &Json,
) -> Fallible<()> {
    if json.members().len() > MOST_TABLES {
        return Err(Fault::whole(
            format!("the file has more than {MOST_TABLES} members, which no switch has"),
            "name a config_db.json",
        ));
    }
    for member in json.members() {
        if database(&member.name) {
            let tables = databases.entry(member.name.clone()).or_default();
            for member in member.json.members() {
                one(tables, file, &member.name, member.line, &member.json);
            }
        } else {
            let tables = databases.entry(String::new()).or_default();
            one(tables, file, &member.name, member.line, &member.json);
        }
    }
    Ok(())
}

fn one(tables: &mut Tables, file: usize, key: &str, line: u32, json: &Json) {
    let (name, row) = table(key);
    if !READ.contains(&name) {
        let shown: String = name.chars().take(LONGEST).collect();
        let rows = row.map_or(json.members().len(), |_| 1);
        *tables.unread.entry(shown).or_default() += rows;
        if !REFERRED.contains(&name) {
            return;
        }
    }
    match row {
        Some(row) => tables.insert(name, row, file, line, json),
        None => {
            for member in json.members() {
                tables.insert(name, &member.name, file, member.line, &member.json);
            }
        }
    }
}
