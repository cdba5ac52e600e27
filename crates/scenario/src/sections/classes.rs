// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[switch.class]]`: traffic classes, each with the DSCPs that select it, its queue, and the
//! marking profile of that queue.

use std::collections::BTreeMap;

use cemark_sim::config::{NonEct, QueueConfig, TrafficClass};

use crate::error::{At, Fallible, Fault, fold, near};
use crate::key::{Key, keys};
use crate::section::{Section, count};
use crate::sections::{Form, SectionSpec};
use crate::switch::{MOST_QUEUES, QUEUE_KEYS, SWITCH};
use crate::tree::{Node, Table, Value, tables};

pub(crate) static CLASS: SectionSpec = SectionSpec::new(
    "switch.class",
    Form::List,
    &[KEYS, QUEUE_KEYS, MARKING],
    "A traffic class of every switch: the packets that belong to it, its queue, and the profile \
     that marks them.",
);

/// DSCPs of an IP header.
const DSCPS: (u64, u64) = (0, 63);

keys! { KEYS:
    NAME: String = Key::text("name").needed("storage")
        .doc("its name in workloads, schemes, paths and reports");
    DSCP: Node = Key::own(
        "dscp",
        "a DSCP (0 to 63), or a list of them",
        r#"{"anyOf":[{"type":"integer","minimum":0,"maximum":63},
            {"type":"array","items":{"type":"integer","minimum":0,"maximum":63}}]}"#,
    )
    .follows("none")
    .doc("the DSCPs of its packets, by which workloads may name it");
    PRIORITY: u8 = Key::count("priority", 0, 7).follows("none")
        .doc("its priority (802.1p, PFC); the class has the queue of this number");
    QUEUE: u8 = Key::count("queue", 0, MOST_QUEUES - 1).follows("`priority`")
        .doc("its queue at every port; several classes may share one");
}

keys! { MARKING:
    NON_ECT: NonEct = Key::choice("non-ect").follows("as [switch]").doc(
        "a packet of this class that should be marked and is not ECN-capable: `forward` or `drop`",
    );
    PROFILE: Node = Key::own("profile", "a table", r#"{"type":"object"}"#)
        .follows("the marker of each `[[scheme]]`")
        .doc(
            "`marker` and its parameters, as in `[[scheme]]`: \
             `{ marker = \"wred\", kmin = \"100KB\", kmax = \"400KB\", pmax = 0.2 }`",
        );
}

/// A `[[switch.class]]` as read.
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) queue: u8,
    pub(crate) at: At,
    /// The table of its marking profile.
    pub(crate) profile: Option<Node>,
    pub(crate) non_ect: Option<NonEct>,
    dscps: Vec<u8>,
    /// Table of the class in the scenario.
    node: Node,
}

/// The traffic classes of a scenario, and the number of queues of a port.
pub(crate) struct Classes {
    pub(crate) all: Vec<Class>,
    pub(crate) queues: usize,
}

impl Classes {
    /// The class of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Class> {
        self.all
            .iter()
            .find(|class| fold(&class.name) == fold(name))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|class| class.name.as_str())
    }

    /// The queue of a class that is written by its name.
    pub(crate) fn queue_named(&self, at: At, name: &str) -> Fallible<u8> {
        let unknown = || {
            let fault = Fault::new(at, format!("no traffic class is called `{name}`"));
            fault.label("not known").help(match self.all.is_empty() {
                true => format!(
                    "write the number of a queue, or [[switch.class]] with name = \"{name}\""
                ),
                false => near(name, self.names()),
            })
        };
        self.named(name)
            .map(|class| class.queue)
            .ok_or_else(unknown)
    }

    /// The queue of the class to which packets with this DSCP belong.
    pub(crate) fn queue_of_dscp(&self, node: &Node) -> Fallible<u8> {
        let dscp = count(node, DSCPS)? as u8;
        let own = self.all.iter().find(|class| class.dscps.contains(&dscp));
        own.map(|class| class.queue).ok_or_else(|| {
            let known = |class: &Class| {
                let dscps = class
                    .dscps
                    .iter()
                    .map(|dscp| format!("{dscp} ({})", class.name));
                dscps.collect::<Vec<_>>()
            };
            let known: Vec<String> = self.all.iter().flat_map(known).collect();
            let help = match known.is_empty() {
                true => format!("write dscp = {dscp} in a [[switch.class]]"),
                false => format!(
                    "known: {}; or write dscp = {dscp} in a [[switch.class]]",
                    known.join(", ")
                ),
            };
            Fault::new(node.at, format!("no traffic class has DSCP {dscp}")).help(help)
        })
    }

    /// The classes as reports name them.
    pub(crate) fn in_words(&self) -> Vec<TrafficClass> {
        let one = |class: &Class| TrafficClass {
            name: class.name.clone(),
            queue: class.queue,
        };
        self.all.iter().map(one).collect()
    }

    /// The queues of a port, each as its class writes it; `read` reads the scheduling of a table.
    pub(crate) fn queues(
        &self,
        plain: QueueConfig,
        mut read: impl FnMut(&mut Section<'_>) -> Fallible<QueueConfig>,
    ) -> Fallible<Vec<QueueConfig>> {
        let mut all = vec![plain; self.queues];
        let mut owner: Vec<Option<&Class>> = vec![None; self.queues];
        for class in &self.all {
            let mut s = Section::under(&class.node, &CLASS)?;
            let queue = read(&mut s)?;
            let place = usize::from(class.queue);
            if let Some(first) = owner[place].filter(|_| all[place] != queue) {
                let message = format!(
                    "`{}` and `{}` share queue {place} and write it differently",
                    first.name, class.name
                );
                return Err(Fault::new(class.at, message).help(
                    "write weight, quantum, strict, bytes and lossless alike in both, or give one \
                     class another queue",
                ));
            }
            all[place] = queue;
            owner[place] = Some(class);
        }
        Ok(all)
    }
}

/// The classes of a file, and its queues: as many as its classes need, or `queues` says.
pub(crate) fn classes(switch: &mut Section<'_>, each: Option<&Node>) -> Fallible<Vec<Class>> {
    let mut all: Vec<Class> = Vec::new();
    for node in each.map_or(&[][..], tables) {
        let class = one(node)?;
        if let Some(first) = all.iter().find(|c| fold(&c.name) == fold(&class.name)) {
            let message = format!("two traffic classes are called `{}`", first.name);
            return Err(Fault::new(node.at, message).help("give each its own name"));
        }
        let taken = |dscp: &&u8| all.iter().any(|c| c.dscps.contains(dscp));
        if let Some(dscp) = class.dscps.iter().find(taken) {
            let message = format!("DSCP {dscp} is in two traffic classes");
            return Err(Fault::new(node.at, message).help("keep it in one of them"));
        }
        all.push(class);
    }
    if each.is_some() && all.is_empty() {
        return Err(Fault::new(switch.at(), "there is no class in `class`")
            .help("write [[switch.class]] with name and queue"));
    }
    Ok(all)
}

fn one(node: &Node) -> Fallible<Class> {
    let mut s = Section::under(node, &CLASS)?;
    let name = s.read(&NAME)?.trim().to_owned();
    let at = s.need(&NAME)?.at;
    if name.is_empty() || name.contains('.') || name.parse::<u64>().is_ok() {
        return Err(
            Fault::new(at, format!("`{name}` is no name of a traffic class"))
                .help("write letters, without a dot: name = \"storage\""),
        );
    }
    if ["by-pair", "by-sender"]
        .iter()
        .any(|word| fold(word) == fold(&name))
    {
        return Err(Fault::new(
            at,
            format!("`{name}` chooses the queue of a flow by its hosts"),
        )
        .help("write another name"));
    }
    let dscps = match s.node(&DSCP) {
        None => Vec::new(),
        Some(Node {
            value: Value::List(items),
            ..
        }) => {
            let one = |item: &Node| Ok(count(item, DSCPS)? as u8);
            items.iter().map(one).collect::<Fallible<Vec<u8>>>()?
        }
        Some(node) => vec![count(node, DSCPS)? as u8],
    };
    let priority = s.given(&PRIORITY)?;
    let queue = s.given(&QUEUE)?.or(priority).ok_or_else(|| {
        Fault::new(node.at, format!("the class `{name}` has no queue"))
            .label("in this table")
            .help("write queue = 3, or priority = 3")
    })?;
    let profile = s.node(&PROFILE).cloned();
    if let Some(profile) = profile
        .as_ref()
        .filter(|p| !matches!(p.value, Value::Table(_)))
    {
        return Err(Fault::new(profile.at, "a profile is a table")
            .help("write profile = { marker = \"wred\", kmin = \"100KB\", kmax = \"400KB\" }"));
    }
    let non_ect = s.given(&NON_ECT)?;
    s.allow(QUEUE_KEYS.iter().map(|key| key.name));
    s.finish()?;
    Ok(Class {
        name,
        queue,
        at: node.at,
        profile,
        non_ect,
        dscps,
        node: node.clone(),
    })
}

/// The fault of a class whose queue a port does not have.
pub(crate) fn beyond(class: &Class, queues: usize) -> Box<Fault> {
    let message = format!(
        "the class `{}` has queue {}, and a port has {queues} queues",
        class.name, class.queue
    );
    Fault::new(class.at, message).help(format!(
        "write queues = {} in [switch], or a queue from 0 to {}",
        class.queue + 1,
        queues - 1
    ))
}

/// DSCPs of the classes by name; none where a sweep writes what a class needs.
pub(crate) fn dscps(root: &Table) -> BTreeMap<String, Vec<u8>> {
    let classes = of_scenario(root).map_or_else(|_| Vec::new(), |classes| classes.all);
    let pairs = classes.into_iter().map(|class| (class.name, class.dscps));
    pairs.collect()
}

/// The classes of a scenario, before anything else of `[switch]` is read.
pub(crate) fn of_scenario(root: &Table) -> Fallible<Classes> {
    let mut s = Section::of(root, &SWITCH)?;
    let (each, counted, listed) = crate::switch::queue_nodes(&mut s);
    let all = classes(&mut s, each)?;
    let counted = counted
        .map(|node| count(node, (1, MOST_QUEUES)))
        .transpose()?;
    let needed = all.iter().map(|class| usize::from(class.queue) + 1).max();
    let queues = match (needed, counted) {
        (None, None) => listed.map_or(1, |node| tables(node).len()),
        (None, Some(n)) => n as usize,
        (Some(needed), None) => needed,
        (Some(_), Some(n)) => n as usize,
    };
    if let (Some(node), false) = (listed, all.is_empty()) {
        return Err(
            Fault::new(node.at, "the queues are given in two ways").help(
                "write weight, quantum, strict, bytes and lossless in [[switch.class]], and remove \
             [[switch.queue]]",
            ),
        );
    }
    match all.iter().find(|class| usize::from(class.queue) >= queues) {
        Some(class) => Err(beyond(class, queues)),
        None => Ok(Classes { all, queues }),
    }
}
