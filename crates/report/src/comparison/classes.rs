// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison of schemes by the flows of each traffic class.

use super::{Cell, Group, Part, Row, Shares};
use crate::metrics::{self, Restriction};
use crate::rundir::Finished;

/// Schemes compared by the flows of one traffic class, at one value of the axes.
#[derive(Clone, Debug)]
pub struct OfClass {
    /// Name of the class; of classes that share a queue all names.
    pub name: String,
    /// Queue of the class at every port.
    pub queue: u8,
    /// The comparison: cells of flows, queries and endless flows; no counters.
    pub group: Group,
}

/// The traffic classes that have flows, in the order of the scenario.
pub(super) fn of(all: &Part<'_>, group: &Group) -> Vec<OfClass> {
    let Some(first) = group.rows.first().and_then(|row| row.points.first()) else {
        return Vec::new();
    };
    let switch = &all.plan.points[*first].config.switch;
    let mut queues: Vec<u8> = Vec::new();
    for class in &switch.classes {
        if !queues.contains(&class.queue) {
            queues.push(class.queue);
        }
    }
    let found = queues.into_iter().map(|queue| OfClass {
        name: switch.queue_name(queue),
        queue,
        group: one(all, group, queue),
    });
    let with_flows = |class: &OfClass| metrics::compared().any(|m| class.group.has(m));
    found.filter(with_flows).collect()
}

fn one(all: &Part<'_>, group: &Group, queue: u8) -> Group {
    let part = Part {
        only: Restriction {
            class: Some(queue),
            ..all.only
        },
        ..*all
    };
    let base = &group.baseline().points;
    let rows = group.rows.iter().map(|row| {
        let against = (!row.baseline).then_some(&base[..]);
        let cells = metrics::compared().map(|metric| match metric.subject.has_class() {
            true => part.cell(metric, &row.points, against),
            false => Cell::empty(metric),
        });
        let finished = row.points.iter().map(|i| part.finished[*i]);
        let flows = finished.flat_map(|p: &Finished| &p.outcome.flows);
        let own: Vec<_> = flows.filter(|f| f.class == queue).collect();
        Row {
            scheme: row.scheme.clone(),
            baseline: row.baseline,
            cells: cells.collect(),
            counts: Vec::new(),
            flows: own.len() as u64,
            unfinished: own.iter().filter(|f| f.fct.is_none()).count() as u64,
            drops_by: Default::default(),
            non_ect: None,
            shares: Shares::default(),
            points: row.points.clone(),
        }
    });
    Group {
        rows: rows.collect(),
        classes: Vec::new(),
        alike: group.alike,
        standing: None,
        device_packets: 0,
        ..group.clone()
    }
}
