// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules on traffic classes: marking beside pauses, and the class in which RoCE arrives.

use super::{Level, Rule};
use crate::model::Port;
use crate::place::Place;
use crate::platforms::Fix;

/// DSCPs that RoCE adapters send with: 26 and 24.
const ROCE: [usize; 2] = [26, 24];

pub(super) static PAUSES_FIRST: Rule = Rule {
    id: "CE08",
    name: "pauses-before-marks",
    level: Level::Warning,
    why: "The length at which PFC pauses the sender is not above the upper threshold.",
    packets: "One congested port pauses its sender before every packet is marked, and pauses \
              spread to flows that are not congested.",
    evidence: &[
        "DCQCN (SIGCOMM 2015), 4: marks must come before pauses",
        "docs/pfc.md: SONiC's profile beside Cumulus' in the simulator",
    ],
    find: |rule, switch, findings| {
        for (name, port) in &switch.ports {
            for (priority, xoff) in &port.xoff {
                let queue = port.queue(*priority);
                if !port.lossless.contains_key(priority) {
                    continue;
                }
                let Some(profile) = switch.profile_of(name, queue).filter(|p| p.marks()) else {
                    continue;
                };
                let Some((_, low, max, high)) = profile.curves[0].bytes() else {
                    continue;
                };
                if high < xoff.bytes {
                    continue;
                }
                let message = format!(
                    "{} marks from {low} to {high} B, and PFC pauses from {} B on ({}){}",
                    profile.name,
                    xoff.bytes,
                    xoff.how,
                    match low >= xoff.bytes {
                        true => ": the pause comes before the first mark",
                        false => "",
                    }
                );
                let fix = Fix::bytes(&profile.name, low.min(xoff.bytes / 4), xoff.bytes / 2);
                let finding = findings.add(rule, &max.place, &profile.name, message, &fix);
                if low >= xoff.bytes {
                    finding.level = Level::Error;
                }
                if !finding.places.contains(&xoff.place) {
                    finding.places.push(xoff.place.clone());
                }
                finding.on([name.as_str()]);
            }
        }
    },
};

/// Priorities of a port as words: "3", "3 and 4".
fn listed(port: &Port) -> String {
    let all: Vec<String> = port.lossless.keys().map(u8::to_string).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

pub(super) static DSCP_DEFAULT: Rule = Rule {
    id: "CE09",
    name: "roce-dscp-in-lossy-class",
    level: Level::Warning,
    why: "RoCE adapters send with DSCP 26 or 24, and the map sends both to a class that PFC does \
          not protect.",
    packets: "RoCE packets share a lossy queue with other traffic, and the lossless class with its \
              profile stays empty.",
    evidence: &[
        "sonic-buildimage files/build_templates/qos_config.j2: DSCPs but 3 and 4 are lossy",
        "github.com/NVIDIA/nccl/issues/306",
        "github.com/NVIDIA/nccl/issues/378",
    ],
    find: |rule, switch, findings| {
        for (name, port) in &switch.ports {
            if port.lossless.is_empty() {
                continue;
            }
            let classes = ROCE.map(|dscp| switch.class_of(port, dscp));
            let [Some((first, place)), Some((second, _))] = classes else {
                continue;
            };
            if [first, second]
                .iter()
                .any(|c| port.lossless.contains_key(c))
            {
                continue;
            }
            let map = port.classes.clone().unwrap_or_default();
            let whole = switch.classes.get(&map).map(|map| &map.place);
            let place = place.or(whole).unwrap_or(&port.place);
            let message = format!(
                "DSCP 26 goes to traffic class {first} and DSCP 24 to {second}; PFC protects {}",
                listed(port)
            );
            let class = *port.lossless.keys().next().expect("not empty");
            let fix = Fix::Classify {
                map: map.clone(),
                dscp: 26,
                class,
            };
            findings
                .add(rule, place, &map, message, &fix)
                .on([name.as_str()]);
        }
    },
};

pub(super) static PAUSES_ONLY: Rule = Rule {
    id: "CE10",
    name: "lossless-without-marks",
    level: Level::Error,
    why: "A lossless class without a marking profile has pauses as its only signal.",
    packets: "Queues grow to the pause threshold in every congestion, and pauses reach flows that \
              take another way.",
    evidence: &[
        "DCQCN (SIGCOMM 2015), 2: PFC alone is unfair and blocks victims",
        "github.com/sonic-net/sonic-mgmt/issues/21514",
    ],
    find: |rule, switch, findings| {
        if !switch.whole {
            return;
        }
        for (name, port) in &switch.ports {
            for (priority, place) in &port.lossless {
                let queue = port.queue(*priority);
                if switch
                    .queue(name, queue)
                    .is_some_and(|q| q.profile.is_some())
                {
                    continue;
                }
                let profile = switch.profiles.values().find(|profile| profile.marks());
                let fix = Fix::Bind {
                    profile: profile.map(|p| p.name.clone()).unwrap_or_default(),
                    port: name.clone(),
                    queue,
                };
                let message =
                    format!("PFC protects priority {priority}, and queue {queue} has no profile");
                findings
                    .add(rule, place, &format!("queue {queue}"), message, &fix)
                    .on([name.as_str()]);
            }
        }
    },
};

pub(super) static MARKS_ONLY: Rule = Rule {
    id: "CE11",
    name: "roce-without-pfc",
    level: Level::Warning,
    why: "A class for RoCE that marks and that PFC does not protect loses packets in a burst.",
    packets: "An incast overflows the queue before marks act, and a go-back-N sender sends \
              everything after the loss again.",
    evidence: &[
        "DCQCN (SIGCOMM 2015), 2.2: bursts at line rate need PFC",
        "github.com/NVIDIA/nccl/issues/378",
    ],
    find: |rule, switch, findings| {
        if !switch.says_pauses {
            return;
        }
        for (name, port) in &switch.ports {
            let protected = |dscp: &usize| {
                let class = switch.class_of(port, *dscp);
                class.is_some_and(|(class, _)| port.lossless.contains_key(&class))
            };
            // RoCE with the other DSCP is protected.
            if ROCE.iter().any(protected) {
                continue;
            }
            for dscp in ROCE {
                let Some((class, Some(place))) = switch.class_of(port, dscp) else {
                    continue;
                };
                let queue = port.queue(class);
                let Some(profile) = switch.profile_of(name, queue).filter(|p| p.marks()) else {
                    continue;
                };
                let place: &Place = place;
                let message = format!(
                    "DSCP {dscp} goes to traffic class {class}, which {} marks and no PFC protects",
                    profile.name
                );
                let fix = Fix::Pause {
                    port: name.clone(),
                    priority: class,
                };
                findings
                    .add(rule, place, &profile.name, message, &fix)
                    .on([name.as_str()]);
            }
        }
    },
};
