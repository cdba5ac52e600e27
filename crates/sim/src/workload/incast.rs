// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queries that many hosts answer at the same time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use cemark_wire::Picos;

use super::facts::{Burst, Facts, Sending};
use super::random::Stream;
use super::{Draft, Seat, Sends, Source, WorkloadSpec};
use crate::topology::Topology;

/// The registry's entry.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "incast",
    declared: None,
};

/// `senders` hosts each send one flow to `receiver` at the same time, repeatedly.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Incast {
    /// Flows of one query; where there are fewer other hosts, hosts send several.
    pub senders: u32,
    /// The host that asked.
    pub receiver: u32,
    /// Smallest flow in bytes.
    pub min_bytes: u64,
    /// Largest flow in bytes (uniform between, ends included).
    pub max_bytes: u64,
    /// Time of the first query.
    pub at: Picos,
    /// Number of queries.
    pub repeat: u32,
    /// Time between queries.
    pub every: Picos,
    /// Each flow starts up to this much later, uniform.
    pub jitter: Picos,
    /// The hosts that may answer, in order; empty: all but the receiver.
    pub from: Vec<u32>,
}

impl Sends for Incast {
    fn facts(&self, _: &Topology) -> Facts<'_> {
        let burst = Burst {
            at: self.at,
            every: self.every,
            times: self.repeat,
            jitter: self.jitter,
            flows: self.senders,
            bytes: 0.5 * (self.min_bytes as f64 + self.max_bytes as f64),
            src: None,
            dst: self.receiver,
        };
        Facts {
            measured: u64::from(self.senders) * u64::from(self.repeat),
            drawn: self.senders.into(),
            ..Facts::new("queries", Sending::Bursts(Box::new([burst].into_iter())))
        }
    }

    fn source(&self, seat: &Seat<'_>) -> Box<dyn Source> {
        let all = 0..seat.topology.hosts();
        Box::new(Queries {
            others: match &self.from[..] {
                [] => all.filter(|&host| host != self.receiver).collect(),
                some => some.to_vec(),
            },
            next: self.at,
            left: self.repeat,
            asked: BinaryHeap::new(),
            drawn: 0,
            order: seat.stream("order"),
            sizes: seat.stream("sizes"),
            jitters: seat.stream("jitter"),
            of: self.clone(),
        })
    }
}

/// A flow of a query; flows are in order of start and draw.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    start: Picos,
    drawn: u64,
    src: u32,
    bytes: u64,
    query: NonZeroU32,
}

struct Queries {
    of: Incast,
    /// Hosts that may answer.
    others: Vec<u32>,
    /// Time of the next query.
    next: Picos,
    left: u32,
    /// Flows of queries already sent.
    asked: BinaryHeap<Reverse<Asked>>,
    drawn: u64,
    order: Stream,
    sizes: Stream,
    jitters: Stream,
}

impl Source for Queries {
    /// Jitter may let queries overlap, so every query whose flows could come first is drawn before.
    fn next(&mut self) -> Option<Draft> {
        while self.left > 0
            && self
                .asked
                .peek()
                .is_none_or(|Reverse(flow)| flow.start >= self.next)
        {
            self.ask();
        }
        let Reverse(flow) = self.asked.pop()?;
        Some(Draft {
            query: Some(flow.query),
            ..Draft::new(flow.start, flow.src, self.of.receiver, flow.bytes)
        })
    }
}

impl Queries {
    fn ask(&mut self) {
        self.order.shuffle(&mut self.others);
        let query = NonZeroU32::MIN.saturating_add(self.of.repeat - self.left);
        let senders = self.others.iter().cycle();
        for &src in senders.take(self.of.senders as usize) {
            let late = self.jitters.jitter(self.of.jitter);
            let start = self.next.saturating_add(late);
            let bytes = self.sizes.between(self.of.min_bytes, self.of.max_bytes);
            self.asked.push(Reverse(Asked {
                start,
                drawn: self.drawn,
                src,
                bytes: bytes.max(1),
                query,
            }));
            self.drawn += 1;
        }
        self.next = self.next.saturating_add(self.of.every);
        self.left -= 1;
    }
}
