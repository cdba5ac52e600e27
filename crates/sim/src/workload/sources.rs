// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sources of flows that are not Poisson: queries that fan in, endless flows, explicit lists.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::vec::IntoIter;

use cemark_wire::Picos;

use super::poisson::other;
use super::random::Stream;
use super::traffic::Draft;
use super::{FlowLine, LongFlows};

/// Repeated queries to one receiver.
pub(super) struct Incast {
    /// Hosts that may answer.
    others: Vec<u32>,
    senders: u32,
    receiver: u32,
    bytes: (u64, u64),
    /// Time of the next query.
    next: Picos,
    every: Picos,
    left: u32,
    jitter: Picos,
    /// Flows of queries already sent, in order of start and draw.
    asked: BinaryHeap<Reverse<(Picos, u64, u32, u64)>>,
    drawn: u64,
    order: Stream,
    sizes: Stream,
    jitters: Stream,
}

/// When queries are asked.
pub(super) struct Schedule {
    pub(super) at: Picos,
    pub(super) every: Picos,
    pub(super) repeat: u32,
    pub(super) jitter: Picos,
}

impl Incast {
    pub(super) fn new(
        (hosts, from): (u32, &[u32]),
        (senders, receiver): (u32, u32),
        bytes: (u64, u64),
        schedule: &Schedule,
        seed: u64,
        number: u64,
    ) -> Self {
        let stream = |purpose| Stream::new(seed, purpose, number);
        Incast {
            others: match from {
                [] => (0..hosts).filter(|&h| h != receiver).collect(),
                some => some.to_vec(),
            },
            senders,
            receiver,
            bytes,
            next: schedule.at,
            every: schedule.every,
            left: schedule.repeat,
            jitter: schedule.jitter,
            asked: BinaryHeap::new(),
            drawn: 0,
            order: stream("order"),
            sizes: stream("sizes"),
            jitters: stream("jitter"),
        }
    }

    /// The next flow of any query. Jitter may let queries overlap, so every query whose flows could
    /// come first is drawn before.
    pub(super) fn next(&mut self) -> Option<Draft> {
        while self.left > 0
            && self
                .asked
                .peek()
                .is_none_or(|Reverse((start, ..))| *start >= self.next)
        {
            self.ask();
        }
        let Reverse((start, _, src, bytes)) = self.asked.pop()?;
        Some(Draft {
            start,
            src,
            dst: self.receiver,
            bytes,
            measured: true,
            class: None,
            rtt: None,
            id: None,
        })
    }

    fn ask(&mut self) {
        self.order.shuffle(&mut self.others);
        for &src in self.others.iter().cycle().take(self.senders as usize) {
            let start = self
                .next
                .saturating_add(jitter(&mut self.jitters, self.jitter));
            let bytes = self.sizes.between(self.bytes.0, self.bytes.1).max(1);
            self.asked.push(Reverse((start, self.drawn, src, bytes)));
            self.drawn += 1;
        }
        self.next = self.next.saturating_add(self.every);
        self.left -= 1;
    }
}

/// Endless flows, in order of start.
pub(super) fn long(
    hosts: u32,
    flows: &LongFlows,
    (at, stagger, spread): (Picos, Picos, Picos),
    seed: u64,
    number: u64,
) -> IntoIter<Draft> {
    let mut order = Stream::new(seed, "order", number);
    let mut jitters = Stream::new(seed, "jitter", number);
    let pairs: Vec<(u32, u32)> = match flows {
        LongFlows::Permutation { per_host } => (0..*per_host)
            .flat_map(|_| (0..hosts).zip(derangement(hosts, &mut order)))
            .collect(),
        LongFlows::ToOne { count, receiver } => (0..*count)
            .map(|i| (other(i % (hosts - 1), *receiver), *receiver))
            .collect(),
        LongFlows::Pairs(pairs) => pairs.clone(),
    };
    let mut all: Vec<Draft> = (0u64..)
        .zip(pairs)
        .map(|(i, (src, dst))| {
            let nth = Picos(stagger.0.saturating_mul(i));
            let start = at
                .saturating_add(nth)
                .saturating_add(jitter(&mut jitters, spread));
            Draft {
                start,
                src,
                dst,
                bytes: u64::MAX,
                measured: false,
                class: None,
                rtt: None,
                id: None,
            }
        })
        .collect();
    all.sort_by_key(|draft| draft.start);
    all.into_iter()
}

/// Explicit flows, in order of start.
pub(super) fn list(lines: &[FlowLine]) -> IntoIter<Draft> {
    let mut all: Vec<Draft> = lines.iter().map(Draft::of).collect();
    all.sort_by_key(|draft| draft.start);
    all.into_iter()
}

/// Uniform in whole nanoseconds, ends included.
fn jitter(stream: &mut Stream, most: Picos) -> Picos {
    Picos::from_nanos(stream.between(0, most.0 / 1000))
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
