// SPDX-License-Identifier: MIT OR Apache-2.0
//! SONiC: `config_db.json` and its parts, configurations of several ASICs, and JSON patches.
//!
//! Tables, fields and defaults are those of sonic-yang-models; every value is a string.

mod buffers;
mod patch;
mod tables;
mod write;
pub(crate) mod yang;

use std::collections::BTreeMap;

use cemark_formats::Fault;
use cemark_wire::Rate;

use self::tables::{Row, Tables, reference};
use super::{Fix, Platform, at};
use crate::document::Document;
use crate::model::{
    ClassMap, Curve, Length, Malformed, Port, Profile, Queue, Refused, Said, Switch,
};
use crate::place::{At, Place};
use crate::text::ranges;
use crate::wanted::{Form, Unwritable, Wanted, Written};

/// Largest number of a queue.
const LAST_QUEUE: u64 = 63;
/// MTU of a port that has none.
const MTU: u64 = 9_100;

/// Colours of packets: the word in fields, and the words of `ecn` that name it.
const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// Boards whose packet buffer has cells of a size that public tests state.
const CELLS: &[(&str, u64, &str)] = &[("7050CX3", 256, "Trident 3, sonic-mgmt pull request 25573")];

/// SONiC.
pub(crate) struct Sonic;

impl Platform for Sonic {
    fn name(&self) -> &'static str {
        "sonic"
    }

    fn title(&self) -> &'static str {
        "SONiC"
    }

    fn reads(&self) -> &'static str {
        "config_db.json of SONiC or tables of it, and patches for `config apply-patch`"
    }

    fn marks(&self, document: &Document) -> usize {
        let is = |json| patch::is_patch(json) || Tables::recognises(json);
        usize::from(document.json().is_some_and(is))
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut databases: BTreeMap<String, Tables> = BTreeMap::new();
        let mut refused = Vec::new();
        for (file, document) in documents.iter().enumerate() {
            let Some(json) = document.json() else {
                continue;
            };
            match patch::is_patch(json) {
                true => refused.extend(at(file, patch::refusals(file, json))?),
                false => at(file, tables::add(&mut databases, file, json))?,
            }
        }
        if databases.is_empty() {
            databases.insert(String::new(), Tables::default());
        }
        let mut switches: Vec<Switch> = databases
            .into_iter()
            .map(|(part, tables)| switch(&part, &tables))
            .collect();
        switches[0].refused = refused;
        Ok(switches)
    }

    fn write(&self, wanted: &Wanted, form: Form) -> Option<Result<Written, Unwritable>> {
        Some(write::write(wanted, form))
    }

    fn remedy(&self, fix: &Fix) -> String {
        let set = |table: &str, row: &str, field: &str, value: &str| {
            format!("sonic-db-cli CONFIG_DB hset '{table}|{row}' {field} {value}")
        };
        match fix {
            Fix::Enable(profile) => set("WRED_PROFILE", profile, "wred_green_enable", "true"),
            Fix::Mark(profile) => set("WRED_PROFILE", profile, "ecn", "ecn_all"),
            Fix::Bind {
                profile,
                port,
                queue,
            } => set(
                "QUEUE",
                &format!("{}|{queue}", or(port, "PORT")),
                "wred_profile",
                or(profile, "PROFILE"),
            ),
            Fix::Define(_) => "sudo config qos reload, or load the tables WRED_PROFILE and QUEUE \
                               with `sudo config load FILE`"
                .to_owned(),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => {
                    format!("sudo ecnconfig -p {profile} -gmin {min} -gmax {max}")
                }
                _ => format!("set both thresholds of {profile} in bytes"),
            },
            Fix::Probability(profile, percent) => {
                format!("sudo ecnconfig -p {profile} -gdrop {percent}")
            }
            Fix::Classify { map, dscp, class } => set(
                "DSCP_TO_TC_MAP",
                or(map, "AZURE"),
                &dscp.to_string(),
                &class.to_string(),
            ),
            Fix::Pause { port, priority } => set(
                "PORT_QOS_MAP",
                or(port, "PORT"),
                "pfc_enable",
                &priority.to_string(),
            ),
            Fix::Instantaneous(profile) => format!("SONiC has no average; look at {profile}"),
            Fix::Write(words) => words.clone(),
        }
    }
}

/// A word, or another one where it is empty.
fn or<'a>(word: &'a str, other: &'a str) -> &'a str {
    match word.is_empty() {
        true => other,
        false => word,
    }
}

/// A database as a switch.
fn switch(part: &str, tables: &Tables) -> Switch {
    let mut switch = Switch::new();
    switch.part = part.to_owned();
    switch.unread = tables.unread.clone();
    switch.whole = tables.has("WRED_PROFILE") && tables.has("QUEUE") || tables.has("PORT");
    let metadata = tables.row("DEVICE_METADATA", "localhost");
    let said = |field: &str| metadata.and_then(|row| row.text(field)).unwrap_or_default();
    // Without the metadata the keys of the queues say so.
    let parts = |key: &str| key.split('|').count();
    switch.voq = match metadata {
        Some(_) => said("switch_type") == "voq",
        None => tables.has("QUEUE") && tables.rows("QUEUE").all(|(key, _)| parts(key) == 4),
    };
    let own = (said("hostname").to_owned(), said("asic_name").to_owned());
    let board = said("hwsku");
    switch.cell = CELLS
        .iter()
        .find(|(name, _, _)| board.contains(name))
        .map(|(_, cell, source)| (*cell, *source));
    for (name, row) in tables.rows("WRED_PROFILE") {
        profile(&mut switch, name, row);
    }
    for (name, row) in tables.rows("DSCP_TO_TC_MAP") {
        switch.classes.insert(name.to_owned(), class_map(row));
    }
    ports(&mut switch, tables);
    queues(&mut switch, tables, &own);
    buffers::read(&mut switch, tables);
    switch
}

fn profile(switch: &mut Switch, name: &str, row: &Row) {
    let mut profile = Profile::new(name, row.place.clone());
    let (ecn, ecn_place) = match row.field("ecn") {
        Some((text, place)) => (text.to_owned(), place),
        None => ("ecn_none".to_owned(), row.place.clone()),
    };
    for colour in COLOURS {
        let enable = format!("wred_{colour}_enable");
        let acts = match row.field(&enable) {
            Some((text, place)) => {
                let on = text.eq_ignore_ascii_case("true");
                Said::new(on, place, format!("`{enable}` is {text}"))
            }
            None => Said::new(
                false,
                row.place.clone(),
                format!("`{enable}` is absent, and absent means false"),
            ),
        };
        if colour != "green" && !acts.holds {
            continue;
        }
        let marks = ecn == "ecn_all" || ecn.split('_').any(|word| word == colour);
        let how = match row.field("ecn") {
            Some(_) => format!("`ecn` is {ecn}"),
            None => "`ecn` is absent, and absent means ecn_none".to_owned(),
        };
        let mut bytes = |end: &str| {
            // Thresholds for ECN-capable packets alone are newer than those for all packets.
            let fields = [
                format!("{colour}_ect_{end}_threshold"),
                format!("ecn_{colour}_{end}_threshold"),
                format!("{colour}_{end}_threshold"),
            ];
            let field = fields.iter().find(|field| row.field(field).is_some())?;
            let (value, place) = number(switch, name, row, field)?;
            Some(At::new(Length::Bytes(value), place))
        };
        let (min, max) = (bytes("min"), bytes("max"));
        let fields = [
            format!("{colour}_ect_mark_probability"),
            format!("ecn_{colour}_mark_probability"),
            format!("{colour}_drop_probability"),
        ];
        let field = fields.iter().find(|field| row.field(field).is_some());
        let probability = field.and_then(|field| number(switch, name, row, field));
        profile.curves.push(Curve {
            colour,
            acts,
            ecn: Said::new(marks, ecn_place.clone(), how),
            min,
            max,
            probability: probability.map(|(value, place)| At::new(value as f64, place)),
            weight: None,
        });
    }
    switch.define(profile);
}

/// A whole number of a field. Another form is a finding, and the number in it is judged as meant.
fn number(switch: &mut Switch, profile: &str, row: &Row, field: &str) -> Option<(u64, Place)> {
    let (text, place) = row.field(field)?;
    if let Ok(value) = text.parse() {
        return Some((value, place));
    }
    let trimmed = text.trim();
    let meant = trimmed.parse().ok();
    let mistake = match meant {
        Some(_) => "has a blank beside its number",
        None if trimmed.is_empty() => "is empty",
        None => "is no whole number",
    };
    switch.malformed.push(Malformed {
        place: place.clone(),
        written: text.to_owned(),
        mistake,
        profile: profile.to_owned(),
    });
    meant.map(|value| (value, place))
}

fn class_map(row: &Row) -> ClassMap {
    let mut map = ClassMap::new(row.place.clone(), |_| None);
    for (dscp, class, place) in row.entries() {
        let slot = dscp
            .parse()
            .ok()
            .and_then(|dscp: usize| map.explicit.get_mut(dscp));
        if let (Some(slot), Ok(class)) = (slot, class.parse()) {
            *slot = Some(At::new(class, place));
        }
    }
    map
}

fn ports(switch: &mut Switch, tables: &Tables) {
    for (name, row) in tables.rows("PORT") {
        let rate = row.text("speed").and_then(|text| text.parse::<u64>().ok());
        let mtu = row.text("mtu").and_then(|text| text.parse().ok());
        switch.ports.insert(
            name.to_owned(),
            Port {
                place: row.place.clone(),
                rate: rate.and_then(|mbps| Some(Rate(mbps.checked_mul(1_000_000)?))),
                mtu: Some(mtu.unwrap_or(MTU)),
                ..Port::default()
            },
        );
    }
    let global = tables
        .row("PORT_QOS_MAP", "global")
        .and_then(|row| row.text("dscp_to_tc_map"))
        .map(|name| reference(name).to_owned());
    for (names, row) in tables.rows("PORT_QOS_MAP") {
        if names == "global" {
            continue;
        }
        let map = row
            .text("dscp_to_tc_map")
            .map(|name| reference(name).to_owned());
        let maps = |field: &str, table: &str| -> BTreeMap<u8, u8> {
            let named = row.text(field);
            let map = named.and_then(|name| tables.row(table, reference(name)));
            let pairs = map.into_iter().flat_map(Row::entries);
            pairs
                .filter_map(|(from, to, _)| Some((from.parse().ok()?, to.parse().ok()?)))
                .collect()
        };
        let queue_of = maps("tc_to_queue_map", "TC_TO_QUEUE_MAP");
        let stopped = maps("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
        let groups = maps("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP");
        // Pauses name a priority; without a map it is the number of the priority group.
        let group_of = maps("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP");
        let priority_of = groups.into_iter().map(|(class, group)| {
            let mut mapped = group_of.iter().filter(|(_, own)| **own == group);
            (
                class,
                mapped.next().map_or(group, |(priority, _)| *priority),
            )
        });
        let priority_of: BTreeMap<u8, u8> = priority_of.collect();
        let lossless = row.field("pfc_enable").map(|(text, place)| {
            let all = ranges::numbers(text, 7).unwrap_or_default();
            all.into_iter()
                .map(|priority| (priority as u8, place.clone()))
                .collect()
        });
        for name in ranges::names(names) {
            let port = switch.ports.entry(name).or_insert_with(|| Port {
                place: row.place.clone(),
                ..Port::default()
            });
            port.classes = map.clone().or_else(|| global.clone());
            port.queue_of = queue_of.clone();
            port.stopped = stopped.clone();
            port.priority_of = priority_of.clone();
            port.lossless = lossless.clone().unwrap_or_default();
        }
    }
}

/// Queues by port. Queues of ports of other line cards have the whole name of the port.
fn queues(switch: &mut Switch, tables: &Tables, (host, asic): &(String, String)) {
    for (key, row) in tables.rows("QUEUE") {
        let parts: Vec<&str> = key.split('|').collect();
        let wanted = if switch.voq { 4 } else { 2 };
        let profile = row
            .field("wred_profile")
            .filter(|(text, _)| !reference(text).is_empty());
        if parts.len() != wanted {
            if profile.is_some() {
                switch.misplaced.push(misplaced(row, switch.voq));
            }
            continue;
        }
        let (Some(names), Some(numbers)) = (parts.get(wanted - 2), parts.last()) else {
            continue;
        };
        let Some(numbers) = ranges::numbers(numbers, LAST_QUEUE) else {
            continue;
        };
        let owner = parts[..wanted - 2].join("|");
        let own = owner.is_empty() || host.is_empty() || owner == format!("{host}|{asic}");
        for name in ranges::names(names) {
            let name = if own { name } else { format!("{owner}|{name}") };
            for index in &numbers {
                let profile = profile.as_ref();
                let profile =
                    profile.map(|(text, place)| At::new(reference(text).to_owned(), place.clone()));
                switch.bind(Queue {
                    port: name.clone(),
                    index: *index as u8,
                    profile,
                    place: row.place.clone(),
                });
            }
        }
    }
}

fn misplaced(row: &Row, voq: bool) -> Refused {
    let (why, instead) = match voq {
        true => (
            "a queue of a chassis with virtual output queues is named by port and number only",
            "write the key as `HOST|ASIC|PORT|QUEUE`, for every system port of the chassis",
        ),
        false => (
            "a queue of a switch without virtual output queues is not named by port and number",
            "write the key as `PORT|QUEUE`, or set `switch_type` of DEVICE_METADATA to voq",
        ),
    };
    Refused {
        place: row.place.clone(),
        why: why.to_owned(),
        instead: instead.to_owned(),
    }
}
