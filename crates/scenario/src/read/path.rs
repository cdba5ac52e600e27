// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths such as `workload.load` and `scheme.k`, by which sweeps and `--set` change a scenario.

use std::collections::BTreeSet;

use cemark_marking::ParamSpec;

use crate::error::{At, Fallible, Fault, fold, near, near_of_many};
use crate::markers::{SCHEME, label_of, spec_of};
use crate::sections::{self, Form, SectionSpec};
use crate::top::TOP;
use crate::tree::{Entry, Node, Table, Value, items};

/// Puts `node` where `path` points; `at` is where the path is written.
///
/// In a list of tables the second word selects by number (`workload.0.load`), name, label or
/// marker, or `*` all that have the key; without it a single workload is meant, and for `scheme`
/// every scheme that has the parameter.
pub(crate) fn set(root: &mut Table, path: &str, at: At, node: &Node) -> Fallible<()> {
    let words: Vec<&str> = path.split('.').map(str::trim).collect();
    if words.iter().any(|w| w.is_empty()) {
        // `scheme.ECN.`: the wrong label matters more than the dot at the end.
        if let [list, label, ""] = words.as_slice()
            && fold(list) == SCHEME.name
        {
            chosen(items(root, SCHEME.name), SCHEME.name, &[label, "KEY"], at)?;
        }
        return Err(Fault::new(at, format!("`{path}` is not a path"))
            .help("write a section and a key, such as workload.load or scheme.ECN#.pst_target"));
    }
    let head = fold(words[0]);
    let top = TOP.keys().find(|key| fold(key.name) == head);
    let list = section(&head, Form::List);
    let table = section(&head, Form::Table);
    match (&words[1..], top, list, table) {
        ([], Some(key), ..) => {
            root.put(key.name, node.clone());
            Ok(())
        }
        ([], _, None, None) => Err(Fault::new(
            at,
            format!("`{path}` is neither a section with a key nor a key of the top"),
        )
        .help(format!(
            "write the section in front, such as workload.load or switch.buffer; {}",
            near(words[0], beginnings())
        ))),
        ([], ..) => Err(Fault::new(at, format!("`{path}` is a section, not a key"))
            .help(format!("add a key: {}.KEY", words[0]))),
        (rest, _, Some(list), _) => set_in_list(root, list.name, rest, at, node),
        (rest, _, _, Some(section)) => {
            if root.get(section.name).is_none() {
                let empty = Value::Table(Table::default());
                root.put(section.name, Node { value: empty, at });
            }
            match root.get_mut(section.name) {
                Some(entry) => set_in(&mut entry.node, rest, at, node),
                None => Ok(()),
            }
        }
        _ => Err(Fault::new(at, format!("`{}` is not a section", words[0]))
            .help(near(words[0], beginnings()))),
    }
}

/// The section of this name that paths lead into.
fn section(name: &str, form: Form) -> Option<&'static SectionSpec> {
    sections::by_path(form).find(|spec| fold(spec.name) == name)
}

/// The words that a path may begin with.
fn beginnings() -> impl Iterator<Item = &'static str> {
    let tables = sections::by_path(Form::Table).chain(sections::by_path(Form::List));
    let tables = tables.map(|spec| spec.name);
    tables.chain(TOP.keys().map(|key| key.name))
}

fn set_in_list(root: &mut Table, list: &str, rest: &[&str], at: At, node: &Node) -> Fallible<()> {
    let missing = || Fault::new(at, format!("there is no [[{list}]] to change"));
    let entry = root.get_mut(list).ok_or_else(missing)?;
    let items: &mut [Node] = match &mut entry.node {
        Node {
            value: Value::List(items),
            ..
        } => items,
        single => std::slice::from_mut(single),
    };
    if let ["*", inner @ ..] = rest
        && let [key, ..] = inner
    {
        let has = |item: &&mut Node| matches!(&item.value, Value::Table(t) if t.get(key).is_some());
        let mut none = true;
        for item in items.iter_mut().filter(has) {
            set_in(item, inner, at, node)?;
            none = false;
        }
        if none {
            return Err(
                Fault::new(at, format!("no [[{list}]] of this file has `{key}`"))
                    .help(format!("write {key} into those that should follow")),
            );
        }
        return Ok(());
    }
    let (chosen, rest) = chosen(items, list, rest, at)?;
    chosen
        .into_iter()
        .try_for_each(|i| set_in(&mut items[i], rest, at, node))
}

/// The items of a list that a path without `*` changes, and what is left of the path inside of
/// them.
fn chosen<'a>(
    items: &[Node],
    list: &str,
    rest: &'a [&'a str],
    at: At,
) -> Fallible<(Vec<usize>, &'a [&'a str])> {
    // A label may have dots itself.
    let named = |n: usize| Some((selected(items, &rest[..n].join("."))?, &rest[n..]));
    if let Some((i, inner)) = (1..rest.len()).rev().find_map(named) {
        return Ok((vec![i], inner));
    }
    let chosen: Vec<usize> = match list {
        "scheme" => (0..items.len())
            .filter(|&i| concerns(&items[i], rest))
            .collect(),
        _ => (0..items.len()).collect(),
    };
    match (list, chosen.len()) {
        (_, 0) => Err(no_scheme(items, rest, at)),
        ("workload", 2..) => Err(
            Fault::new(at, "there are several workloads: say which").help(format!(
                "write workload.0.{0} for the first, workload.NAME.{0}, or workload.*.{0} for all \
                 that have it",
                rest.join(".")
            )),
        ),
        _ => Ok((chosen, rest)),
    }
}

/// The mistake of a path into `scheme` that no scheme fits.
fn no_scheme(items: &[Node], rest: &[&str], at: At) -> Box<Fault> {
    let word = rest[0];
    let labels = items.iter().filter_map(label_of);
    if rest.len() > 1 {
        let what = match word.parse::<usize>() {
            Ok(n) => format!("there is no scheme number {n}, they are numbered from 0"),
            Err(_) => format!("no scheme is labelled `{word}`"),
        };
        return Fault::new(at, what).help(near(word, labels).replacen("known: ", "labels: ", 1));
    }
    if selected(items, word).is_some() {
        let message = format!("`{word}` is a scheme, not a parameter");
        return Fault::new(at, message).help(format!("add the key: scheme.{word}.KEY"));
    }
    let params = items.iter().filter_map(spec_of);
    let params = params.flat_map(|spec| spec.params.iter().map(|p| p.name));
    let labels = near(word, labels).replacen("known: ", "labels: ", 1);
    let list = "`cemark schemes NAME` lists the parameters of a scheme";
    let params = near_of_many(word, params, list);
    Fault::new(
        at,
        format!("no scheme of this file has a label or a parameter `{word}`"),
    )
    .help(format!("{params}; {labels}"))
}

/// Every place that a path changes, under one name for each: two paths that share one set the same
/// key. A path that leads nowhere is its own place; whoever follows it says what is wrong.
pub(crate) fn places(root: &Table, path: &str) -> BTreeSet<String> {
    let words: Vec<&str> = path.split('.').map(str::trim).collect();
    let head = fold(words[0]);
    let name = |words: &[&str]| {
        let number = |word: &&str| match word.parse::<usize>() {
            Ok(n) => n.to_string(),
            Err(_) => fold(word),
        };
        words.iter().map(number).collect::<Vec<_>>().join(".")
    };
    let items = items(root, &head);
    let found = match &words[1..] {
        _ if section(&head, Form::List).is_none() => None,
        ["*", inner @ ..] if !inner.is_empty() => {
            let has =
                |item: &Node| matches!(&item.value, Value::Table(t) if t.get(inner[0]).is_some());
            Some((
                (0..items.len()).filter(|&i| has(&items[i])).collect(),
                inner,
            ))
        }
        [] => None,
        rest => chosen(items, &head, rest, At::default()).ok(),
    };
    match found {
        Some((items, rest)) => {
            let inner = name(rest);
            items
                .iter()
                .map(|i| format!("{head}.{i}.{inner}"))
                .collect()
        }
        None => BTreeSet::from([name(&words)]),
    }
}

/// Whether a path without selector means this scheme: every scheme has the sections and keys of any
/// scheme, and some have the parameter.
fn concerns(item: &Node, rest: &[&str]) -> bool {
    let name = fold(rest[0]);
    let mut of_all = sections::per_scheme().chain(SCHEME.own_keys().map(|key| key.name));
    let param = |p: &ParamSpec| fold(p.name) == name;
    of_all.any(|key| fold(key) == name)
        || spec_of(item).is_some_and(|spec| spec.params.iter().any(param))
}

/// The item that a number, name, label or marker selects.
fn selected(items: &[Node], selector: &str) -> Option<usize> {
    if let Ok(i) = selector.parse::<usize>() {
        return (i < items.len()).then_some(i);
    }
    let called = |item: &Node, key: &str| match &item.value {
        Value::Table(table) => {
            let value = table.get(key).map(|entry| &entry.node.value);
            match value {
                Some(Value::Text(text)) => fold(text) == fold(selector),
                Some(Value::Own(own)) => {
                    let names = [&own.marker.written, &own.marker.name];
                    names.iter().any(|name| fold(name) == fold(selector))
                }
                _ => false,
            }
        }
        _ => false,
    };
    // What a scheme without a label is called in every table, too.
    let shown = |item: &Node| label_of(item).is_some_and(|label| fold(label) == fold(selector));
    let by = |key: &str| items.iter().position(|item| called(item, key));
    by("name")
        .or_else(|| by("label"))
        .or_else(|| items.iter().position(shown))
        .or_else(|| by("marker"))
}

fn set_in(inside: &mut Node, rest: &[&str], at: At, node: &Node) -> Fallible<()> {
    let [key, deeper @ ..] = rest else {
        return Ok(());
    };
    match &mut inside.value {
        Value::Table(table) if deeper.is_empty() => {
            match table.get_mut(key) {
                Some(entry) => entry.node = node.clone(),
                None => table.0.push(Entry {
                    key: (*key).to_owned(),
                    at,
                    node: node.clone(),
                }),
            }
            Ok(())
        }
        Value::Table(table) => {
            if table.get(key).is_none() {
                table.0.push(Entry {
                    key: (*key).to_owned(),
                    at,
                    node: Node {
                        value: Value::Table(Table::default()),
                        at,
                    },
                });
            }
            match table.get_mut(key) {
                Some(entry) => set_in(&mut entry.node, deeper, at, node),
                None => Ok(()),
            }
        }
        Value::List(items) => match selected(items, key).and_then(|i| items.get_mut(i)) {
            Some(item) if deeper.is_empty() => {
                *item = node.clone();
                Ok(())
            }
            Some(item) => set_in(item, deeper, at, node),
            None => Err(Fault::new(
                at,
                format!("`{key}` does not select one of {} items", items.len()),
            )
            .help("write its number, from 0, or its name")),
        },
        _ => Err(Fault::new(
            at,
            format!("there is no key `{key}` in {}", inside.kind()),
        )),
    }
}

/// The scalar at a path, with the same rules; `None` where there is none or several differ.
pub(crate) fn get<'a>(root: &'a Table, path: &str) -> Option<&'a Node> {
    let mut words = path.split('.').map(str::trim);
    let mut node = &root.get(words.next()?)?.node;
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        node = match &node.value {
            Value::Table(table) => &table.get(word)?.node,
            Value::List(items) if word == "*" => {
                let key = words.peek()?;
                items
                    .iter()
                    .find(|item| matches!(&item.value, Value::Table(t) if t.get(key).is_some()))?
            }
            Value::List(items) => match selected(items, word) {
                Some(i) if words.peek().is_some() => &items[i],
                _ if items.len() == 1 => match &items[0].value {
                    Value::Table(table) => &table.get(word)?.node,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
    }
    Some(node)
}
