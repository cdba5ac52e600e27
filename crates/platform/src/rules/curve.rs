// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules on the marking curve of a profile.

use std::collections::BTreeMap;

use cemark_wire::Rate;

use super::{Level, Rule};
use crate::model::{Curve, Profile, Switch, ports};
use crate::platforms::Fix;
use crate::published;

/// Largest packet where no port says it, in bytes.
pub(crate) const USUAL_MTU: u64 = 1_500;

/// Runs over the curves of all profiles that act.
fn acting(switch: &Switch) -> impl Iterator<Item = (&Profile, &Curve)> {
    let all = switch
        .profiles
        .values()
        .flat_map(|p| p.curves.iter().map(move |c| (p, c)));
    all.filter(|(_, curve)| curve.acts.holds)
}

/// The profile with the colour where there are several.
fn name(profile: &Profile, curve: &Curve) -> String {
    match curve.colour {
        "" => profile.name.clone(),
        colour => format!("{} ({colour})", profile.name),
    }
}

pub(super) static CROSSED: Rule = Rule {
    id: "CE05",
    name: "thresholds-crossed",
    level: Level::Error,
    why: "A lower threshold above the upper one is no curve.",
    packets: "The platform refuses the profile, and an older SONiC stops its orchestration agent: \
              no packet is marked.",
    evidence: &[
        "github.com/sonic-net/sonic-utilities/pull/579",
        "sonic-yang-models sonic-wred-profile.yang: max >= min for each colour",
    ],
    find: |rule, switch, findings| {
        for (profile, curve) in acting(switch) {
            let (Some(min), Some(max)) = (&curve.min, &curve.max) else {
                continue;
            };
            if !min.value.above(max.value) {
                continue;
            }
            let message = format!(
                "{} begins to mark at {} and marks everything from {} on",
                name(profile, curve),
                min.value,
                max.value
            );
            let fix = Fix::Thresholds(profile.name.clone(), max.value, min.value);
            findings
                .add(rule, &min.place, &profile.name, message, &fix)
                .places
                .push(max.place.clone());
        }
    },
};

pub(super) static FLAT: Rule = Rule {
    id: "CE06",
    name: "probability-unused",
    level: Level::Warning,
    why: "Equal thresholds are a step, and above the upper threshold every packet is marked: the \
          probability is never used.",
    packets: "All packets above the threshold are marked, where the profile says that few are.",
    evidence: &[
        "sonic-mgmt docs/testplan ECN marking (PR 2137): 100 % above the upper threshold",
        "github.com/openconfig/featureprofiles/pull/1894: 80 KB and 80 KB at 100 %",
    ],
    find: |rule, switch, findings| {
        for (profile, curve) in acting(switch) {
            let (Some(min), Some(max), Some(p)) = (&curve.min, &curve.max, &curve.probability)
            else {
                continue;
            };
            if min.value != max.value || p.value >= 100.0 {
                continue;
            }
            let message = format!(
                "{} is a step at {} with a probability of {} %",
                name(profile, curve),
                min.value,
                p.value
            );
            let fix = Fix::Probability(profile.name.clone(), 100);
            findings.add(rule, &p.place, &profile.name, message, &fix);
        }
    },
};

pub(super) static SHORT: Rule = Rule {
    id: "CE07",
    name: "threshold-below-two-packets",
    level: Level::Warning,
    why: "A threshold below two of the largest packets marks a queue that is not congested.",
    packets: "A packet that waits for one other is marked: links stay idle while senders slow \
              down.",
    evidence: &[
        "DCTCP (SIGCOMM 2010), 3.5: the threshold absorbs bursts of packets",
        "github.com/alibaba-edu/High-Precision-Congestion-Control/issues/21",
    ],
    find: |rule, switch, findings| {
        for (profile, curve) in acting(switch).filter(|(_, curve)| curve.marks()) {
            let Some((min, low, _, high)) = curve.bytes() else {
                continue;
            };
            let bound = switch.bound(&profile.name);
            let said = bound.filter_map(|q| switch.ports.get(&q.port)?.mtu).max();
            let mtu = said.unwrap_or(USUAL_MTU);
            let two = mtu.saturating_mul(2);
            if low >= two {
                continue;
            }
            let message = format!(
                "{} marks from {} on, and packets have up to {mtu} B{}",
                name(profile, curve),
                min.value,
                if said.is_some() { "" } else { " (assumed)" }
            );
            let fix = Fix::bytes(&profile.name, two, high.max(two));
            findings
                .add(rule, &min.place, &profile.name, message, &fix)
                .on(ports(switch.bound(&profile.name)));
        }
    },
};

pub(super) static OTHER_RATE: Rule = Rule {
    id: "CE12",
    name: "thresholds-of-another-rate",
    level: Level::Warning,
    why: "Published thresholds belong to a link rate, and these are published for another.",
    packets: "At a faster link the queue is marked so early that links stay idle; at a slower \
              link so late that packets wait longer than they should.",
    evidence: &[
        "github.com/alibaba-edu/High-Precision-Congestion-Control simulation/run.py: by rate",
        "github.com/aliyun/SimAI SimAI.conf: a map from rate to thresholds",
        "github.com/alibaba-edu/High-Precision-Congestion-Control/issues/21",
    ],
    find: |rule, switch, findings| {
        for (profile, curve) in acting(switch).filter(|(_, curve)| curve.marks()) {
            let Some((min, low, _, high)) = curve.bytes() else {
                continue;
            };
            let mut rates: BTreeMap<Rate, Vec<&str>> = BTreeMap::new();
            for queue in switch.bound(&profile.name) {
                if let Some(rate) = switch.ports.get(&queue.port).and_then(|p| p.rate) {
                    rates.entry(rate).or_default().push(&queue.port);
                }
            }
            for (rate, ports) in rates {
                let Some(other) = published::of_another_rate(low, high, rate) else {
                    continue;
                };
                let (low, high, _) = other.here;
                let message = format!(
                    "{} has the thresholds that {} gives for {} Gb/s, and its ports have {} \
                     Gb/s; for them the source gives {low} and {high} B",
                    name(profile, curve),
                    other.source,
                    other.gbps,
                    rate.0 as f64 / 1e9,
                );
                let fix = Fix::bytes(&profile.name, low, high);
                findings
                    .add(rule, &min.place, &profile.name, message, &fix)
                    .on(ports);
            }
        }
    },
};

pub(super) static CELLS: Rule = Rule {
    id: "CE15",
    name: "thresholds-in-one-cell",
    level: Level::Warning,
    why: "A chip counts cells, and both thresholds are rounded to one number of cells.",
    packets: "The ramp is a step: every packet above it is marked.",
    evidence: &["github.com/sonic-net/sonic-mgmt/pull/25573: cells of 256 B at Trident 3"],
    find: |rule, switch, findings| {
        let Some((cell, source)) = switch.cell else {
            return;
        };
        for (profile, curve) in acting(switch).filter(|(_, curve)| curve.marks()) {
            let Some((min, low, _, high)) = curve.bytes() else {
                continue;
            };
            if low >= high || low / cell != high / cell {
                continue;
            }
            let message = format!(
                "{} has thresholds of {low} and {high} B, both {} cells of {cell} B ({source})",
                name(profile, curve),
                low / cell
            );
            let above = (high / cell).saturating_add(1).saturating_mul(cell);
            let fix = Fix::bytes(&profile.name, low / cell * cell, above);
            findings.add(rule, &min.place, &profile.name, message, &fix);
        }
    },
};

pub(super) static AVERAGED: Rule = Rule {
    id: "CE17",
    name: "averaged-queue",
    level: Level::Warning,
    why: "A profile with a weight judges a moving average of the queue length, and DCTCP and \
          DCQCN are made for the length itself.",
    packets: "Marks begin late in a burst and continue after it.",
    evidence: &[
        "DCTCP (SIGCOMM 2010), 3.1: the switch marks by the instantaneous queue",
        "openconfig-qos-mem-mgmt.yang: `weight` of the average queue",
        "SONiC orchagent sets the weight to 0",
    ],
    find: |rule, switch, findings| {
        for (profile, curve) in acting(switch).filter(|(_, curve)| curve.marks()) {
            let Some(weight) = curve.weight.as_ref().filter(|weight| weight.value > 0) else {
                continue;
            };
            let message = format!(
                "{} averages the queue length with weight {}",
                name(profile, curve),
                weight.value
            );
            let fix = Fix::Instantaneous(profile.name.clone());
            findings
                .add(rule, &weight.place, &profile.name, message, &fix)
                .on(ports(switch.bound(&profile.name)));
        }
    },
};
