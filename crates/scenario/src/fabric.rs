// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[topology]` and `[rtt]`.

use cemark_sim::topology::{Absent, Key, Topology, Unit, Values};
use cemark_sim::workload::{RTT_CASES, RttModel};
use cemark_wire::Picos;

use crate::error::{Fallible, Fault, near};
use crate::section::{Section, choice, count, list, number, rate, time};
use crate::tree::{Node, Table};

/// Most hosts of a fabric.
pub(crate) const MOST_HOSTS: u64 = cemark_sim::topology::MOST_HOSTS as u64;

/// Any topology of the registry: its keys are declared in its file in `cemark_sim::topology`.
pub(crate) fn topology(root: &Table) -> Fallible<Topology> {
    let mut s = Section::of(root, "topology")?;
    let words: Vec<&str> = Topology::ALL.iter().map(|spec| spec.name).collect();
    let kind = choice(s.need("kind", "\"leaf-spine\"")?, &words)?;
    let spec = Topology::ALL[kind];
    let values = Values::read(spec, |key, default| value(&mut s, key, default))?;
    let topology = Topology::build(spec, &values).map_err(|mistake| {
        let at = s.get(mistake.key).map_or(s.at(), |node| node.at);
        Fault::new(at, mistake.message).help(mistake.help)
    })?;
    let hosts = topology.shape().hosts();
    if !(2..=MOST_HOSTS).contains(&hosts) {
        return Err(Fault::new(s.at(), format!("this fabric has {hosts} hosts"))
            .help(format!("a fabric has 2 to {MOST_HOSTS} hosts")));
    }
    s.finish()?;
    Ok(topology)
}

/// The value of a key of a topology.
fn value(s: &mut Section<'_>, key: &'static Key, default: Option<u64>) -> Fallible<u64> {
    let node = match (key.absent, default) {
        (Absent::Needed(example), _) => s.need(key.name, example.text)?,
        (_, default) => match s.get(key.name) {
            None => return Ok(default.unwrap_or_default()),
            Some(node) => node,
        },
    };
    match key.unit {
        Unit::Count { min, max } => count(node, (min.into(), max.into())),
        Unit::Rate => Ok(rate(node)?.0),
        Unit::Time => Ok(time(node)?.0),
    }
}

const MODELS: &[&str] = &[
    "path",
    "fixed",
    "variation",
    "measured",
    "fitted",
    "quantiles",
    "lognormal",
    "classes",
];

pub(crate) fn rtt(root: &Table) -> Fallible<RttModel> {
    let mut s = Section::of(root, "rtt")?;
    let model = match s.choice("model", 0, MODELS)? {
        0 => RttModel::Path,
        1 => RttModel::Fixed(time(s.need("rtt", "\"100us\"")?)?),
        2 => {
            let lo = time(s.need("min", "\"80us\"")?)?;
            let node = s.need("max", "\"240us\"")?;
            let hi = time(node)?;
            if hi < lo {
                return Err(Fault::new(node.at, "the largest RTT is below the smallest")
                    .help("swap min and max"));
            }
            RttModel::Variation { lo, hi }
        }
        model @ (3 | 4) => {
            let node = s.need("case", "\"slb\"")?;
            let case = crate::section::text(node)?;
            let found = if model == 3 {
                RttModel::measured(case)
            } else {
                RttModel::fitted(case)
            };
            found.ok_or_else(|| {
                Fault::new(node.at, format!("`{case}` is not a row of ECN# Table 1"))
                    .help(near(case, RTT_CASES.iter().copied()))
            })?
        }
        5 => RttModel::Quantiles(quantiles(
            s.need("table", "[[0, \"17us\"], [0.9, \"59us\"], [1, \"106us\"]]")?,
        )?),
        6 => RttModel::Lognormal {
            loc: number(s.need("loc", "15.39  # microseconds")?, (-1e6, 1e6))?,
            mu: number(s.need("mu", "3.8088")?, (-20.0, 20.0))?,
            sigma: number(s.need("sigma", "0.3662")?, (0.0, 10.0))?,
            floor: s.time("floor", Picos::ZERO)?,
        },
        _ => {
            let node = s.need("values", "[\"82us\", \"140us\"]")?;
            let values = list(node)?.iter().map(time).collect::<Fallible<Vec<_>>>()?;
            if values.is_empty() {
                return Err(Fault::new(node.at, "no RTT to choose from")
                    .help("write values = [\"82us\", \"140us\"]"));
            }
            RttModel::Classes(values)
        }
    };
    s.allow(&[
        "rtt", "min", "max", "case", "table", "loc", "mu", "sigma", "floor", "values",
    ]);
    s.finish()?;
    Ok(model)
}

fn quantiles(node: &Node) -> Fallible<Vec<(f64, Picos)>> {
    let mut rows: Vec<(f64, Picos)> = Vec::new();
    for row in list(node)? {
        let [p, rtt] = list(row)? else {
            return Err(Fault::new(row.at, "a row has two columns")
                .help("write [0.9, \"59us\"]: probability and RTT"));
        };
        let (at, p, rtt) = (row.at, crate::section::fraction(p)?, time(rtt)?);
        if rows
            .last()
            .is_some_and(|before| p < before.0 || rtt < before.1)
        {
            return Err(Fault::new(at, "this row is below the one before")
                .help("sort the rows; neither column may fall"));
        }
        rows.push((p, rtt));
    }
    if rows.len() < 2 || rows.last().is_some_and(|last| last.0 != 1.0) {
        return Err(Fault::new(
            node.at,
            "the table must have two rows or more and end at probability 1",
        ));
    }
    Ok(rows)
}
