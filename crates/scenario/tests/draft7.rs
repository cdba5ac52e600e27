// SPDX-License-Identifier: MIT OR Apache-2.0
//! A validator of JSON Schema, draft 7, for the keywords that the schema of scenarios has. It
//! refuses a schema with any other keyword, with a value of the wrong kind, or with a reference to
//! nothing.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Keywords for readers and editors, which allow everything.
const WORDS: [&str; 4] = ["$schema", "title", "description", "default"];
const KINDS: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];

/// What other properties than the named ones may be.
enum Others {
    Any,
    None,
    Like(Box<Schema>),
}

/// A schema, read.
pub struct Schema {
    /// Beside it draft 7 ignores everything.
    reference: Option<String>,
    kinds: Vec<String>,
    values: Option<Vec<Value>>,
    any_of: Vec<Schema>,
    pattern: Option<Regex>,
    range: [Option<f64>; 2],
    items: Option<Box<Schema>>,
    length: [Option<usize>; 2],
    properties: BTreeMap<String, Schema>,
    pattern_properties: Vec<(Regex, Schema)>,
    others: Others,
    required: Vec<String>,
    definitions: BTreeMap<String, Schema>,
}

impl Schema {
    /// Reads a whole schema.
    pub fn new(value: &Value) -> Schema {
        let schema = Schema::read(value);
        schema.check_references(&schema);
        schema
    }

    fn read(value: &Value) -> Schema {
        let map = value
            .as_object()
            .unwrap_or_else(|| panic!("no schema: {value}"));
        let mut schema = Schema {
            reference: map.get("$ref").map(text),
            kinds: match map.get("type") {
                Some(Value::Array(kinds)) => kinds.iter().map(text).collect(),
                kind => kind.map(text).into_iter().collect(),
            },
            values: map.get("enum").map(|values| list(values).to_vec()),
            any_of: all(map.get("anyOf")),
            pattern: map.get("pattern").map(|pattern| regex(&text(pattern))),
            range: ["minimum", "maximum"].map(|key| map.get(key).map(number)),
            items: map.get("items").map(|items| Schema::read(items).into()),
            length: ["minItems", "maxItems"].map(|key| map.get(key).map(whole)),
            properties: named(map.get("properties")),
            pattern_properties: named(map.get("patternProperties"))
                .into_iter()
                .map(|(pattern, schema)| (regex(&pattern), schema))
                .collect(),
            others: Others::Any,
            required: map
                .get("required")
                .map_or_else(Vec::new, |names| list(names).iter().map(text).collect()),
            definitions: named(map.get("definitions")),
        };
        match map.get("additionalProperties") {
            None | Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => schema.others = Others::None,
            Some(other) => schema.others = Others::Like(Schema::read(other).into()),
        }
        let known = [
            "$ref",
            "type",
            "enum",
            "anyOf",
            "pattern",
            "minimum",
            "maximum",
            "items",
            "minItems",
            "maxItems",
            "properties",
            "patternProperties",
            "additionalProperties",
            "required",
            "definitions",
        ];
        for (key, value) in map {
            let is_word = WORDS.contains(&key.as_str());
            assert!(is_word || known.contains(&key.as_str()), "keyword `{key}`");
            assert!(
                !is_word || key == "default" || value.is_string(),
                "{key}: {value}"
            );
        }
        let unknown = schema
            .kinds
            .iter()
            .find(|kind| !KINDS.contains(&kind.as_str()));
        assert_eq!(unknown, None, "type");
        assert!(
            !map.contains_key("anyOf") || !schema.any_of.is_empty(),
            "an empty anyOf"
        );
        assert!(
            schema.values.as_ref().is_none_or(|v| !v.is_empty()),
            "an empty enum"
        );
        schema
    }

    fn check_references(&self, top: &Schema) {
        let _ = self.target(top);
        let parts = self.any_of.iter().chain(self.items.as_deref());
        let parts = parts
            .chain(self.properties.values())
            .chain(self.definitions.values());
        let parts = parts.chain(self.pattern_properties.iter().map(|(_, schema)| schema));
        parts.for_each(|part| part.check_references(top));
        if let Others::Like(part) = &self.others {
            part.check_references(top);
        }
    }

    /// This schema, or the one that it refers to.
    fn target<'a>(&'a self, top: &'a Schema) -> &'a Schema {
        let Some(reference) = &self.reference else {
            return self;
        };
        let name = reference.strip_prefix("#/definitions/");
        let target = name.and_then(|name| top.definitions.get(name));
        target.unwrap_or_else(|| panic!("nothing is at {reference}"))
    }

    /// Mistakes of a document, each with its place.
    pub fn mistakes(&self, document: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.judge(self, document, "", &mut found);
        found
    }

    fn judge(&self, top: &Schema, value: &Value, place: &str, found: &mut Vec<String>) {
        if self.reference.is_some() {
            return self.target(top).judge(top, value, place, found);
        }
        let mut wrong = |is_wrong: bool, what: &str| {
            if is_wrong {
                found.push(format!("{place}: {value} {what}"));
            }
        };
        let kinds = &self.kinds;
        let is_kind = kinds.is_empty() || kinds.iter().any(|kind| is_a(kind, value));
        wrong(!is_kind, &format!("is no {}", kinds.join(" or ")));
        let is_listed = |values: &Vec<Value>| values.iter().any(|other| equal(other, value));
        wrong(
            !self.values.as_ref().is_none_or(is_listed),
            "is not in the list",
        );
        let fits = |schema: &Schema| {
            let mut found = Vec::new();
            schema.judge(top, value, place, &mut found);
            found.is_empty()
        };
        wrong(
            !self.any_of.is_empty() && !self.any_of.iter().any(fits),
            "fits no form",
        );
        if let Some(text) = value.as_str() {
            let matches = |pattern: &Regex| pattern.is_match(text);
            wrong(
                !self.pattern.as_ref().is_none_or(matches),
                "has another pattern",
            );
        }
        if let Some(x) = value.as_f64() {
            let [least, most] = self.range;
            wrong(least.is_some_and(|least| x < least), "is too small");
            wrong(most.is_some_and(|most| x > most), "is too large");
        }
        if let Some(items) = value.as_array() {
            let [least, most] = self.length;
            wrong(
                least.is_some_and(|least| items.len() < least),
                "is too short",
            );
            wrong(most.is_some_and(|most| items.len() > most), "is too long");
            if let Some(schema) = &self.items {
                for (i, item) in items.iter().enumerate() {
                    schema.judge(top, item, &format!("{place}/{i}"), found);
                }
            }
        }
        if let Some(map) = value.as_object() {
            self.judge_properties(top, map, place, found);
        }
    }

    fn judge_properties(
        &self,
        top: &Schema,
        map: &Map<String, Value>,
        place: &str,
        found: &mut Vec<String>,
    ) {
        for name in self.required.iter().filter(|name| !map.contains_key(*name)) {
            found.push(format!("{place}: `{name}` is missing"));
        }
        for (name, value) in map {
            let place = format!("{place}/{name}");
            let patterns = self.pattern_properties.iter();
            let patterns = patterns.filter(|(pattern, _)| pattern.is_match(name));
            let own = self.properties.get(name).into_iter();
            let own: Vec<&Schema> = own.chain(patterns.map(|(_, schema)| schema)).collect();
            for schema in &own {
                schema.judge(top, value, &place, found);
            }
            match &self.others {
                Others::None if own.is_empty() => found.push(format!("{place}: is not known")),
                Others::Like(schema) if own.is_empty() => schema.judge(top, value, &place, found),
                _ => {}
            }
        }
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        _ => value.as_f64().is_some_and(|x| x.fract() == 0.0),
    }
}

/// Numbers are the same by value: 0 is 0.0.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|x| b.as_f64() == Some(x))
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn whole(value: &Value) -> usize {
    let n = value
        .as_u64()
        .unwrap_or_else(|| panic!("no length: {value}"));
    n as usize
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

fn all(schemas: Option<&Value>) -> Vec<Schema> {
    schemas.map_or_else(Vec::new, |schemas| {
        list(schemas).iter().map(Schema::read).collect()
    })
}

fn named(schemas: Option<&Value>) -> BTreeMap<String, Schema> {
    let schemas = schemas.map(|map| map.as_object().unwrap_or_else(|| panic!("no table: {map}")));
    let each = schemas.into_iter().flatten();
    each.map(|(name, schema)| (name.clone(), Schema::read(schema)))
        .collect()
}

/// What it is asked for holds: each keyword allows one value and forbids another.
#[test]
fn every_keyword_forbids_something() {
    let schema = Schema::new(&serde_json::json!({
        "type": "object",
        "properties": {
            "kind": { "type": ["integer", "string"] },
            "word": { "enum": ["a", 0] },
            "any": { "anyOf": [{ "type": "null" }, { "pattern": "^x+$" }] },
            "range": { "minimum": 1, "maximum": 2.5 },
            "list": { "minItems": 1, "maxItems": 2, "items": { "type": "boolean" } },
            "same": { "$ref": "#/definitions/inner", "enum": ["ignored"] },
        },
        "patternProperties": { "^p[-_]q$": { "type": "array" } },
        "required": ["kind"],
        "additionalProperties": { "type": "number" },
        "definitions": {
            "inner": { "type": "object", "additionalProperties": false },
        },
    }));
    let judge = |text: &str| {
        schema
            .mistakes(&serde_json::from_str(text).expect("JSON"))
            .len()
    };
    for (good, bad) in [
        (r#"{"kind":1.0}"#, r#"{"kind":1.5}"#),
        (r#"{"kind":"x"}"#, r#"{"kind":[]}"#),
        (r#"{"kind":1,"word":0.0}"#, r#"{"kind":1,"word":"b"}"#),
        (r#"{"kind":1,"any":"xx"}"#, r#"{"kind":1,"any":"xy"}"#),
        (r#"{"kind":1,"range":1}"#, r#"{"kind":1,"range":0.9}"#),
        (r#"{"kind":1,"range":2.5}"#, r#"{"kind":1,"range":3}"#),
        (r#"{"kind":1,"list":[true]}"#, r#"{"kind":1,"list":[]}"#),
        (
            r#"{"kind":1,"list":[true,false]}"#,
            r#"{"kind":1,"list":[true,true,true]}"#,
        ),
        (r#"{"kind":1,"list":[true]}"#, r#"{"kind":1,"list":[1]}"#),
        (r#"{"kind":1,"same":{}}"#, r#"{"kind":1,"same":{"x":1}}"#),
        (r#"{"kind":1,"p_q":[]}"#, r#"{"kind":1,"p-q":3}"#),
        (r#"{"kind":1,"more":3}"#, r#"{"kind":1,"more":"3"}"#),
        (r#"{"kind":1}"#, "{}"),
        (r#"{"kind":1}"#, "[]"),
    ] {
        assert_eq!((judge(good), judge(bad)), (0, 1), "{good} {bad}");
    }
}

#[test]
fn a_schema_with_mistakes_is_refused() {
    for wrong in [
        r#"{"oneOf":[]}"#,
        r#"{"type":"text"}"#,
        r#"{"pattern":"("}"#,
        r##"{"$ref":"#/definitions/none"}"##,
        r#"{"items":{"minItems":-1}}"#,
        r#"{"properties":{"a":{"required":"a"}}}"#,
        r#"{"additionalProperties":{"anyOf":[]}}"#,
    ] {
        let value: Value = serde_json::from_str(wrong).expect("JSON");
        assert!(
            std::panic::catch_unwind(|| Schema::new(&value)).is_err(),
            "{wrong}"
        );
    }
}
