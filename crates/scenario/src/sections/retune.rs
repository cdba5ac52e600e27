// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[retune]]`: parameters of schemes that change in mid-run.

use std::collections::BTreeMap;

use cemark_marking::{SchemeSpec, Values};
use cemark_param::{Dialect, ParamSpec};
use cemark_sim::retune::{Retune, retuned};
use cemark_sim::topology::Fabric;
use cemark_sim::{Config, LinkId};
use cemark_wire::{Picos, Rate};

use crate::chip::Chip;
use crate::classes::{self, Class, Classes};
use crate::error::{Fallible, Fault, fold, near, near_of_many};
use crate::key::{Key, KeySpec, keys};
use crate::markers::{self, label_of, spec_of};
use crate::profiles;
use crate::section::{Section, link_names, text};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table, Value, items};
use crate::units;

pub(crate) static RETUNE: SectionSpec = SectionSpec::new(
    "retune",
    Form::List,
    &[KEYS],
    "Parameters of schemes that change in mid-run; every other key is a parameter.",
)
.and(of_the_catalogue);

keys! { KEYS:
    NAME: String = Key::text("name").follows("none").doc("its name in paths (`retune.late.at`)");
    AT: Picos = Key::time("at").needed("5ms").doc(
        "when: ahead of everything that happens at this time, behind everything before it",
    );
    OF: String = Key::text("scheme").follows("every scheme that has these parameters").doc(
        "the label of the scheme that changes",
    );
    CLASS: String = Key::text("class").follows("every queue whose scheme has these parameters")
        .doc("the traffic class whose queue changes");
    PORTS: Node = Key::own(
        "ports",
        "the name of a port, or a list of names",
        r#"{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#,
    )
    .follows("every port that marks")
    .doc(
        "the ports that change; in `\"leaf*->host*\"` each `*` is any text. `cemark run` \
         names ports in its report",
    );
}

/// The parameters of every scheme.
fn of_the_catalogue() -> Vec<KeySpec> {
    markers::of_the_catalogue()
}

/// Whether a `[[retune]]` names a scheme, and the parameters that it writes.
struct Written<'a> {
    scheme: Option<(&'a str, &'a Node)>,
    class: Option<(&'a str, &'a Node)>,
    params: Vec<(&'a str, &'a Node)>,
}

fn written(node: &Node) -> Fallible<Written<'_>> {
    let mut s = Section::under(node, &RETUNE)?;
    let scheme = match s.node(&OF) {
        Some(node) => Some((text(node)?, node)),
        None => None,
    };
    let class = match s.node(&CLASS) {
        Some(node) => Some((text(node)?, node)),
        None => None,
    };
    let own = |key: &str| RETUNE.own_keys().any(|own| fold(own.name) == fold(key));
    let Value::Table(table) = &node.value else {
        return Err(Fault::new(node.at, "[[retune]] is a table"));
    };
    let others = table.0.iter().filter(|entry| !own(&entry.key));
    let params = others.map(|entry| (entry.key.as_str(), &entry.node));
    let params: Vec<_> = params.collect();
    if params.is_empty() {
        return Err(Fault::new(node.at, "this retune changes nothing")
            .help("write parameters of a scheme with their new values: ins_target = \"100us\""));
    }
    Ok(Written {
        scheme,
        class,
        params,
    })
}

impl Written<'_> {
    /// The traffic class whose queue changes.
    fn class<'c>(&self, classes: &'c Classes) -> Fallible<Option<&'c Class>> {
        let Some((name, node)) = self.class else {
            return Ok(None);
        };
        classes.queue_named(node.at, name)?;
        Ok(classes.named(name))
    }
}

fn param<'a>(spec: &'a SchemeSpec, name: &str) -> Option<&'a ParamSpec> {
    let same = |p: &&ParamSpec| fold(p.name) == fold(name);
    spec.params.iter().find(same)
}

/// Whether a scheme has all these parameters.
fn has_all(spec: &SchemeSpec, written: &Written<'_>) -> bool {
    let mut names = written.params.iter();
    names.all(|(name, _)| param(spec, name).is_some())
}

/// Fails on a `[[retune]]` that no scheme of the file follows.
pub(crate) fn check(root: &Table, schemes: &[Node]) -> Fallible<()> {
    if items(root, RETUNE.name).is_empty() {
        return Ok(());
    }
    let classes = classes::of_scenario(root)?;
    for node in items(root, RETUNE.name) {
        let written = written(node)?;
        let chosen: Vec<&Node> = match written.scheme {
            None => schemes.iter().collect(),
            Some((label, at)) => {
                let same = |s: &&Node| label_of(s).is_some_and(|own| fold(own) == fold(label));
                let Some(found) = schemes.iter().find(same) else {
                    let labels = schemes.iter().filter_map(label_of);
                    let message = format!("no scheme of this file is labelled `{label}`");
                    return Err(Fault::new(at.at, message)
                        .label("no such label")
                        .help(near(label, labels).replacen("known: ", "labels: ", 1)));
                };
                vec![found]
            }
        };
        let class = written.class(&classes)?;
        let of_classes = |node: &Node| {
            let own = classes
                .all
                .iter()
                .filter_map(|class| profiles::effective(node, class));
            own.filter_map(|profile| spec_of(&profile))
                .collect::<Vec<_>>()
        };
        let specs = |node: &Node| match class {
            Some(class) => match profiles::effective(node, class) {
                Some(profile) => spec_of(&profile).into_iter().collect(),
                None => spec_of(node).into_iter().collect(),
            },
            None => spec_of(node)
                .into_iter()
                .chain(of_classes(node))
                .collect::<Vec<_>>(),
        };
        let specs: Vec<&SchemeSpec> = chosen.iter().flat_map(|node| specs(node)).collect();
        for (name, at) in &written.params {
            if specs.iter().any(|spec| param(spec, name).is_some()) {
                continue;
            }
            let message = match written.scheme {
                Some((label, _)) => format!("{label} has no parameter `{name}`"),
                None => format!("no scheme of this file has a parameter `{name}`"),
            };
            let names = specs
                .iter()
                .flat_map(|spec| spec.params.iter().map(|p| p.name));
            let all = RETUNE.own_keys().map(|key| key.name).chain(names);
            let list = "`cemark schemes NAME` lists the parameters of a scheme";
            return Err(Fault::new(at.at, message)
                .label("not known")
                .help(near_of_many(name, all, list)));
        }
        if !specs.iter().any(|spec| has_all(spec, &written)) {
            let message = "no scheme of this file has all the parameters of this retune";
            return Err(Fault::new(node.at, message)
                .help("write one [[retune]] for each scheme, with scheme = \"its label\""));
        }
    }
    Ok(())
}

/// The retunes of one scheme, read into its configuration, and what they change in words.
pub(crate) fn retunes(
    root: &Table,
    config: &mut Config,
    label: &str,
    (classes, chip): (&Classes, Chip),
) -> Fallible<Vec<String>> {
    let fabric = config.topology.fabric();
    let switch = &config.switch;
    let mut found: Vec<(Retune, &Node, String)> = Vec::new();
    for node in items(root, RETUNE.name) {
        let written = written(node)?;
        let class = written.class(classes)?;
        // Of several queues with these parameters the first says how values are read.
        let queues = match class {
            Some(class) => usize::from(class.queue)..usize::from(class.queue) + 1,
            None => 0..switch.queues.len(),
        };
        let schemes = queues.filter_map(|queue| Some(switch.marker_of(queue).declared()?.0));
        let schemes: Vec<&SchemeSpec> = schemes.collect();
        let fitting = schemes
            .iter()
            .copied()
            .find(|scheme| has_all(scheme, &written));
        let scheme = match written.scheme {
            Some((of, _)) if fold(of) == fold(label) => fitting.or(schemes.first().copied()),
            Some(_) => None,
            None => fitting,
        };
        if let Some(scheme) = scheme {
            found.push(one(node, scheme, (class, chip), config)?);
        }
    }
    found.sort_by_key(|(retune, ..)| retune.at);
    let unlike = if switch.has_profiles() {
        switch.queues.len()
    } else {
        1
    };
    for queue in 0..unlike {
        if let Some((scheme, &values)) = switch.marker_of(queue).declared() {
            let meant = |retune: &Retune| match retune.queue {
                Some(own) => usize::from(own) == queue,
                None => retune
                    .params
                    .iter()
                    .all(|(name, _)| scheme.index_of(name).is_some()),
            };
            let own = found.iter().filter(|(retune, ..)| meant(retune));
            fit(own, scheme, values, config, fabric)?;
        }
    }
    let lines = found.iter().map(|(.., line)| line.clone()).collect();
    config.retunes = found.into_iter().map(|(retune, ..)| retune).collect();
    Ok(lines)
}

fn one<'a>(
    node: &'a Node,
    scheme: &'static SchemeSpec,
    (class, chip): (Option<&Class>, Chip),
    config: &Config,
) -> Fallible<(Retune, &'a Node, String)> {
    let fabric = config.topology.fabric();
    let mut s = Section::under(node, &RETUNE)?;
    // For paths.
    s.given(&NAME)?;
    s.given(&OF)?;
    s.given(&CLASS)?;
    let at = s.read(&AT)?;
    if at >= config.max_time {
        let place = s.need(&AT)?.at;
        let end = units::span(config.max_time);
        return Err(
            Fault::new(place, format!("the run ends at {end} at the latest"))
                .help("write an earlier time, or a longer max-time at the top of the file"),
        );
    }
    let ports = s.given(&PORTS)?;
    let links = match &ports {
        None => None,
        Some(ports) => Some(chosen(ports, config, fabric)?),
    };
    let rate: Rate = config.topology.slowest();
    let mut params = Vec::new();
    let mut words = Vec::new();
    for param in scheme.params {
        if let Some(node) = s.get(param.name) {
            let value = markers::parameter(node, scheme, param, rate)?;
            let value = chip.holds(param, value);
            params.push((param.name, value));
            words.push(format!(
                "{} = {}",
                param.name,
                param.show(value, Dialect::Message)
            ));
        }
    }
    s.finish()?;
    let place = match &links {
        None => "every port that marks".to_owned(),
        Some(links) if links.len() == 1 => fabric.links()[links[0] as usize].name.clone(),
        Some(links) => format!("{} ports", links.len()),
    };
    let of = class.map_or_else(String::new, |class| format!(" of `{}`", class.name));
    let line = format!(
        "at {}: {}{of}, at {place}",
        units::span(at),
        words.join(", ")
    );
    let queue = class.map(|class| class.queue);
    let retune = Retune {
        at,
        links,
        queue,
        params,
    };
    Ok((retune, node, line))
}

/// The links of `ports`, each once, in order.
fn chosen(ports: &Node, config: &Config, fabric: &Fabric) -> Fallible<Vec<u32>> {
    let help = "write ports = \"leaf*->host*\", or leave `ports` out for all of them";
    let names = link_names(ports, "a retune of no port", help)?;
    let mut links = Vec::new();
    for name in names {
        let pattern = text(name)?;
        let fitting = fabric.matching(pattern);
        if fitting.is_empty() {
            let known = fabric.links().iter().rev().take(64);
            let message = format!("no port of this fabric is called `{pattern}`");
            return Err(Fault::new(name.at, message)
                .label("not known")
                .help(near(pattern, known.map(|link| link.name.as_str()))));
        }
        let marking = fitting.iter().filter(|link| config.marks(fabric, **link));
        let before = links.len();
        links.extend(marking.map(|link| link.0));
        if links.len() == before {
            let message = format!("no port that is called `{pattern}` marks packets");
            return Err(Fault::new(name.at, message)
                .help("only ports of switches mark, and NICs with nic = \"switch-port\""));
        }
    }
    links.sort_unstable();
    links.dedup();
    Ok(links)
}

/// Fails on values that do not go with each other or with those before them, at any port.
fn fit<'a>(
    found: impl Iterator<Item = &'a (Retune, &'a Node, String)>,
    scheme: &'static SchemeSpec,
    usual: Values,
    config: &Config,
    fabric: &Fabric,
) -> Fallible<()> {
    // Ports that were not named alone have what was given to all.
    let mut of_all = usual;
    let mut own: BTreeMap<u32, Values> = BTreeMap::new();
    for (retune, node, _) in found {
        let change = |values: &Values| {
            retuned(scheme, values, &retune.params).map_err(|why| {
                Fault::new(node.at, format!("{}: {why}", scheme.title)).help(
                    "write values that go with the others of the scheme; where packets are judged \
                     (hook) and timers are fixed when a run begins",
                )
            })
        };
        match &retune.links {
            None => {
                of_all = change(&of_all)?;
                for values in own.values_mut() {
                    *values = change(values)?;
                }
            }
            Some(links) => {
                for &link in links {
                    debug_assert!(config.marks(fabric, LinkId(link)), "a port that marks");
                    let values = own.entry(link).or_insert(of_all);
                    *values = change(values)?;
                }
            }
        }
    }
    Ok(())
}
