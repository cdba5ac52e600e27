// SPDX-License-Identifier: MIT OR Apache-2.0
//! TOML as a tree that remembers the place of each value and can be changed by `--set` and sweeps.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::error::{At, Fallible, Fault, alike, fold};
use crate::own::Own;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) at: At,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    /// The number and how it was written.
    Float(f64, String),
    Flag(bool),
    /// The name of a marker of the user's, with its declaration.
    Own(Arc<Own>),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Entry>);

/// A key of a table, with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: At,
    pub(crate) node: Node,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|e| alike(&e.key, key))
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|e| alike(&e.key, key))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Entry> {
        let place = self.0.iter().position(|e| alike(&e.key, key))?;
        Some(self.0.remove(place))
    }

    /// Puts a value at a key, new or not.
    pub(crate) fn put(&mut self, key: &str, node: Node) {
        match self.get_mut(key) {
            Some(entry) => entry.node = node,
            None => self.0.push(Entry {
                key: key.to_owned(),
                at: node.at,
                node,
            }),
        }
    }
}

impl Node {
    /// For messages: `a string`.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) | Value::Own(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(..) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// How a scalar was written, strings without their quotes.
    pub(crate) fn written(&self) -> Option<String> {
        Some(match &self.value {
            Value::Text(text) | Value::Date(text) | Value::Float(_, text) => text.clone(),
            Value::Integer(n) => n.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Own(own) => own.marker.written.clone(),
            Value::List(_) | Value::Table(_) => return None,
        })
    }

    /// Whether two scalars mean the same: `0.5` and `0.50`, but not `"0.5"`.
    pub(crate) fn same(&self, other: &Node) -> bool {
        let number = |value: &Value| match value {
            Value::Integer(n) => Some(*n as f64),
            Value::Float(x, _) => Some(*x),
            _ => None,
        };
        match (number(&self.value), number(&other.value)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.written().is_some() && self.written() == other.written(),
            _ => false,
        }
    }

    /// Equal for two scalars that are the [`same`](Node::same), and only for these.
    pub(crate) fn meaning(&self) -> Option<(bool, String)> {
        let number = match &self.value {
            Value::Integer(n) => *n as f64,
            Value::Float(x, _) => *x,
            _ => return self.written().map(|text| (false, text)),
        };
        // The zero with a sign is a zero.
        Some((true, (number + 0.0).to_string()))
    }

    fn from_toml(value: &DeValue<'_>, span: std::ops::Range<usize>, text: usize) -> Fallible<Node> {
        let at = At {
            text,
            start: span.start,
            end: span.end,
        };
        let value = match value {
            DeValue::String(s) => Value::Text(s.to_string()),
            DeValue::Integer(n) => {
                match i128::from_str_radix(&n.as_str().replace('_', ""), n.radix()) {
                    Ok(n) => Value::Integer(n),
                    Err(_) => return Err(Fault::new(at, "this number is too large")),
                }
            }
            DeValue::Float(x) => match x.as_str().replace('_', "").parse() {
                Ok(number) => Value::Float(number, x.as_str().to_owned()),
                Err(_) => return Err(Fault::new(at, "this is not a number")),
            },
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| Node::from_toml(item.get_ref(), item.span(), text))
                    .collect::<Fallible<_>>()?,
            ),
            DeValue::Table(table) => Value::Table(Table::from_toml(table, text)?),
        };
        Ok(Node { value, at })
    }
}

impl Table {
    fn from_toml(table: &DeTable<'_>, text: usize) -> Fallible<Table> {
        let mut entries = Vec::new();
        for (key, value) in table {
            let span = key.span();
            let at = At {
                text,
                start: span.start,
                end: span.end,
            };
            let node = Node::from_toml(value.get_ref(), value.span(), text)?;
            entries.push(Entry {
                key: key.get_ref().to_string(),
                at,
                node,
            });
        }
        entries.sort_by_key(|e| e.at.start);
        let mut known = BTreeMap::new();
        for entry in &entries {
            if let Some(first) = known.insert(fold(&entry.key), &entry.key) {
                return Err(
                    Fault::new(entry.at, format!("`{}` is given twice", entry.key)).help(format!(
                        "`-` and `_` are the same in keys: above it is `{first}`"
                    )),
                );
            }
        }
        Ok(Table(entries))
    }

    /// Parses a whole file.
    pub(crate) fn parse(source: &str, text: usize) -> Fallible<Table> {
        match DeTable::parse(source) {
            Ok(table) => Table::from_toml(table.get_ref(), text),
            Err(error) => {
                let message = error.message().trim().replace('\n', ", ");
                let span = error.span().unwrap_or(0..0);
                Err(Fault::new(
                    At {
                        text,
                        start: span.start,
                        end: span.end,
                    },
                    format!("not valid TOML: {message}"),
                )
                .help("strings are written in quotes, lists in [ ], tables under [name]"))
            }
        }
    }
}

/// The items of a list of tables; a table that is written alone is a list of one.
pub(crate) fn tables(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

/// The tables of a list of the file; none where it is missing.
pub(crate) fn items<'a>(root: &'a Table, list: &str) -> &'a [Node] {
    root.get(list).map_or(&[], |entry| tables(&entry.node))
}

/// A value of the command line: a TOML scalar, or else the bare text.
pub(crate) fn bare(word: &str, at: At) -> Node {
    let parsed = DeValue::parse(word)
        .ok()
        .and_then(|v| Node::from_toml(v.get_ref(), 0..0, at.text).ok());
    let value = match parsed.map(|node| node.value) {
        Some(value @ (Value::Text(_) | Value::Integer(_) | Value::Float(..) | Value::Flag(_))) => {
            value
        }
        _ => Value::Text(word.to_owned()),
    };
    Node { value, at }
}

/// The tree as TOML text, for the manifest of a run whose scenario was changed on the command line.
pub(crate) fn render(table: &Table) -> String {
    let map = table
        .0
        .iter()
        .map(|e| (e.key.clone(), to_toml(&e.node)))
        .collect::<toml::Table>();
    map.to_string()
}

fn to_toml(node: &Node) -> toml::Value {
    match &node.value {
        Value::Text(text) | Value::Date(text) => toml::Value::String(text.clone()),
        Value::Integer(n) => i64::try_from(*n)
            .map_or_else(|_| toml::Value::String(n.to_string()), toml::Value::Integer),
        Value::Float(x, _) => toml::Value::Float(*x),
        Value::Own(own) => toml::Value::String(own.marker.written.clone()),
        Value::Flag(flag) => toml::Value::Boolean(*flag),
        Value::List(items) => toml::Value::Array(items.iter().map(to_toml).collect()),
        Value::Table(table) => toml::Value::Table(
            table
                .0
                .iter()
                .map(|e| (e.key.clone(), to_toml(&e.node)))
                .collect(),
        ),
    }
}
