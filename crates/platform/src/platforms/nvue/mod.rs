// SPDX-License-Identifier: MIT OR Apache-2.0
//! NVUE (Cumulus Linux): `nv set` commands, and JSON of `nv config show` or of the applied tree.
//!
//! Traffic enters a switch priority and leaves by the traffic class of that priority. Without a
//! setting, ports trust the priority of the VLAN tag and not the DSCP, priority N leaves by class
//! N, and class 0 of every port has a profile with ECN from 150000 to 1500000 B.

mod tree;
mod write;

use cemark_formats::Fault;

use self::tree::{Node, Tree};
use super::{Fix, Platform, at};
use crate::document::Document;
use crate::model::{
    ClassMap, Curve, Length, Malformed, Port, Profile, Queue, Said, Switch, everywhere, link_rate,
};
use crate::place::{At, Place};
use crate::wanted::{Form, Unwritable, Wanted, Written};

/// Profile of every port that names none.
const GLOBAL: &str = "default-global";

/// Thresholds of NVUE's defaults, in bytes, and their probability in percent.
const DEFAULT: (u64, u64, f64) = (150_000, 1_500_000, 100.0);

/// NVUE.
pub(crate) struct Nvue;

impl Platform for Nvue {
    fn name(&self) -> &'static str {
        "nvue"
    }

    fn title(&self) -> &'static str {
        "NVUE"
    }

    fn reads(&self) -> &'static str {
        "`nv config show -o json` or `nv set` commands of NVUE"
    }

    fn marks(&self, document: &Document) -> usize {
        if let Some(json) = document.json() {
            let set = |json: &crate::text::json::Json| json.get("set").is_some();
            let is = json.elements().iter().any(set)
                || set(json)
                || json.path(&["header", "nvue-api-version"]).is_some()
                || json.path(&["qos", "congestion-control"]).is_some();
            return usize::from(is);
        }
        let lines = document.lines().unwrap_or_default().lines();
        let set =
            |line: &&str| line.trim_start().starts_with("nv set ") || line.contains("$ nv set ");
        lines.filter(set).count()
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut tree = Tree::default();
        for (file, document) in documents.iter().enumerate() {
            if let Some(json) = document.json() {
                at(file, tree.json(file, json))?;
            } else if let Some(text) = document.lines() {
                at(file, tree.commands(file, text))?;
            }
        }
        Ok(vec![switch(&tree)])
    }

    fn write(&self, wanted: &Wanted, _: Form) -> Option<Result<Written, Unwritable>> {
        Some(Ok(write::write(wanted)))
    }

    fn remedy(&self, fix: &Fix) -> String {
        let set =
            |profile: &str, words: &str| format!("nv set qos congestion-control {profile} {words}");
        match fix {
            Fix::Enable(profile) | Fix::Mark(profile) => set(profile, "ecn enable"),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => format!(
                    "{}; {}",
                    set(profile, &format!("min-threshold {min}")),
                    set(profile, &format!("max-threshold {max}"))
                ),
                _ => set(profile, "min-threshold BYTES"),
            },
            Fix::Probability(profile, percent) => set(profile, &format!("probability {percent}")),
            Fix::Bind {
                profile,
                port,
                queue,
            } => {
                let name = profile.split(' ').next().filter(|name| !name.is_empty());
                let name = name.unwrap_or(GLOBAL);
                match name {
                    GLOBAL => set(GLOBAL, &format!("traffic-class {queue} ecn enable")),
                    name => format!(
                        "nv set interface {port} qos congestion-control profile {name}; {}",
                        set(name, &format!("traffic-class {queue} ecn enable"))
                    ),
                }
            }
            Fix::Define(name) => {
                let name = if name.is_empty() { GLOBAL } else { name };
                set(name, "traffic-class 3 ecn enable")
            }
            Fix::Classify { map, dscp, class } => format!(
                "nv set qos mapping {0} trust l3; nv set qos mapping {0} dscp {dscp} \
                 switch-priority {class}",
                if map.is_empty() { GLOBAL } else { map }
            ),
            Fix::Pause { port, priority } => format!(
                "nv set qos pfc my_pfc switch-priority {priority}; nv set interface {port} qos pfc \
                 profile my_pfc"
            ),
            Fix::Instantaneous(profile) => format!("NVUE has no average; look at {profile}"),
            Fix::Write(words) => words.clone(),
        }
    }
}

/// Whether `qos roce` is on, with its mode and its place.
fn roce(root: &Node) -> Option<(&str, &Place)> {
    let node = root.path(&["qos", "roce"])?;
    let said = |name: &str| node.value(&[name]).map(|(value, _)| value);
    let off = ["off", "disable", "disabled", "false"];
    let switch = said("enable").or_else(|| said("state"));
    match switch {
        Some(word) if off.contains(&word) => None,
        _ => Some((said("mode").unwrap_or("lossless"), &node.place)),
    }
}

fn switch(tree: &Tree) -> Switch {
    let root = &tree.root;
    let mut switch = Switch::new();
    switch.unread = tree.unread.clone();
    for (name, node) in root.below(&["interface"]) {
        let rate = node.value(&["link", "speed"]).and_then(|(text, _)| {
            let gbps = text.strip_suffix('G')?.parse().ok()?;
            link_rate(gbps)
        });
        let mtu = node
            .value(&["link", "mtu"])
            .and_then(|(text, _)| text.parse().ok());
        switch.ports.insert(
            name.to_owned(),
            Port {
                place: node.place.clone(),
                rate,
                mtu,
                ..Port::default()
            },
        );
    }
    if switch.ports.is_empty() {
        let name = crate::model::ALL_PORTS.to_owned();
        switch.ports.insert(name, Port::default());
    }
    profiles(&mut switch, root);
    mappings(&mut switch, root);
    for name in everywhere(&switch.ports) {
        bind(&mut switch, root, &name);
        classify(&mut switch, root, &name);
    }
    switch
}

/// Name of the profile of a class.
fn named(profile: &str, class: &str) -> String {
    format!("{profile} traffic-class {class}")
}

fn profiles(switch: &mut Switch, root: &Node) {
    for (profile, node) in root.below(&["qos", "congestion-control"]) {
        for (class, node) in node.below(&["traffic-class"]) {
            one(switch, &named(profile, class), node);
        }
    }
    let mut shipped = |class: &str, place: Place| {
        let name = named(GLOBAL, class);
        let said = |how: &str| Said::new(true, place.clone(), how);
        let mut curve = Curve::new(said("the default"), said("the default"));
        curve.min = Some(At::new(Length::Bytes(DEFAULT.0), place.clone()));
        curve.max = Some(At::new(Length::Bytes(DEFAULT.1), place.clone()));
        curve.probability = Some(At::new(DEFAULT.2, place.clone()));
        let mut made = Profile::new(name, place);
        made.shipped = true;
        made.curves.push(curve);
        switch.define(made);
    };
    let given = root.path(&["qos", "congestion-control", GLOBAL]).is_some();
    match roce(root) {
        Some((_, place)) => {
            for class in ["0", "3"] {
                if root
                    .path(&["qos", "congestion-control", GLOBAL, "traffic-class", class])
                    .is_none()
                {
                    shipped(class, place.clone());
                }
            }
        }
        None if !given => {
            shipped(
                "0",
                Place::new(0, 1, "qos congestion-control default-global"),
            );
        }
        None => {}
    }
}

fn one(switch: &mut Switch, name: &str, node: &Node) {
    let flag = |word: &str| node.value(&[word]);
    // A class that a command adds to a profile has ECN unless a command turns it off.
    let ecn = match flag("ecn") {
        Some((value, place)) => {
            let on = node.is_on(&["ecn"]);
            Said::new(on, place.clone(), format!("ecn is {value}"))
        }
        None => Said::new(true, node.place.clone(), "ecn is enabled by default"),
    };
    let acts = ecn.holds || node.is_on(&["red"]);
    let how = "neither ecn nor red is enabled";
    let mut curve = Curve::new(Said::new(acts, ecn.place.clone(), how), ecn);
    let mut number = |words: &[&str]| {
        let (text, place) = words.iter().find_map(|word| flag(word))?;
        if let Ok(value) = text.parse::<u64>() {
            return Some(At::new(value, place.clone()));
        }
        switch.malformed.push(Malformed {
            place: place.clone(),
            written: text.to_owned(),
            mistake: "is no whole number of bytes or percent",
            profile: name.to_owned(),
        });
        None
    };
    let bytes = |at: At<u64>| At::new(Length::Bytes(at.value), at.place);
    curve.min = number(&["min-threshold", "min-threshold-bytes"]).map(bytes);
    curve.max = number(&["max-threshold", "max-threshold-bytes"]).map(bytes);
    let p = number(&["probability"]);
    curve.probability = p.map(|p| At::new(p.value as f64, p.place));
    let mut made = Profile::new(name, node.place.clone());
    made.curves.push(curve);
    switch.define(made);
}

/// The profile of congestion control of a port, and the place that binds it.
fn bind(switch: &mut Switch, root: &Node, port: &str) {
    let node = root.path(&["interface", port, "qos", "congestion-control"]);
    let own = node.and_then(|node| {
        let old = node.children.iter().find(|(name, _)| *name != "profile");
        node.value(&["profile"])
            .or_else(|| old.map(|(name, node)| (name.as_str(), &node.place)))
    });
    let (profile, place) = match own {
        Some((profile, place)) => (profile.to_owned(), place.clone()),
        None => (GLOBAL.to_owned(), Place::default()),
    };
    let prefix = format!("{profile} ");
    let defined: Vec<(String, Place)> = switch
        .profiles
        .range(prefix.clone()..)
        .take_while(|(name, _)| name.starts_with(&prefix))
        .map(|(name, made)| (name.clone(), made.place.clone()))
        .collect();
    if defined.is_empty() && own.is_some() {
        switch.bind(Queue {
            port: port.to_owned(),
            index: 255,
            profile: Some(At::new(profile, place.clone())),
            place,
        });
        return;
    }
    for (name, made) in defined {
        let class = name.rsplit(' ').next().and_then(|class| class.parse().ok());
        let place = if own.is_some() { place.clone() } else { made };
        switch.bind(Queue {
            port: port.to_owned(),
            index: class.unwrap_or(255),
            profile: Some(At::new(name, place.clone())),
            place,
        });
    }
}

fn mappings(switch: &mut Switch, root: &Node) {
    let roce = roce(root);
    let mut one = |name: &str, node: Option<&Node>, place: Place| {
        let trust = node.and_then(|node| node.value(&["trust"]));
        let trusts = match trust {
            Some((word, _)) => ["l3", "both"].contains(&word),
            None => roce.is_some(),
        };
        let untrusted = node
            .and_then(|node| node.value(&["port-default-sp"]))
            .and_then(|(text, _)| text.parse().ok())
            .unwrap_or(0);
        let place = trust.map_or(place, |(_, place)| place.clone());
        let mut map = ClassMap::new(place, |dscp| match trusts {
            true => Some((dscp / 8) as u8),
            false => Some(untrusted),
        });
        for (dscp, node) in node.into_iter().flat_map(|node| node.below(&["dscp"])) {
            let class = node.value(&["switch-priority"]);
            let slot = dscp
                .parse()
                .ok()
                .and_then(|d: usize| map.explicit.get_mut(d));
            if let (Some(slot), Some((class, place)), true) = (slot, class, trusts)
                && let Ok(class) = class.parse()
            {
                *slot = Some(At::new(class, place.clone()));
            }
        }
        switch.classes.insert(name.to_owned(), map);
    };
    let global = root.path(&["qos", "mapping", GLOBAL]);
    let place = global.map_or_else(
        || Place::new(0, 1, "qos mapping default-global trust"),
        |node| node.place.clone(),
    );
    one(GLOBAL, global, place);
    for (name, node) in root.below(&["qos", "mapping"]) {
        if name != GLOBAL {
            one(name, Some(node), node.place.clone());
        }
    }
}

/// Classes, queues and pauses of a port.
fn classify(switch: &mut Switch, root: &Node, name: &str) {
    let of = |what: &str| {
        let own = root.value(&["interface", name, "qos", what, "profile"]);
        own.map_or(GLOBAL, |(profile, _)| profile)
    };
    let roce = roce(root);
    let Some(port) = switch.ports.get_mut(name) else {
        return;
    };
    port.classes = Some(of("mapping").to_owned());
    let own = root.below(&["qos", "egress-queue-mapping", GLOBAL, "switch-priority"]);
    for (priority, node) in own {
        let class = node
            .value(&["traffic-class"])
            .map(|(class, _)| class.parse());
        if let (Ok(priority), Some(Ok(class))) = (priority.parse(), class) {
            port.queue_of.insert(priority, class);
        }
    }
    if let Some((mode, place)) = roce {
        for priority in [0, 1, 2, 4, 5, 7] {
            port.queue_of.entry(priority).or_insert(0);
        }
        if !mode.starts_with("lossy") {
            port.lossless.insert(3, place.clone());
        }
    }
    let pfc = root.path(&["qos", "pfc", of("pfc")]);
    if let Some(pfc) = pfc.filter(|pfc| pfc.path(&["tx"]).is_none() || pfc.is_on(&["tx"])) {
        for (priority, node) in pfc.below(&["switch-priority"]) {
            if let Ok(priority) = priority.parse() {
                port.lossless.insert(priority, node.place.clone());
            }
        }
    }
}
