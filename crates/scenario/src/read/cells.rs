// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths in cells, the unit in which the memory of a switch chip is allotted: they are written as
//! bytes before anything else reads them, with the size that `cell` in `[switch]` gives.

use crate::error::{Fallible, Fault, alike};
use crate::markers::{CLASS, SCHEME};
use crate::retune::RETUNE;
use crate::section::Section;
use crate::switch::{CELL, SWITCH};
use crate::tree::{Node, Table, Value};
use crate::units::{self, Bad};

/// Writes the lengths of `[switch]` in bytes, and returns a copy of `scheme` with its thresholds in
/// bytes.
pub(crate) fn in_bytes(root: &mut Table, scheme: &Node) -> Fallible<Node> {
    let cell = Section::of(root, &SWITCH)?.given(&CELL)?;
    if let Some(entry) = root.get_mut(SWITCH.name) {
        convert(&mut entry.node, cell)?;
    }
    if let Some(entry) = root.get_mut(RETUNE.name) {
        convert(&mut entry.node, cell)?;
    }
    let mut scheme = scheme.clone();
    if let Value::Table(table) = &mut scheme.value {
        // Tables below it are those of classes, and sections, of which only [switch] has lengths
        // in cells; it is merged.
        let of_class = |key: &str| alike(key, CLASS.spec.name);
        let named = |key: &str| SCHEME.own_keys().any(|own| alike(own.name, key));
        let own = table.0.iter_mut().filter(|e| {
            let section = matches!(e.node.value, Value::Table(_));
            of_class(&e.key) || !section && !named(&e.key)
        });
        own.map(|entry| &mut entry.node)
            .try_for_each(|node| convert(node, cell))?;
    }
    Ok(scheme)
}

fn convert(node: &mut Node, cell: Option<u32>) -> Fallible<()> {
    let text = match &mut node.value {
        Value::List(items) => return items.iter_mut().try_for_each(|item| convert(item, cell)),
        Value::Table(table) => {
            let mut nodes = table.0.iter_mut().map(|entry| &mut entry.node);
            return nodes.try_for_each(|node| convert(node, cell));
        }
        Value::Text(text) => text,
        _ => return Ok(()),
    };
    let (number, unit) = units::split(text);
    if number.is_empty() || !units::CELLS.contains(&unit) {
        return Ok(());
    }
    let Some(cell) = cell else {
        let message = format!("`{text}` needs the size of a cell");
        return Err(Fault::new(node.at, message)
            .help("write cell = \"256B\" in [switch], with the size that your switch has"));
    };
    let bytes = units::whole(number, u64::from(cell)).map_err(|bad| {
        let what = match bad {
            Bad::Negative => "a length cannot be negative".to_owned(),
            Bad::TooLarge => format!("`{text}` is too large"),
            Bad::Fraction => format!("`{text}` is not a whole number of bytes"),
            _ => format!("`{text}` is not a number of cells"),
        };
        Fault::new(node.at, what).help("write it like \"1000 cells\"")
    })?;
    *text = format!("{bytes}B");
    Ok(())
}
