// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes: `[sweep]` of the file, changed and extended by `--set`.

use crate::error::{At, Fallible, Fault, Texts, fold};
use crate::path;
use crate::section::list;
use crate::tree::{Node, Table, Value, bare};

/// One swept path and its values.
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
        flatten(table, "", &mut axes)?;
    }
    Ok(axes)
}

/// Unquoted dots make nested tables in TOML: `workload.load = [..]` is the same as `"workload.load" = [..]`.
fn flatten(table: &Table, prefix: &str, axes: &mut Vec<Axis>) -> Fallible<()> {
    for entry in &table.0 {
        let path = format!("{prefix}{}", entry.key);
        match &entry.node.value {
            Value::Table(inner) => flatten(inner, &format!("{path}."), axes)?,
            _ => {
                let values =
                    list(&entry.node).map_err(|f| f.help(format!("write \"{path}\" = [a, b]")))?;
                add(axes, path, entry.at, values.to_vec(), entry.node.at)?;
            }
        }
    }
    Ok(())
}

fn add(axes: &mut Vec<Axis>, path: String, at: At, values: Vec<Node>, list_at: At) -> Fallible<()> {
    if values.is_empty() {
        return Err(
            Fault::new(list_at, format!("the axis `{path}` has no values"))
                .help("write at least one, or remove the axis"),
        );
    }
    for (i, value) in values.iter().enumerate() {
        if value.written().is_none() {
            return Err(Fault::new(
                value.at,
                format!("an axis has plain values, not {}", value.kind()),
            ));
        }
        if values[..i].iter().any(|before| before.same(value)) {
            return Err(
                Fault::new(value.at, "this value stands twice on the axis").help("remove one")
            );
        }
    }
    let head = fold(path.split('.').next().unwrap_or_default());
    if path::SCALARS.iter().any(|s| fold(s) == head) && head != "max_time" {
        return Err(Fault::new(at, format!("`{path}` cannot be swept"))
            .help("seeds are listed at the top: seeds = [1, 2, 3]"));
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

/// Applies one `--set path=value[,value]`: several values, or a path that is swept already, make an axis; one value is written into
/// the tree.
pub(crate) fn set(
    root: &mut Table,
    axes: &mut Vec<Axis>,
    texts: &mut Texts,
    path: &str,
    values: &[String],
) -> Fallible<()> {
    let text = texts.0.len();
    let written = format!("{path}={}", values.join(","));
    let mut start = path.len() + 1;
    let nodes: Vec<Node> = values
        .iter()
        .map(|value| {
            let at = At {
                text,
                start,
                end: start + value.len(),
            };
            start += value.len() + 1;
            bare(value.trim(), at)
        })
        .collect();
    texts.0.push(("--set".to_owned(), written.clone()));
    let at = At {
        text,
        start: 0,
        end: path.len(),
    };
    let whole = At {
        text,
        start: 0,
        end: written.len(),
    };
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
    let swept = axes.iter().any(|axis| fold(&axis.path) == fold(path));
    match nodes.as_slice() {
        [one] if !swept => path::set(root, path, at, one),
        _ => add(axes, path.to_owned(), at, nodes, whole),
    }
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
