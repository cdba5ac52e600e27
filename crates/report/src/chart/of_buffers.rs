// SPDX-License-Identifier: MIT OR Apache-2.0
//! Occupancy of a shared buffer over time: all schemes on one axis.

use cemark_scenario::Plan;
use cemark_sim::outcome::BufferTrace;

use super::of_group::{at, place_of};
use super::over_time::{self, Samples, Seen};
use super::{Chart, Key, colour};
use crate::comparison::{Group, Row};
use crate::{Finished, units};

/// The buffer of a scheme.
struct Traced<'a> {
    row: &'a Row,
    buffer: &'a BufferTrace,
}

/// The chart of the first seed; `None` where no shared buffer was traced.
pub fn of_buffers(plan: &Plan, finished: &[Finished], group: &Group) -> Option<Chart> {
    let first = group.baseline().points.first()?;
    let common = common(finished, group);
    let traced = group.rows.iter().filter_map(|row| {
        let all = drawn(&finished[*row.points.first()?]);
        let buffer = match common {
            Some(common) => all.into_iter().find(|b| b.name == common),
            None => fullest(all),
        };
        Some(Traced {
            row,
            buffer: buffer?,
        })
    });
    let traced: Vec<Traced<'_>> = traced.collect();
    let samples = traced.iter().map(|t| Samples {
        scheme: t.row.scheme.clone(),
        colour: colour(plan, &t.row.scheme),
        seen: (t.buffer.samples.iter())
            .map(|s| Seen {
                at: s.at.as_micros_f64(),
                bytes: f64::from(s.bytes),
            })
            .collect(),
    });
    // Bands of several schemes on one axis would hide each other.
    let (_, panel) = over_time::panel(&samples.collect::<Vec<_>>(), false)?;
    let legend = traced.iter().map(|t| Key {
        label: t.row.scheme.clone(),
        colour: colour(plan, &t.row.scheme),
    });
    let capacity = traced.iter().map(|t| t.buffer.capacity).max()?;
    let (whose, which) = match common {
        Some(switch) => (format!("switch {switch}"), String::new()),
        None => (
            "the fullest of each scheme".to_owned(),
            format!(" {}.", named(&traced)),
        ),
    };
    let seed = plan.points[*first].seed;
    Some(Chart {
        name: format!("buffer{}", place_of(group)),
        title: format!("Shared buffer over time, {whose}{}", at(group)),
        caption: format!(
            "Bytes in use of {} that the ports of the switch share, headroom included; mean of \
             each short interval, seed {seed}.{which}",
            units::bytes(f64::from(capacity))
        ),
        legend: legend.collect(),
        panels: vec![panel],
    })
}

/// Which buffer each scheme shows.
fn named(traced: &[Traced<'_>]) -> String {
    let each = traced
        .iter()
        .map(|t| format!("{}: {}", t.row.scheme, t.buffer.name));
    format!("Switches: {}", each.collect::<Vec<_>>().join(", "))
}

fn drawn(point: &Finished) -> Vec<&BufferTrace> {
    let buffers = point.outcome.buffers.iter();
    buffers.filter(|b| b.samples.len() > 1).collect()
}

fn fullest(all: Vec<&BufferTrace>) -> Option<&BufferTrace> {
    let mean = |b: &BufferTrace| {
        let all = b.samples.iter().map(|s| f64::from(s.bytes));
        all.sum::<f64>() / b.samples.len() as f64
    };
    all.into_iter().max_by(|a, b| mean(a).total_cmp(&mean(b)))
}

/// The buffer that was traced under every scheme; of several the fullest under the baseline.
fn common<'a>(finished: &'a [Finished], group: &Group) -> Option<&'a str> {
    let of = |row: &Row| row.points.first().map(|i| drawn(&finished[*i]));
    let mut all = of(group.baseline())?;
    for row in &group.rows {
        let here = of(row)?;
        all.retain(|b| here.iter().any(|other| other.name == b.name));
    }
    fullest(all).map(|b| &b.name[..])
}
