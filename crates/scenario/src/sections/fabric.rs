// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[topology]`.

use cemark_sim::topology::{self, Absent, MOST_HOSTS, Topology, Unit, Values};

use crate::error::{Fallible, Fault};
use crate::key::{Key, KeySpec, Shape, Usual, Words, keys};
use crate::section::{Section, count, rate, time};
use crate::sections::{Form, SectionSpec};
use crate::tree::Table;
use crate::units::Measure;

pub(crate) static TOPOLOGY: SectionSpec = SectionSpec::new(
    "topology",
    Form::Table,
    &[KEYS],
    "Hosts, switches and links.",
)
.chosen_by("kind")
.and(of_the_registry);

/// An entry of the registry of topologies.
#[derive(Clone, Copy)]
pub(crate) struct Kind(&'static topology::TopologySpec);

impl Words for Kind {
    fn words() -> Vec<(&'static str, Self)> {
        let all = Topology::ALL.iter();
        all.map(|&spec| (spec.name, Kind(spec))).collect()
    }
}

keys! { KEYS:
    KIND: Kind = Key::choice("kind").needed("leaf-spine").doc("which topology");
}

/// The keys that the topologies declare. Those that every topology has come first.
fn of_the_registry() -> Vec<KeySpec> {
    let everywhere = |name: &str| {
        let has = |spec: &&topology::TopologySpec| spec.keys.iter().any(|key| key.name == name);
        Topology::ALL.iter().all(has)
    };
    let mut all: Vec<KeySpec> = Vec::new();
    for spec in Topology::ALL {
        for key in spec.keys {
            let shared = everywhere(key.name);
            if shared && all.iter().any(|known| known.name == key.name) {
                continue;
            }
            all.push(KeySpec {
                name: key.name,
                shape: match key.unit {
                    Unit::Count { min, max } => Shape::Count(min.into(), max.into()),
                    Unit::Rate => Shape::Rate,
                    Unit::Time => Shape::Time,
                },
                usual: match key.absent {
                    Absent::Needed(example) => Usual::Needed(example.text),
                    Absent::Is(example) => Usual::Is(example.text),
                    Absent::As(other) => Usual::As(other),
                    Absent::Formula { text, .. } => Usual::Follows(text),
                },
                only: if shared {
                    &[]
                } else {
                    std::slice::from_ref(&spec.name)
                },
                doc: key.doc,
            });
        }
    }
    all
}

/// Any topology of the registry: its keys are declared in its file in `cemark_sim::topology`.
pub(crate) fn topology(root: &Table) -> Fallible<Topology> {
    let mut s = Section::of(root, &TOPOLOGY)?;
    let Kind(spec) = s.read(&KIND)?;
    let values = Values::read(spec, |key, default| value(&mut s, key, default))?;
    let topology = Topology::build(spec, &values).map_err(|mistake| {
        let at = s.get(mistake.key).map_or(s.at(), |node| node.at);
        Fault::new(at, mistake.message).help(mistake.help)
    })?;
    let hosts = topology.shape().hosts();
    if !(2..=u64::from(MOST_HOSTS)).contains(&hosts) {
        return Err(Fault::new(s.at(), format!("this fabric has {hosts} hosts"))
            .help(format!("a fabric has 2 to {MOST_HOSTS} hosts")));
    }
    s.finish()?;
    Ok(topology)
}

/// The value of a key of a topology; `usual` where it is not written.
fn value(s: &mut Section<'_>, key: &'static topology::Key, usual: Option<u64>) -> Fallible<u64> {
    let node = match (s.get(key.name), key.absent) {
        (Some(node), _) => node,
        (None, Absent::Needed(example)) => {
            let advice = format!("write {} = {}", key.name, example.text);
            return Err(s.missing(key.name, advice));
        }
        (None, _) => return Ok(usual.unwrap_or_default()),
    };
    match key.unit {
        Unit::Count { .. } => {}
        Unit::Rate => s.fits(key.name, Measure::Rate, node)?,
        Unit::Time => s.fits(key.name, Measure::Time, node)?,
    }
    match key.unit {
        Unit::Count { min, max } => count(node, (min.into(), max.into())),
        Unit::Rate => Ok(rate(node)?.0),
        Unit::Time => Ok(time(node)?.0),
    }
}
