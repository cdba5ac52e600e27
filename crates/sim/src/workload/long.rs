// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endless flows.

use std::vec::IntoIter;

use cemark_wire::Picos;

use super::facts::{Facts, Sending};
use super::pattern::LongFlows;
use super::random::Stream;
use super::{Draft, Seat, Sends, Source, WorkloadSpec};
use crate::topology::Topology;

/// The registry's entry.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "long",
    declared: None,
};

/// Endless flows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Long {
    /// Senders and receivers.
    pub flows: LongFlows,
    /// Start of the first.
    pub at: Picos,
    /// Each next one starts this much later.
    pub stagger: Picos,
    /// Each starts up to this much later still, uniform.
    pub jitter: Picos,
}

impl Sends for Long {
    fn facts(&self, _: &Topology) -> Facts<'_> {
        let (at, flows) = (self.at, &self.flows);
        Facts::new("flows", Sending::Endless { at, flows })
    }

    fn source(&self, seat: &Seat<'_>) -> Box<dyn Source> {
        let hosts = seat.topology.hosts();
        let (mut order, mut jitters) = (seat.stream("order"), seat.stream("jitter"));
        let pairs: Vec<(u32, u32)> = match &self.flows {
            LongFlows::Permutation { per_host } => (0..*per_host)
                .flat_map(|_| (0..hosts).zip(derangement(hosts, &mut order)))
                .collect(),
            LongFlows::ToOne { count, receiver } => (0..*count)
                .map(|i| (other(i % (hosts - 1), *receiver), *receiver))
                .collect(),
            LongFlows::Pairs(pairs) => pairs.clone(),
        };
        let flow = |(i, (src, dst)): (u64, (u32, u32))| {
            let nth = Picos(self.stagger.0.saturating_mul(i));
            let late = nth.saturating_add(jitters.jitter(self.jitter));
            Draft {
                measured: false,
                ..Draft::new(self.at.saturating_add(late), src, dst, u64::MAX)
            }
        };
        Box::new(InOrder::of((0..).zip(pairs).map(flow).collect()))
    }
}

/// Flows that are known from the first, in order of start.
pub(super) struct InOrder(IntoIter<Draft>);

impl InOrder {
    pub(super) fn of(mut all: Vec<Draft>) -> InOrder {
        all.sort_by_key(|draft| draft.start);
        InOrder(all.into_iter())
    }
}

impl Source for InOrder {
    fn next(&mut self) -> Option<Draft> {
        self.0.next()
    }
}

/// The `n`-th host when `left_out` is not counted.
pub(super) fn other(n: u32, left_out: u32) -> u32 {
    n + u32::from(n >= left_out)
}

/// A uniform permutation that leaves no host in its place (every third shuffle is one). One host
/// alone keeps its place.
fn derangement(hosts: u32, order: &mut Stream) -> Vec<u32> {
    let mut to: Vec<u32> = (0..hosts).collect();
    loop {
        order.shuffle(&mut to);
        if hosts < 2 || to.iter().zip(0..).all(|(&dst, src)| dst != src) {
            return to;
        }
    }
}
