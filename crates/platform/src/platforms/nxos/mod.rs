// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cisco NX-OS: a running configuration.
//!
//! DSCPs go to a qos-group by a class map and a policy map of type qos, the queue of a group has
//! WRED by a policy map of type queuing, and a policy map of type network-qos pauses a group. A
//! policy acts where `system qos` or an interface names it.

mod write;

use std::collections::{BTreeMap, BTreeSet};

use cemark_formats::Fault;

use super::{Fix, Platform};
use crate::document::Document;
use crate::model::{
    ALL_PORTS, ClassMap, Curve, Length, Malformed, Port, Profile, Queue, Said, Switch,
};
use crate::place::{At, Place};
use crate::text::commands::{Command, commands};
use crate::text::ranges;
use crate::wanted::{Form, Unwritable, Wanted, Written};

/// The owner of policies that every port has.
const SYSTEM: &str = "system qos";

/// Units of thresholds.
const UNITS: &[&str] = &["packets", "bytes", "kbytes", "mbytes", "us", "ms"];

/// Cisco NX-OS.
pub(crate) struct NxOs;

impl Platform for NxOs {
    fn name(&self) -> &'static str {
        "nxos"
    }

    fn title(&self) -> &'static str {
        "NX-OS"
    }

    fn reads(&self) -> &'static str {
        "`show running-config` of Cisco NX-OS"
    }

    fn marks(&self, document: &Document) -> usize {
        let commands = commands(document.lines().unwrap_or_default());
        let only = |c: &&Command<'_>| {
            let typed = ["queuing", "network-qos"].contains(&c.word(2)) && c.word(1) == "type";
            c.begins(&["system", "qos"])
                || typed && ["policy-map", "class", "service-policy"].contains(&c.word(0))
        };
        commands.iter().filter(only).count()
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut reader = Reader::default();
        for (file, document) in documents.iter().enumerate() {
            reader.mode = Mode::Global;
            for command in commands(document.lines().unwrap_or_default()) {
                reader.command(file, &command);
            }
        }
        Ok(vec![reader.finish()])
    }

    fn write(&self, wanted: &Wanted, _: Form) -> Option<Result<Written, Unwritable>> {
        Some(Ok(write::write(wanted)))
    }

    fn remedy(&self, fix: &Fix) -> String {
        let line = |profile: &str, words: &str| match profile.split_once(' ') {
            Some((policy, class)) => {
                format!("policy-map type queuing {policy}; class type queuing {class}; {words}")
            }
            None => format!("policy-map type queuing {profile}; {words}"),
        };
        let marks = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes \
                     drop-probability 7 weight 0 ecn";
        match fix {
            Fix::Enable(profile) => line(profile, marks),
            Fix::Mark(profile) => line(profile, "random-detect … ecn"),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => line(
                    profile,
                    &format!(
                        "random-detect minimum-threshold {min} bytes maximum-threshold {max} \
                         bytes … ecn"
                    ),
                ),
                _ => line(profile, "random-detect with the smaller threshold first"),
            },
            Fix::Probability(profile, percent) => line(
                profile,
                &format!("random-detect … drop-probability {percent} … ecn"),
            ),
            Fix::Instantaneous(profile) => line(profile, "random-detect … weight 0 ecn"),
            Fix::Bind { profile, queue, .. } => match profile.split_once(' ') {
                Some((policy, _)) => {
                    format!("system qos; service-policy type queuing output {policy}")
                }
                None => format!(
                    "policy-map type queuing NAME; class type queuing c-out-8q-q{queue}; {marks}"
                ),
            },
            Fix::Define(name) => format!(
                "policy-map type queuing {}; class type queuing c-out-8q-q3; {marks}",
                if name.is_empty() { "NAME" } else { name }
            ),
            Fix::Classify { dscp, class, .. } => format!(
                "class-map type qos match-any ROCE; match dscp {dscp}; policy-map type qos NAME; \
                 class ROCE; set qos-group {class}; on each port: service-policy type qos input \
                 NAME"
            ),
            Fix::Pause { port, priority } => format!(
                "policy-map type network-qos NAME; class type network-qos c-8q-nq{priority}; pause \
                 pfc-cos {priority}; system qos; service-policy type network-qos NAME; interface \
                 {port}; priority-flow-control mode on"
            ),
            Fix::Write(words) => words.clone(),
        }
    }
}

/// The mode in which a command is.
#[derive(Clone, Debug, Default, PartialEq)]
enum Mode {
    #[default]
    Global,
    ClassMap(String),
    /// Type and name of a policy map, and the class in it.
    Policy(String, String, Option<String>),
    /// `system qos`, or interfaces.
    Owner(Vec<String>),
    Other,
}

/// A class of a policy map of type queuing.
#[derive(Debug, Default)]
struct Queuing {
    place: Place,
    words: Vec<String>,
}

/// Settings of an interface.
#[derive(Clone, Debug, Default)]
struct Owner {
    place: Place,
    /// Policies by type.
    policies: BTreeMap<String, At<String>>,
    pauses: Option<bool>,
    mtu: Option<u64>,
}

#[derive(Default)]
struct Reader {
    mode: Mode,
    /// DSCPs of class maps.
    matches: BTreeMap<String, Vec<(usize, Place)>>,
    /// Class maps that match the priority of a VLAN tag.
    tagged: BTreeSet<String>,
    /// Groups of class maps of type queuing and network-qos that users define.
    own: BTreeMap<String, u8>,
    /// Policy maps of type qos: class and qos-group.
    groups: BTreeMap<String, Vec<(String, u8)>>,
    queuing: BTreeMap<(String, String), Queuing>,
    policies: BTreeSet<String>,
    /// Priorities that a policy map of type network-qos pauses.
    pauses: BTreeMap<String, BTreeMap<u8, Place>>,
    owners: BTreeMap<String, Owner>,
    unread: BTreeMap<String, usize>,
}

impl Reader {
    fn command(&mut self, file: usize, command: &Command<'_>) {
        let place = Place::new(file, command.line, command.path());
        if self.enters(command, &place) {
            return;
        }
        let words = command.words.as_slice();
        match &self.mode {
            Mode::ClassMap(name) => match words {
                ["match", "dscp", rest @ ..] => {
                    let dscps = ranges::numbers(&rest.join(","), 63).unwrap_or_default();
                    let all = dscps.into_iter().map(|dscp| (dscp as usize, place.clone()));
                    self.matches.entry(name.clone()).or_default().extend(all);
                }
                ["match", "cos", ..] => {
                    self.tagged.insert(name.clone());
                }
                ["match", "qos-group", group] => {
                    if let Ok(group) = group.parse() {
                        self.own.insert(name.clone(), group);
                    }
                }
                _ => {}
            },
            Mode::Policy(kind, name, Some(class)) => {
                let (kind, name, class) = (kind.clone(), name.clone(), class.clone());
                self.in_class(&kind, &name, &class, words, &place);
            }
            Mode::Owner(names) => {
                for name in names.clone() {
                    self.owned(name, words, &place);
                }
            }
            Mode::Global | Mode::Other | Mode::Policy(_, _, None) => {}
        }
    }

    /// Takes a command that begins a mode.
    fn enters(&mut self, command: &Command<'_>, place: &Place) -> bool {
        let words = command.words.as_slice();
        let after = |n: usize| words.get(n..).map(|w| w.concat()).unwrap_or_default();
        match words {
            ["!", ..] => {}
            ["class-map", "type", _, rest @ ..] => {
                let name = rest.last().copied().unwrap_or_default();
                self.mode = Mode::ClassMap(name.to_owned());
            }
            ["policy-map", "type", kind, rest @ ..] => {
                let name = rest.last().copied().unwrap_or_default();
                if *kind == "queuing" {
                    self.policies.insert(name.to_owned());
                }
                self.mode = Mode::Policy((*kind).to_owned(), name.to_owned(), None);
            }
            ["class", rest @ ..] => {
                if let Mode::Policy(_, _, class) = &mut self.mode {
                    *class = rest.last().map(|name| (*name).to_owned());
                }
            }
            ["system", "qos"] => {
                self.owners.entry(SYSTEM.to_owned()).or_default().place = place.clone();
                self.mode = Mode::Owner(vec![SYSTEM.to_owned()]);
            }
            ["interface", ..] => {
                let names = ranges::names(&after(1));
                for name in &names {
                    self.owners.entry(name.clone()).or_default().place = place.clone();
                }
                self.mode = Mode::Owner(names);
            }
            _ if !command.indented && command.is_other(&mut self.unread) => {
                self.mode = Mode::Other;
            }
            _ => return false,
        }
        true
    }

    fn in_class(&mut self, kind: &str, name: &str, class: &str, words: &[&str], place: &Place) {
        match (kind, words) {
            ("qos", ["set", "qos-group", group]) => {
                if let Ok(group) = group.parse() {
                    let groups = self.groups.entry(name.to_owned()).or_default();
                    groups.push((class.to_owned(), group));
                }
            }
            ("network-qos", ["pause", rest @ ..]) => {
                let priority = match rest {
                    ["pfc-cos", cos] => cos.parse().ok(),
                    _ => self.group(class),
                };
                if let Some(priority) = priority {
                    let pauses = self.pauses.entry(name.to_owned()).or_default();
                    pauses.insert(priority, place.clone());
                }
            }
            // The command may go on in the next lines.
            (
                "queuing",
                [
                    "random-detect" | "minimum-threshold" | "maximum-threshold"
                    | "drop-probability" | "weight" | "ecn",
                    ..,
                ],
            ) => {
                let key = (name.to_owned(), class.to_owned());
                let begins = words[0] == "random-detect";
                let made = self.queuing.entry(key).or_default();
                if begins {
                    *made = Queuing {
                        place: place.clone(),
                        words: Vec::new(),
                    };
                }
                let words = words.iter().filter(|word| **word != "\\");
                made.words.extend(words.map(|word| (*word).to_owned()));
            }
            _ => {}
        }
    }

    fn owned(&mut self, name: String, words: &[&str], place: &Place) {
        let owner = self.owners.entry(name).or_default();
        match words {
            ["service-policy", "type", kind, rest @ ..] => {
                let policy = rest.last().copied().unwrap_or_default().to_owned();
                owner
                    .policies
                    .insert((*kind).to_owned(), At::new(policy, place.clone()));
            }
            ["priority-flow-control", "mode", mode, ..] => owner.pauses = Some(*mode != "off"),
            ["mtu", bytes] => owner.mtu = bytes.parse().ok(),
            _ => {}
        }
    }

    fn finish(mut self) -> Switch {
        let mut switch = Switch::new();
        switch.unread = std::mem::take(&mut self.unread);
        for ((policy, class), made) in &self.queuing {
            profile(&mut switch, &format!("{policy} {class}"), made);
        }
        for (policy, groups) in &self.groups {
            // By the priority of a tag the group of a DSCP is not known.
            let tagged = groups.iter().any(|(class, _)| self.tagged.contains(class));
            let absent = (!tagged).then_some(0);
            let mut map = ClassMap::new(Place::new(0, 1, policy.clone()), |_| absent);
            for (class, group) in groups {
                for (dscp, place) in self.matches.get(class).into_iter().flatten() {
                    map.explicit[*dscp] = Some(At::new(*group, place.clone()));
                    map.place = place.clone();
                }
            }
            switch.classes.insert(policy.clone(), map);
        }
        let system = self.owners.remove(SYSTEM).unwrap_or_default();
        // Ports of a switch: without one the policies are those of `system qos`, or a fragment.
        let bound = |owner: &Owner| !owner.policies.is_empty();
        if self.owners.is_empty() {
            switch.whole = bound(&system);
            self.owners.insert(ALL_PORTS.to_owned(), Owner::default());
        }
        for (name, owner) in &self.owners {
            let policy = |kind: &str| owner.policies.get(kind).or(system.policies.get(kind));
            let place = match owner.place.line {
                0 => system.place.clone(),
                _ => owner.place.clone(),
            };
            let mut port = Port {
                place,
                mtu: owner.mtu,
                classes: policy("qos").map(|policy| policy.value.clone()),
                ..Port::default()
            };
            let pauses = policy("network-qos").and_then(|p| self.pauses.get(&p.value));
            if let Some(pauses) = pauses.filter(|_| owner.pauses != Some(false)) {
                port.lossless = pauses.clone();
            }
            switch.ports.insert(name.clone(), port);
            if let Some(policy) = policy("queuing") {
                self.bind(&mut switch, name, policy);
            }
        }
        switch
    }

    /// The qos-group of a class of type queuing or network-qos.
    fn group(&self, class: &str) -> Option<u8> {
        self.own.get(class).copied().or_else(|| number(class))
    }

    fn bind(&self, switch: &mut Switch, port: &str, policy: &At<String>) {
        if !self.policies.contains(&policy.value) {
            // Policies that the system defines have names that begin with `default-`.
            if !policy.value.starts_with("default-") {
                switch.bind(Queue {
                    port: port.to_owned(),
                    index: 255,
                    profile: Some(policy.clone()),
                    place: policy.place.clone(),
                });
            }
            return;
        }
        let from = (policy.value.clone(), String::new());
        let classes = self.queuing.range(from..);
        for ((_, class), _) in classes.take_while(|((name, _), _)| *name == policy.value) {
            let profile = format!("{} {class}", policy.value);
            switch.bind(Queue {
                port: port.to_owned(),
                index: self.group(class).unwrap_or(0),
                profile: Some(At::new(profile, policy.place.clone())),
                place: policy.place.clone(),
            });
        }
    }
}

/// The qos-group at the end of `c-out-8q-q3` or `c-8q-nq3`; of `c-out-8q-q-default` it is 0.
fn number(class: &str) -> Option<u8> {
    if class.ends_with("default") {
        return Some(0);
    }
    let digits = class.len() - class.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    class[class.len() - digits..].parse().ok()
}

fn profile(switch: &mut Switch, name: &str, made: &Queuing) {
    let words = &made.words;
    let place = made.place.clone();
    let ecn = words.iter().any(|word| word == "ecn");
    let how = "`random-detect` without `ecn` is WRED, which drops";
    let acts = Said::new(true, place.clone(), "random-detect");
    let mut curve = Curve::new(acts, Said::new(ecn, place.clone(), how));
    let after = |keyword: &str| {
        let at = words.iter().position(|word| word == keyword)?;
        let unit = words.get(at + 2).map(String::as_str).unwrap_or_default();
        Some((words.get(at + 1)?.as_str(), unit))
    };
    let mut length = |keyword: &str| {
        let (value, unit) = after(keyword)?;
        let number = value.parse::<u64>().ok();
        let length = number.and_then(|n| Length::read(n, unit, UNITS));
        if length.is_none() {
            switch.malformed.push(Malformed {
                place: place.clone(),
                written: value.to_owned(),
                mistake: "has no unit that NX-OS knows (packets, bytes, kbytes, mbytes, us, ms)",
                profile: name.to_owned(),
            });
        }
        length.map(|length| At::new(length, place.clone()))
    };
    curve.min = length("minimum-threshold");
    curve.max = length("maximum-threshold");
    let number = |keyword: &str| after(keyword).and_then(|(value, _)| value.parse::<u64>().ok());
    let p = number("drop-probability");
    curve.probability = p.map(|p| At::new(p as f64, place.clone()));
    curve.weight = number("weight").map(|weight| At::new(weight, place.clone()));
    let mut profile = Profile::new(name, place);
    profile.curves.push(curve);
    switch.define(profile);
}
