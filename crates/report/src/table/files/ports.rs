// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of ports: what each port did under each scheme, with each seed.

use std::collections::BTreeMap;

use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use cemark_sim::outcome::{PauseReport, PortReport};

use super::{Table, number};
use crate::Finished;

const COLUMNS: [&str; 13] = [
    "port",
    "utilisation [share]",
    "queue mean [bytes]",
    "queue p99 [bytes]",
    "queue max [bytes]",
    "sojourn mean [ns]",
    "sojourn p99 [ns]",
    "packets",
    "marks [packets]",
    "drops [packets]",
    "paused [share]",
    "pauses",
    "seed",
];

/// Every switch port that carried packets and every port or NIC that was paused, of every point.
pub(super) fn ports(plan: &Plan, finished: &[Finished]) -> Table {
    let mut head: Vec<String> = plan.axes.clone();
    head.push("scheme".to_owned());
    head.extend(COLUMNS.map(str::to_owned));
    let points = plan.points.iter().zip(finished);
    let rows = points.flat_map(|(point, done)| of_point(plan, point, &done.outcome));
    Table {
        name: "ports".to_owned(),
        title: "Ports of every point.".to_owned(),
        head,
        rows: rows.collect(),
    }
}

fn of_point(plan: &Plan, point: &Point, outcome: &Outcome) -> Vec<Vec<String>> {
    let axes = plan.axes.iter();
    let mut lead: Vec<String> = axes
        .map(|path| point.axes.get(path).cloned().unwrap_or_default())
        .collect();
    lead.push(point.scheme.clone());
    let lossless = point.config.switch.pfc.is_some();
    let mut pauses: BTreeMap<&str, &PauseReport> =
        outcome.pauses.iter().map(|p| (&p.name[..], p)).collect();
    let row = |cells: Vec<String>, paused: Option<&PauseReport>| {
        let share = paused.map_or(0.0, |p| p.share);
        let frames = paused.map_or(0, |p| p.frames);
        let mut row = lead.clone();
        row.extend(cells);
        row.push(number(lossless.then_some(share)));
        row.push(number(lossless.then_some(frames as f64)));
        row.push(point.seed.to_string());
        row
    };
    let mut rows = Vec::new();
    for port in &outcome.ports {
        let paused = pauses.remove(&port.name[..]);
        if port.packets > 0 || paused.is_some() {
            rows.push(row(of_port(port), paused));
        }
    }
    // A NIC has no report of its own: its queue is not sampled.
    for (name, paused) in pauses {
        let mut cells = vec![name.to_owned()];
        cells.resize(COLUMNS.len() - 3, String::new());
        rows.push(row(cells, Some(paused)));
    }
    rows
}

fn of_port(port: &PortReport) -> Vec<String> {
    let (q, s) = (&port.queue, &port.sojourn);
    let sampled = [q.mean, q.p99, q.max, s.mean, s.p99];
    let sampled = sampled.map(|x| number((q.count > 0).then_some(x)));
    let mut cells = vec![port.name.clone(), number(Some(port.utilisation))];
    cells.extend(sampled);
    cells.extend([port.packets, port.marks, port.drops].map(|n| n.to_string()));
    cells
}
