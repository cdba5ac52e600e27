// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marking profiles of traffic classes under one scheme: the profile of a `[[switch.class]]`, over
//! which a scheme lays `[scheme.class.NAME]`.

use cemark_sim::config::{MarkerChoice, Profile};
use cemark_wire::Rate;

use crate::chip::Chip;
use crate::classes::{Class, Classes};
use crate::error::{Fallible, Fault, alike, fold, near};
use crate::markers::{self, CLASS, LABEL, MARKER, Scheme};
use crate::sections;
use crate::tree::{Entry, Node, Table, Value};

/// A traffic class with its marking profile as read; the label names scheme and class.
pub(crate) struct OfClass<'a> {
    pub(crate) class: &'a Class,
    pub(crate) scheme: Scheme,
}

/// The profiles of a scheme, in the order of the classes. Classes without a profile have the marker
/// of the scheme.
pub(crate) fn profiles<'a>(
    node: &Node,
    label: &str,
    classes: &'a Classes,
    (rate, chip): (Rate, Chip),
) -> Fallible<Vec<OfClass<'a>>> {
    let written = written(node);
    for entry in written.map_or(&[][..], |table| &table.0) {
        if classes.named(&entry.key).is_none() {
            let message = format!("no traffic class is called `{}`", entry.key);
            let help = match classes.all.is_empty() {
                true => "write [[switch.class]] with its name and queue".to_owned(),
                false => near(&entry.key, classes.names()),
            };
            return Err(Fault::new(entry.at, message).label("not known").help(help));
        }
    }
    let mut all: Vec<OfClass<'_>> = Vec::new();
    for class in &classes.all {
        let Some(profile) = effective(node, class) else {
            continue;
        };
        let scheme = Scheme {
            label: format!("{label} ({})", class.name),
            ..markers::profile(&profile, rate, chip)?
        };
        all.push(OfClass { class, scheme });
    }
    one_for_a_queue(&all, classes)?;
    Ok(all)
}

/// Fails on two classes of one queue with unlike profiles.
fn one_for_a_queue(all: &[OfClass<'_>], classes: &Classes) -> Fallible<()> {
    let marker = |class: &Class| {
        let own = all.iter().find(|own| own.class.name == class.name);
        own.map(|own| format!("{:?}", own.scheme.marker))
    };
    for (i, class) in classes.all.iter().enumerate() {
        let mut before = classes.all[..i].iter();
        let Some(first) = before.find(|other| other.queue == class.queue) else {
            continue;
        };
        if marker(first) != marker(class) || first.non_ect != class.non_ect {
            let message = format!(
                "`{}` and `{}` share queue {}, which has one marking profile",
                first.name, class.name, class.queue
            );
            return Err(Fault::new(class.at, message)
                .help("write one profile and one non-ect in both, or another queue"));
        }
    }
    Ok(())
}

/// The profiles by queue, as the simulator has them.
pub(crate) fn by_queue(all: &[OfClass<'_>], classes: &Classes) -> Vec<Option<Profile>> {
    let mut queues: Vec<Option<Profile>> = vec![None; classes.queues];
    for class in &classes.all {
        let own = all.iter().find(|own| own.class.name == class.name);
        let marker: Option<MarkerChoice> = own.map(|own| own.scheme.marker.clone());
        let non_ect = class.non_ect;
        if marker.is_some() || non_ect.is_some() {
            queues[usize::from(class.queue)] = Some(Profile { marker, non_ect });
        }
    }
    while let Some(None) = queues.last() {
        queues.pop();
    }
    queues
}

/// The table of a class's profile under a scheme. The keys that the scheme writes for the class
/// stand alone with a `marker` among them; without one they replace keys of the profile of the
/// class, or of the scheme itself where the class has none.
pub(crate) fn effective(scheme: &Node, class: &Class) -> Option<Node> {
    let own = written(scheme).and_then(|table| table.get(&class.name));
    let Some(Entry { node: own, .. }) = own else {
        return class.profile.clone();
    };
    let Value::Table(keys) = &own.value else {
        return Some(own.clone());
    };
    if keys.get(MARKER.spec.name).is_some() {
        return Some(own.clone());
    }
    let mut base = match (&class.profile, &scheme.value) {
        (
            Some(Node {
                value: Value::Table(profile),
                ..
            }),
            _,
        ) => profile.clone(),
        (_, Value::Table(table)) => parameters(table),
        _ => Table::default(),
    };
    for entry in &keys.0 {
        match base.get_mut(&entry.key) {
            Some(known) => known.node = entry.node.clone(),
            None => base.0.push(entry.clone()),
        }
    }
    let value = Value::Table(base);
    Some(Node { value, at: own.at })
}

/// The marker of a scheme and its parameters, without label, sections and classes.
fn parameters(scheme: &Table) -> Table {
    let other = |key: &str| {
        let mut names = [LABEL.spec.name, CLASS.spec.name].into_iter();
        names.any(|name| alike(name, key)) || sections::per_scheme().any(|s| fold(s) == fold(key))
    };
    let own = scheme.0.iter().filter(|entry| !other(&entry.key));
    Table(own.cloned().collect())
}

/// The table `[scheme.class]`.
fn written(scheme: &Node) -> Option<&Table> {
    let Value::Table(table) = &scheme.value else {
        return None;
    };
    match &table.get(CLASS.spec.name)?.node.value {
        Value::Table(classes) => Some(classes),
        _ => None,
    }
}
