// SPDX-License-Identifier: MIT OR Apache-2.0
//! Poisson arrivals at an exact load, block by block and without end.
//!
//! Heavy-tailed sizes make two plain samples of a thousand flows differ by a factor of two in
//! offered bits. A block therefore takes its sizes at the quantiles (i + u_i) / n of the table, in
//! random order, and lasts exactly as long as makes the bits that cross the most loaded tier equal
//! to the asked load. Given their number, Poisson arrivals are uniform over the block.
//!
//! Where [`Arrivals::independent`] asks for it, each size and each time between two flows is drawn
//! by itself, and the load is met on average only.

use std::vec::IntoIter;

use cemark_wire::Picos;

use super::facts::{Arriving, Facts, Sending};
use super::load::{TierLoad, most_loaded};
use super::long::other;
use super::random::Stream;
use super::pattern::{Pairs, Span};
use super::{Draft, Seat, Sends, SizeTable, Source, WorkloadSpec};
use crate::topology::Topology;

/// The registry's entry.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "poisson",
    declared: None,
};

/// A block holds at most this many flows at once; more are split into equal parts.
const MOST: u64 = 1 << 20;

/// Poisson arrivals at a load of the most loaded tier. Sizes are stratified over the table and the
/// realised load equals the asked one within each block of `flows`. A first block of `warmup` flows
/// is not measured, then `flows` are, then the load is held, unmeasured, for `hold` or until the
/// last measured flow has ended.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Poisson {
    /// Flow sizes.
    pub sizes: SizeTable,
    /// Offered payload bits on the most loaded tier over its capacity, 0 < load <= 1.
    pub load: f64,
    /// Pattern of senders and receivers.
    pub pairs: Pairs,
    /// Measured flows; 0: the load is held without measured flows.
    pub flows: u64,
    /// Flows before the measured ones.
    pub warmup: u64,
    /// How long flows keep arriving after the measured ones have; `Picos::MAX`: until the last
    /// measured flow has ended.
    pub hold: Picos,
    /// Options that few workloads use.
    pub arrivals: Arrivals,
}

/// How the flows of a Poisson workload are drawn, where that is not as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Arrivals {
    /// Sizes and starts are drawn independently, as in most simulators: the load of a run is then
    /// what its sizes happen to make it. Otherwise they are stratified and the load is exact.
    pub independent: bool,
    /// The hosts that send, in rising order; empty: all.
    pub senders: Vec<u32>,
    /// The measured flows start uniformly over this span, and there are no others; the load follows
    /// from it.
    pub span: Option<Span>,
}

impl Poisson {
    /// Flows a second, on average.
    pub fn rate(&self, topology: &Topology) -> f64 {
        self.arriving().rate(topology)
    }

    fn arriving(&self) -> Arriving<'_> {
        Arriving {
            sizes: &self.sizes,
            load: self.load,
            pairs: &self.pairs,
            hold: self.hold,
            span: self.arrivals.span,
        }
    }
}

impl Sends for Poisson {
    fn facts(&self, _: &Topology) -> Facts<'_> {
        Facts {
            warmup: self.warmup,
            measured: self.flows,
            drawn: self.flows.max(self.warmup).min(MOST),
            ..Facts::new("measured flows", Sending::Arrivals(self.arriving()))
        }
    }

    fn source(&self, seat: &Seat<'_>) -> Box<dyn Source> {
        Box::new(Blocks {
            tier: most_loaded(seat.topology, &self.pairs),
            topology: seat.topology.clone(),
            warmup: self.warmup,
            measured: self.flows,
            tail: self.flows.max(self.warmup).max(1),
            block: Vec::new().into_iter(),
            end: Picos::ZERO,
            last: Picos::MAX,
            arrivals: seat.stream("arrivals"),
            quantiles: seat.stream("quantiles"),
            order: seat.stream("order"),
            hosts: seat.stream("pairs"),
            of: self.clone(),
        })
    }
}

/// The arrivals of a workload, block by block.
struct Blocks {
    of: Poisson,
    topology: Topology,
    tier: TierLoad,
    /// Flows of the warm-up that no block holds yet.
    warmup: u64,
    /// Measured flows that no block holds yet.
    measured: u64,
    /// Flows of a block once all measured ones have been handed out.
    tail: u64,
    block: IntoIter<Draft>,
    /// End of the current block.
    end: Picos,
    /// No flow starts after this.
    last: Picos,
    arrivals: Stream,
    quantiles: Stream,
    order: Stream,
    hosts: Stream,
}

impl Source for Blocks {
    /// The next flow; `None` once the load has been held long enough.
    fn next(&mut self) -> Option<Draft> {
        loop {
            if let Some(draft) = self.block.next() {
                return (draft.measured || draft.start <= self.last).then_some(draft);
            }
            let (left, measured) = match (self.warmup, self.measured) {
                (0, 0) if self.of.arrivals.span.is_some() => return None,
                (0, 0) => (self.tail, false),
                (0, left) => (left, true),
                (left, _) => (left, false),
            };
            let mut held = false;
            // A span is one block.
            let n = match self.of.arrivals.span {
                None => left.div_ceil(left.div_ceil(MOST)),
                Some(_) => left,
            };
            if measured {
                self.measured -= n;
                held = self.measured == 0;
            } else if self.warmup > 0 {
                self.warmup -= n;
            }
            self.block = self.build(n, measured).into_iter();
            if held {
                self.last = self.end.saturating_add(self.of.hold);
            }
        }
    }
}

impl Blocks {
    fn build(&mut self, n: u64, measured: bool) -> Vec<Draft> {
        let mut sizes: Vec<u64> = (0..n)
            .map(|i| {
                let u = self.quantiles.uniform();
                self.of.sizes.draw(match self.of.arrivals.independent {
                    true => u,
                    false => (i as f64 + u) / n as f64,
                })
            })
            .collect();
        self.order.shuffle(&mut sizes);
        let pairs: Vec<(u32, u32)> = sizes.iter().map(|_| self.pair()).collect();
        let starts = if self.of.arrivals.independent && self.of.arrivals.span.is_none() {
            self.one_by_one(n)
        } else {
            self.over_the_block(&sizes, &pairs)
        };
        let flow = |((start, bytes), (src, dst)): ((Picos, u64), (u32, u32))| Draft {
            measured,
            ..Draft::new(start, src, dst, bytes)
        };
        starts.into_iter().zip(sizes).zip(pairs).map(flow).collect()
    }

    /// Starts that are uniform over a block of these flows, which ends `self.end`.
    fn over_the_block(&mut self, sizes: &[u64], pairs: &[(u32, u32)]) -> Vec<Picos> {
        let (begin, length) = match self.of.arrivals.span {
            Some(span) => (span.at, span.length),
            None => (self.end, self.length(sizes, pairs)),
        };
        let mut starts: Vec<u64> = sizes.iter().map(|_| self.arrivals.bits()).collect();
        starts.sort_unstable();
        self.end = begin.saturating_add(length);
        let start = |u: u64| {
            let offset = ((u128::from(length.0) * u128::from(u)) >> 64) as u64;
            begin.saturating_add(Picos(offset - offset % 1000))
        };
        starts.into_iter().map(start).collect()
    }

    /// Starts with exponential times between them.
    fn one_by_one(&mut self, n: u64) -> Vec<Picos> {
        let rate = self.of.load * self.tier.capacity;
        let mean = self.of.sizes.mean() * 8e12 * self.tier.share / rate;
        let next = |_| {
            let gap = (self.arrivals.exponential() * mean) as u64;
            self.end = self.end.saturating_add(Picos(gap));
            Picos(self.end.0 - self.end.0 % 1000)
        };
        (0..n).map(next).collect()
    }

    /// How long a block of these flows lasts, in whole nanoseconds.
    fn length(&self, sizes: &[u64], pairs: &[(u32, u32)]) -> Picos {
        let crossing: u128 = sizes
            .iter()
            .zip(pairs)
            .filter(|(_, (src, dst))| self.tier.tier.crossed(&self.topology, *src, *dst))
            .map(|(&bytes, _)| u128::from(bytes))
            .sum();
        let bytes = if crossing > 0 {
            crossing as f64
        } else {
            // A tiny block of which nothing crosses the tier: what it crosses on average.
            sizes.iter().map(|&b| u128::from(b)).sum::<u128>() as f64 * self.tier.share
        };
        let nanos = bytes * 8e9 / (self.of.load * self.tier.capacity) + 0.5;
        Picos::from_nanos((nanos as u64).clamp(1, u64::MAX / 1000))
    }

    fn pair(&mut self) -> (u32, u32) {
        let hosts = u64::from(self.topology.hosts());
        loop {
            let (src, dst) = match self.of.pairs {
                Pairs::ToOne(to) if self.of.arrivals.senders.is_empty() => {
                    (other(self.hosts.below(hosts - 1) as u32, to), to)
                }
                Pairs::ToOne(to) => (self.sender(hosts), to),
                Pairs::All | Pairs::OtherRack => {
                    let src = self.sender(hosts);
                    (src, other(self.hosts.below(hosts - 1) as u32, src))
                }
            };
            let rack = |host| self.topology.rack(host);
            if self.of.pairs != Pairs::OtherRack || rack(src) != rack(dst) {
                return (src, dst);
            }
        }
    }

    /// A host that sends.
    fn sender(&mut self, hosts: u64) -> u32 {
        match self.of.arrivals.senders.len() as u64 {
            0 => self.hosts.below(hosts) as u32,
            n => self.of.arrivals.senders[self.hosts.below(n) as usize],
        }
    }
}
