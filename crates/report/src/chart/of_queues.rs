// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue lengths over time: a curve for each scheme, of the same port.

use cemark_scenario::Plan;
use cemark_sim::outcome::PortTrace;

use super::of_group::{at, place_of};
use super::over_time::{self, Samples, Seen};
use super::{Chart, Key, colour};
use crate::Finished;
use crate::comparison::{Group, Row};

/// The trace of a scheme.
struct Trace<'a> {
    row: &'a Row,
    trace: &'a PortTrace,
}

/// The chart of the first seed; `None` without traces.
pub fn of_queues(plan: &Plan, finished: &[Finished], group: &Group) -> Option<Chart> {
    let first = group.baseline().points.first()?;
    let port = common(finished, group);
    let traces: Vec<Trace<'_>> = group
        .rows
        .iter()
        .filter_map(|row| {
            let all = drawn(&finished[*row.points.first()?]);
            let trace = match &port {
                Some(port) => all.into_iter().find(|t| t.name == *port),
                None => all.into_iter().max_by(|a, b| mean(a).total_cmp(&mean(b))),
            };
            trace.map(|trace| Trace { row, trace })
        })
        .collect();
    let samples = traces.iter().map(|t| Samples {
        scheme: t.row.scheme.clone(),
        colour: colour(plan, &t.row.scheme),
        seen: (t.trace.samples.iter())
            .map(|s| Seen {
                at: s.at.as_micros_f64(),
                bytes: f64::from(s.bytes),
            })
            .collect(),
    });
    let (most, panel) = over_time::panel(&samples.collect::<Vec<_>>(), true)?;
    let keys = traces.iter().map(|t| Key {
        label: match port {
            Some(_) => t.row.scheme.clone(),
            None => format!("{} ({})", t.row.scheme, t.trace.name),
        },
        colour: colour(plan, &t.row.scheme),
    });
    let seed = plan.points[*first].seed;
    let unit = if most >= 2e6 { "MB" } else { "KB" };
    let whose = match &port {
        Some(port) => format!("port {port}"),
        None => "the hottest port of each scheme".to_owned(),
    };
    let which = match &port {
        Some(port) => format!(
            "All curves are of port {port}{}.",
            why(finished, group, port)
        ),
        None => "No port was traced under every scheme, so each curve is of the hottest port of \
                 its own scheme."
            .to_owned(),
    };
    Some(Chart {
        name: format!("queue{}", place_of(group)),
        title: format!("Queue length over time, {whose}{}", at(group)),
        caption: format!(
            "{which} Seed {seed}; vertical axis in {}. The line is the mean queue of each \
             short interval; the band spans the shortest and the longest queue in it.",
            if most < 2e3 { "B" } else { unit }
        ),
        legend: keys.collect(),
        panels: vec![panel],
    })
}

fn drawn(point: &Finished) -> Vec<&PortTrace> {
    let traces = point.outcome.traces.iter();
    traces.filter(|t| t.samples.len() > 1).collect()
}

fn mean(trace: &PortTrace) -> f64 {
    let all = trace.samples.iter().map(|s| f64::from(s.bytes));
    all.sum::<f64>() / trace.samples.len() as f64
}

/// The port that was traced under every scheme; of several the one with the longest mean queue
/// under the baseline.
fn common(finished: &[Finished], group: &Group) -> Option<String> {
    let of = |row: &Row| row.points.first().map(|i| drawn(&finished[*i]));
    let mut ports = of(group.baseline())?;
    for row in &group.rows {
        let here = of(row)?;
        ports.retain(|p| here.iter().any(|t| t.name == p.name));
    }
    let best = ports
        .into_iter()
        .max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
    Some(best.name.clone())
}

/// Why this port.
fn why(finished: &[Finished], group: &Group, port: &str) -> String {
    let base = group.baseline();
    let point = base.points.first().map(|i| &finished[*i].summary);
    let hottest = point.and_then(|p| p.hottest_port.as_ref());
    match hottest.is_some_and(|p| p.name == port) {
        true => format!(", the hottest under {}", base.scheme),
        false => {
            ", to which the flows send most: the hottest port differs between schemes".to_owned()
        }
    }
}
