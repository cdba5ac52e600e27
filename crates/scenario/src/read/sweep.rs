// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes: `[sweep]` of the file, changed and extended by `--set`.

use std::collections::BTreeSet;

use crate::error::{At, Fallible, Fault, Texts, fold};
use crate::path;
use crate::section::list;
use crate::sections::{Form, SectionSpec};
use crate::top;
use crate::tree::{Node, Table, Value, bare};

/// No table with more axes can be read.
const MOST_AXES: usize = 64;

pub(crate) static SWEEP: SectionSpec = SectionSpec::new(
    "sweep",
    Form::Table,
    &[],
    "Paths and the values that they take; all combinations run.",
)
.fixed();

/// A swept path and its values.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) path: String,
    pub(crate) at: At,
    pub(crate) values: Vec<Node>,
}

/// Takes `[sweep]` out of the tree.
pub(crate) fn axes(root: &mut Table) -> Fallible<Vec<Axis>> {
    let mut axes = Vec::new();
    if let Some(entry) = root.take("sweep") {
        let Value::Table(table) = &entry.node.value else {
            return Err(Fault::new(entry.node.at, "[sweep] is a table")
                .help("write [sweep] and under it \"workload.load\" = [0.5, 0.9]"));
        };
        let mut all = Vec::new();
        flatten(table, "", &mut all);
        for (path, at, node) in all {
            let values = list(&node).map_err(|f| f.help(format!("write \"{path}\" = [a, b]")))?;
            add(&mut axes, path, at, values.to_vec(), node.at)?;
        }
    }
    Ok(axes)
}

/// The paths of a table and what each has. Unquoted dots make nested tables in TOML:
/// `workload.load = [..]` is the same as `"workload.load" = [..]`.
pub(crate) fn flatten(table: &Table, prefix: &str, all: &mut Vec<(String, At, Node)>) {
    for entry in &table.0 {
        let path = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            Value::Table(inner) => flatten(inner, &format!("{path}."), all),
            _ => all.push((path, entry.at, entry.node.clone())),
        }
    }
}

pub(crate) fn add(
    axes: &mut Vec<Axis>,
    path: String,
    at: At,
    values: Vec<Node>,
    list_at: At,
) -> Fallible<()> {
    if values.is_empty() {
        return Err(
            Fault::new(list_at, format!("the axis `{path}` has no values"))
                .help("write at least one, or remove the axis"),
        );
    }
    if axes.len() == MOST_AXES {
        return Err(Fault::new(at, format!("more than {MOST_AXES} axes")).help("sweep fewer keys"));
    }
    let mut known = BTreeSet::new();
    for value in &values {
        if value.written().is_none() {
            return Err(Fault::new(
                value.at,
                format!("an axis has plain values, not {}", value.kind()),
            ));
        }
        if !known.insert(value.meaning()) {
            return Err(Fault::new(value.at, "this value is listed twice").help("remove one"));
        }
    }
    let head = fold(path.split('.').next().unwrap_or_default());
    let of_top = top::TOP.keys().any(|key| fold(key.name) == head);
    if of_top && head != fold(top::MAX_TIME.spec.name) {
        let help = match head.as_str() {
            "seeds" => "seeds are listed at the top: seeds = [1, 2, 3]",
            "baseline" => "a run has one baseline: run the command once for each",
            _ => {
                "it is a text for people, and a comma separates the values of a sweep: \
                 write one without a comma, or write it in the file"
            }
        };
        return Err(Fault::new(at, format!("`{path}` cannot be swept")).help(help));
    }
    if ["scheme.label", "workload.name"]
        .iter()
        .any(|p| fold(&path).starts_with(p))
    {
        return Err(Fault::new(
            at,
            format!("`{path}` is a name and cannot be swept"),
        ));
    }
    match axes.iter_mut().find(|axis| fold(&axis.path) == fold(&path)) {
        Some(axis) => {
            *axis = Axis {
                path: axis.path.clone(),
                at,
                values,
            }
        }
        None => axes.push(Axis { path, at, values }),
    }
    Ok(())
}

/// The `--set` options so far.
#[derive(Default)]
pub(crate) struct Given(Vec<Earlier>);

struct Earlier {
    path: String,
    values: Vec<String>,
    places: BTreeSet<String>,
    swept: bool,
}

impl Given {
    /// Applies one `--set path=value[,value]`: several values, or a path that is swept already,
    /// make an axis; one value is written into the tree. A second one for the same key is a
    /// mistake, by whichever of its names.
    pub(crate) fn set(
        &mut self,
        root: &mut Table,
        axes: &mut Vec<Axis>,
        texts: &mut Texts,
        path: &str,
        values: &[String],
    ) -> Fallible<()> {
        let text = texts.0.len();
        let written = format!("{path}={}", values.join(","));
        let mut start = path.len() + 1;
        let node = |value: &String| {
            let end = start + value.len();
            let at = At { text, start, end };
            start = end + 1;
            bare(value.trim(), at)
        };
        let nodes: Vec<Node> = values.iter().map(node).collect();
        let end = written.len();
        texts.0.push(("--set".to_owned(), written));
        let part = |end| At {
            text,
            start: 0,
            end,
        };
        let (at, whole) = (part(path.len()), part(end));
        let swept = values.len() > 1 || axes.iter().any(|axis| fold(&axis.path) == fold(path));
        self.once(root, path, values, swept, at)?;
        if fold(path) == "seeds" {
            let value = match nodes.as_slice() {
                [one] => one.clone(),
                _ => Node {
                    value: Value::List(nodes),
                    at: whole,
                },
            };
            root.put("seeds", value);
            return Ok(());
        }
        match nodes.as_slice() {
            [one] if !swept => path::set(root, path, at, one),
            _ => add(axes, path.to_owned(), at, nodes, whole),
        }
    }

    /// Fails where an earlier `--set` would be lost: this one sets all that it set, or one of the
    /// two is swept and meets the other.
    fn once(
        &mut self,
        root: &Table,
        path: &str,
        values: &[String],
        swept: bool,
        at: At,
    ) -> Fallible<()> {
        let places = path::places(root, path);
        for earlier in &self.0 {
            let lost = if swept || earlier.swept {
                !earlier.places.is_disjoint(&places)
            } else {
                earlier.places.is_subset(&places)
            };
            if !lost {
                continue;
            }
            if earlier.places != places {
                let first = &earlier.path;
                return Err(
                    Fault::new(at, format!("`{path}` and `{first}` set the same key"))
                        .label("a second time")
                        .help(
                            "leave one of them out; of two single values, the one for all may come \
                               first and the one for some after it",
                        ),
                );
            }
            let mut all = earlier.values.clone();
            all.extend_from_slice(values);
            let name = if fold(&earlier.path) == fold(path) {
                format!("`{path}` is set twice")
            } else {
                format!("`{path}` is set twice, first as `{}`", earlier.path)
            };
            return Err(Fault::new(at, name).label("a second time").help(format!(
                "leave one of them out, or sweep all values with one: --set {path}={}",
                all.join(",")
            )));
        }
        self.0.push(Earlier {
            path: path.to_owned(),
            values: values.to_vec(),
            places,
            swept,
        });
        Ok(())
    }
}

/// Splits `path=value` at its first `=`. Within `scheme.LABEL.key` the label may have some itself:
/// `scheme.K=20.k=10pkt`.
pub(crate) fn path_and_values(option: &str) -> Option<(&str, &str)> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    let names_a_key = |path: &str| {
        let inside = path.trim_start().strip_prefix("scheme.");
        inside
            .and_then(|inside| inside.rsplit_once('.'))
            .is_some_and(|(_, key)| !key.trim().is_empty() && key.chars().all(is_key))
    };
    let places = option.match_indices('=').map(|(at, _)| at);
    let found = places.map(|at| (&option[..at], &option[at + 1..]));
    let mut whole = found.clone().filter(|(path, _)| names_a_key(path));
    whole.next().or_else(|| found.clone().next())
}

/// Every combination of values, the first axis outermost: one index an axis.
pub(crate) fn combinations(axes: &[Axis]) -> Vec<Vec<usize>> {
    axes.iter().fold(vec![Vec::new()], |combinations, axis| {
        let extend = |c: &Vec<usize>| {
            let c = c.clone();
            (0..axis.values.len())
                .map(move |i| [c.as_slice(), &[i]].concat())
                .collect::<Vec<_>>()
        };
        combinations.iter().flat_map(extend).collect()
    })
}
