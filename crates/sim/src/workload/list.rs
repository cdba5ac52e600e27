// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows written out one by one, of which some may start because others have ended.

use std::mem;
use std::vec::IntoIter;

use cemark_wire::Picos;

use super::facts::{Burst, Facts, Sending};
use super::long::InOrder;
use super::{Draft, Seat, Sends, Source, WorkloadSpec};
use crate::topology::Topology;

/// The registry's entry.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "list",
    declared: None,
};

/// Flows written out one by one, in any order. A point in which some wait for others is not divided
/// into shards.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct List {
    /// The flows. The start of a flow that waits is a delay after the last end.
    pub lines: Vec<FlowLine>,
    /// Which flow waits for which: no flow waits for its own end, whether over others or not.
    pub after: Vec<After>,
}

/// A flow that starts no earlier than the end of another of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct After {
    /// The flow that waits, by its place in the list.
    pub flow: u32,
    /// The flow that ends first.
    pub ended: u32,
}

/// A flow that is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FlowLine {
    /// Start.
    pub start: Picos,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Queue of the flow; `None`: by the workload's class.
    pub class: Option<u8>,
    /// Base RTT of the flow; `None`: drawn.
    pub rtt: Option<Picos>,
}

impl From<Vec<FlowLine>> for List {
    fn from(lines: Vec<FlowLine>) -> List {
        let after = Vec::new();
        List { lines, after }
    }
}

impl FlowLine {
    fn draft(&self) -> Draft {
        Draft {
            class: self.class,
            rtt: self.rtt,
            ..Draft::new(self.start, self.src, self.dst, self.bytes)
        }
    }
}

impl Sends for List {
    fn facts(&self, _: &Topology) -> Facts<'_> {
        let lines = self.lines.iter();
        let bursts = lines.map(|line| Burst::of_one(line.start, line.src, line.dst, line.bytes));
        Facts {
            measured: self.lines.len() as u64,
            drawn: self.lines.len() as u64,
            waits: !self.after.is_empty(),
            ..Facts::new("flows", Sending::Bursts(Box::new(bursts)))
        }
    }

    fn own_rtts(&self) -> bool {
        self.lines.iter().any(|line| line.rtt.is_some())
    }

    fn source(&self, _: &Seat<'_>) -> Box<dyn Source> {
        if self.after.is_empty() {
            return Box::new(InOrder::of(self.lines.iter().map(FlowLine::draft).collect()));
        }
        let mut waiting = vec![Vec::new(); self.lines.len()];
        let mut left = vec![0; self.lines.len()];
        for after in &self.after {
            waiting[after.ended as usize].push(after.flow);
            left[after.flow as usize] += 1;
        }
        let numbered = |(place, line): (u64, &FlowLine)| Draft {
            place: Some(place),
            ..line.draft()
        };
        let all: Vec<Draft> = (0..).zip(&self.lines).map(numbered).collect();
        let known = all.iter().zip(&left).filter(|(_, left)| **left == 0);
        let mut known: Vec<Draft> = known.map(|(flow, _)| *flow).collect();
        known.sort_by_key(|flow| flow.start);
        Box::new(Chain {
            known: known.into_iter(),
            all,
            waiting,
            left,
        })
    }
}

/// Flows that wait for each other.
struct Chain {
    all: Vec<Draft>,
    /// Flows that wait for none, in order of start.
    known: IntoIter<Draft>,
    /// By flow: the flows that wait for its end.
    waiting: Vec<Vec<u32>>,
    /// By flow: ends that it waits for.
    left: Vec<u32>,
}

impl Source for Chain {
    fn next(&mut self) -> Option<Draft> {
        self.known.next()
    }

    fn completed(&mut self, place: u64, now: Picos) -> Vec<Draft> {
        let mut known = Vec::new();
        for flow in mem::take(&mut self.waiting[place as usize]) {
            let left = &mut self.left[flow as usize];
            *left -= 1;
            if *left == 0 {
                let flow = self.all[flow as usize];
                let start = now.saturating_add(flow.start);
                known.push(Draft { start, ..flow });
            }
        }
        known
    }
}
