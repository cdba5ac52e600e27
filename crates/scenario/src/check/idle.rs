// SPDX-License-Identifier: MIT OR Apache-2.0
//! Warns about keys that no simulation point uses. A key that some point uses is meant for a sweep
//! or
//! for one of the schemes.

use std::collections::BTreeMap;

use cemark_edge::{CopyPolicy, Recovery};
use cemark_sim::Config;
use cemark_sim::config::{Edge, MarkerChoice, Policy, Xoff};
use cemark_wire::Nanos;

use crate::controllers;
use crate::edge::DCIB_KEYS;
use crate::plan::Warning;
use crate::tree::{Table, Value};

/// A key that only some configurations use.
struct Rule {
    /// Its section; `switch.queue` is each `[[switch.queue]]`.
    section: &'static str,
    keys: &'static [&'static str],
    used: fn(&Config) -> bool,
    /// Settings under which the keys count, for the advice.
    with: &'static str,
}

/// The first rule of a key is the one that counts.
const RULES: &[Rule] = &[
    Rule {
        section: "switch",
        keys: &["alpha", "dynamic-th"],
        used: |c| c.switch.buffering.policy.alpha().is_some(),
        with: "buffer-policy = \"dynamic\"",
    },
    Rule {
        section: "switch",
        keys: &["pool"],
        used: |c| c.switch.buffering.policy.is_shared(),
        with: "buffer-policy = \"shared\" or \"dynamic\"",
    },
    Rule {
        section: "switch",
        keys: &["abm-interval"],
        used: |c| matches!(c.switch.buffering.policy, Policy::Abm { .. }),
        with: "buffer-policy = \"abm\"",
    },
    Rule {
        section: "switch",
        keys: &["reverie-gamma"],
        used: |c| matches!(c.switch.buffering.policy, Policy::Reverie { .. }),
        with: "buffer-policy = \"reverie\"",
    },
    Rule {
        section: "switch",
        keys: &["congested-bytes"],
        used: |c| {
            let policy = &c.switch.buffering.policy;
            matches!(policy, Policy::Abm { .. } | Policy::Reverie { .. })
        },
        with: "buffer-policy = \"abm\" or \"reverie\"",
    },
    Rule {
        section: "switch",
        keys: &["headroom"],
        used: |c| c.switch.queues.iter().any(|q| q.lossless),
        with: "lossless = true in a [[switch.queue]] or [[switch.class]]",
    },
    Rule {
        section: "switch",
        keys: &["round-beta", "round-idle"],
        used: |c| has_rounds(c) && c.switch.markers().any(reads_rounds),
        with: "scheduler = \"dwrr\", \"wrr\" or \"wfq\", and a scheme that reads the round time \
               (mq_ecn)",
    },
    Rule {
        section: "switch",
        keys: &["quantum"],
        used: |c| looks_at(c, "quantum"),
        with: "scheduler = \"dwrr\" or \"wrr\"",
    },
    Rule {
        section: "switch",
        keys: &["pfc-alpha", "pfc-dynamic-th"],
        used: |c| {
            c.switch
                .pfc
                .is_some_and(|p| matches!(p.xoff, Xoff::Dynamic { .. }))
        },
        with: "pfc = true, without the fixed threshold of pfc-xoff",
    },
    Rule {
        section: "switch",
        keys: &[
            "pfc-xoff",
            "pfc-xon-offset",
            "pfc-headroom",
            "pfc-reaction",
            "pfc-storm",
        ],
        used: |c| c.switch.pfc.is_some(),
        with: "pfc = true",
    },
    Rule {
        section: "switch.queue",
        keys: &["alpha", "dynamic-th"],
        used: |c| c.switch.buffering.policy.alpha().is_some(),
        with: "buffer-policy = \"dynamic\"",
    },
    Rule {
        section: "switch.class",
        keys: &["alpha", "dynamic-th"],
        used: |c| c.switch.buffering.policy.alpha().is_some(),
        with: "buffer-policy = \"dynamic\"",
    },
    Rule {
        section: "switch.queue",
        keys: &["quantum"],
        used: |c| looks_at(c, "quantum"),
        with: "scheduler = \"dwrr\" or \"wrr\"",
    },
    Rule {
        section: "switch.queue",
        keys: &["weight"],
        used: |c| looks_at(c, "weight"),
        with: "scheduler = \"wfq\"; under \"dwrr\" and \"wrr\" quanta divide the link",
    },
    Rule {
        section: "switch.queue",
        keys: &["strict"],
        used: |c| looks_at(c, "strict"),
        with: "scheduler = \"dwrr\", \"wrr\" or \"wfq\"",
    },
    Rule {
        section: "switch.queue",
        keys: &["lossless"],
        used: |c| c.switch.pfc.is_some() || c.switch.buffering.headroom > 0,
        with: "headroom = \"...\" or pfc = true",
    },
    Rule {
        section: "switch.class",
        keys: &["quantum"],
        used: |c| looks_at(c, "quantum"),
        with: "scheduler = \"dwrr\" or \"wrr\"",
    },
    Rule {
        section: "switch.class",
        keys: &["weight"],
        used: |c| looks_at(c, "weight"),
        with: "scheduler = \"wfq\"; under \"dwrr\" and \"wrr\" quanta divide the link",
    },
    Rule {
        section: "switch.class",
        keys: &["strict"],
        used: |c| looks_at(c, "strict"),
        with: "scheduler = \"dwrr\", \"wrr\" or \"wfq\"",
    },
    Rule {
        section: "switch.class",
        keys: &["lossless"],
        used: |c| c.switch.pfc.is_some() || c.switch.buffering.headroom > 0,
        with: "headroom = \"...\" or pfc = true",
    },
    Rule {
        section: "transport",
        keys: &[
            "init-window",
            "keep-window",
            "ack-delay",
            "handshake",
            "max-burst",
            "sack",
            "dup-acks",
            "lost-repairs",
        ],
        used: |c| some_tcp(c, |_| true),
        with: "a control of TCP; queue pairs have no windows",
    },
    Rule {
        section: "rtt",
        keys: &["syn"],
        used: |c| some_tcp(c, |t| t.handshake),
        with: "handshake = true: there is no SYN without",
    },
    Rule {
        section: "transport",
        keys: &["slow-but-steady"],
        used: |c| some_tcp(c, |t| !t.sack),
        with: "sack = false and a control of TCP",
    },
    Rule {
        section: "transport",
        keys: &["rack", "tlp", "undo"],
        used: |c| some_tcp(c, |t| t.sack),
        with: "sack = true and a control of TCP",
    },
    Rule {
        section: "transport",
        keys: &["ack-cwr", "quick-acks", "write-size", "write-window"],
        used: |c| some_tcp(c, |t| t.ack_every > 1),
        with: "ack-every = 2 and a control of TCP; every segment is acknowledged at once without",
    },
    Rule {
        section: "transport",
        keys: &["prr", "whole-segments", "ect-control", "rto-over-rtt"],
        used: |c| some_tcp(c, |_| true),
        with: "a control of TCP; queue pairs have no windows",
    },
    Rule {
        section: "transport",
        keys: &["coarse-alpha"],
        used: |c| runs(c, &["dctcp"]),
        with: "control = \"dctcp\"",
    },
    Rule {
        section: "transport",
        keys: &["cubic-hold", "cubic-slope", "hystart-linux"],
        used: |c| runs(c, &["cubic", "cubic-ecn"]),
        with: "control = \"cubic\" or \"cubic-ecn\"",
    },
    Rule {
        section: "transport",
        keys: &["cubic-tick"],
        used: |c| runs(c, &["cubic", "cubic-ecn"]) && some_tcp(c, |t| t.stack.cubic_hold),
        with: "cubic-hold = true, and control = \"cubic\" or \"cubic-ecn\"",
    },
    Rule {
        section: "transport",
        keys: &["tso-defer"],
        used: |c| c.offload.tso > 0 && some_tcp(c, |t| t.sack && t.stack.rack),
        with: "rack = true, tso = \"64KB\" in [host], and a control of TCP",
    },
    Rule {
        section: "transport",
        keys: &["third-packet"],
        used: |c| some_tcp(c, |t| t.handshake),
        with: "handshake = true and a control of TCP",
    },
    Rule {
        section: "transport",
        keys: &["rack-wait"],
        used: |c| some_tcp(c, |t| t.sack && t.stack.rack),
        with: "rack = true and a control of TCP",
    },
    Rule {
        section: "transport",
        keys: &["quick-acks-ce"],
        used: |c| runs(c, &["cubic-ecn", "ecn-star"]) && some_tcp(c, |t| t.ack_every > 1),
        with: "ack-every = 2, and control = \"cubic-ecn\" or \"ecn-star\"",
    },
    Rule {
        section: "transport",
        keys: &["repair", "cnp-gap", "cnp-class"],
        used: |c| !c.queue_pairs().is_empty(),
        with: "control = \"dcqcn\"",
    },
    Rule {
        section: "host",
        keys: &["tso", "coalesce", "pacing"],
        used: |c| some_tcp(c, |_| true),
        with: "a control of TCP; the adapters of queue pairs send, pace and answer by themselves",
    },
    Rule {
        section: "host",
        keys: &["gro", "coalesce-packets"],
        used: |c| c.offload.coalesce > Nanos::ZERO,
        with: "coalesce = \"20us\", and a control of TCP",
    },
    Rule {
        section: "edge",
        keys: &["buffer"],
        used: |c| matches!(c.edge, Edge::Pep { .. }),
        with: "kind = \"pep\"; the copies of \"dcib\" are bound by `stalled`",
    },
    Rule {
        section: "edge",
        keys: &["hold", "lanes"],
        used: |c| matches!(&c.edge, Edge::Dcib { config, .. } if config.hold.is_some()),
        with: "kind = \"dcib\" and release = \"in-order\"",
    },
    Rule {
        section: "edge",
        keys: &["most-copies"],
        used: |c| {
            matches!(&c.edge, Edge::Dcib { config, .. }
                if config.copies == CopyPolicy::Restore && config.recovery == Recovery::Evidence)
        },
        with: "kind = \"dcib\" and copies = \"restore\"",
    },
    Rule {
        section: "edge",
        keys: &["reorder"],
        used: |c| {
            matches!(&c.edge, Edge::Dcib { config, .. }
                if config.recovery == Recovery::Evidence)
        },
        with: "kind = \"dcib\" and recovery = \"evidence\"",
    },
    Rule {
        section: "edge",
        keys: &["ack-delay"],
        used: |c| matches!(&c.edge, Edge::Dcib { config, .. } if config.ack_every > 1),
        with: "kind = \"dcib\", acks = \"bitmap\" and ack-every = 2 or more",
    },
    Rule {
        section: "edge",
        keys: DCIB_KEYS,
        used: |c| matches!(c.edge, Edge::Dcib { .. }),
        with: "kind = \"dcib\"",
    },
];

fn runs(c: &Config, controls: &[&str]) -> bool {
    let mut running = controllers::all_running(c).into_iter();
    running.any(|spec| controls.contains(&spec.name))
}

/// Whether some TCP connections of a configuration are such.
fn some_tcp(c: &Config, such: impl Fn(&cemark_transport::Config) -> bool) -> bool {
    let mut all = c.transports().into_iter();
    all.any(|t| t.rdma.is_none() && such(t))
}

/// Whether the scheduler looks at a key of its queues. A user's own scheme gets all of
/// them.
fn looks_at(c: &Config, key: &str) -> bool {
    c.switch.scheduler.spec().keys.contains(&key)
        || c.switch
            .markers()
            .any(|own| matches!(own, MarkerChoice::Own(_) | MarkerChoice::Custom(_)))
}

/// Whether the scheduler visits queues in rounds, so that there is a round time.
pub(crate) fn has_rounds(c: &Config) -> bool {
    c.switch.scheduler.has_rounds()
}

/// Whether the scheme reads the round time. One that is not ours may.
pub(crate) fn reads_rounds(marker: &MarkerChoice) -> bool {
    match marker.declared() {
        Some((scheme, values)) => (scheme.reads_round)(values),
        None => matches!(marker, MarkerChoice::Custom(_)),
    }
}

/// Keys with a rule that the points of a plan write, by rule and key: how many points, and whether
/// any of them uses the key.
#[derive(Default)]
pub(crate) struct Idle(BTreeMap<(usize, &'static str), Seen>);

#[derive(Default)]
struct Seen {
    points: usize,
    used: bool,
}

impl Idle {
    /// Takes in one configuration, the tree it was read from, and how many points it makes.
    pub(crate) fn see(&mut self, root: &Table, config: &Config, points: usize) {
        for (i, rule) in RULES.iter().enumerate() {
            let earlier = |key| {
                let same = |r: &&Rule| r.section == rule.section;
                RULES[..i].iter().filter(same).any(|r| r.keys.contains(key))
            };
            for key in rule.keys.iter().filter(|key| !earlier(key)) {
                if is_written(root, rule.section, key) {
                    let seen = self.0.entry((i, key)).or_default();
                    seen.points += points;
                    seen.used |= (rule.used)(config);
                }
            }
        }
        // The catalogue of controllers says which of them reads a key.
        for key in controllers::keys() {
            if is_written(root, "transport", key) {
                let seen = self.0.entry((RULES.len(), key)).or_default();
                seen.points += points;
                let mut running = controllers::all_running(config).into_iter();
                seen.used |= running.any(|spec| spec.index_of(key).is_some());
            }
        }
    }

    /// A warning for each key that was written for nothing.
    pub(crate) fn warnings(self) -> impl Iterator<Item = Warning> {
        self.0
            .into_iter()
            .filter(|(_, seen)| !seen.used)
            .map(|((i, key), seen)| {
                let (section, with) = match RULES.get(i) {
                    Some(rule) => (rule.section, rule.with.to_owned()),
                    None => {
                        let readers = controllers::words(|spec| spec.index_of(key).is_some());
                        ("transport", format!("control = {readers}"))
                    }
                };
                let written = match section {
                    "switch.queue" | "switch.class" => format!("[[{section}]]"),
                    section => format!("[{section}]"),
                };
                Warning {
                    about: format!("idle {section} {key}"),
                    message: format!("`{key}` in {written} has no effect"),
                    help: format!("leave it out, or write {with}"),
                    points: seen.points,
                }
            })
    }
}

fn is_written(root: &Table, section: &str, key: &str) -> bool {
    let (section, list) = match section.split_once('.') {
        Some((section, list)) => (section, Some(list)),
        None => (section, None),
    };
    let Some(Value::Table(table)) = root.get(section).map(|e| &e.node.value) else {
        return false;
    };
    let Some(list) = list else {
        return table.get(key).is_some();
    };
    let has = |value: &Value| matches!(value, Value::Table(t) if t.get(key).is_some());
    match table.get(list).map(|e| &e.node.value) {
        Some(Value::List(nodes)) => nodes.iter().any(|node| has(&node.value)),
        Some(value) => has(value),
        None => false,
    }
}
