// SPDX-License-Identifier: MIT OR Apache-2.0
//! Warnings about settings that a scenario may have and its author probably did not mean. The
//! scenario runs; the warning goes to the terminal and stays with the results.

use std::collections::BTreeMap;

use cemark_marking::{FirstMark, Level};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct};
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::ways;
use cemark_sim::workload::{Burst, LongFlows, Pairs, RttModel, Sending, Workload};
use cemark_wire::Picos;

use crate::controllers;
use crate::idle::{has_rounds, reads_rounds};
use crate::markers::Scheme;
use crate::plan::Warning;
use crate::sense::percent;
use crate::units::{length, span};

/// Warnings of one configuration; `label` is its scheme's.
pub(crate) fn warnings(config: &Config, label: &str) -> Vec<Warning> {
    let mut all = Vec::new();
    short_draws(config, &mut all);
    early_timeouts(config, &mut all);
    too_little_time(config, &mut all);
    sampled_once(config, &mut all);
    without_rounds(config, label, &mut all);
    without_marks(config, label, &mut all);
    late_notifications(config, &mut all);
    all
}

/// Warnings of all configurations: each is listed once, with the number of its points.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) all: Vec<Warning>,
    /// Place of each in the list, by what it is about.
    places: BTreeMap<String, usize>,
}

impl Collected {
    /// Adds what one configuration found.
    pub(crate) fn add(&mut self, found: Vec<Warning>, points: usize) {
        for warning in found {
            match self.places.get(&warning.about) {
                Some(&place) => self.all[place].points += points,
                None => {
                    self.places.insert(warning.about.clone(), self.all.len());
                    self.all.push(Warning { points, ..warning });
                }
            }
        }
    }
}

fn add(all: &mut Vec<Warning>, about: String, message: String, help: &str) {
    all.push(Warning {
        about,
        message,
        help: help.to_owned(),
        points: 0,
    });
}

/// Base RTTs below what the links take are the links'.
fn short_draws(config: &Config, all: &mut Vec<Warning>) {
    for workload in &config.workloads {
        let paths = path_rtts(workload, &config.topology);
        let share: f64 = paths
            .iter()
            .map(|(share, rtt)| share * config.rtt.share_below(*rtt))
            .sum();
        let longest = paths.iter().map(|(_, rtt)| *rtt).max();
        // A share this small comes from rounding in a table of quantiles.
        if let Some(longest) = longest.filter(|_| share > 1e-6) {
            add(
                all,
                format!("rtt {}", workload.name),
                format!(
                    "[rtt] draws base RTTs below what the links alone take (up to {}{}): {} of \
                     the flows of `{}` get their path's RTT instead",
                    span(longest),
                    counted(&config.rtt, longest),
                    percent(share),
                    workload.name
                ),
                "shorten `delay` in [topology], or draw longer RTTs",
            );
        }
    }
}

/// How many samples of a file are below `rtt`.
fn counted(model: &RttModel, rtt: Picos) -> String {
    match model {
        RttModel::Samples(all) => {
            format!(
                "; {} of {} samples are below that",
                all.count_below(rtt),
                all.count()
            )
        }
        _ => String::new(),
    }
}

fn early_timeouts(config: &Config, all: &mut Vec<Warning>) {
    for workload in &config.workloads {
        let timeout = nanos(config.transport_of(workload).rto_init.0);
        let share: f64 = path_rtts(workload, &config.topology)
            .iter()
            .map(|(share, rtt)| match *rtt >= timeout {
                true => *share,
                false if config.rtt == RttModel::Path => 0.0,
                false => share * (1.0 - config.rtt.share_below(timeout)),
            })
            .sum();
        if share > 1e-6 {
            let who = if share > 1.0 - 1e-9 {
                "every flow".to_owned()
            } else {
                format!("{} of the flows", percent(share))
            };
            add(
                all,
                format!("rto-init {}", workload.name),
                format!(
                    "rto-init is {}, no longer than the base RTT: {who} of `{}` will time out \
                     spuriously before the first ACK can be back",
                    span(timeout),
                    workload.name
                ),
                "write an rto-init above the longest base RTT",
            );
        }
    }
    let late = |t: &&&cemark_transport::Config| t.ack_every > 1 && t.ack_delay >= t.rto_min;
    if let Some(t) = config.transports().iter().find(late) {
        add(
            all,
            "ack-delay".to_owned(),
            format!(
                "ack-delay ({}) is not below rto-min ({}): the last segment of a flow may time \
                 out while its ACK is held back",
                span(nanos(t.ack_delay.0)),
                span(nanos(t.rto_min.0))
            ),
            "a shorter ack-delay, or a longer rto-min",
        );
    }
}

/// Measured flows that start after the end.
fn too_little_time(config: &Config, all: &mut Vec<Warning>) {
    let end = config.max_time;
    for workload in &config.workloads {
        let facts = workload.kind.facts(&config.topology);
        let noun = facts.noun;
        let last = facts.last_start(&config.topology);
        let Some(needs) = last.filter(|needs| *needs > end) else {
            continue;
        };
        add(
            all,
            format!("max-time {}", workload.name),
            format!(
                "the run ends at {}, but the last of the {noun} of `{}` start only at about {}: \
                 they never run",
                span(end),
                workload.name,
                span(needs)
            ),
            "a longer max-time, or fewer flows",
        );
    }
}

/// Samples of which not a second one fits.
fn sampled_once(config: &Config, all: &mut Vec<Warning>) {
    let left = config
        .measure
        .until
        .min(config.max_time)
        .saturating_sub(config.measure.from);
    let intervals = [
        ("queue-interval", config.measure.queue_interval),
        ("goodput-interval", config.measure.goodput_interval),
    ];
    for (key, interval) in intervals {
        if interval > left {
            add(
                all,
                key.to_owned(),
                format!(
                    "{key} is {}, longer than the {} that are measured at most",
                    span(interval),
                    span(left)
                ),
                "a shorter interval in [measure], or 0 for none",
            );
        }
    }
}

/// No sender of the run uses ECN and the file says nothing of it: the schemes drop what they would
/// mark.
pub(crate) fn drops_instead(config: &Config, all: &mut Vec<Warning>) {
    let marks = config
        .switch
        .markers()
        .any(|m| !matches!(m, MarkerChoice::None));
    if marks && config.switch.non_ect == NonEct::Drop {
        add(
            all,
            "no sender uses ECN".to_owned(),
            "no sender uses ECN: the schemes drop the packets that they would mark".to_owned(),
            &format!(
                "write control = {} in [transport], or non-ect = \"drop\" in [switch] if drops \
                 are meant",
                controllers::ecn_words()
            ),
        );
    }
}

/// The subject of the warning of a scheme that never marks.
pub(crate) fn never(label: &str) -> String {
    format!("never {label}")
}

/// A scheme that finds nothing to mark, or whose lowest threshold no queue reaches.
pub(crate) fn never_marks(config: &Config, of: &Scheme, all: &mut Vec<Warning>) {
    let label = of.label.as_str();
    let Some((scheme, values)) = of.marker.declared() else {
        return;
    };
    if !config.any_capable() && config.switch.non_ect == NonEct::Forward {
        add(
            all,
            format!("not ECN-capable {label}"),
            format!("the flows' `control` is not ECN-capable: `{label}` finds nothing to mark"),
            &format!(
                "write control = {}, or non-ect = \"drop\" in [switch]",
                controllers::ecn_words()
            ),
        );
    }
    let shared = config.switch.buffering.pool_bytes;
    let buffer = u64::from(match shared {
        0 => config.switch.buffer_bytes,
        n => n,
    });
    let drained = config.topology.slowest().nanos_for(buffer).0;
    let Some(FirstMark { param, level }) = (scheme.first_mark)(values) else {
        return;
    };
    let unreached = match level {
        Level::Length(bytes) => (bytes >= buffer).then(|| length(bytes)),
        // With several queues a packet may wait for longer than a full buffer takes to send.
        Level::Wait(wait) => {
            let alone = config.switch.queues.len() == 1;
            (alone && wait.0 >= drained).then(|| span(nanos(wait.0)))
        }
    };
    if let Some(unreached) = unreached {
        add(
            all,
            never(label),
            format!(
                "`{label}` never marks: {} is {unreached}, and a full buffer is {} or {} of \
                 waiting",
                param.name,
                length(buffer),
                span(nanos(drained))
            ),
            "a lower threshold, or a larger buffer in [switch]",
        );
    }
}

/// A scheme that scales by the round time, at ports that have none.
fn without_rounds(config: &Config, label: &str, all: &mut Vec<Warning>) {
    let ours = |m: &MarkerChoice| matches!(m, MarkerChoice::Builtin { .. });
    let reads = |m: &MarkerChoice| ours(m) && reads_rounds(m);
    if config.switch.markers().any(reads) && !has_rounds(config) {
        let scheduler = config.switch.scheduler.spec().name;
        add(
            all,
            format!("rounds {label}"),
            format!(
                "scheduler = \"{scheduler}\" has no rounds: `{label}` takes every queue for the \
                 only one"
            ),
            "write scheduler = \"dwrr\", \"wrr\" or \"wfq\" in [switch]",
        );
    }
}

/// Queue pairs that nothing slows down.
fn without_marks(config: &Config, label: &str, all: &mut Vec<Warning>) {
    let unmarked = config
        .switch
        .markers()
        .all(|m| matches!(m, MarkerChoice::None));
    if !config.queue_pairs().is_empty() && unmarked && config.switch.pfc.is_none() {
        add(
            all,
            format!("unmarked {label}"),
            format!(
                "`{label}` never marks, and DCQCN slows down for nothing else: its queues end in \
                 losses"
            ),
            "a marker, or pfc = true in [switch]",
        );
    }
}

/// Notifications that wait behind data although they have a queue of their own.
fn late_notifications(config: &Config, all: &mut Vec<Warning>) {
    let switch = &config.switch;
    for class in config
        .queue_pairs()
        .iter()
        .filter_map(|pairs| pairs.cnp_class)
    {
        if switch
            .queues
            .get(usize::from(class))
            .is_some_and(|queue| !queue.strict)
        {
            let name = switch.queue_name(class);
            add(
                all,
                format!("cnp-class {class}"),
                format!(
                    "notifications of congestion (CNPs) travel in {name}, which is not strict: \
                     they wait while other queues send"
                ),
                "strict = true for this queue, or a cnp-class that is strict",
            );
        }
    }
}

/// The base RTTs that the links alone give the flows of a workload, each with its share of the
/// flows. Empty for probes, which have no RTT of their own.
pub(crate) fn path_rtts(workload: &Workload, topology: &Topology) -> Vec<(f64, Picos)> {
    let of_pairs = |pairs: Vec<(u32, u32)>| -> Vec<(f64, Picos)> {
        let share = 1.0 / pairs.len().max(1) as f64;
        pairs
            .into_iter()
            .map(|(src, dst)| {
                let one_way = topology.propagation(src, dst);
                (share, one_way.saturating_add(one_way))
            })
            .collect()
    };
    let to_one = |burst: &Burst| burst.src.is_none();
    let pattern = match workload.kind.facts(topology).sending {
        Sending::Arrivals(of) => of.pairs.clone(),
        Sending::Endless { flows, .. } => match flows {
            LongFlows::Permutation { .. } => Pairs::All,
            LongFlows::ToOne { receiver, .. } => Pairs::ToOne(*receiver),
            LongFlows::Pairs(list) => return of_pairs(list.clone()),
        },
        Sending::Bursts(bursts) => {
            let mut bursts = bursts.peekable();
            match bursts.peek().filter(|burst| to_one(burst)) {
                Some(burst) => Pairs::ToOne(burst.dst),
                None => {
                    let pairs = bursts.filter_map(|burst| Some((burst.src?, burst.dst)));
                    return of_pairs(pairs.collect());
                }
            }
        }
        Sending::Pings(_) => return Vec::new(),
    };
    ways(topology, &pattern)
        .into_iter()
        .map(|(share, way)| (share, way.delay.saturating_add(way.delay)))
        .collect()
}

/// A span in nanoseconds, at most what picoseconds can count.
fn nanos(n: u64) -> Picos {
    Picos(n.saturating_mul(1000))
}

/// Whether a number would be printed with nothing but a zero behind the point.
pub(crate) fn whole(x: f64) -> bool {
    (x - x.round()).abs() < 0.05
}
