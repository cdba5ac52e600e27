// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wanted marking as JSON of openconfig-qos (openconfig/public, release/models/qos). No device has
//! seen it.

use serde_json::{Value, json};

use crate::text::ranges;
use crate::wanted::{Ramp, Wanted, WantedQueue, Written, pretty};

pub(super) fn write(wanted: &Wanted) -> Written {
    let queue_name = |index: u8| format!("QUEUE_{index}");
    let profile_name = |index: u8| format!("CEMARK_{index}{}", wanted.suffix);
    let queue = |queue: &WantedQueue| {
        let name = queue_name(queue.index);
        json!({ "name": name, "config": { "name": name, "queue-id": queue.index } })
    };
    let profile = |(queue, ramp): (&WantedQueue, Ramp)| {
        let name = profile_name(queue.index);
        let config = json!({
            "min-threshold": ramp.min.to_string(),
            "max-threshold": ramp.max.to_string(),
            "enable-ecn": true,
            "weight": 0,
            "max-drop-probability-percent": ramp.percent,
        });
        json!({
            "name": name,
            "config": { "name": name },
            "wred": { "uniform": { "config": config } },
        })
    };
    let mut qos = json!({
        "queues": { "queue": wanted.queues.iter().map(queue).collect::<Vec<_>>() },
        "queue-management-profiles": {
            "queue-management-profile": wanted.marked().map(profile).collect::<Vec<_>>(),
        },
    });
    let output = |(queue, _): (&WantedQueue, Ramp)| {
        let name = queue_name(queue.index);
        let profile = profile_name(queue.index);
        json!({
            "name": name,
            "config": { "name": name, "queue-management-profile": profile },
        })
    };
    let outputs: Vec<Value> = wanted.marked().map(output).collect();
    let interface = |port: &String| {
        let mut one = json!({
            "interface-id": port,
            "config": { "interface-id": port },
            "output": { "queues": { "queue": outputs } },
        });
        if wanted.has_classes() {
            let config = json!({ "type": "IPV4", "name": "CEMARK" });
            let classifier = json!([{ "type": "IPV4", "config": config }]);
            one["input"] = json!({ "classifiers": { "classifier": classifier } });
        }
        one
    };
    let ports = ranges::names(&wanted.ports);
    qos["interfaces"] = json!({
        "interface": ports.iter().map(interface).collect::<Vec<_>>(),
    });
    if wanted.has_classes() {
        classes(wanted, &queue_name, &mut qos);
    }
    let mut notes = wanted.notes.clone();
    notes.push(
        "Paths of openconfig/public, release/models/qos; no device has seen this document."
            .to_owned(),
    );
    if !wanted.lossless().is_empty() {
        notes.push("OpenConfig has no PFC: pauses are in the vendor's model.".to_owned());
    }
    Written {
        text: pretty(&json!({ "openconfig-qos:qos": qos })),
        notes,
    }
}

/// Forwarding groups and the classifier that leads DSCPs to them.
fn classes(wanted: &Wanted, queue_name: &dyn Fn(u8) -> String, qos: &mut Value) {
    let (mut groups, mut terms) = (Vec::new(), Vec::new());
    for queue in wanted.queues.iter().filter(|q| !q.dscps.is_empty()) {
        let (group, id) = (format!("GROUP_{}", queue.index), queue.index.to_string());
        groups.push(json!({
            "name": group,
            "config": { "name": group, "output-queue": queue_name(queue.index) },
        }));
        terms.push(json!({
            "id": id,
            "config": { "id": id },
            "actions": { "config": { "target-group": group } },
            "conditions": { "ipv4": { "config": { "dscp-set": queue.dscps } } },
        }));
    }
    qos["forwarding-groups"] = json!({ "forwarding-group": groups });
    qos["classifiers"] = json!({ "classifier": [{
        "name": "CEMARK",
        "config": { "name": "CEMARK", "type": "IPV4" },
        "terms": { "term": terms },
    }] });
}
