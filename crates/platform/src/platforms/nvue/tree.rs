// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tree of an NVUE configuration: of `nv set` commands, of the list that `nv config show -o
//! json` writes, or of the tree itself. A value is a child without children.

use std::collections::BTreeMap;

use cemark_formats::{Fallible, Fault};

use crate::place::Place;
use crate::text::json::{Json, Value};
use crate::text::ranges;

/// Longest name of a section that is listed.
const LONGEST: usize = 48;
/// Most nodes of a tree.
const MOST: usize = 1 << 20;

/// A node by the path that leads to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub place: Place,
    pub children: BTreeMap<String, Node>,
}

impl Node {
    /// The node below these names.
    pub fn path(&self, names: &[&str]) -> Option<&Node> {
        names
            .iter()
            .try_fold(self, |node, name| node.children.get(*name))
    }

    /// The value of the leaf below these names, with its place.
    pub fn value(&self, names: &[&str]) -> Option<(&str, &Place)> {
        let (value, node) = self.path(names)?.children.last_key_value()?;
        Some((value, &node.place))
    }

    /// Whether the leaf below these names is one of the words that mean on.
    pub fn is_on(&self, names: &[&str]) -> bool {
        let on = ["on", "enable", "enabled", "true"];
        self.value(names)
            .is_some_and(|(value, _)| on.contains(&value))
    }

    /// Children below these names, by name.
    pub fn below(&self, names: &[&str]) -> impl Iterator<Item = (&str, &Node)> {
        let children = self.path(names).into_iter().flat_map(|node| &node.children);
        children.map(|(name, node)| (name.as_str(), node))
    }
}

/// A tree while it is read.
#[derive(Default)]
pub(super) struct Tree {
    pub root: Node,
    pub unread: BTreeMap<String, usize>,
    nodes: usize,
}

impl Tree {
    /// Adds a file of commands. `nv unset` removes what is below its path.
    pub fn commands(&mut self, file: usize, text: &str) -> Fallible<()> {
        for (row, line) in text.lines().zip(1_u32..) {
            // A prompt before the command: `cumulus@switch:~$ nv set …`.
            let Some(at) = row.find("nv set ").or_else(|| row.find("nv unset ")) else {
                continue;
            };
            let mut words = row[at..].split_whitespace().skip(1);
            let verb = words.next();
            let words: Vec<&str> = words.collect();
            if !self.is_read(&words) {
                continue;
            }
            match verb {
                Some("set") => self.insert(file, line, &words)?,
                _ => remove(&mut self.root, &words, &mut Vec::new()),
            }
        }
        Ok(())
    }

    /// Adds a JSON document.
    pub fn json(&mut self, file: usize, json: &Json) -> Fallible<()> {
        let list = json.elements();
        for item in list {
            if let Some(set) = item.get("set") {
                self.object(file, set, &mut Vec::new())?;
            }
        }
        let tree = json.get("set").unwrap_or(json);
        match list.is_empty() {
            true => self.object(file, tree, &mut Vec::new()),
            false => Ok(()),
        }
    }

    /// Whether a path is in a section that is read; other sections are counted by their names.
    fn is_read(&mut self, words: &[&str]) -> bool {
        let first = words.first().copied().unwrap_or_default();
        let read = first == "qos" || first == "interface";
        let beside = ["header", "patch", ""].contains(&first);
        if !read && !beside {
            let name: String = first.chars().take(LONGEST).collect();
            *self.unread.entry(name).or_default() += 1;
        }
        read
    }

    fn object(&mut self, file: usize, json: &Json, path: &mut Vec<String>) -> Fallible<()> {
        let leaf = match &json.value {
            Value::Table(members) => {
                for member in members {
                    if path.is_empty() && !self.is_read(&[&member.name]) {
                        continue;
                    }
                    // Of an interface only its classes, rate and MTU are read.
                    let beside = path.len() == 2 && path[0] == "interface";
                    if beside && !["qos", "link"].contains(&member.name.as_str()) {
                        continue;
                    }
                    path.push(member.name.clone());
                    match member.json.members().is_empty() && member.json.word().is_none() {
                        // An empty object is a node of its own.
                        true if matches!(member.json.value, Value::Table(_)) => {
                            let words: Vec<&str> = path.iter().map(String::as_str).collect();
                            self.insert(file, member.line, &words)?;
                        }
                        _ => self.object(file, &member.json, path)?,
                    }
                    path.pop();
                }
                return Ok(());
            }
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::Bool(on) => on.to_string(),
            Value::Null | Value::List(_) => return Ok(()),
        };
        let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
        words.push(&leaf);
        self.insert(file, json.line, &words)
    }

    /// Adds a path, for every member of the lists in it.
    fn insert(&mut self, file: usize, line: u32, words: &[&str]) -> Fallible<()> {
        if words.first() == Some(&"interface") && !matches!(words.get(2), Some(&("qos" | "link"))) {
            return Ok(());
        }
        add(
            &mut self.root,
            file,
            line,
            words,
            &mut Vec::new(),
            &mut self.nodes,
        );
        match self.nodes > MOST {
            true => Err(Fault::at(
                line as usize,
                format!("the file has more than {MOST} settings"),
                "name the configuration of one switch",
            )),
            false => Ok(()),
        }
    }
}

/// The members of a word that may be a list, by the word before it.
fn members(before: Option<&&str>, word: &str) -> Vec<String> {
    let numbers = ["traffic-class", "switch-priority", "dscp", "pcp"];
    match before {
        Some(&"interface") => ranges::names(word),
        Some(before) if numbers.contains(before) => match ranges::numbers(word, 255) {
            Some(all) if !all.is_empty() => all.iter().map(u64::to_string).collect(),
            _ => vec![word.to_owned()],
        },
        _ => vec![word.to_owned()],
    }
}

fn add<'a>(
    node: &mut Node,
    file: usize,
    line: u32,
    words: &[&'a str],
    before: &mut Vec<&'a str>,
    nodes: &mut usize,
) {
    let Some((word, rest)) = words.split_first() else {
        return;
    };
    for name in members(before.last(), word) {
        if *nodes > MOST {
            return;
        }
        // A value replaces the value before it.
        if rest.is_empty()
            && node
                .children
                .values()
                .all(|child| child.children.is_empty())
            && !LISTS.contains(before.last().unwrap_or(&""))
        {
            *nodes -= node.children.len();
            node.children.clear();
        }
        let path = match node.place.path.is_empty() {
            true => name.clone(),
            false => format!("{} {name}", node.place.path),
        };
        let child = node.children.entry(name).or_insert_with(|| {
            *nodes += 1;
            Node::default()
        });
        child.place = Place::new(file, line, path);
        before.push(word);
        add(child, file, line, rest, before, nodes);
        before.pop();
    }
}

/// Names below which several members stand beside each other.
const LISTS: [&str; 6] = [
    "switch-priority",
    "traffic-class",
    "dscp",
    "pcp",
    "interface",
    "qos",
];

fn remove<'a>(node: &mut Node, words: &[&'a str], before: &mut Vec<&'a str>) {
    let Some((word, rest)) = words.split_first() else {
        return;
    };
    for name in members(before.last(), word) {
        if rest.is_empty() {
            node.children.remove(&name);
        } else if let Some(child) = node.children.get_mut(&name) {
            before.push(word);
            remove(child, rest, before);
            before.pop();
        }
    }
}
