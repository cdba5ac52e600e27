// SPDX-License-Identifier: MIT OR Apache-2.0
//! A wish as JSON of openconfig-qos (openconfig/public, release/models/qos). No device has seen it.

use crate::text::ranges;
use crate::wanted::{Ramp, Wanted, Written, list};

/// A member of an object whose value is text.
fn text(name: &str, value: &str) -> String {
    format!("\"{name}\": \"{value}\"")
}

/// An entry of a list with its key in `config` as well.
fn entry(key: &str, value: &str, config: &str, more: &str) -> String {
    let key = text(key, value);
    let config = match config.is_empty() {
        true => String::new(),
        false => format!(", {config}"),
    };
    let more = match more.is_empty() {
        true => String::new(),
        false => format!(", {more}"),
    };
    format!("{{ {key}, \"config\": {{ {key}{config} }}{more} }}")
}

/// A list in a container: `"queues": { "queue": [ … ] }`.
fn list_of(container: &str, name: &str, entries: &[String]) -> String {
    format!(
        "    \"{container}\": {{\n      \"{name}\": [\n        {}\n      ]\n    }}",
        entries.join(",\n        ")
    )
}

pub(super) fn write(wanted: &Wanted) -> Written {
    let name = |index: u8| format!("QUEUE_{index}");
    let profile = |index: u8| format!("CEMARK_{index}");
    let queues: Vec<String> = wanted
        .queues
        .iter()
        .map(|q| {
            entry(
                "name",
                &name(q.index),
                &format!("\"queue-id\": {}", q.index),
                "",
            )
        })
        .collect();
    let profiles: Vec<String> = wanted
        .marked()
        .map(|(queue, Ramp { min, max, percent })| {
            let wred = format!(
                "\"wred\": {{ \"uniform\": {{ \"config\": {{ {}, {}, \"enable-ecn\": true, \
                 \"weight\": 0, \"max-drop-probability-percent\": {percent} }} }} }}",
                text("min-threshold", &min.to_string()),
                text("max-threshold", &max.to_string())
            );
            entry("name", &profile(queue.index), "", &wred)
        })
        .collect();
    let mut lists = vec![
        list_of("queues", "queue", &queues),
        list_of(
            "queue-management-profiles",
            "queue-management-profile",
            &profiles,
        ),
    ];
    let classes: Vec<_> = wanted
        .queues
        .iter()
        .filter(|q| !q.dscps.is_empty())
        .collect();
    if !classes.is_empty() {
        let groups: Vec<String> = classes
            .iter()
            .map(|q| {
                let queue = text("output-queue", &name(q.index));
                entry("name", &format!("GROUP_{}", q.index), &queue, "")
            })
            .collect();
        lists.push(list_of("forwarding-groups", "forwarding-group", &groups));
        let terms: Vec<String> = classes
            .iter()
            .map(|q| {
                let group = text("target-group", &format!("GROUP_{}", q.index));
                let set = format!("\"dscp-set\": [{}]", list(&q.dscps, ", "));
                let more = format!(
                    "\"actions\": {{ \"config\": {{ {group} }} }}, \"conditions\": {{ \"ipv4\": \
                     {{ \"config\": {{ {set} }} }} }}"
                );
                entry("id", &q.index.to_string(), "", &more)
            })
            .collect();
        let terms = format!("\"terms\": {{ \"term\": [{}] }}", terms.join(", "));
        let classifier = entry("name", "CEMARK", &text("type", "IPV4"), &terms);
        lists.push(list_of("classifiers", "classifier", &[classifier]));
    }
    let outputs: Vec<String> = wanted
        .marked()
        .map(|(queue, _)| {
            let bound = text("queue-management-profile", &profile(queue.index));
            entry("name", &name(queue.index), &bound, "")
        })
        .collect();
    let output = format!(
        "\"output\": {{ \"queues\": {{ \"queue\": [{}] }} }}",
        outputs.join(", ")
    );
    let input = match classes.is_empty() {
        true => String::new(),
        false => format!(
            "\"input\": {{ \"classifiers\": {{ \"classifier\": [{}] }} }}, ",
            "{ \"type\": \"IPV4\", \"config\": { \"type\": \"IPV4\", \"name\": \"CEMARK\" } }"
        ),
    };
    let interfaces: Vec<String> = ranges::names(&wanted.ports)
        .iter()
        .map(|port| entry("interface-id", port, "", &format!("{input}{output}")))
        .collect();
    lists.push(list_of("interfaces", "interface", &interfaces));
    let mut notes = wanted.notes.clone();
    notes.push(
        "Paths of openconfig/public, release/models/qos; no device has seen this document."
            .to_owned(),
    );
    if !wanted.lossless().is_empty() {
        notes.push("OpenConfig has no PFC: pauses are in the vendor's model.".to_owned());
    }
    Written {
        text: format!(
            "{{\n  \"openconfig-qos:qos\": {{\n{}\n  }}\n}}\n",
            lists.join(",\n")
        ),
        notes,
    }
}
