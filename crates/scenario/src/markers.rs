// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[scheme]]`: the catalogue's declaration of each parameter drives how it is read.

use cemark_marking::{Kind, ParamSpec, SchemeSpec, Values, catalogue};
use cemark_sim::config::MarkerChoice;
use cemark_wire::Rate;

use crate::error::{Fallible, Fault, fold, near};
use crate::section::{Section, bytes, choice, count, flag, fraction, nanos, text};
use crate::tree::{Node, Table, Value};

/// The word for a port that never marks.
const NONE: &str = "none";

/// One `[[scheme]]`.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub(crate) label: String,
    pub(crate) marker: MarkerChoice,
}

/// The tables of all schemes.
pub(crate) fn nodes(root: &Table) -> &[Node] {
    match root.get("scheme").map(|entry| &entry.node) {
        None => &[],
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(node) => std::slice::from_ref(node),
    }
}

/// Reads one scheme; a queue length written as a time is what a link of `rate` sends in it.
pub(crate) fn scheme(node: &Node, rate: Rate) -> Fallible<Scheme> {
    let mut s = Section::node(node, "[[scheme]]".to_owned())?;
    // Merged into their sections by the caller.
    s.get("transport");
    s.get("host");
    s.get("switch");
    s.get("edge");
    let marker = s.need("marker", "\"ecn_sharp\"")?;
    let name = text(marker)?;
    let label_node = s.get("label");
    let label = label_node.map(text).transpose()?.map(str::trim);
    if let (Some(""), Some(node)) = (label, label_node) {
        return Err(Fault::new(node.at, "an empty label")
            .help("write a name for the table, such as label = \"ECN#\""));
    }
    let (title, choice) = if fold(name) == NONE {
        ("drop-tail", MarkerChoice::None)
    } else {
        let spec = catalogue::find(name).ok_or_else(|| {
            let known = catalogue::ALL
                .iter()
                .flat_map(|s| std::iter::once(s.name).chain(s.aliases.iter().copied()));
            Fault::new(marker.at, format!("no marking scheme is called `{name}`"))
                .label("not known")
                .help(near(name, known.chain([NONE])))
        })?;
        let mut values = Values::defaults(spec);
        for (i, param) in spec.params.iter().enumerate() {
            if let Some(node) = s.get(param.name) {
                values.0[i] = value(node, param, rate)?;
            }
        }
        (
            spec.title,
            MarkerChoice::Builtin {
                scheme: spec,
                values,
            },
        )
    };
    s.finish()?;
    ramp(node, &choice)?;
    Ok(Scheme {
        label: label.unwrap_or(title).to_owned(),
        marker: choice,
    })
}

/// A ramp from `kmin` to `kmax` must rise, where either of them was written.
fn ramp(node: &Node, choice: &MarkerChoice) -> Fallible<()> {
    let (MarkerChoice::Builtin { scheme, values }, Value::Table(table)) = (choice, &node.value)
    else {
        return Ok(());
    };
    let place = |name: &str| scheme.params.iter().position(|p| p.name == name);
    let (Some(kmin), Some(kmax)) = (place("kmin"), place("kmax")) else {
        return Ok(());
    };
    let written = table.get("kmax").or_else(|| table.get("kmin"));
    let Some(entry) = written.filter(|_| values.0[kmax] < values.0[kmin]) else {
        return Ok(());
    };
    let unit = match scheme.params[kmin].kind {
        Kind::Time => "ns",
        _ => "bytes",
    };
    let by = |name: &str| match table.get(name) {
        Some(_) => "",
        None => ", its default",
    };
    Err(Fault::new(
        entry.node.at,
        format!(
            "kmax ({} {unit}{}) is below kmin ({} {unit}{})",
            values.0[kmax],
            by("kmax"),
            values.0[kmin],
            by("kmin")
        ),
    )
    .help("write both, kmin first: kmin = \"5pkt\", kmax = \"15pkt\" (a length or a time, as the scheme has it)"))
}

/// A parameter in the unit in which the catalogue stores it.
fn value(node: &Node, param: &ParamSpec, rate: Rate) -> Fallible<u64> {
    let range = (param.min, param.max);
    let outside = |n: u64, unit: &str| {
        Fault::new(node.at, format!("`{}` is out of range", param.name)).help(format!(
            "{n} {unit}; the range is {} to {} {unit}",
            param.min, param.max
        ))
    };
    let n = match param.kind {
        Kind::Time => {
            let n = nanos(node)?.0;
            if n < param.min || n > param.max {
                return Err(outside(n, "ns"));
            }
            n
        }
        Kind::Bytes => bytes(node, Some(rate), range)?,
        Kind::Fraction => {
            let n = (fraction(node)? * 65_536.0 + 0.5) as u64;
            if n < param.min || n > param.max {
                let part = |n: u64| n as f64 / 65_536.0;
                return Err(
                    Fault::new(node.at, format!("`{}` is out of range", param.name)).help(format!(
                        "write a fraction from {:.7} to {}",
                        part(param.min),
                        part(param.max)
                    )),
                );
            }
            n
        }
        Kind::Count => count(node, range)?,
        Kind::Flag => flag(node)?.into(),
        Kind::Choice(words) => choice(node, words)? as u64,
    };
    Ok(n)
}

/// The scheme that a `[[scheme]]` table names, if it names one.
pub(crate) fn spec_of(node: &Node) -> Option<&'static SchemeSpec> {
    let Value::Table(table) = &node.value else {
        return None;
    };
    match &table.get("marker")?.node.value {
        Value::Text(name) => catalogue::find(name),
        _ => None,
    }
}
