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

use super::load::{TierLoad, most_loaded};
use super::random::Stream;
use super::traffic::Draft;
use super::{Arrivals, Pairs, SizeTable, Span};
use crate::topology::Topology;

/// A block holds at most this many flows at once; more are split into equal parts.
const MOST: u64 = 1 << 20;

/// The arrivals of one Poisson workload.
pub(super) struct Poisson {
    topology: Topology,
    sizes: SizeTable,
    load: f64,
    pairs: Pairs,
    /// The hosts that send; empty: all.
    senders: Vec<u32>,
    independent: bool,
    /// The one block that there is lasts so long.
    span: Option<Span>,
    tier: TierLoad,
    /// Flows of the warm-up that no block holds yet.
    warmup: u64,
    /// Measured flows that no block holds yet.
    measured: u64,
    /// Flows of a block once all measured ones have been handed out.
    tail: u64,
    hold: Picos,
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

impl Poisson {
    pub(super) fn new(
        topology: &Topology,
        (sizes, load, pairs, arrivals): (&SizeTable, f64, &Pairs, &Arrivals),
        (warmup, flows, hold): (u64, u64, Picos),
        seed: u64,
        number: u64,
    ) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, number);
        Poisson {
            tier: most_loaded(topology, pairs),
            topology: topology.clone(),
            sizes: sizes.clone(),
            load,
            pairs: pairs.clone(),
            senders: arrivals.senders.clone(),
            independent: arrivals.independent,
            span: arrivals.span,
            warmup,
            measured: flows,
            tail: flows.max(warmup).max(1),
            hold,
            block: Vec::new().into_iter(),
            end: Picos::ZERO,
            last: Picos::MAX,
            arrivals: stream("arrivals"),
            quantiles: stream("quantiles"),
            order: stream("order"),
            hosts: stream("pairs"),
        }
    }

    /// The next flow; `None` once the load has been held long enough.
    pub(super) fn next(&mut self) -> Option<Draft> {
        loop {
            if let Some(draft) = self.block.next() {
                return (draft.measured || draft.start <= self.last).then_some(draft);
            }
            let (left, measured) = match (self.warmup, self.measured) {
                (0, 0) if self.span.is_some() => return None,
                (0, 0) => (self.tail, false),
                (0, left) => (left, true),
                (left, _) => (left, false),
            };
            let mut held = false;
            // A span is one block.
            let n = match self.span {
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
                self.last = self.end.saturating_add(self.hold);
            }
        }
    }

    fn build(&mut self, n: u64, measured: bool) -> Vec<Draft> {
        let mut sizes: Vec<u64> = (0..n)
            .map(|i| {
                let u = self.quantiles.uniform();
                self.sizes.draw(match self.independent {
                    true => u,
                    false => (i as f64 + u) / n as f64,
                })
            })
            .collect();
        self.order.shuffle(&mut sizes);
        let pairs: Vec<(u32, u32)> = sizes.iter().map(|_| self.pair()).collect();
        let starts = if self.independent && self.span.is_none() {
            self.one_by_one(n)
        } else {
            self.over_the_block(&sizes, &pairs)
        };
        let flow = |((start, bytes), (src, dst)): ((Picos, u64), (u32, u32))| Draft {
            start,
            src,
            dst,
            bytes,
            measured,
            class: None,
            rtt: None,
            id: None,
        };
        starts.into_iter().zip(sizes).zip(pairs).map(flow).collect()
    }

    /// Starts that are uniform over a block of these flows, which ends `self.end`.
    fn over_the_block(&mut self, sizes: &[u64], pairs: &[(u32, u32)]) -> Vec<Picos> {
        let (begin, length) = match self.span {
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
        let mean = self.sizes.mean() * 8e12 * self.tier.share / (self.load * self.tier.capacity);
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
        let nanos = bytes * 8e9 / (self.load * self.tier.capacity) + 0.5;
        Picos::from_nanos((nanos as u64).clamp(1, u64::MAX / 1000))
    }

    fn pair(&mut self) -> (u32, u32) {
        let hosts = u64::from(self.topology.hosts());
        loop {
            let (src, dst) = match self.pairs {
                Pairs::ToOne(to) if self.senders.is_empty() => {
                    (other(self.hosts.below(hosts - 1) as u32, to), to)
                }
                Pairs::ToOne(to) => (self.sender(hosts), to),
                Pairs::All | Pairs::OtherRack => {
                    let src = self.sender(hosts);
                    (src, other(self.hosts.below(hosts - 1) as u32, src))
                }
            };
            if self.pairs != Pairs::OtherRack || self.topology.rack(src) != self.topology.rack(dst)
            {
                return (src, dst);
            }
        }
    }

    /// One of the hosts that send.
    fn sender(&mut self, hosts: u64) -> u32 {
        match self.senders.len() as u64 {
            0 => self.hosts.below(hosts) as u32,
            n => self.senders[self.hosts.below(n) as usize],
        }
    }
}

/// The `n`-th host when `left_out` is not counted.
pub(super) fn other(n: u32, left_out: u32) -> u32 {
    n + u32::from(n >= left_out)
}
