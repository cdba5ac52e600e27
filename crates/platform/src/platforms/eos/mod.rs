// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arista EOS: a running configuration.
//!
//! A queue of a `qos profile` or of an interface has `random-detect ecn`; an interface names its
//! profile by `service-profile`. Commands give the mode, not indentation: generated files are flat.

mod write;

use std::collections::BTreeMap;

use cemark_formats::Fault;
use cemark_wire::Rate;

use super::{Fix, Platform};
use crate::document::Document;
use crate::model::{
    ALL_PORTS, ClassMap, Curve, Length, Malformed, Port, Profile, Queue, Said, Switch, link_rate,
};
use crate::place::{At, Place};
use crate::text::commands::{Command, commands};
use crate::text::ranges;
use crate::wanted::{Form, Unwritable, Wanted, Written};

/// The map from DSCP to traffic class.
const MAP: &str = "qos map dscp";
/// Name of a queue's settings.
const QUEUE: &str = "uc-tx-queue";

/// Units of thresholds.
const UNITS: &[&str] = &[
    "segments",
    "bytes",
    "kbytes",
    "mbytes",
    "microseconds",
    "milliseconds",
];

/// Arista EOS.
pub(crate) struct Eos;

impl Platform for Eos {
    fn name(&self) -> &'static str {
        "eos"
    }

    fn title(&self) -> &'static str {
        "EOS"
    }

    fn reads(&self) -> &'static str {
        "`show running-config` of Arista EOS"
    }

    fn marks(&self, document: &Document) -> usize {
        let commands = commands(document.lines().unwrap_or_default());
        let only = |c: &&Command<'_>| {
            c.begins(&["qos", "profile"])
                || c.begins(&["random-detect", "ecn"])
                || c.begins(&["qos", "map"])
                || ["uc-tx-queue", "tx-queue", "service-profile"].contains(&c.word(0))
        };
        commands.iter().filter(only).count()
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut reader = Reader::new();
        for (file, document) in documents.iter().enumerate() {
            reader.mode = Mode::Global;
            reader.queue = None;
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
        let line = |profile: &str, words: &str| match profile.rsplit_once(" uc-tx-queue ") {
            Some((owner, queue)) => format!("{owner}; uc-tx-queue {queue}; {words}"),
            None => format!("qos profile {profile}; uc-tx-queue 3; {words}"),
        };
        let marks = "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes \
                     max-mark-probability 100 weight 0";
        match fix {
            Fix::Enable(profile) | Fix::Mark(profile) => line(profile, marks),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => line(
                    profile,
                    &format!(
                        "random-detect ecn minimum-threshold {min} bytes maximum-threshold {max} \
                         bytes"
                    ),
                ),
                _ => line(
                    profile,
                    "random-detect ecn with the smaller threshold first",
                ),
            },
            Fix::Probability(profile, percent) => {
                line(profile, &format!("… max-mark-probability {percent}"))
            }
            Fix::Instantaneous(profile) => line(profile, "… weight 0"),
            Fix::Bind {
                profile,
                port,
                queue,
            } => match profile.strip_prefix("qos profile ") {
                Some(owner) => {
                    let name = owner.split(' ').next().unwrap_or_default();
                    format!("interface {port}; service-profile {name}")
                }
                None => format!("interface {port}; uc-tx-queue {queue}; {marks}"),
            },
            Fix::Define(name) if name.is_empty() => line("NAME", marks),
            Fix::Define(name) => format!("qos profile {name}; uc-tx-queue 3; {marks}"),
            Fix::Classify { dscp, class, .. } => {
                format!("qos map dscp {dscp} to traffic-class {class}")
            }
            Fix::Pause { port, priority } => format!(
                "interface {port}; priority-flow-control on; priority-flow-control priority \
                 {priority} no-drop"
            ),
            Fix::Write(words) => words.clone(),
        }
    }
}

/// The mode in which a command is.
#[derive(Clone, Debug, PartialEq)]
enum Mode {
    Global,
    /// `qos profile NAME`.
    Profile(String),
    /// `interface NAME`, perhaps several.
    Interface(Vec<String>),
    /// A mode whose commands are not read.
    Other,
}

/// Settings of a profile or an interface.
#[derive(Clone, Debug, Default)]
struct Settings {
    place: Place,
    /// Marking profiles by queue.
    queues: BTreeMap<u8, Vec<(Detect, Place)>>,
    trust: Option<bool>,
    pauses: Option<bool>,
    no_drop: BTreeMap<u8, Place>,
    service: Option<At<String>>,
    routed: bool,
    mtu: Option<u64>,
    rate: Option<Rate>,
}

/// Words of a `random-detect` command after the first.
type Detect = Vec<String>;

struct Reader {
    mode: Mode,
    queue: Option<u8>,
    profiles: BTreeMap<String, Settings>,
    interfaces: BTreeMap<String, Settings>,
    map: ClassMap,
    queue_of: BTreeMap<u8, u8>,
    unread: BTreeMap<String, usize>,
}

impl Reader {
    fn new() -> Reader {
        // Blocks of eight DSCPs, with classes 0 and 1 exchanged.
        let block = |dscp: usize| match dscp / 8 {
            0 => Some(1),
            1 => Some(0),
            class => Some(class as u8),
        };
        Reader {
            mode: Mode::Global,
            queue: None,
            profiles: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            map: ClassMap::new(Place::new(0, 1, MAP), block),
            queue_of: BTreeMap::new(),
            unread: BTreeMap::new(),
        }
    }

    fn command(&mut self, file: usize, command: &Command<'_>) {
        let place = Place::new(file, command.line, command.path());
        let rest = |n: usize| {
            command
                .words
                .get(n..)
                .map(|w| w.concat())
                .unwrap_or_default()
        };
        if command.word(0) == "!" || command.word(0) == "exit" {
            self.queue = None;
            if !command.indented {
                self.mode = Mode::Global;
            }
            return;
        }
        if command.begins(&["qos", "profile"]) {
            let name = command.word(2).to_owned();
            self.profiles.entry(name.clone()).or_default().place = place;
            self.mode = Mode::Profile(name);
            self.queue = None;
            return;
        }
        if command.word(0) == "interface" {
            let names = ranges::names(&rest(1));
            for name in &names {
                self.interfaces.entry(name.clone()).or_default().place = place.clone();
            }
            self.mode = Mode::Interface(names);
            self.queue = None;
            return;
        }
        if command.begins(&["qos", "map"]) {
            self.map(command, &place);
            return;
        }
        if self.mode != Mode::Global && self.setting(command, &place) {
            return;
        }
        if !command.indented && command.is_other(&mut self.unread) {
            self.mode = Mode::Other;
        }
    }

    /// `qos map dscp 24 26 to traffic-class 3`, `qos map traffic-class 6 to tx-queue 2`.
    fn map(&mut self, command: &Command<'_>, place: &Place) {
        let Some(to) = command.words.iter().position(|word| *word == "to") else {
            return;
        };
        let from = command.words.get(3..to).unwrap_or_default().join(",");
        let from = ranges::numbers(&from, 63).unwrap_or_default();
        let target = command.word(to + 2).parse::<u8>();
        match (command.word(2), command.word(to + 1), target) {
            ("dscp", "traffic-class", Ok(class)) => {
                for dscp in from {
                    self.map.explicit[dscp as usize] = Some(At::new(class, place.clone()));
                }
            }
            ("traffic-class", "tx-queue" | "uc-tx-queue", Ok(queue)) => {
                self.queue_of
                    .extend(from.iter().map(|class| (*class as u8, queue)));
            }
            _ => {}
        }
    }

    /// Takes a setting of the mode; false where the command is another one.
    fn setting(&mut self, command: &Command<'_>, place: &Place) -> bool {
        let queue = match command.word(0) {
            "uc-tx-queue" | "tx-queue" => {
                self.queue = command.word(1).parse().ok();
                return true;
            }
            "mc-tx-queue" => {
                self.queue = None;
                return true;
            }
            _ => self.queue,
        };
        let settings: Vec<&mut Settings> = match &self.mode {
            Mode::Profile(name) => self.profiles.get_mut(name).into_iter().collect(),
            Mode::Interface(names) => {
                let all = self.interfaces.iter_mut();
                all.filter(|(name, _)| names.contains(name))
                    .map(|(_, s)| s)
                    .collect()
            }
            Mode::Global | Mode::Other => return false,
        };
        for one in settings {
            set(one, queue, command, place);
        }
        // An indented command belongs to the mode; in a flat file one that begins no section.
        command.indented
    }

    fn finish(self) -> Switch {
        let mut switch = Switch::new();
        switch.unread = self.unread;
        for (name, settings) in &self.profiles {
            for (queue, said) in &settings.queues {
                let name = format!("qos profile {name} {QUEUE} {queue}");
                profile(&mut switch, &name, said);
            }
        }
        let mut interfaces = self.interfaces;
        if interfaces.is_empty() {
            let profiles = self.profiles.keys().next().cloned();
            let service = profiles.map(|name| At::new(name, Place::default()));
            let fragment = Settings {
                service,
                routed: true,
                ..Settings::default()
            };
            // A fragment: profiles without the interfaces that name them.
            switch.whole = false;
            interfaces.insert(ALL_PORTS.to_owned(), fragment);
        }
        for (name, own) in &interfaces {
            let service = own.service.as_ref();
            let shared = service.and_then(|service| self.profiles.get(&service.value));
            if let (Some(service), None) = (service, shared) {
                switch.bind(Queue {
                    port: name.clone(),
                    index: 255,
                    profile: Some(service.clone()),
                    place: service.place.clone(),
                });
            }
            // Settings of the interface win over those of its profile.
            for (index, _) in shared.into_iter().flat_map(|s| &s.queues) {
                let owner = service.map(|s| s.value.as_str()).unwrap_or_default();
                let named = format!("qos profile {owner} {QUEUE} {index}");
                let at = service.map(|s| s.place.clone()).unwrap_or_default();
                bind(&mut switch, name, *index, named, at);
            }
            for (index, said) in &own.queues {
                // A command that counts marks changes nothing of the profile's queue.
                let counts = said.iter().all(|(words, _)| words == &["ecn", "count"]);
                if counts && shared.is_some_and(|s| s.queues.contains_key(index)) {
                    continue;
                }
                let named = format!("interface {name} {QUEUE} {index}");
                profile(&mut switch, &named, said);
                bind(&mut switch, name, *index, named, own.place.clone());
            }
            let all = [Some(own), shared];
            let said = |of: fn(&Settings) -> Option<bool>| all.into_iter().flatten().find_map(of);
            let trusts = said(|s| s.trust).unwrap_or(own.routed);
            let pauses = said(|s| s.pauses).unwrap_or(false);
            let no_drop = all.into_iter().flatten().flat_map(|s| s.no_drop.clone());
            switch.ports.insert(
                name.clone(),
                Port {
                    place: own.place.clone(),
                    rate: own.rate,
                    mtu: own.mtu,
                    classes: trusts.then(|| MAP.to_owned()),
                    queue_of: self.queue_of.clone(),
                    lossless: no_drop.filter(|_| pauses).collect(),
                    ..Port::default()
                },
            );
        }
        switch.classes.insert(MAP.to_owned(), self.map);
        switch
    }
}

fn bind(switch: &mut Switch, port: &str, index: u8, profile: String, place: Place) {
    switch.bind(Queue {
        port: port.to_owned(),
        index,
        profile: Some(At::new(profile, place.clone())),
        place,
    });
}

/// A setting of a profile or an interface.
fn set(settings: &mut Settings, queue: Option<u8>, command: &Command<'_>, place: &Place) {
    let words = &command.words;
    match words.as_slice() {
        ["random-detect", "ecn", "allow", ..] => {}
        ["random-detect", rest @ ..] => {
            let said = rest.iter().map(|word| (*word).to_owned()).collect();
            let queue = settings.queues.entry(queue.unwrap_or(255)).or_default();
            queue.push((said, place.clone()));
        }
        ["no", "random-detect", ..] => {
            settings.queues.remove(&queue.unwrap_or(255));
        }
        ["qos", "trust", what] => settings.trust = Some(*what == "dscp"),
        ["no", "qos", "trust"] => settings.trust = Some(false),
        ["no", "switchport"] => settings.routed = true,
        ["priority-flow-control", "on"] => settings.pauses = Some(true),
        ["no", "priority-flow-control", ..] | ["priority-flow-control", "off"] => {
            settings.pauses = Some(false);
        }
        ["priority-flow-control", "priority", priority, "no-drop"] => {
            if let Ok(priority) = priority.parse() {
                settings.no_drop.insert(priority, place.clone());
            }
        }
        ["service-profile", name, ..] => {
            settings.service = Some(At::new((*name).to_owned(), place.clone()));
        }
        ["mtu", bytes] => settings.mtu = bytes.parse().ok(),
        ["speed", speed, ..] => {
            let speed = speed.trim_start_matches("forced").trim_start_matches(' ');
            let digits: String = speed.chars().take_while(char::is_ascii_digit).collect();
            let gbps = speed[digits.len()..].starts_with('g');
            let number = digits.parse().ok().filter(|_| gbps);
            settings.rate = number.and_then(link_rate);
        }
        _ => {}
    }
}

/// The `random-detect` commands of a queue as a profile.
fn profile(switch: &mut Switch, name: &str, said: &[(Detect, Place)]) {
    let first = said
        .first()
        .map(|(_, place)| place.clone())
        .unwrap_or_default();
    let find = |keyword: &str, not: &str| {
        said.iter().find(|(words, _)| {
            words.first().is_some_and(|word| word == keyword)
                && words.get(1).is_none_or(|word| word != not)
        })
    };
    let marks = find("ecn", "count");
    let drops = find("drop", "");
    let place = marks.or(drops).map_or(first, |(_, place)| place.clone());
    let acts = Said::new(
        marks.or(drops).is_some(),
        place.clone(),
        "`random-detect ecn count` counts marks, and no `random-detect ecn minimum-threshold` \
         makes any",
    );
    let how = "the queue has `random-detect drop` and no `random-detect ecn`";
    let mut curve = Curve::new(acts, Said::new(marks.is_some(), place.clone(), how));
    if let Some((words, place)) = marks.or(drops) {
        let after = |keyword: &str| {
            let at = words.iter().position(|word| word == keyword)?;
            let value = words.get(at + 1)?.as_str();
            let unit = words.get(at + 2).map(String::as_str);
            Some((value, unit))
        };
        let mut length = |keyword: &str| {
            let (value, unit) = after(keyword)?;
            let length = value
                .parse()
                .ok()
                .and_then(|n: u64| unit.and_then(|u| Length::read(n, u, UNITS)));
            if length.is_none() {
                switch.malformed.push(Malformed {
                    place: place.clone(),
                    written: value.to_owned(),
                    mistake: "has no unit that EOS knows (segments, bytes, kbytes, mbytes, \
                              microseconds, milliseconds)",
                    profile: name.to_owned(),
                });
            }
            length.map(|length| At::new(length, place.clone()))
        };
        curve.min = length("minimum-threshold");
        curve.max = length("maximum-threshold");
        if words.get(1).is_some_and(|word| word == "delay") {
            curve.min = length("threshold");
            curve.max = curve.min.clone();
        }
        let number = |keyword: &str| after(keyword).and_then(|(value, _)| value.parse().ok());
        let p: Option<u64> = number("max-mark-probability").or_else(|| number("drop-probability"));
        curve.probability = p.map(|p| At::new(p as f64, place.clone()));
        curve.weight = number("weight").map(|weight| At::new(weight, place.clone()));
    }
    let mut made = Profile::new(name, place);
    made.curves.push(curve);
    switch.define(made);
}
