// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wanted marking in SONiC's forms: tables for `config load`, a patch, or lines of `ecnconfig`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::patch::{ASICS, FIELDS, PROFILE};
use crate::model::DSCPS;
use crate::text::ranges;
use crate::wanted::{
    Form, Ramp, SonicForm, SonicSchema, Unwritable, Wanted, WantedQueue, Written, list, pretty,
};

/// Name of the map of classes.
const MAP: &str = "CEMARK";
/// Most characters of a profile's name, and the largest priority and traffic class: those of
/// sonic-wred-profile.yang, sonic-port-qos-map.yang and sonic-types.yang.
const LONGEST: usize = 32;
const LAST_PRIORITY: u8 = 7;
const LAST_CLASS: u8 = 15;

pub(super) fn write(wanted: &Wanted, form: Form) -> Result<Written, Unwritable> {
    match form.sonic {
        SonicForm::Load => load(wanted, form.schema),
        SonicForm::Patch => patch(wanted, form.schema),
        SonicForm::Lines => Ok(lines(wanted)),
    }
}

/// Unlike curves with the queues of each.
fn profiles(wanted: &Wanted) -> Vec<(Ramp, Vec<u8>)> {
    let mut all: Vec<(Ramp, Vec<u8>)> = Vec::new();
    for (queue, ramp) in wanted.marked() {
        match all.iter_mut().find(|(known, _)| *known == ramp) {
            Some((_, queues)) => queues.push(queue.index),
            None => all.push((ramp, vec![queue.index])),
        }
    }
    all
}

/// Name of a profile: of one alone the name that SONiC ships.
fn named(all: usize, queues: &[u8], suffix: &str) -> String {
    if all == 1 && suffix.is_empty() {
        return PROFILE.to_uppercase();
    }
    let name = format!("CEMARK_{}{suffix}", list(queues, "_"));
    match name.len() <= LONGEST {
        true => name,
        // No other profile has the first queue.
        false => format!("CEMARK_{}_{}MORE{suffix}", queues[0], queues.len() - 1),
    }
}

/// Refuses queues that no traffic class of SONiC goes to.
fn fits(wanted: &Wanted) -> Result<(), Unwritable> {
    if !wanted.has_classes() {
        return Ok(());
    }
    let no = |why: String| {
        Err(Unwritable {
            why,
            instead: "give the classes smaller numbers of queues".to_owned(),
        })
    };
    if let Some(queue) = wanted.lossless().iter().find(|q| **q > LAST_PRIORITY) {
        return no(format!(
            "PFC has priorities 0 to {LAST_PRIORITY}, and queue {queue} is lossless"
        ));
    }
    let mut queues = wanted.queues.iter().map(|queue| queue.index);
    match queues.find(|queue| *queue > LAST_CLASS) {
        Some(queue) => no(format!(
            "traffic classes of SONiC are 0 to {LAST_CLASS}, and a class has queue {queue}"
        )),
        None => Ok(()),
    }
}

fn load(wanted: &Wanted, schema: SonicSchema) -> Result<Written, Unwritable> {
    fits(wanted)?;
    let all = profiles(wanted);
    let ports = ranges::names(&wanted.ports);
    let (mut of_profiles, mut of_queues) = (Map::new(), Map::new());
    for (ramp, members) in &all {
        let name = named(all.len(), members, &wanted.suffix);
        for port in &ports {
            for queue in members {
                of_queues.insert(format!("{port}|{queue}"), json!({ "wred_profile": name }));
            }
        }
        of_profiles.insert(name, profile(*ramp, schema));
    }
    let mut tables = json!({ "WRED_PROFILE": of_profiles, "QUEUE": of_queues });
    let mut notes = wanted.notes.clone();
    if wanted.has_classes() {
        tables["DSCP_TO_TC_MAP"] = json!({ MAP: classes(wanted) });
        let lossless = list(&wanted.lossless(), ",");
        if lossless.is_empty() {
            notes.push(
                "`pfc_enable` is empty: PFC pauses nothing. Older releases refuse an empty \
                 `pfc_enable`; remove the field there."
                    .to_owned(),
            );
        }
        let of_port = |port: String| {
            let row = json!({ "dscp_to_tc_map": MAP, "pfc_enable": lossless });
            (port, row)
        };
        let of_ports: Map<String, Value> = ports.into_iter().map(of_port).collect();
        tables["PORT_QOS_MAP"] = of_ports.into();
        notes.push(
            "Buffers, schedulers and the maps to queues and priority groups stay as they are."
                .to_owned(),
        );
    }
    notes.push("Load it with: sudo config load FILE.".to_owned());
    notes.push(match schema {
        SonicSchema::Legacy => {
            "The thresholds mark ECN-capable packets and drop others (schema legacy).".to_owned()
        }
        _ => "The thresholds of ECN alone need a release and a chip that have them; the others \
              drop packets that are not ECN-capable."
            .to_owned(),
    });
    Ok(Written {
        text: pretty(&tables),
        notes,
    })
}

/// Fields of a profile; CONFIG_DB has texts only.
fn profile(Ramp { min, max, percent }: Ramp, schema: SonicSchema) -> Value {
    let mut fields = json!({
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": min.to_string(),
        "green_max_threshold": max.to_string(),
        "green_drop_probability": percent.to_string(),
    });
    let own = match schema {
        SonicSchema::Legacy => None,
        SonicSchema::Ecn => Some([
            "ecn_green_min_threshold",
            "ecn_green_max_threshold",
            "ecn_green_mark_probability",
        ]),
        SonicSchema::Ect => Some([
            "green_ect_min_threshold",
            "green_ect_max_threshold",
            "green_ect_mark_probability",
        ]),
    };
    for (field, value) in own.into_iter().flatten().zip([min, max, percent]) {
        fields[field] = value.to_string().into();
    }
    fields
}

/// Every DSCP.
fn classes(wanted: &Wanted) -> Map<String, Value> {
    let class = |dscp: usize| {
        let has = |queue: &&WantedQueue| queue.dscps.iter().any(|d| usize::from(*d) == dscp);
        wanted
            .queues
            .iter()
            .find(has)
            .map_or(wanted.rest, |q| q.index)
    };
    let rows = (0..DSCPS).map(|dscp| (dscp.to_string(), class(dscp).to_string().into()));
    rows.collect()
}

fn patch(wanted: &Wanted, schema: SonicSchema) -> Result<Written, Unwritable> {
    let all = profiles(wanted);
    let [(Ramp { min, max, percent }, _)] = all[..] else {
        return Err(Unwritable {
            why: format!(
                "a patch changes one profile, and the scheme has {}",
                all.len()
            ),
            instead: "write --form load".to_owned(),
        });
    };
    if schema != SonicSchema::Legacy {
        return Err(Unwritable {
            why: "a patch changes the thresholds of WRED only".to_owned(),
            instead: "write --sonic-schema legacy, or --form load".to_owned(),
        });
    }
    let operation = |(field, value): (&&str, u64)| {
        let path = format!("/WRED_PROFILE/AZURE_LOSSLESS/{field}");
        json!({ "op": "replace", "path": path, "value": value.to_string() })
    };
    let operations = FIELDS.iter().zip([min, max, percent]).map(operation);
    let operations: Vec<Value> = operations.collect();
    let mut notes = wanted.notes.clone();
    notes.push(format!(
        "Apply it with: sudo config apply-patch FILE. SONiC accepts it where AZURE_LOSSLESS is \
         there, at {ASICS}."
    ));
    notes.extend(stays(wanted));
    notes.push("A patch enables nothing and binds nothing: `cemark doctor` says what is.".into());
    Ok(Written {
        text: pretty(&operations.into()),
        notes,
    })
}

/// A note on classes, which thresholds alone do not change.
fn stays(wanted: &Wanted) -> Option<String> {
    let classes = wanted.has_classes();
    classes.then(|| "Classes and pauses stay as they are: --form load writes them.".to_owned())
}

fn lines(wanted: &Wanted) -> Written {
    let all = profiles(wanted);
    let mut text = wanted.comments("#");
    if let Some(sentence) = stays(wanted) {
        let _ = writeln!(text, "# {sentence}");
    }
    for (Ramp { min, max, percent }, queues) in &all {
        let name = named(all.len(), queues, &wanted.suffix);
        let _ = writeln!(
            text,
            "sudo ecnconfig -p {name} -gmin {min} -gmax {max} -gdrop {percent}"
        );
        // ecnconfig enables nothing.
        for (field, value) in [("wred_green_enable", "true"), ("ecn", "ecn_all")] {
            let _ = writeln!(
                text,
                "sonic-db-cli CONFIG_DB hset 'WRED_PROFILE|{name}' {field} {value}"
            );
        }
        for port in ranges::names(&wanted.ports) {
            for queue in queues {
                let _ = writeln!(
                    text,
                    "sonic-db-cli CONFIG_DB hset 'QUEUE|{port}|{queue}' wred_profile {name}"
                );
            }
        }
    }
    Written {
        text,
        notes: Vec::new(),
    }
}
