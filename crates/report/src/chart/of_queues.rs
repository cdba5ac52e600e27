// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue lengths over time: a curve for each scheme, of the same port.

use cemark_scenario::Plan;
use cemark_sim::outcome::PortTrace;

use super::of_group::{at, place_of};
use super::{Chart, Curve, Key, Panel, Spot, Unit, colour};
use crate::comparison::{Group, Row};
use crate::{Finished, units};

/// Samples are gathered into this many bins.
const BINS: usize = 240;
/// Bins that share one text under the pointer.
const HOVERED: usize = 6;

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
    let all = || traces.iter().flat_map(|t| &t.trace.samples);
    let from = all().map(|s| s.at).min()?.as_micros_f64();
    let until = all().map(|s| s.at).max()?.as_micros_f64();
    let most = f64::from(all().map(|s| s.bytes).max()?).max(1.0);
    let curves = traces.iter().map(|t| Curve {
        colour: colour(plan, &t.row.scheme),
        spots: bins(t.trace, (from, until), &t.row.scheme),
    });
    let panel = Panel::over_time("", (from, until), Unit::Bytes, most, curves.collect());
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

/// The samples in bins.
fn bins(trace: &PortTrace, (from, until): (f64, f64), scheme: &str) -> Vec<Spot> {
    struct Bin {
        place: usize,
        low: f64,
        sum: f64,
        high: f64,
        many: f64,
    }
    let span = (until - from).max(1e-6);
    let mut all: Vec<Bin> = Vec::new();
    for s in &trace.samples {
        let share = (s.at.as_micros_f64() - from) / span;
        let place = ((share * BINS as f64) as usize).min(BINS - 1);
        let q = f64::from(s.bytes);
        match all.last_mut().filter(|b| b.place == place) {
            Some(b) => {
                (b.low, b.high) = (b.low.min(q), b.high.max(q));
                b.sum += q;
                b.many += 1.0;
            }
            None => all.push(Bin {
                place,
                low: q,
                sum: q,
                high: q,
                many: 1.0,
            }),
        }
    }
    let time = |place: usize| from + (place as f64 + 0.5) / BINS as f64 * span;
    let tips = all.chunks(HOVERED).map(|some| {
        let (sum, many) = some
            .iter()
            .fold((0.0, 0.0), |t, b| (t.0 + b.sum, t.1 + b.many));
        let low = some.iter().map(|b| b.low).fold(f64::INFINITY, f64::min);
        let high = some.iter().map(|b| b.high).fold(0.0, f64::max);
        format!(
            "{scheme} at {}: mean {}, from {} to {}",
            units::micros(time(some[some.len() / 2].place)),
            units::bytes(sum / many),
            units::bytes(low),
            units::bytes(high)
        )
    });
    let tips: Vec<String> = tips.collect();
    let spots = all.iter().enumerate().map(|(i, b)| Spot {
        x: time(b.place),
        y: b.sum / b.many,
        band: Some((b.low, b.high)),
        tip: match i % HOVERED {
            0 => tips[i / HOVERED].clone(),
            _ => String::new(),
        },
    });
    spots.collect()
}
