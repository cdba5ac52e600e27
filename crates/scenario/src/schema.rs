// SPDX-License-Identifier: MIT OR Apache-2.0
//! A JSON schema of scenario files for editors, from the declarations of the keys.

use cemark_marking::catalogue;
use cemark_param::Kind;
use serde_json::{Map, Value, json};

use crate::full::FULL;
use crate::key::{KeySpec, Shape, Usual};
use crate::markers::MARKER;
use crate::reference::values;
use crate::sections::{ALL, Form, SectionSpec, per_scheme};
use crate::sweep::SWEEP;
use crate::tree::{self, bare};
use crate::units::{CELLS, LENGTHS, RATES, TIMES, Units};

/// The JSON schema (draft 7) of a scenario file.
///
/// It completes and explains keys and finds most mistakes while one types; `cemark check` finds
/// all.
/// The schema knows one spelling of each word, the one of the documents.
pub fn json_schema() -> Value {
    let mut top = Map::new();
    let mut definitions = Map::new();
    for spec in ALL {
        if spec.form == Form::Top {
            top.extend(properties(spec));
            continue;
        }
        let section = match spec.name {
            name if name == SWEEP.name => sweep(),
            name if name == FULL.name => full(),
            _ => section(spec),
        };
        definitions.insert(spec.name.to_owned(), section);
        let this = json!({ "$ref": format!("#/definitions/{}", spec.name) });
        match spec.form {
            Form::Table => top.insert(spec.name.to_owned(), this),
            Form::List if !spec.name.contains('.') => {
                let list = json!({ "type": "array", "items": this });
                top.insert(spec.name.to_owned(), json!({ "anyOf": [list, this] }))
            }
            _ => None,
        };
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A cemark scenario",
        "type": "object",
        "patternProperties": other_spellings(&top),
        "properties": top,
        "additionalProperties": false,
        "definitions": definitions,
    })
}

fn section(spec: &SectionSpec) -> Value {
    let mut properties = properties(spec);
    if spec.name == crate::markers::SCHEME.name {
        let names = catalogue::ALL
            .iter()
            .flat_map(|s| [s.name].into_iter().chain(s.aliases.iter().copied()));
        let names: Vec<&str> = names.chain([crate::markers::NONE]).collect();
        let own = json!({ "type": "string", "pattern": "^(c|bpf|python):." });
        let marker = &mut properties[MARKER.spec.name];
        marker["anyOf"] = json!([{ "enum": names }, own]);
        for name in per_scheme() {
            let this = json!({ "$ref": format!("#/definitions/{name}") });
            properties.insert(name.to_owned(), this);
        }
    }
    // Tables may get a key from a sweep or the command line; lists hardly ever do.
    let needed = |key: &KeySpec| key.is_needed() && key.only.is_empty();
    let required: Vec<&str> = match spec.form {
        Form::Table => Vec::new(),
        _ => spec.keys().filter(needed).map(|key| key.name).collect(),
    };
    json!({
        "type": "object",
        "description": spec.doc,
        "patternProperties": other_spellings(&properties),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Paths and lists of values, or tables of them where a path is not quoted.
fn sweep() -> Value {
    json!({
        "type": "object",
        "description": SWEEP.doc,
        "additionalProperties": {
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "$ref": "#/definitions/sweep" },
            ],
        },
    })
}

/// Paths and values, or tables of them where a path is not quoted.
fn full() -> Value {
    json!({
        "type": "object",
        "description": sentence(FULL.doc),
        "additionalProperties": true,
    })
}

/// Properties by name; a name that several kinds have allows the values of each. Kinds that share a
/// declaration are named together.
fn properties(spec: &SectionSpec) -> Map<String, Value> {
    let mut declared: Vec<(KeySpec, Vec<&str>)> = Vec::new();
    for key in spec.keys() {
        let same = |other: &KeySpec| other.name == key.name && other.doc == key.doc;
        match declared.iter_mut().find(|(other, _)| same(other)) {
            Some((_, kinds)) => kinds.extend(key.only),
            None => declared.push((key, key.only.to_vec())),
        }
    }
    let mut found: Vec<(&str, Vec<Value>)> = Vec::new();
    for (key, kinds) in declared {
        let schema = property(&key, &kinds);
        match found.iter_mut().find(|(name, _)| *name == key.name) {
            Some((_, all)) => all.push(schema),
            None => found.push((key.name, vec![schema])),
        }
    }
    let one = |(name, mut all): (&str, Vec<Value>)| {
        let schema = match all.len() {
            1 => all.remove(0),
            _ => json!({ "anyOf": all }),
        };
        (name.to_owned(), schema)
    };
    found.into_iter().map(one).collect()
}

/// `-` and `_` are the same in keys.
fn other_spellings(properties: &Map<String, Value>) -> Map<String, Value> {
    let dashed = properties
        .iter()
        .filter(|(name, _)| name.contains(['-', '_']));
    dashed
        .map(|(name, schema)| {
            let pattern = format!("^{}$", name.replace(['-', '_'], "[-_]"));
            (pattern, schema.clone())
        })
        .collect()
}

fn property(key: &KeySpec, kinds: &[&str]) -> Value {
    let mut schema = shape(&key.shape);
    let mut description = format!("{} ({}", sentence(key.doc), values(&key.shape));
    if !kinds.is_empty() {
        description += &format!("; for {}", kinds.join(", "));
    }
    schema["description"] = json!(description + ")");
    let fixed = matches!(key.usual, Usual::Is(_) | Usual::Param(_)) && !key.is_needed();
    if let Some(text) = key.example().filter(|_| fixed) {
        schema["default"] = to_json(&bare(&text, Default::default()).value);
    }
    schema
}

/// Editors show plain text.
fn sentence(doc: &str) -> String {
    doc.replace('`', "")
}

fn to_json(value: &tree::Value) -> Value {
    match value {
        tree::Value::Text(text) => json!(text),
        tree::Value::Integer(n) => i64::try_from(*n).map_or(Value::Null, |n| json!(n)),
        tree::Value::Float(x, _) => json!(x),
        tree::Value::Flag(flag) => json!(flag),
        _ => Value::Null,
    }
}

fn shape(shape: &Shape) -> Value {
    match *shape {
        Shape::Of(kind, min, max) => match kind {
            Kind::Time | Kind::Delay => quantity(&[&TIMES]),
            Kind::Rate => quantity(&[&RATES]),
            Kind::Bytes => quantity(&[&LENGTHS]),
            Kind::Host => json!({ "type": "integer", "minimum": min }),
            Kind::Count => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Kind::Fraction { .. } | Kind::Power => json!({ "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^ *[0-9.]+ *%? *$" },
            ] }),
            Kind::Thousandths => {
                let [min, max] = [min, max].map(|n| n as f64 / 1000.0);
                json!({ "type": "number", "minimum": min, "maximum": max })
            }
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Choice(words) => json!({ "enum": words }),
        },
        Shape::LengthOrTime => quantity(&[&LENGTHS, &TIMES]),
        Shape::Number(min, max) => json!({ "type": "number", "minimum": min, "maximum": max }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Choice(words) => json!({ "enum": words() }),
        Shape::Own(_, schema) => {
            serde_json::from_str(schema).expect("the schema of a key is valid JSON")
        }
    }
}

/// A number with one of these units, or zero.
fn quantity(units: &[&Units]) -> Value {
    let mut names: Vec<&str> = units
        .iter()
        .flat_map(|units| units.known.iter().map(|u| u.0))
        .collect();
    if units.iter().any(|units| std::ptr::eq(*units, &LENGTHS)) {
        names.extend(CELLS);
    }
    let pattern = format!("^ *[+]?[0-9_.]+ *({}) *$", names.join("|"));
    json!({ "anyOf": [
        { "type": "string", "pattern": pattern },
        { "enum": [0, "0"] },
    ] })
}
