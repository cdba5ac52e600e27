// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows that start because others have ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cemark_wire::Picos;

use super::traffic::Draft;
use super::{After, FlowLine};

/// The flows of a list that wait for each other.
pub(super) struct Chain {
    lines: Vec<FlowLine>,
    /// By flow: the flows that wait for its end.
    waiting: Vec<Vec<u32>>,
    /// By flow: ends that it waits for.
    left: Vec<u32>,
    /// Flows whose start is known, by start.
    ready: BinaryHeap<Reverse<(Picos, u32)>>,
    /// Number of the first flow among the flows of the point.
    first: u64,
}

impl Chain {
    /// The flows of a list, numbered from `first` on.
    pub(super) fn new(lines: &[FlowLine], after: &[After], first: u64) -> Chain {
        let mut waiting = vec![Vec::new(); lines.len()];
        let mut left = vec![0; lines.len()];
        for of in after {
            waiting[of.ended as usize].push(of.flow);
            left[of.flow as usize] += 1;
        }
        let known = (0..).zip(lines).filter(|(i, _)| left[*i as usize] == 0);
        Chain {
            ready: known.map(|(i, line)| Reverse((line.start, i))).collect(),
            lines: lines.to_vec(),
            waiting,
            left,
            first,
        }
    }

    /// The next flow whose start is known.
    pub(super) fn next(&mut self) -> Option<Draft> {
        let Reverse((start, i)) = self.ready.pop()?;
        let line = &self.lines[i as usize];
        Some(Draft {
            start,
            id: Some(self.first + u64::from(i)),
            ..Draft::of(line)
        })
    }

    /// Puts a flow back that has not started.
    pub(super) fn put_back(&mut self, draft: &Draft) {
        if let Some(id) = draft.id {
            self.ready
                .push(Reverse((draft.start, (id - self.first) as u32)));
        }
    }

    /// A flow has ended at this time: flows that waited for its end alone start a delay later.
    /// Returns whether there are any.
    pub(super) fn completed(&mut self, id: u64, now: Picos) -> bool {
        let flow = id.checked_sub(self.first).map(|i| i as usize);
        let Some(waiting) = flow.and_then(|i| self.waiting.get_mut(i)) else {
            return false;
        };
        let mut any = false;
        for i in std::mem::take(waiting) {
            let left = &mut self.left[i as usize];
            *left -= 1;
            if *left == 0 {
                let start = now.saturating_add(self.lines[i as usize].start);
                self.ready.push(Reverse((start, i)));
                any = true;
            }
        }
        any
    }
}
