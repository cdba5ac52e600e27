// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows of a list that wait for others: their names, and circles among them.

use std::collections::BTreeMap;

use cemark_sim::workload::{After, FlowLine, Kind, List};

/// Names of flows, and names of the flows that they wait for.
#[derive(Default)]
pub(crate) struct Names {
    /// By name: the place of its flow in the list.
    ids: BTreeMap<String, u32>,
    /// A flow that waits, and the name of a flow that it waits for.
    after: Vec<(u32, String)>,
}

/// A mistake of the flow at a place of the list, with advice.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) place: usize,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

impl Names {
    /// Adds what the flow at a place of the list says.
    pub(crate) fn add(
        &mut self,
        place: usize,
        id: Option<&str>,
        after: impl IntoIterator<Item = String>,
    ) -> Result<(), Wrong> {
        let flow = place as u32;
        self.after
            .extend(after.into_iter().map(|name| (flow, name)));
        match id.and_then(|id| self.ids.insert(id.to_owned(), flow)) {
            None => Ok(()),
            Some(_) => Err(Wrong {
                place,
                message: format!("two flows have the id `{}`", id.unwrap_or_default()),
                help: "give each flow an id of its own, or none",
            }),
        }
    }

    /// The workload of these flows: a chain where some wait, otherwise a list in order of start.
    pub(crate) fn kind(self, mut lines: Vec<FlowLine>) -> Result<Kind, Wrong> {
        if self.after.is_empty() {
            lines.sort_by_key(|line| line.start);
            return Ok(List::from(lines).into());
        }
        let mut after = Vec::with_capacity(self.after.len());
        for (flow, name) in &self.after {
            let Some(&ended) = self.ids.get(name) else {
                return Err(Wrong {
                    place: *flow as usize,
                    message: format!("no flow has the id `{name}`"),
                    help: "write the id of another flow of this list",
                });
            };
            after.push(After { flow: *flow, ended });
        }
        after.sort_by_key(|of| (of.flow, of.ended));
        after.dedup();
        match circle(lines.len(), &after) {
            None => Ok(List { lines, after }.into()),
            Some(circle) => Err(self.around(&circle)),
        }
    }

    /// The mistake of flows of which each waits for the next, and the last for the first.
    fn around(&self, circle: &[u32]) -> Wrong {
        const SHOWN: usize = 8;
        let by_place: BTreeMap<u32, &str> = self.ids.iter().map(|(id, &i)| (i, &id[..])).collect();
        let mut names: Vec<String> = circle
            .iter()
            .map(|flow| format!("`{}`", by_place.get(flow).copied().unwrap_or_default()))
            .collect();
        if names.len() > SHOWN {
            names.truncate(SHOWN);
            names.push("and so on".to_owned());
        }
        let message = match &names[..] {
            [one] => format!("the flow {one} waits for its own end"),
            _ => format!(
                "flows wait for each other in a circle: {}",
                names.join(", ")
            ),
        };
        Wrong {
            place: circle[0] as usize,
            message,
            help: "take one `after` out, so that some flow can start first",
        }
    }
}

/// Flows of which each waits for the next and the last for the first, if there are any.
fn circle(flows: usize, after: &[After]) -> Option<Vec<u32>> {
    let mut waiting = vec![Vec::new(); flows];
    let mut left = vec![0_u32; flows];
    for of in after {
        waiting[of.ended as usize].push(of.flow);
        left[of.flow as usize] += 1;
    }
    let mut free: Vec<u32> = (0..flows as u32)
        .filter(|&i| left[i as usize] == 0)
        .collect();
    while let Some(ended) = free.pop() {
        for &flow in &waiting[ended as usize] {
            left[flow as usize] -= 1;
            if left[flow as usize] == 0 {
                free.push(flow);
            }
        }
    }
    // Each flow that is left waits for another that is left.
    let next = |flow: u32| {
        let first = after.partition_point(|of| of.flow < flow);
        let mut ends = after[first..].iter().take_while(|of| of.flow == flow);
        ends.find(|of| left[of.ended as usize] > 0)
            .map(|of| of.ended)
    };
    let mut path = vec![(0..flows as u32).find(|&i| left[i as usize] > 0)?];
    let mut place = vec![None; flows];
    loop {
        let last = *path.last()?;
        if let Some(begin) = place[last as usize].replace(path.len() - 1) {
            let mut circle = path.split_off(begin);
            circle.pop();
            return Some(circle);
        }
        path.push(next(last)?);
    }
}
