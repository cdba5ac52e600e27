// SPDX-License-Identifier: MIT OR Apache-2.0
//! OpenConfig: JSON (RFC 7951) of `openconfig-qos`, and rates and MTUs of `openconfig-interfaces`.
//!
//! `enable-ecn` and `drop` are false where they are absent. The models have no PFC.

mod write;

use std::collections::BTreeMap;

use cemark_formats::Fault;

use super::{Fix, Platform, at};
use crate::document::Document;
use crate::model::{ClassMap, Curve, Length, Malformed, Profile, Queue, Said, Switch, link_rate};
use crate::place::{At, Place};
use crate::text::json::Json;
use crate::wanted::{Form, Unwritable, Wanted, Written};

/// Most entries of a list.
const MOST: usize = 65_536;

/// OpenConfig.
pub(crate) struct OpenConfig;

impl Platform for OpenConfig {
    fn name(&self) -> &'static str {
        "openconfig"
    }

    fn title(&self) -> &'static str {
        "OpenConfig"
    }

    fn reads(&self) -> &'static str {
        "JSON of openconfig-qos"
    }

    fn marks(&self, document: &Document) -> usize {
        let lists = [
            "queue-management-profiles",
            "forwarding-groups",
            "classifiers",
        ];
        let is = |qos| lists.iter().any(|name| member(qos, name).is_some());
        usize::from(document.json().and_then(qos).is_some_and(is))
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut switch = Switch::new();
        switch.says_pauses = false;
        for (file, document) in documents.iter().enumerate() {
            let Some(json) = document.json() else {
                continue;
            };
            at(file, bounded(json))?;
            document_of(&mut switch, file, json);
        }
        switch.whole = switch.queues.values().any(|queue| queue.profile.is_some());
        Ok(vec![switch])
    }

    fn write(&self, wanted: &Wanted, _: Form) -> Option<Result<Written, Unwritable>> {
        Some(Ok(write::write(wanted)))
    }

    fn remedy(&self, fix: &Fix) -> String {
        let leaf = |profile: &str, leaf: &str| {
            format!(
                "/qos/queue-management-profiles/queue-management-profile[name={profile}]/wred/\
                 uniform/config/{leaf}"
            )
        };
        match fix {
            Fix::Enable(profile) | Fix::Mark(profile) => leaf(profile, "enable-ecn = true"),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => format!(
                    "{}, max-threshold = \"{max}\"",
                    leaf(profile, &format!("min-threshold = \"{min}\""))
                ),
                _ => leaf(profile, "min-threshold below max-threshold, in one unit"),
            },
            Fix::Probability(profile, percent) => leaf(
                profile,
                &format!("max-drop-probability-percent = {percent}"),
            ),
            Fix::Instantaneous(profile) => leaf(profile, "weight = 0"),
            Fix::Bind {
                profile,
                port,
                queue,
            } => format!(
                "/qos/interfaces/interface[interface-id={port}]/output/queues/queue[name={queue}]/\
                 config/queue-management-profile = {profile}"
            ),
            Fix::Define(name) => format!(
                "/qos/queue-management-profiles/queue-management-profile[name={}]",
                if name.is_empty() { "NAME" } else { name }
            ),
            Fix::Classify { map, dscp, .. } => format!(
                "/qos/classifiers/classifier[name={map}]/terms/term/conditions/ipv4/config/\
                 dscp-set: add {dscp} to the term of the lossless forwarding group"
            ),
            Fix::Pause { .. } => "PFC is in the vendor's model".to_owned(),
            Fix::Write(words) => words.clone(),
        }
    }
}

/// The member with a name, with or without a module before it.
fn member<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    let named = |full: &str| full.rsplit(':').next() == Some(name);
    let found = json.members().iter().rev().find(|m| named(&m.name));
    found.map(|member| &member.json)
}

/// A value below objects.
fn below<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    names.iter().try_fold(json, |json, name| member(json, name))
}

/// Entries of a list below objects.
fn list<'a>(json: &'a Json, names: &[&str]) -> &'a [Json] {
    below(json, names).map_or(&[], Json::elements)
}

/// The text of a leaf below objects.
fn text<'a>(json: &'a Json, names: &[&str]) -> Option<&'a str> {
    below(json, names).and_then(Json::word)
}

fn qos(json: &Json) -> Option<&Json> {
    member(json, "qos").or_else(|| {
        let root = member(json, "queue-management-profiles").is_some();
        root.then_some(json)
    })
}

/// Refuses a list that no switch has.
fn bounded(json: &Json) -> cemark_formats::Fallible<()> {
    let longest = qos(json)
        .into_iter()
        .flat_map(Json::members)
        .flat_map(|m| m.json.members())
        .map(|m| m.json.elements().len())
        .max();
    match longest.unwrap_or(0) > MOST {
        true => Err(Fault::whole(
            format!("a list has more than {MOST} entries"),
            "name the configuration of one switch",
        )),
        false => Ok(()),
    }
}

fn document_of(switch: &mut Switch, file: usize, json: &Json) {
    for found in json.members() {
        let name = found.name.rsplit(':').next().unwrap_or_default();
        if !["qos", "interfaces"].contains(&name)
            && qos(json).is_none_or(|q| !std::ptr::eq(q, json))
        {
            let short: String = name.chars().take(48).collect();
            *switch.unread.entry(short).or_default() += found.json.members().len().max(1);
        }
    }
    for interface in list(json, &["interfaces", "interface"]) {
        port_of(switch, file, interface);
    }
    let Some(qos) = qos(json) else {
        return;
    };
    let all = list(
        qos,
        &["queue-management-profiles", "queue-management-profile"],
    );
    for json in all {
        profile(switch, file, json);
    }
    let classes = classes(switch, file, qos);
    for interface in list(qos, &["interfaces", "interface"]) {
        bindings(switch, file, interface, &classes);
    }
}

/// Rate and MTU of a port.
fn port_of(switch: &mut Switch, file: usize, json: &Json) {
    let Some(name) = text(json, &["name"]).or_else(|| text(json, &["config", "name"])) else {
        return;
    };
    let port = switch.ports.entry(name.to_owned()).or_default();
    port.place = Place::new(file, json.line, format!("interface {name}"));
    port.mtu = below(json, &["config", "mtu"]).and_then(Json::count);
    let speed = text(json, &["ethernet", "config", "port-speed"]).unwrap_or_default();
    let speed = speed.rsplit(':').next().unwrap_or_default();
    let digits = speed
        .strip_prefix("SPEED_")
        .and_then(|s| s.strip_suffix("GB"));
    port.rate = digits
        .and_then(|digits| digits.parse().ok())
        .and_then(link_rate);
}

fn profile(switch: &mut Switch, file: usize, json: &Json) {
    let Some(name) = text(json, &["name"]).or_else(|| text(json, &["config", "name"])) else {
        return;
    };
    let place = Place::new(file, json.line, format!("queue-management-profile {name}"));
    let mut made = Profile::new(name, place.clone());
    for (kind, weighted) in [("wred", true), ("red", false)] {
        let Some(config) = below(json, &[kind, "uniform", "config"]) else {
            continue;
        };
        let leaf = |name: &str| {
            let json = member(config, name)?;
            Some((json, place.below(json.line, " ", name)))
        };
        let ecn = match leaf("enable-ecn") {
            Some((json, at)) => {
                let on = json.truth() == Some(true);
                Said::new(on, at, format!("`enable-ecn` is {on}"))
            }
            None => Said::new(
                false,
                place.clone(),
                "`enable-ecn` is absent, and absent means false",
            ),
        };
        let drops = leaf("drop").and_then(|(json, _)| json.truth()) == Some(true);
        let how = "`enable-ecn` and `drop` are false or absent";
        let acts = Said::new(ecn.holds || drops, ecn.place.clone(), how);
        let mut curve = Curve::new(acts, ecn);
        let mut number = |name: &str| {
            let (json, at) = leaf(name)?;
            let value = json.word()?;
            if let Ok(number) = value.parse::<u64>() {
                return Some(At::new(number, at));
            }
            switch.malformed.push(Malformed {
                place: at,
                written: value.to_owned(),
                mistake: "is no whole number",
                profile: made.name.clone(),
            });
            None
        };
        let mut length = |bytes: &str, percent: &str| {
            let of = |at: At<u64>, length| Some(At::new(length, at.place));
            if let Some(at) = number(bytes) {
                let length = Length::Bytes(at.value);
                return of(at, length);
            }
            let at = number(percent)?;
            let length = Length::Percent(at.value as f64);
            of(at, length)
        };
        curve.min = length("min-threshold", "min-threshold-percent");
        curve.max = length("max-threshold", "max-threshold-percent");
        if weighted {
            let p = number("max-drop-probability-percent");
            curve.probability = p.map(|p| At::new(p.value as f64, p.place));
            curve.weight = number("weight");
        }
        made.curves.push(curve);
    }
    switch.define(made);
}

/// Queues and forwarding groups, which interfaces name.
struct Classes {
    queues: BTreeMap<String, u8>,
    /// Traffic classes, which are forwarding groups, with their queues.
    groups: BTreeMap<String, (u8, Option<u8>)>,
}

fn classes(switch: &mut Switch, file: usize, qos: &Json) -> Classes {
    let mut queues = BTreeMap::new();
    for (i, queue) in list(qos, &["queues", "queue"]).iter().enumerate() {
        let Some(name) = text(queue, &["name"]).or_else(|| text(queue, &["config", "name"])) else {
            continue;
        };
        let id = below(queue, &["config", "queue-id"]).and_then(Json::count);
        let id = id.unwrap_or(i as u64).min(255) as u8;
        queues.insert(name.to_owned(), id);
    }
    let mut groups = BTreeMap::new();
    let all = list(qos, &["forwarding-groups", "forwarding-group"]);
    for (i, group) in all.iter().enumerate() {
        let Some(name) = text(group, &["name"]).or_else(|| text(group, &["config", "name"])) else {
            continue;
        };
        let words = ["unicast-output-queue", "output-queue"];
        let queue = words.iter().find_map(|word| text(group, &["config", word]));
        let queue = queue.and_then(|queue| queues.get(queue).copied());
        groups.insert(name.to_owned(), (i.min(255) as u8, queue));
    }
    for classifier in list(qos, &["classifiers", "classifier"]) {
        let Some(name) = text(classifier, &["name"]) else {
            continue;
        };
        let place = Place::new(file, classifier.line, format!("classifier {name}"));
        let mut map = ClassMap::new(place.clone(), |_| None);
        for term in list(classifier, &["terms", "term"]) {
            let group = text(term, &["actions", "config", "target-group"]);
            let Some((class, _)) = group.and_then(|group| groups.get(group)) else {
                continue;
            };
            for family in ["ipv4", "ipv6"] {
                let config = below(term, &["conditions", family, "config"]);
                let one = config.and_then(|config| member(config, "dscp"));
                let set = config.map_or(&[][..], |config| list(config, &["dscp-set"]));
                for dscp in one.into_iter().chain(set) {
                    let slot = dscp.count().and_then(|dscp| usize::try_from(dscp).ok());
                    if let Some(slot) = slot.and_then(|dscp| map.explicit.get_mut(dscp)) {
                        let at = place.below(dscp.line, " ", "dscp-set");
                        *slot = Some(At::new(*class, at));
                    }
                }
            }
        }
        switch.classes.insert(name.to_owned(), map);
    }
    Classes { queues, groups }
}

fn bindings(switch: &mut Switch, file: usize, json: &Json, classes: &Classes) {
    let Some(id) = text(json, &["interface-id"]) else {
        return;
    };
    let place = Place::new(file, json.line, format!("interface {id}"));
    let port = switch.ports.entry(id.to_owned()).or_default();
    if port.place.line == 0 {
        port.place = place.clone();
    }
    let classifier = list(json, &["input", "classifiers", "classifier"]).first();
    let classifier = classifier.and_then(|c| text(c, &["config", "name"]));
    port.classes = classifier.map(str::to_owned).or(port.classes.take());
    let queues = classes.groups.values();
    port.queue_of = queues
        .filter_map(|(class, queue)| Some((*class, (*queue)?)))
        .collect();
    for (i, queue) in list(json, &["output", "queues", "queue"])
        .iter()
        .enumerate()
    {
        let name = text(queue, &["name"]).or_else(|| text(queue, &["config", "name"]));
        let name = name.unwrap_or_default();
        let index = classes.queues.get(name).copied();
        let index = index
            .or_else(|| name.parse().ok())
            .unwrap_or(i.min(255) as u8);
        let profile = below(queue, &["config", "queue-management-profile"]);
        let profile = profile.and_then(|json| {
            let at = place.below(json.line, " ", "queue-management-profile");
            Some(At::new(json.word()?.to_owned(), at))
        });
        switch.bind(Queue {
            port: id.to_owned(),
            index,
            profile,
            place: place.clone(),
        });
    }
}
