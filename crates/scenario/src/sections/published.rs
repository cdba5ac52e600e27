// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[published]]`: what a paper printed for cells of the comparison table.

use std::collections::BTreeMap;

use crate::error::{Fallible, Fault, fold, near};
use crate::key::{Key, keys};
use crate::path;
use crate::plan::Published;
use crate::section::{Section, text};
use crate::sections::{Form, SectionSpec};
use crate::sweep::Axis;
use crate::tree::{Entry, Node, Table, Value, tables};

pub(crate) static PUBLISHED: SectionSpec = SectionSpec::new(
    "published",
    Form::List,
    &[KEYS],
    "A value that a paper printed for a cell of the comparison table.",
)
.fixed();

keys! { KEYS:
    SCHEME: String = Key::text("scheme").needed("ECN#").doc("label of a scheme");
    METRIC: String = Key::text("metric").needed("short.mean").doc(
        "`overall`, `short`, `medium` or `large`, a dot, `mean`, `p50`, `p95` or `p99`",
    );
    PERCENT: f64 = Key::number("percent", -1e6, 1e6).needed("-23.4")
        .doc("the value, in percent against the baseline");
    SOURCE: String = Key::text("source").needed("ECN# Fig 13b").doc("the figure that has it");
    AXES: Node = Key::own("axes", "a table of paths and values", r#"{"type":"object"}"#)
        .follows("every cell")
        .doc("the cell: `{ \"workload.load\" = 0.9 }`");
}

const CLASSES: &[&str] = &["overall", "short", "medium", "large"];
const STATISTICS: &[&str] = &["mean", "p50", "p95", "p99"];

/// Rows whose cell is among the points. A row of a cell that the command line has removed is left
/// out; a row that could never match (an unknown scheme, path or column) is a mistake.
pub(crate) fn published(
    entry: Option<&Entry>,
    root: &Table,
    axes: &[Axis],
    labels: &[String],
) -> Fallible<Vec<Published>> {
    let nodes = entry.map_or(&[][..], |entry| tables(&entry.node));
    let mut rows = Vec::new();
    for node in nodes {
        let mut s = Section::under(node, &PUBLISHED)?;
        let scheme = s.need(&SCHEME)?;
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
        let metric = s.need(&METRIC)?;
        let percent = s.read(&PERCENT)?;
        let source = s.read(&SOURCE)?;
        let cell = s.node(&AXES);
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
