// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[topology]`.

use cemark_param::Values;
use cemark_sim::topology::{self, Graph, Line, MOST_HOSTS, Topology};

use crate::error::{At, Fallible, Fault};
use crate::graph;
use crate::key::{Key, KeySpec, Words, keys};
use crate::param::declared;
use crate::section::Section;
use crate::sections::{Form, SectionSpec};
use crate::sizes::Tables;
use crate::tree::Table;

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
pub(crate) struct Chosen(&'static topology::TopologySpec);

impl Words for Chosen {
    fn words() -> Vec<(&'static str, Self)> {
        all().map(|spec| (spec.name, Chosen(spec))).collect()
    }
}

keys! { KEYS:
    KIND: Chosen = Key::choice("kind").needed("leaf-spine").doc("which topology");
    FILE: String = Key::text("file").only(&["graph"]).follows("`[[node]]` and `[[link]]`").doc(
        "instead of `[[node]]` and `[[link]]`: HPCC's `topology.txt` or a `.topo` of htsim, \
         relative to the scenario's folder, up to 64 MB",
    );
}

/// Kinds of topologies, a graph last.
fn all() -> impl Iterator<Item = &'static topology::TopologySpec> {
    Topology::ALL.iter().copied().chain([&Graph::SPEC])
}

/// The keys that the topologies declare. Those that every topology has come first.
fn of_the_registry() -> Vec<KeySpec> {
    let everywhere = |name: &str| {
        let has = |spec: &&topology::TopologySpec| spec.keys.iter().any(|key| key.name == name);
        all().all(|spec| has(&spec))
    };
    let mut keys: Vec<KeySpec> = Vec::new();
    for spec in all() {
        for key in spec.keys {
            let shared = everywhere(key.name);
            if shared && keys.iter().any(|known| known.name == key.name) {
                continue;
            }
            let only = std::slice::from_ref(&spec.name);
            keys.push(KeySpec::of_param(key, if shared { &[] } else { only }));
        }
    }
    keys
}

/// Any topology of the registry: its keys are declared in its file in `cemark_sim::topology`.
pub(crate) fn topology(root: &Table, files: &mut Tables) -> Fallible<Topology> {
    let mut s = Section::of(root, &TOPOLOGY)?;
    let Chosen(spec) = s.read(&KIND)?;
    let values = Values::read(spec, |key, default| declared(&mut s, key, default))?;
    if spec.name == Graph::SPEC.name {
        let at = s.at();
        let file = s.given(&FILE)?.zip(s.node(&FILE).map(|node| node.at));
        s.finish()?;
        return of_graph(root, at, Graph::usual(&values), file, files);
    }
    graph::none(
        root,
        "belongs to a topology of kind `graph`",
        "write kind = \"graph\" in [topology], or remove it",
    )?;
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

fn of_graph(
    root: &Table,
    at: At,
    usual: Line,
    file: Option<(String, At)>,
    files: &mut Tables,
) -> Fallible<Topology> {
    let Some((file, at)) = file else {
        return graph::listed(root, at, usual);
    };
    graph::none(
        root,
        "beside a file: the graph is given in two ways",
        "keep [[node]] and [[link]], or file in [topology]",
    )?;
    graph::in_file(&file, at, files)
}
