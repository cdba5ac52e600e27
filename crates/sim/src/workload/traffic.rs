// SPDX-License-Identifier: MIT OR Apache-2.0
//! All workloads of a point, merged in time: what the simulator starts, one flow after the other.

use std::collections::BTreeMap;

use cemark_wire::Picos;

use super::random::Stream;
use super::{ClassMap, Draft, Flow, RttModel, Seat, Source, Workload, path, path_back};
use crate::topology::Topology;

/// A workload and its flows that have not started.
struct Lane {
    workload: u16,
    source: Box<dyn Source>,
    /// Next flow of the source, taken out.
    head: Option<Draft>,
    /// Flows that start because others have ended, by start and place.
    woken: BTreeMap<(Picos, Option<u64>), Draft>,
    /// Number of its first flow, and of the first flow of the workload after it.
    numbers: [u64; 2],
    class: ClassMap,
    classes: Stream,
    rtts: Stream,
    /// Flows up to the last measured one that have not started.
    ahead: u64,
}

impl Lane {
    /// Start of the next flow.
    fn peek(&self) -> Option<Picos> {
        let woken = self.woken.first_key_value().map(|(key, _)| key.0);
        let head = self.head.map(|draft| draft.start);
        head.into_iter().chain(woken).min()
    }

    fn pop(&mut self) -> Option<Draft> {
        let head = self.head.map(|draft| (draft.start, draft.place));
        self.ahead = self.ahead.saturating_sub(1);
        match self.woken.first_entry() {
            Some(woken) if head.is_none_or(|head| *woken.key() < head) => Some(woken.remove()),
            _ => std::mem::replace(&mut self.head, self.source.next()),
        }
    }
}

/// The flows of a point in order of start (equal starts: in order of workload), numbered from zero.
/// Flows of a workload of which some wait for others have the first numbers, in the order of their
/// places, since their starts depend on the scheme.
///
/// Lazy, and endless where a Poisson workload that holds its load is among them. Starts and extra
/// delays are whole nanoseconds. The flows depend only on the topology, the workloads, the RTT
/// model and the seed, so every scheme sees the same flows.
pub struct Traffic {
    topology: Topology,
    seed: u64,
    rtt: RttModel,
    lanes: Vec<Lane>,
    next_id: u64,
    measured: u64,
}

impl Traffic {
    /// The flows of `workloads`. Hosts named by them must exist, and the pattern of a Poisson
    /// workload must allow some pair (a scenario that was read has been checked for both).
    pub fn new(topology: &Topology, workloads: &[Workload], rtt: &RttModel, seed: u64) -> Traffic {
        let (mut lanes, mut measured, mut next_id) = (Vec::new(), 0u64, 0u64);
        for (workload, w) in (0u16..).zip(workloads) {
            let facts = w.kind.facts(topology);
            let seat = Seat {
                topology,
                seed,
                number: workload.into(),
            };
            let first = next_id;
            if facts.waits {
                next_id = next_id.saturating_add(facts.flows());
            }
            measured = measured.saturating_add(facts.measured);
            let mut source = w.kind.sends().source(&seat);
            lanes.push(Lane {
                workload,
                head: source.next(),
                source,
                woken: BTreeMap::new(),
                numbers: [first, next_id],
                class: w.class.clone(),
                classes: seat.stream("classes"),
                rtts: seat.stream("rtts"),
                ahead: facts.flows(),
            });
        }
        Traffic {
            topology: topology.clone(),
            seed,
            rtt: rtt.clone(),
            lanes,
            next_id,
            measured,
        }
    }

    /// When the next flow starts; `None` when there is none left.
    pub fn peek(&self) -> Option<Picos> {
        self.lanes.iter().filter_map(Lane::peek).min()
    }

    /// The next flow.
    pub fn pop(&mut self) -> Option<Flow> {
        let starts = self.lanes.iter().map(Lane::peek).enumerate();
        let first = starts.filter_map(|(i, start)| Some((start?, i))).min()?.1;
        let lane = &mut self.lanes[first];
        let draft = lane.pop()?;
        let (src, dst) = (draft.src, draft.dst);
        let hosts = self.topology.hosts();
        let class = draft.class.unwrap_or_else(|| {
            let stream = &mut lane.classes;
            lane.class.first(stream, hosts, src, dst)
        });
        let rtt = draft
            .rtt
            .or_else(|| self.rtt.of_sender(src, &mut lane.rtts));
        let id = match draft.place {
            Some(place) => lane.numbers[0] + place,
            None => {
                self.next_id += 1;
                self.next_id - 1
            }
        };
        // The paths of a fresh connection.
        let extra = rtt.map_or(Picos::ZERO, |rtt| {
            let fabric = self.topology.fabric();
            let [src, dst] = fabric.ends(src, dst, path(self.seed, src, dst, id));
            let there = fabric.way(src, dst, path(self.seed, src, dst, id)).delay;
            let back = fabric
                .way(dst, src, path_back(self.seed, src, dst, id))
                .delay;
            rtt.saturating_sub(there.saturating_add(back))
        });
        Some(Flow {
            id,
            start: draft.start,
            src,
            dst,
            bytes: draft.bytes,
            workload: lane.workload,
            class,
            measured: draft.measured,
            query: draft.query,
            extra,
        })
    }

    /// A flow has ended at this time. Returns whether flows are known that waited for its end.
    pub fn completed(&mut self, flow: &Flow, now: Picos) -> bool {
        let lane = &mut self.lanes[usize::from(flow.workload)];
        let [first, end] = lane.numbers;
        if !(first..end).contains(&flow.id) {
            return false;
        }
        let woken = lane.source.completed(flow.id - first, now);
        let any = !woken.is_empty();
        let keyed = woken.into_iter().map(|d| ((d.start, d.place), d));
        lane.woken.extend(keyed);
        any
    }

    /// Flows that must end before the point is done; zero where there are only endless flows and
    /// probes.
    pub fn measured_total(&self) -> u64 {
        self.measured
    }

    /// Flows that have not started, of warm-ups and measured ones.
    pub fn ahead(&self) -> u64 {
        let ahead = self.lanes.iter().map(|lane| lane.ahead);
        ahead.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
