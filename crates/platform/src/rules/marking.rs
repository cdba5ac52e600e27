// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules on whether any packet is marked.

use super::{Level, Rule};
use crate::model::{Profile, Queue, Switch, ports};
use crate::place::Place;
use crate::platforms::Fix;

pub(super) static DISABLED: Rule = Rule {
    id: "CE01",
    name: "profile-disabled",
    level: Level::Error,
    why: "A profile with thresholds that is not enabled does nothing.",
    packets: "No packet is marked or dropped early: queues grow until the buffer is full or PFC \
              pauses the senders.",
    evidence: &[
        "github.com/sonic-net/SONiC/issues/788",
        "github.com/sonic-net/SONiC/issues/302",
        "github.com/sonic-net/sonic-utilities/pull/1412",
    ],
    find: |rule, switch, findings| {
        for profile in switch.profiles.values() {
            let Some(curve) = profile.curves.first().filter(|curve| !curve.acts.holds) else {
                continue;
            };
            let used = switch.bound(&profile.name).next().is_some();
            if !used && !curve.ecn.holds && curve.min.is_none() {
                continue;
            }
            let message = format!("{} does nothing: {}", profile.name, curve.acts.how);
            let fix = Fix::Enable(profile.name.clone());
            findings
                .add(rule, &curve.acts.place, &profile.name, message, &fix)
                .on(ports(switch.bound(&profile.name)));
        }
    },
};

pub(super) static DROPS: Rule = Rule {
    id: "CE02",
    name: "drops-instead-of-marks",
    level: Level::Warning,
    why: "A profile that is enabled without ECN is RED: it drops packets.",
    packets: "ECN-capable packets are dropped where they could be marked; a lossless class loses \
              packets, and RoCE sends whole windows again.",
    evidence: &[
        "github.com/sonic-net/SONiC/issues/137",
        "github.com/sonic-net/SONiC/issues/41",
        "Debian tc-red(8): without `ecn` RED drops",
    ],
    find: |rule, switch, findings| {
        for profile in switch.profiles.values() {
            let Some(curve) = profile.curves.first() else {
                continue;
            };
            if !curve.acts.holds || curve.ecn.holds {
                continue;
            }
            let message = format!(
                "{} drops packets and marks none: {}",
                profile.name, curve.ecn.how
            );
            let fix = Fix::Mark(profile.name.clone());
            let finding = findings.add(rule, &curve.ecn.place, &profile.name, message, &fix);
            finding.on(ports(switch.bound(&profile.name)));
            if switch
                .bound(&profile.name)
                .any(|queue| lossless(switch, queue))
            {
                finding.level = Level::Error;
            }
        }
    },
};

/// Whether PFC protects the packets of a queue.
fn lossless(switch: &Switch, queue: &Queue) -> bool {
    let port = switch.ports.get(&queue.port);
    port.is_some_and(|port| port.lossless.keys().any(|p| port.queue(*p) == queue.index))
}

pub(super) static UNBOUND: Rule = Rule {
    id: "CE03",
    name: "profile-unbound",
    level: Level::Error,
    why: "A profile that no queue names marks nothing.",
    packets: "No packet meets the profile.",
    evidence: &[
        "github.com/sonic-net/SONiC/issues/302",
        "github.com/sonic-net/SONiC/issues/137",
        "github.com/sonic-net/sonic-buildimage/issues/4545",
    ],
    find: |rule, switch, findings| {
        let unbound =
            |p: &&Profile| p.marks() && !p.shipped && switch.bound(&p.name).next().is_none();
        for profile in switch.profiles.values().filter(unbound) {
            if !switch.whole {
                continue;
            }
            let lossless = switch
                .ports
                .iter()
                .find_map(|(name, port)| Some((name, *port.lossless.keys().next()?)));
            let (port, queue) = lossless.map_or_else(
                || (switch.ports.keys().next().cloned().unwrap_or_default(), 3),
                |(name, priority)| (name.clone(), priority),
            );
            let fix = Fix::Bind {
                profile: profile.name.clone(),
                port,
                queue,
            };
            let message = format!("no queue names {}", profile.name);
            findings.add(rule, &profile.place, &profile.name, message, &fix);
        }
    },
};

pub(super) static MISSING: Rule = Rule {
    id: "CE04",
    name: "profile-missing",
    level: Level::Error,
    why: "A queue that names a profile that is nowhere defined has none.",
    packets: "The platform refuses the queue or leaves it without marking.",
    evidence: &[
        "github.com/sonic-net/sonic-buildimage/issues/21891",
        "sonic-utilities db_migrator: references in brackets",
        "`config qos clear` of SONiC deletes WRED_PROFILE and leaves what else names it",
    ],
    find: |rule, switch, findings| {
        if !switch.whole {
            return;
        }
        for queue in switch.queues.values() {
            let Some(named) = &queue.profile else {
                continue;
            };
            if switch.profiles.contains_key(&named.value) {
                continue;
            }
            let message = format!(
                "queues name {}, and no such profile is defined",
                named.value
            );
            let fix = Fix::Define(named.value.clone());
            findings
                .add(rule, &named.place, &named.value, message, &fix)
                .on([queue.port.as_str()]);
        }
    },
};

pub(super) static NOTHING: Rule = Rule {
    id: "CE18",
    name: "no-profile",
    level: Level::Error,
    why: "A switch without a marking profile marks nothing.",
    packets: "Senders slow down after losses or pauses only.",
    evidence: &[
        "github.com/sonic-net/SONiC/issues/788",
        "github.com/sonic-net/sonic-buildimage/issues/21891: a board shipped without WRED",
        "`config qos clear` of SONiC deletes WRED_PROFILE",
    ],
    find: |rule, switch, findings| {
        let named = switch.queues.values().any(|queue| queue.profile.is_some());
        if !switch.whole || !switch.profiles.is_empty() || named {
            return;
        }
        let first = switch.ports.values().next().map(|port| &port.place);
        let place = first.cloned().unwrap_or_else(|| Place::new(0, 1, ""));
        let message = "no marking profile is defined".to_owned();
        let fix = Fix::Define(String::new());
        findings
            .add(rule, &place, "", message, &fix)
            .on(switch.ports.keys().map(String::as_str));
    },
};
