// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[published]]`: what a paper printed for cells of the comparison table.

use std::collections::BTreeMap;

use crate::error::{Fallible, Fault, fold, near};
use crate::path;
use crate::plan::Published;
use crate::section::{Section, number, text};
use crate::sweep::Axis;
use crate::tree::{Entry, Node, Table, Value};

const CLASSES: &[&str] = &["overall", "short", "medium", "large"];
const STATISTICS: &[&str] = &["mean", "p50", "p95", "p99"];

/// Rows whose cell is among the points. A row of a cell that the command line has taken away is
/// left out; a row that never could match (an unknown scheme, path or column) is a mistake.
pub(crate) fn published(
    entry: Option<&Entry>,
    root: &Table,
    axes: &[Axis],
    labels: &[String],
) -> Fallible<Vec<Published>> {
    let nodes: &[Node] = match entry.map(|entry| &entry.node) {
        None => &[],
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(node) => std::slice::from_ref(node),
    };
    let mut rows = Vec::new();
    for node in nodes {
        let mut s = Section::node(node, "[[published]]".to_owned())?;
        let scheme = s.need("scheme", "\"ECN#\"")?;
        let wanted = text(scheme)?;
        let label = labels
            .iter()
            .find(|l| fold(l) == fold(wanted))
            .ok_or_else(|| {
                Fault::new(
                    scheme.at,
                    format!("no scheme of this file is labelled `{wanted}`"),
                )
                .help(near(wanted, labels.iter().map(String::as_str)))
            })?;
        let metric = s.need("metric", "\"short.mean\"")?;
        let percent = number(s.need("percent", "-23.4")?, (-1e6, 1e6))?;
        let source = text(s.need("source", "\"ECN# Fig 13b\"")?)?.to_owned();
        let cell = s.get("axes");
        s.finish()?;
        let row = Published {
            axes: BTreeMap::new(),
            scheme: label.clone(),
            metric: column(metric)?,
            percent,
            source,
        };
        if let Some(axes) = matching(cell, root, axes)? {
            rows.push(Published { axes, ..row });
        }
    }
    Ok(rows)
}

fn column(node: &Node) -> Fallible<String> {
    let written = text(node)?;
    let known: Vec<String> = CLASSES
        .iter()
        .flat_map(|c| STATISTICS.iter().map(move |s| format!("{c}.{s}")))
        .collect();
    match known.iter().find(|k| k.as_str() == written) {
        Some(column) => Ok(column.clone()),
        None => Err(
            Fault::new(node.at, format!("no column is called `{written}`"))
                .help(near(written, known.iter().map(String::as_str))),
        ),
    }
}

/// The row's cell in the words of the axes; `None` where no point lies in it.
fn matching(
    cell: Option<&Node>,
    root: &Table,
    axes: &[Axis],
) -> Fallible<Option<BTreeMap<String, String>>> {
    let mut found = BTreeMap::new();
    let Some(cell) = cell else {
        return Ok(Some(found));
    };
    let Value::Table(cell) = &cell.value else {
        return Err(Fault::new(cell.at, "`axes` is a table")
            .help("write axes = { \"workload.load\" = 0.9 }"));
    };
    for entry in &cell.0 {
        if let Some(axis) = axes
            .iter()
            .find(|axis| fold(&axis.path) == fold(&entry.key))
        {
            match axis.values.iter().find(|value| value.same(&entry.node)) {
                Some(value) => found.insert(axis.path.clone(), value.written().unwrap_or_default()),
                None => return Ok(None),
            };
        } else {
            match path::get(root, &entry.key) {
                Some(value) if value.same(&entry.node) => {}
                Some(_) => return Ok(None),
                None => {
                    return Err(Fault::new(
                        entry.at,
                        format!("`{}` is neither swept nor set", entry.key),
                    )
                    .help(near(&entry.key, axes.iter().map(|axis| axis.path.as_str()))));
                }
            }
        }
    }
    Ok(Some(found))
}
