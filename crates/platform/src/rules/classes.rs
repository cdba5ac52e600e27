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
            let lossless = port
                .xoff
                .iter()
                .filter(|(priority, _)| port.lossless.contains_key(priority));
            let classes = lossless.flat_map(|(priority, xoff)| {
                port.protected(*priority).map(move |class| (class, xoff))
            });
            for (class, xoff) in classes {
                let profile = switch.profile_of(name, port.queue(class));
                let Some(profile) = profile.filter(|p| p.marks()) else {
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
            let Some((map, whole)) = port
                .classes
                .as_ref()
                .and_then(|name| Some((name, switch.classes.get(name)?)))
            else {
                continue;
            };
            let classes = ROCE.map(|dscp| switch.class_of(port, dscp));
            let mut known = classes.iter().flatten();
            if known.any(|(class, _)| port.unprotected(*class).is_none()) {
                continue;
            }
            let place = classes[0].and_then(|(_, place)| place);
            let place = place.unwrap_or(&whole.place);
            let [first, second] = classes.map(|class| match class {
                // Maps of priorities can leave a class of a lossless number without protection.
                Some((class, _)) if port.lossless.contains_key(&class) => {
                    let why = port.unprotected(class).unwrap_or_default();
                    format!("goes to traffic class {class} ({why})")
                }
                Some((class, _)) => format!("goes to traffic class {class}"),
                None => "has no entry".to_owned(),
            });
            let message = format!(
                "DSCP 26 {first}, DSCP 24 {second}; PFC protects {}",
                listed(port)
            );
            let class = *port.lossless.keys().next().expect("not empty");
            let fix = Fix::Classify {
                map: map.clone(),
                dscp: 26,
                class,
            };
            findings
                .add(rule, place, map, message, &fix)
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
            let lossless = port.lossless.iter().flat_map(|(priority, place)| {
                let classes = port.protected(*priority);
                classes.map(move |class| (priority, port.queue(class), place))
            });
            for (priority, queue, place) in lossless {
                let own = switch.queue(name, queue);
                if own.is_some_and(|queue| queue.profile.is_some()) {
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
                class.is_some_and(|(class, _)| port.unprotected(class).is_none())
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
                let Some(why) = port.unprotected(class) else {
                    continue;
                };
                let message = format!(
                    "DSCP {dscp} goes to traffic class {class}, which {} marks: {why}",
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
