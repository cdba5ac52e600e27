// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]`: what is sent, by whom and when.

use cemark_param::{self as param, Values};
use cemark_sim::topology::Topology;
use cemark_sim::workload::{Declared, Kind, Sending, Workload, WorkloadSpec};

use crate::around::{self, Around};
use crate::class::{self, CLASSES};
use crate::classes::Classes;
use crate::controllers;
use crate::error::{Fallible, Fault};
use crate::host::{self, HOST};
use crate::incast::{INCAST, incast};
use crate::key::{Key, KeySpec, Words, keys, words};
use crate::list::{self, LIST};
use crate::long::{LONG, long};
use crate::param::declared;
use crate::poisson::{ARRIVAL_KEYS, LOAD, POISSON, poisson};
use crate::section::Section;
use crate::sections::{Form, SectionSpec};
use crate::sense;
use crate::sizes::{SIZE_KEYS, Tables};
use crate::together;
use crate::transport::{self, TRANSPORT};
use crate::tree::{Node, Table, Value, items};

pub(crate) static WORKLOAD: SectionSpec = SectionSpec::new(
    "workload",
    Form::List,
    &[
        COMMON,
        CLASSES,
        SIZE_KEYS,
        POISSON,
        ARRIVAL_KEYS,
        INCAST,
        LONG,
        LIST,
    ],
    "What is sent, by whom and when.",
)
.chosen_by("kind")
.and(of_the_registry);

const MOST_WORKLOADS: usize = 1_000;

/// Reads the keys of one kind of workload.
type Reader = fn(&mut Section<'_>, &mut Around<'_>) -> Fallible<Kind>;

/// Kinds that have keys whose values are lists or tables. Other kinds declare their keys.
const READERS: [(&str, Reader); 4] = [
    ("poisson", poisson),
    ("incast", incast),
    ("long", long),
    ("list", list::flows),
];

/// An entry of the registry of workloads.
#[derive(Clone, Copy)]
pub(crate) struct Chosen(&'static WorkloadSpec);

impl Words for Chosen {
    fn words() -> Vec<(&'static str, Self)> {
        Kind::ALL
            .iter()
            .map(|spec| (spec.name, Chosen(spec)))
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Connections {
    Fresh,
    Persistent,
}

words! { Connections: "fresh" => Connections::Fresh, "persistent" => Connections::Persistent }

keys! { COMMON:
    KIND: Chosen = Key::choice("kind").needed("poisson").doc(
        "kind of traffic; each kind has a section below",
    );
    NAME: String = Key::text("name").follows("the kind").doc("its name in reports and in paths");
    CONNECTIONS: Connections = Key::choice("connections").usual("fresh").doc(
        "`fresh`: a connection per flow, which starts at the initial window. `persistent`: flows \
         reuse idle connections of their pair (not through a `pep`)",
    );
    CONTROL: controllers::Chosen = Key::choice("control").follows("as in `[transport]`").doc(
        "the congestion controller of its flows; everything else is as in `[transport]`. With \
         `cubic` and `reno` its packets are not ECN-capable; with `dcqcn` its flows are RDMA \
         queue pairs ([transports.md](transports.md#several-transports))",
    );
    TRANSPORTS: Node = Key::own(
        "transport",
        "a table",
        r##"{"$ref":"#/definitions/transport"}"##,
    )
    .follows("`[transport]`")
    .doc("`[workload.transport]`: keys of `[transport]` that its flows have otherwise");
}

/// All workloads of a scenario.
pub(crate) fn workloads(
    root: &Table,
    transport: &cemark_transport::Config,
    topology: &Topology,
    tables: &mut Tables,
    classes: &Classes,
) -> Fallible<Vec<Workload>> {
    let nodes = items(root, WORKLOAD.name);
    if nodes.is_empty() {
        return Err(
            Fault::nowhere("nothing is sent: there is no [[workload]]").help(
                "write [[workload]], kind = \"poisson\", sizes = \"web-search\", load = 0.8, \
                 flows = 10000",
            ),
        );
    }
    if let Some(node) = nodes.get(MOST_WORKLOADS) {
        return Err(Fault::new(
            node.at,
            format!("more than {MOST_WORKLOADS} workloads"),
        ));
    }
    let mut around = Around {
        root,
        transport,
        topology,
        tables,
        classes,
    };
    let mut all: Vec<Workload> = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        let mut workload = one(node, &mut around)?;
        let taken = |name: &str, all: &[Workload]| all.iter().any(|w| w.name == name);
        if workload.name.is_empty() {
            let kind = workload.kind.word();
            workload.name = if taken(kind, &all) {
                format!("{kind}-{i}")
            } else {
                kind.to_owned()
            };
        }
        if taken(&workload.name, &all) {
            return Err(Fault::new(
                node.at,
                format!("two workloads are called `{}`", workload.name),
            )
            .help("give each its own name = \"...\""));
        }
        all.push(workload);
    }
    let loads: Vec<Option<&Node>> = nodes.iter().map(load_node).collect();
    together::check(&all, &loads, topology)?;
    Ok(all)
}

/// The keys that workloads declare.
fn of_the_registry() -> Vec<KeySpec> {
    let keys = |spec: &'static &'static WorkloadSpec| {
        let only = std::slice::from_ref(&spec.name);
        let declared = spec.declared.iter().flat_map(|declared| declared.keys);
        declared.map(move |key| KeySpec::of_param(key, only))
    };
    Kind::ALL.iter().flat_map(keys).collect()
}

/// A workload whose keys are declared in its file in `cemark_sim::workload`.
fn of_declared(
    s: &mut Section<'_>,
    keys: &'static Declared,
    topology: &Topology,
) -> Fallible<Kind> {
    let values = Values::read(keys, |key, usual| match s.get(key.name) {
        Some(node) if key.kind == param::Kind::Host => Ok(around::host(node, topology)?.into()),
        _ => declared(s, key, usual),
    })?;
    let kind = (keys.build)(&values);
    match kind.sends().mistake(topology) {
        None => Ok(kind),
        Some(mistake) => {
            let at = s.get(mistake.key).map_or(s.at(), |node| node.at);
            Err(Fault::new(at, mistake.message).help(mistake.help))
        }
    }
}

/// Where a workload says its load.
fn load_node(workload: &Node) -> Option<&Node> {
    match &workload.value {
        Value::Table(table) => table.get(LOAD.spec.name).map(|entry| &entry.node),
        _ => None,
    }
}

fn one(node: &Node, around: &mut Around<'_>) -> Fallible<Workload> {
    let mut s = Section::under(node, &WORKLOAD)?;
    let Chosen(spec) = s.read(&KIND)?;
    let name = s.given(&NAME)?.unwrap_or_default();
    let class = class::class(&mut s, around.classes)?;
    let persistent = s.read(&CONNECTIONS)? == Connections::Persistent;
    let transport = own_transport(&mut s, around)?;
    let around = &mut Around {
        root: around.root,
        transport: transport.as_deref().unwrap_or(around.transport),
        topology: around.topology,
        tables: &mut *around.tables,
        classes: around.classes,
    };
    let kind = match (
        &spec.declared,
        READERS.iter().find(|(kind, _)| *kind == spec.name),
    ) {
        (Some(keys), _) => of_declared(&mut s, keys, around.topology)?,
        (None, Some((_, read))) => read(&mut s, around)?,
        (None, None) => unreachable!("{} has neither keys nor a reader", spec.name),
    };
    if let Some(node) = s.node(&CONTROL).or(s.node(&TRANSPORTS))
        && matches!(kind.facts(around.topology).sending, Sending::Pings(_))
    {
        return Err(Fault::new(node.at, "a probe has no congestion controller").help("remove it"));
    }
    s.finish()?;
    Ok(Workload {
        name,
        kind,
        class,
        persistent,
        transport,
    })
}

/// The transport of a workload whose table writes `control` or `[workload.transport]`; `None` where
/// it is that of all.
fn own_transport(
    s: &mut Section<'_>,
    around: &Around<'_>,
) -> Fallible<Option<Box<cemark_transport::Config>>> {
    let control = s.node(&CONTROL);
    let own = s.node(&TRANSPORTS);
    if control.is_none() && own.is_none() {
        return Ok(None);
    }
    if let Some(node) = own.filter(|node| !matches!(node.value, Value::Table(_))) {
        return Err(Fault::new(node.at, "[workload.transport] is a table")
            .help("write [workload.transport] and its keys below it, such as mss = \"1000B\""));
    }
    let mut root = Table::default();
    let host = around.root.get(HOST.name).into_iter();
    root.0.extend(
        around
            .root
            .get(TRANSPORT.name)
            .into_iter()
            .chain(host)
            .cloned(),
    );
    if root.get(TRANSPORT.name).is_none() {
        let (value, at) = (Value::Table(Table::default()), s.at());
        root.put(TRANSPORT.name, Node { value, at });
    }
    let Some(Value::Table(merged)) = root.get_mut(TRANSPORT.name).map(|e| &mut e.node.value) else {
        return Ok(None);
    };
    if let Some(Value::Table(keys)) = own.map(|node| &node.value) {
        for entry in &keys.0 {
            merged.put(&entry.key, entry.node.clone());
        }
        if let (Some(node), Some(_)) = (control, keys.get(CONTROL.spec.name)) {
            return Err(Fault::new(node.at, "the controller is given in two ways")
                .help("keep control = \"...\" in one of [[workload]] and [workload.transport]"));
        }
    }
    if let Some(node) = control {
        merged.put(CONTROL.spec.name, node.clone());
    }
    let mut transport = transport::transport(&root, around.classes, around.topology)?;
    host::host(&root, &mut transport)?;
    sense::transport(&root, &transport)?;
    Ok((transport != *around.transport).then(|| Box::new(transport)))
}
