// SPDX-License-Identifier: MIT OR Apache-2.0
//! All workloads of a point, merged in time: what the simulator starts, one flow after the other.

use std::vec::IntoIter;

use cemark_wire::Picos;

use super::after::Chain;
use super::poisson::Poisson;
use super::random::Stream;
use super::sources::{Incast, Schedule, list, long};
use super::{ClassMap, Flow, FlowLine, Kind, RttModel, Workload, path, path_back};
use crate::topology::Topology;

/// A flow as its source creates it: sender, receiver, start and size. Its number is added later,
/// and so are class and RTT, unless the source says them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) start: Picos,
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) bytes: u64,
    pub(super) measured: bool,
    pub(super) class: Option<u8>,
    pub(super) rtt: Option<Picos>,
    /// The flow's number, where the order of starts does not give it.
    pub(super) id: Option<u64>,
}

impl Draft {
    /// A flow that is measured.
    pub(super) fn of(line: &FlowLine) -> Draft {
        Draft {
            start: line.start,
            src: line.src,
            dst: line.dst,
            bytes: line.bytes,
            measured: true,
            class: line.class,
            rtt: line.rtt,
            id: None,
        }
    }
}

enum Source {
    Poisson(Box<Poisson>),
    Incast(Box<Incast>),
    Given(IntoIter<Draft>),
    Chain(Box<Chain>),
}

impl Source {
    fn next(&mut self) -> Option<Draft> {
        match self {
            Source::Poisson(poisson) => poisson.next(),
            Source::Incast(incast) => incast.next(),
            Source::Given(drafts) => drafts.next(),
            Source::Chain(chain) => chain.next(),
        }
    }
}

/// One workload, its next flow taken out.
struct Lane {
    workload: u16,
    head: Option<Draft>,
    source: Source,
    class: ClassMap,
    classes: Stream,
    rtts: Stream,
    /// Flows up to the last measured one that have not started.
    ahead: u64,
}

/// The flows of a point in order of start (equal starts: in order of workload), numbered from zero.
/// Flows of chains have the first numbers, in the order of their lists, since their starts depend
/// on the scheme.
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
        let (mut lanes, mut measured, mut next_id) = (Vec::new(), 0u64, 0);
        for (workload, w) in (0u16..).zip(workloads) {
            let number = u64::from(workload);
            let hosts = topology.hosts();
            let (before, mut earlier) = (measured, 0);
            let mut source = match &w.kind {
                Kind::Poisson {
                    sizes,
                    load,
                    pairs,
                    flows,
                    warmup,
                    hold,
                    arrivals,
                } => {
                    measured = measured.saturating_add(*flows);
                    earlier = *warmup;
                    let what = (sizes, *load, pairs, arrivals);
                    let counts = (*warmup, *flows, *hold);
                    Source::Poisson(Box::new(Poisson::new(topology, what, counts, seed, number)))
                }
                Kind::Incast {
                    senders,
                    receiver,
                    min_bytes,
                    max_bytes,
                    at,
                    repeat,
                    every,
                    jitter,
                    from,
                } => {
                    measured = measured.saturating_add(u64::from(*senders) * u64::from(*repeat));
                    let schedule = Schedule {
                        at: *at,
                        every: *every,
                        repeat: *repeat,
                        jitter: *jitter,
                    };
                    let (who, bytes) = ((*senders, *receiver), (*min_bytes, *max_bytes));
                    Source::Incast(Box::new(Incast::new(
                        (hosts, from),
                        who,
                        bytes,
                        &schedule,
                        seed,
                        number,
                    )))
                }
                Kind::Long {
                    flows,
                    at,
                    stagger,
                    jitter,
                } => Source::Given(long(hosts, flows, (*at, *stagger, *jitter), seed, number)),
                Kind::List(lines) => {
                    measured = measured.saturating_add(lines.len() as u64);
                    Source::Given(list(lines))
                }
                Kind::Chain { lines, after } => {
                    measured = measured.saturating_add(lines.len() as u64);
                    let first = next_id;
                    next_id += lines.len() as u64;
                    Source::Chain(Box::new(Chain::new(lines, after, first)))
                }
                Kind::Probe { .. } => continue,
            };
            lanes.push(Lane {
                workload,
                head: source.next(),
                source,
                class: w.class.clone(),
                classes: Stream::new(seed, "classes", number),
                rtts: Stream::new(seed, "rtts", number),
                ahead: earlier.saturating_add(measured - before),
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

    fn first(&self) -> Option<usize> {
        let heads = self
            .lanes
            .iter()
            .enumerate()
            .filter_map(|(i, lane)| Some((lane.head?.start, i)));
        heads.min().map(|(_, i)| i)
    }

    /// When the next flow starts; `None` when there is none left.
    pub fn peek(&self) -> Option<Picos> {
        self.lanes
            .iter()
            .filter_map(|lane| Some(lane.head?.start))
            .min()
    }

    /// The next flow.
    pub fn pop(&mut self) -> Option<Flow> {
        let first = self.first()?;
        let lane = &mut self.lanes[first];
        let draft = lane.head.take()?;
        lane.ahead = lane.ahead.saturating_sub(1);
        lane.head = lane.source.next();
        let Draft {
            start,
            src,
            dst,
            bytes,
            measured,
            class,
            rtt,
            id,
        } = draft;
        let class = class.unwrap_or_else(|| {
            let hosts = self.topology.hosts();
            first_class(&lane.class, &mut lane.classes, hosts, src, dst)
        });
        let rtt = rtt.or_else(|| self.rtt.of_sender(src, &mut lane.rtts));
        let id = id.unwrap_or_else(|| {
            self.next_id += 1;
            self.next_id - 1
        });
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
            start,
            src,
            dst,
            bytes,
            workload: lane.workload,
            class,
            measured,
            extra,
        })
    }

    /// A flow has ended at this time. Returns whether flows are known that waited for its end.
    pub fn completed(&mut self, flow: &Flow, now: Picos) -> bool {
        let lane = self.lanes.iter_mut().find(|l| l.workload == flow.workload);
        let Some(lane) = lane else { return false };
        let Source::Chain(chain) = &mut lane.source else {
            return false;
        };
        let known = chain.completed(flow.id, now);
        if known {
            if let Some(head) = lane.head.take() {
                chain.put_back(&head);
            }
            lane.head = chain.next();
        }
        known
    }

    /// Flows that must end before the point is done; zero where there are only endless flows and
    /// probes.
    pub fn measured_total(&self) -> u64 {
        self.measured
    }

    /// Flows [`ahead`](Traffic::ahead) of the first flow of these workloads, without drawing it.
    pub(crate) fn ahead_of(workloads: &[Workload]) -> u64 {
        let of = |kind: &Kind| match kind {
            Kind::Poisson { flows, warmup, .. } => flows.saturating_add(*warmup),
            Kind::Incast {
                senders, repeat, ..
            } => u64::from(*senders) * u64::from(*repeat),
            Kind::List(lines) | Kind::Chain { lines, .. } => lines.len() as u64,
            Kind::Long { .. } | Kind::Probe { .. } => 0,
        };
        let all = workloads.iter().map(|w| of(&w.kind));
        all.fold(0, u64::saturating_add)
    }

    /// Flows that have not started, of those of a warm-up and those that are measured.
    pub fn ahead(&self) -> u64 {
        let ahead = self.lanes.iter().map(|lane| lane.ahead);
        ahead.fold(0, u64::saturating_add)
    }
}

/// The queue class of a flow's first packet.
fn first_class(map: &ClassMap, stream: &mut Stream, hosts: u32, src: u32, dst: u32) -> u8 {
    let modulo = |n: u64, m: u8| (n % u64::from(m.max(1))) as u8;
    match map {
        ClassMap::Fixed(class) => *class,
        ClassMap::Weighted(weights) => stream.weighted(weights) as u8,
        ClassMap::ByPair(n) => modulo(
            (u64::from(dst) + 1) * u64::from(hosts) + u64::from(src) + 1,
            *n,
        ),
        ClassMap::BySender(n) => modulo(u64::from(src), *n),
        ClassMap::ByBytesSent(_) => 0,
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
