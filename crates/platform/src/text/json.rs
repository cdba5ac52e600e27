// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON with the line of every value.

use cemark_formats::{Fallible, Fault};
use jsonc_parser::ast::{ObjectPropName, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// RFC 8259 and nothing more.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Json {
    pub line: u32,
    pub value: Value,
}

/// A JSON value. Numbers keep their text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Table(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub name: String,
    pub line: u32,
    pub json: Json,
}

impl Json {
    /// Reads a document. Messages name a place and quote nothing: a configuration has secrets.
    pub fn read(text: &str) -> Fallible<Json> {
        let lines = Lines::of(text);
        let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|e| {
            Fault::at(
                lines.at(e.range().start) as usize,
                format!("this is no JSON: {}", e.kind()),
                "name a file that the switch wrote, or mend this line",
            )
        })?;
        match parsed.value {
            Some(value) => Ok(lines.json(value)),
            None => Err(Fault::whole(
                "the file is empty",
                "name a file that the switch wrote",
            )),
        }
    }

    /// The member of an object; of several with a name, the last counts, as everywhere.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let found = self.members().iter().rev().find(|m| m.name == name);
        found.map(|member| &member.json)
    }

    /// A value below objects.
    pub fn path(&self, names: &[&str]) -> Option<&Json> {
        names.iter().try_fold(self, |json, name| json.get(name))
    }

    /// Members of an object; of another value none.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    /// Elements of an array; of another value none.
    pub fn elements(&self) -> &[Json] {
        match &self.value {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// A string, or a number as it is written.
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) | Value::Number(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, also in a string.
    pub fn count(&self) -> Option<u64> {
        self.word()?.parse().ok()
    }

    /// A finite number, also in a string.
    pub fn number(&self) -> Option<f64> {
        let number: f64 = self.word()?.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// A truth value, also in a string.
    pub fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Bool(truth) => Some(*truth),
            Value::Text(text) => match text.as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

/// First bytes of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(ends.map(|(at, _)| at).collect())
    }

    /// The line of a byte, counted from one.
    fn at(&self, byte: usize) -> u32 {
        let before = self.0.partition_point(|end| *end < byte);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    /// Depth of the recursion is bounded by the parser.
    fn json(&self, ast: Ast<'_>) -> Json {
        let line = self.at(ast.start());
        let value = match ast {
            Ast::NullKeyword(_) => Value::Null,
            Ast::BooleanLit(lit) => Value::Bool(lit.value),
            Ast::NumberLit(lit) => Value::Number(lit.value.to_owned()),
            Ast::StringLit(lit) => Value::Text(lit.value.into_owned()),
            Ast::Array(array) => {
                Value::List(array.elements.into_iter().map(|v| self.json(v)).collect())
            }
            Ast::Object(object) => {
                let members = object.properties.into_iter().map(|property| Member {
                    line: self.at(property.range.start),
                    name: match property.name {
                        ObjectPropName::String(lit) => lit.value.into_owned(),
                        ObjectPropName::Word(lit) => lit.value.to_owned(),
                    },
                    json: self.json(property.value),
                });
                Value::Table(members.collect())
            }
        };
        Json { line, value }
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, Value};

    #[test]
    fn values_know_their_lines() {
        let json =
            Json::read("{\n \"a\": {\n  \"b\": \"12\",\n  \"c\": [1,\n 2.5]}}").expect("JSON");
        let b = json.path(&["a", "b"]).expect("b");
        assert_eq!((b.line, b.count()), (3, Some(12)));
        let c = json.path(&["a", "c"]).expect("c").elements();
        assert_eq!((c[1].line, c[1].number()), (5, Some(2.5)));
        assert_eq!(json.path(&["a"]).expect("a").members()[1].line, 4);
        assert_eq!(Json::read("null").map(|j| j.value), Ok(Value::Null));
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_line_and_without_its_text() {
        for text in [
            "{\"key\": hunter2}",
            "{\"key\": \"hunter2}",
            "{\"key\": \"hunter2\",}",
            "{'key': 1}",
            "[1 2]",
            "[hunter2]",
            "{\"k\": \"\\hunter2\"}",
            "",
            "  \n",
            "{} hunter2",
            "// hunter2\n{}",
        ] {
            let fault = Json::read(text).expect_err(text);
            let said = format!("{fault}{}", fault.help);
            assert!(!said.contains("hunter2"), "{text}: {said}");
        }
        let second = Json::read("{\n\"a\": tru}").expect_err("no JSON");
        assert_eq!(second.line, Some(2));
    }

    #[test]
    fn deep_nesting_is_refused() {
        for open in ["[", "{\"a\":"] {
            assert!(Json::read(&open.repeat(200_000)).is_err());
        }
    }
}
