// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a table cannot tell schemes apart: nothing was marked, no queue formed, or all schemes gave
//! the same result. The first line of terminal, report and JSON says so.

use std::collections::BTreeSet;

use cemark_scenario::Plan;
use cemark_sim::Outcome;
use cemark_sim::config::MarkerChoice;

use super::{Comparisons, Group};
use crate::rundir::Finished;

/// Bytes of a queue of three full packets. A queue that never exceeds it has nothing to mark.
const FEW_PACKETS: f64 = 4_500.0;

/// The reasons of drops that a marker asked for.
const BY_MARKERS: [&str; 2] = ["marker", "not_ect"];

/// Why nothing tells the schemes of a table apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alike {
    /// No scheme marked a packet or dropped one instead.
    Unmarked,
    /// No queue of a switch was ever longer than three packets.
    NoQueue,
    /// Flows, endless flows and probes ended alike under every scheme.
    Identical,
}

impl Alike {
    /// The finding, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Alike::Unmarked => "no packet was marked under any scheme",
            Alike::NoQueue => "no queue was ever longer than three packets",
            Alike::Identical => "all schemes gave the same result, flow by flow",
        }
    }

    /// A change of the scenario that makes the schemes differ.
    fn help(self) -> &'static str {
        match self {
            Alike::Unmarked => {
                "raise the load, measure for longer (flows, warmup), or lower the thresholds that \
                 `cemark check` prints"
            }
            Alike::NoQueue => "raise the load, or measure for longer (flows, warmup)",
            Alike::Identical => "compare schemes whose thresholds lie where the queues are",
        }
    }
}

/// The reason, from the points of a group.
pub(super) fn of(plan: &Plan, finished: &[&Finished], group: &Group) -> Option<Alike> {
    let points: Vec<usize> = group.rows.iter().flat_map(|r| r.points.clone()).collect();
    let markers = |i: &usize| plan.points[*i].config.switch.markers();
    let marking = points
        .iter()
        .flat_map(markers)
        .any(|marker| !matches!(marker, MarkerChoice::None));
    let outcomes = || points.iter().map(|i| &finished[*i].outcome);
    if points.is_empty() || !marking {
        return None;
    }
    if outcomes().all(|o| acted(o) == 0) {
        return Some(Alike::Unmarked);
    }
    if group.rows.len() < 2 {
        return None;
    }
    let sampled = || {
        outcomes()
            .flat_map(|o| &o.ports)
            .filter(|p| p.queue.count > 0)
    };
    if sampled().next().is_some() && sampled().all(|p| p.queue.max <= FEW_PACKETS) {
        return Some(Alike::NoQueue);
    }
    let (first, others) = group.rows.split_first()?;
    let equal = |a: &usize, b: &usize| same(&finished[*a].outcome, &finished[*b].outcome);
    let like_first = |row: &super::Row| {
        row.points.len() == first.points.len()
            && first
                .points
                .iter()
                .zip(&row.points)
                .all(|(a, b)| equal(a, b))
    };
    others.iter().all(like_first).then_some(Alike::Identical)
}

/// Packets that markers marked, or that were dropped because a marker judged them.
fn acted(outcome: &Outcome) -> u64 {
    let dropped = BY_MARKERS
        .iter()
        .filter_map(|why| outcome.totals.drops.get(why));
    outcome.totals.all_marks() + dropped.sum::<u64>()
}

fn same(a: &Outcome, b: &Outcome) -> bool {
    let times = |o: &Outcome| o.flows.iter().map(|f| (f.id, f.fct)).collect::<Vec<_>>();
    let long = |o: &Outcome| o.long_flows.iter().map(|f| f.arrived).collect::<Vec<_>>();
    let trips = |o: &Outcome| o.probes.iter().map(|p| p.rtt).collect::<Vec<_>>();
    times(a) == times(b) && long(a) == long(b) && trips(a) == trips(b)
}

impl Comparisons {
    /// The first line of terminal, report and JSON where tables cannot tell their schemes apart;
    /// `None` where every table can.
    pub fn cannot_tell(&self) -> Option<String> {
        let found: Vec<Alike> = self.groups.iter().filter_map(|g| g.alike).collect();
        let (n, all) = (found.len(), self.groups.len());
        if n == 0 {
            return None;
        }
        let place = match (n, all) {
            (_, 1) => String::new(),
            (n, all) if n == all => format!("at all {all} combinations, "),
            (n, all) => format!("at {n} of {all} combinations, "),
        };
        let kinds: BTreeSet<Alike> = found.into_iter().collect();
        let joined = |of: fn(Alike) -> &'static str| {
            let words: Vec<&str> = kinds.iter().map(|kind| of(*kind)).collect();
            words.join(", or ")
        };
        let part = if n == all {
            "This run"
        } else {
            "A part of this run"
        };
        let told = match self.groups[0].rows.len() {
            1 => "says nothing of its scheme",
            _ => "cannot tell the schemes apart",
        };
        let (found, help) = (joined(Alike::words), joined(Alike::help));
        Some(format!(
            "{part} {told}: {place}{found}. To mend it, {help}."
        ))
    }

    /// Whether no table can tell its schemes apart.
    pub fn all_alike(&self) -> bool {
        self.groups.iter().all(|g| g.alike.is_some())
    }
}
