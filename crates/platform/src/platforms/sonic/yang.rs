// SPDX-License-Identifier: MIT OR Apache-2.0
//! CONFIG_DB as an instance document of SONiC's YANG models, for a validator.
//!
//! A model has a container of its own name with a container for each table, and in it lists whose
//! keys are the parts of a row's name between bars. The instance is XML: all values are text there,
//! as in CONFIG_DB. Only tables of marking, queues, classes and buffers are in it: other tables
//! have secrets.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::tables::{self, Row, Tables};
use crate::document::Document;

/// Leaves that refer to tables with secrets, which are not in the instance.
const TO_SECRETS: &[&str] = &["macsec"];
/// Name of a field whose own name XML cannot have: no model has a leaf of this name.
const ODD: &str = "field-with-an-odd-name";

/// Deepest nesting of statements that is read.
const DEEPEST: usize = 64;

/// A statement of a YANG module.
#[derive(Debug, Default)]
struct Statement {
    keyword: String,
    argument: String,
    below: Vec<Statement>,
}

impl Statement {
    fn all<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'a Statement> {
        self.below.iter().filter(move |s| s.keyword == keyword)
    }

    fn argument(&self, keyword: &str) -> Option<&str> {
        let found = self.below.iter().find(|s| s.keyword == keyword);
        found.map(|s| s.argument.as_str())
    }

    /// Keys of a list.
    fn keys(&self) -> Vec<&str> {
        let keys = self.argument("key").unwrap_or_default();
        keys.split_whitespace().collect()
    }
}

/// The tables of a database for a validator.
pub struct Instance {
    /// Name of the ASIC; empty for a whole switch.
    pub part: String,
    /// Names of the modules that declare the tables.
    pub modules: Vec<String>,
    /// The tables as XML.
    pub xml: String,
}

/// Models of a directory.
#[derive(Default)]
pub struct Models {
    /// Modules with the tables that they declare.
    modules: Vec<Statement>,
}

impl Models {
    /// Adds a module; a text that is no module, or declares no table, adds nothing.
    pub fn add(&mut self, text: &str) {
        let mut tokens = Tokens(text);
        if let Some(module) = statement(&mut tokens, 0)
            && module.keyword == "module"
            && module.argument("namespace").is_some()
        {
            self.modules.push(module);
        }
    }

    /// The databases of these files that have tables of the models.
    pub fn instances(&self, documents: &[&Document]) -> Vec<Instance> {
        let mut all = Vec::new();
        for (part, tables) in databases(documents) {
            let used = |module: &&Statement| declared(module).any(|t| tables.has(&t.argument));
            let modules = self.modules.iter().filter(used);
            let modules: Vec<String> = modules.map(|module| module.argument.clone()).collect();
            if !modules.is_empty() {
                all.push(Instance {
                    xml: self.instance(&tables),
                    part,
                    modules,
                });
            }
        }
        all
    }

    fn instance(&self, tables: &Tables) -> String {
        let mut out = String::new();
        for module in &self.modules {
            let mut body = String::new();
            for table in declared(module) {
                let rows = rows(table, tables);
                if !rows.is_empty() {
                    let _ = writeln!(body, "<{0}>{rows}</{0}>", table.argument);
                }
            }
            if !body.is_empty() {
                let space = module.argument("namespace").unwrap_or_default();
                let _ = writeln!(
                    out,
                    "<{0} xmlns=\"{1}\">{body}</{0}>",
                    module.argument,
                    escaped(space)
                );
            }
        }
        out
    }
}

/// Containers of tables that a module declares.
fn declared(module: &Statement) -> impl Iterator<Item = &Statement> {
    let named = |s: &&Statement| s.argument == module.argument;
    let top = module.all("container").find(named);
    top.into_iter().flat_map(|top| top.all("container"))
}

/// The databases of the files, by the name of the ASIC.
fn databases(documents: &[&Document]) -> BTreeMap<String, Tables> {
    let mut databases = BTreeMap::new();
    for (file, document) in documents.iter().enumerate() {
        if let Some(json) = document.json() {
            // A file with too many members was refused before.
            let _ = tables::add(&mut databases, file, json);
        }
    }
    databases
}

/// Rows of a table as entries of its lists, or a row that is a container of its own.
fn rows(table: &Statement, tables: &Tables) -> String {
    let mut out = String::new();
    for (name, row) in tables.rows(&table.argument) {
        let own = table.all("container").find(|s| s.argument == name);
        if let Some(own) = own {
            let _ = writeln!(out, "<{0}>{1}</{0}>", own.argument, fields(own, row));
            continue;
        }
        let parts: Vec<&str> = name.split('|').collect();
        let lists: Vec<&Statement> = table.all("list").collect();
        // Without a list of as many keys the row is given to the first list, which refuses it.
        let fits = lists.iter().find(|list| list.keys().len() == parts.len());
        let Some(list) = fits.or(lists.first()) else {
            continue;
        };
        let keys = list.keys();
        let mut entry = String::new();
        for (key, part) in keys.iter().zip(&parts) {
            let _ = write!(entry, "<{key}>{}</{key}>", escaped(part));
        }
        for (_, part) in parts.iter().enumerate().skip(keys.len()) {
            let _ = write!(entry, "<key>{}</key>", escaped(part));
        }
        entry += &fields(list, row);
        let _ = writeln!(out, "<{0}>{entry}</{0}>", list.argument);
    }
    out
}

/// Fields of a row: leaves, lists of leaves, or entries of a list within the list.
fn fields(of: &Statement, row: &Row) -> String {
    let mut out = String::new();
    for (name, text, _) in row.entries() {
        let inner = of.all("list").find(|list| list.keys().len() == 1);
        if let Some(list) = inner {
            let key = list.keys().concat();
            let leaf = list.all("leaf").map(|leaf| leaf.argument.as_str());
            let leaf = leaf.filter(|leaf| *leaf != key).last().unwrap_or_default();
            let _ = write!(
                out,
                "<{0}><{key}>{1}</{key}><{leaf}>{2}</{leaf}></{0}>",
                list.argument,
                escaped(name),
                escaped(text)
            );
            continue;
        }
        let many = of.all("leaf-list").any(|leaf| leaf.argument == name);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if TO_SECRETS.contains(&name) {
            continue;
        }
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
            let _ = write!(out, "<{ODD}>{}</{ODD}>", escaped(name));
            continue;
        }
        let words = text.split(',').map(str::trim);
        let values: Vec<&str> = match many {
            true => words.filter(|word| !word.is_empty()).collect(),
            false => vec![text],
        };
        for value in values {
            let _ = write!(out, "<{name}>{}</{name}>", escaped(value));
        }
    }
    out
}

/// Text of XML. Control characters, which XML cannot have, are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Words, strings and marks of a module that are left to read.
struct Tokens<'a>(&'a str);

impl Tokens<'_> {
    /// The next token: a word or the text of a string, or one of `{`, `}`, `;`, `+`.
    fn next(&mut self) -> Option<(String, bool)> {
        loop {
            self.0 = self.0.trim_start();
            if let Some(rest) = self.0.strip_prefix("//") {
                self.0 = rest.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(rest) = self.0.strip_prefix("/*") {
                self.0 = rest.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                break;
            }
        }
        let first = self.0.chars().next()?;
        if "{};+".contains(first) {
            self.0 = &self.0[1..];
            return Some((first.to_string(), true));
        }
        if first == '"' || first == '\'' {
            let mut text = String::new();
            let mut rest = self.0.char_indices().skip(1);
            while let Some((at, c)) = rest.next() {
                match c {
                    _ if c == first => {
                        self.0 = &self.0[at + 1..];
                        return Some((text, false));
                    }
                    '\\' if first == '"' => text.extend(rest.next().map(|(_, c)| c)),
                    c => text.push(c),
                }
            }
            self.0 = "";
            return None;
        }
        let end = self
            .0
            .find(|c: char| c.is_whitespace() || "{};\"'".contains(c));
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        Some((word.to_owned(), false))
    }
}

/// The next statement; none at the end of a block or where the text is no YANG.
fn statement(tokens: &mut Tokens<'_>, depth: usize) -> Option<Statement> {
    let (keyword, mark) = tokens.next()?;
    if mark || depth > DEEPEST {
        return None;
    }
    let mut made = Statement {
        keyword,
        ..Statement::default()
    };
    loop {
        match tokens.next()? {
            (mark, true) if mark == ";" => return Some(made),
            (mark, true) if mark == "{" => {
                while let Some(below) = statement(tokens, depth + 1) {
                    made.below.push(below);
                }
                return Some(made);
            }
            (mark, true) if mark == "+" => {}
            (_, true) => return None,
            (text, false) => made.argument += &text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Models;
    use crate::document::Document;

    /// A model in the shape of SONiC's.
    const QUEUE: &str = r#"
        module sonic-queue {
            namespace "http://example.org/" + "sonic-queue"; prefix queue;
            // A comment with } in it.
            container sonic-queue {
                container QUEUE {
                    list QUEUE_LIST {
                        key "ifname qindex";
                        leaf ifname { type string; }
                        leaf qindex { type string; }
                        leaf wred_profile { type string { pattern '[a-z{}]+'; } }
                    }
                    list VOQ_QUEUE_LIST {
                        key "hostname asic_name ifname qindex";
                    }
                }
                container DSCP_TO_TC_MAP {
                    list DSCP_TO_TC_MAP_LIST {
                        key "name";
                        leaf name { type string; }
                        list DSCP_TO_TC_MAP {
                            key "dscp";
                            leaf dscp { type string; }
                            leaf tc { type string; }
                        }
                    }
                }
            }
        }"#;

    #[test]
    fn rows_become_entries_of_the_list_with_as_many_keys() {
        let mut models = Models::default();
        models.add(QUEUE);
        models.add("no module");
        let text = r#"{"QUEUE": {"Ethernet0|3": {"wred_profile": "A&B"}, "h|a|p|4": {}},
                       "DSCP_TO_TC_MAP": {"AZURE": {"26": "3"}},
                       "SNMP_COMMUNITY": {"hunter2": {"TYPE": "RO"}}}"#;
        let document = Document::of(text).expect("JSON");
        let instance = &models.instances(&[&document])[0];
        let xml = &instance.xml;
        for part in [
            "<sonic-queue xmlns=\"http://example.org/sonic-queue\">",
            "<QUEUE_LIST><ifname>Ethernet0</ifname><qindex>3</qindex>\
             <wred_profile>A&amp;B</wred_profile></QUEUE_LIST>",
            "<VOQ_QUEUE_LIST><hostname>h</hostname>",
            "<DSCP_TO_TC_MAP_LIST><name>AZURE</name><DSCP_TO_TC_MAP><dscp>26</dscp><tc>3</tc>",
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
        assert!(!xml.contains("hunter2"));
        assert_eq!(instance.modules, ["sonic-queue"]);
        let asics = r#"{"asic0": {"QUEUE": {"p|0": {}}}, "asic1": {"QUEUE": {"q|1": {}}}}"#;
        let asics = Document::of(asics).expect("JSON");
        let parts = models.instances(&[&asics]);
        let named: Vec<&str> = parts.iter().map(|one| one.part.as_str()).collect();
        assert_eq!(named, ["asic0", "asic1"]);
        assert!(
            parts[1].xml.contains("<ifname>q</ifname>"),
            "{}",
            parts[1].xml
        );
    }
}
